//! What people do at their terminals, and what clients tell about conversations.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tagout_ledger::{Kind, NewEvent};
use tagout_policy::capability::grants::{self, Constraint, Draft, Grant, GrantScope, Grantee};
use tagout_policy::capability::{Allowance, Capability};
use tagout_policy::law;
use tagout_policy::session::{Happening, PromptSource};
use tagout_vocab::{GrantId, IntentId, Session, SessionId, Timestamp};

use crate::engine::Engine;
use crate::error::GateError;
use crate::record;
use crate::requests;
use crate::store::{Answer, ApprovalRequest, Proposal, ProposalState, Question, SessionRecord};
use crate::trust::{Accepted, Sources};

/// What a person wants to grant.
#[derive(Clone, Debug)]
pub struct GrantDraft {
    /// What to give.
    pub capabilities: BTreeSet<Capability>,
    /// To whom.
    pub grantee: Grantee,
    /// On what, doing what.
    pub scope: GrantScope,
    /// Under which conditions.
    pub constraints: Vec<Constraint>,
    /// Until when.
    pub expires_at: Option<Timestamp>,
}

/// A grant and whether it was taken back.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct GrantStatus {
    /// The grant.
    pub grant: Grant,
    /// Why it was taken back, if it was.
    pub revoked: Option<String>,
}

impl Engine {
    fn event(&self, kind: Kind, session: Option<&SessionId>, data: Value) -> NewEvent {
        let now = self.inner.clockwork.now();
        record::other((&self.inner.clockwork, now), kind, session, data)
    }

    fn tell(&self, mut event: NewEvent, by: &str) -> Result<(), GateError> {
        event.user_id = Some(by.to_owned());
        drop(self.inner.ledger.append(&[event])?);
        Ok(())
    }

    /// H6: what waits for a person, oldest first.
    pub fn pending(&self) -> Result<Vec<ApprovalRequest>, GateError> {
        self.inner.site.store.pending(self.inner.clockwork.now())
    }

    fn answered(&self, id: &str, answer: Answer) -> Result<ApprovalRequest, GateError> {
        let now = self.inner.clockwork.now();
        self.inner.site.store.answer_approval(id, answer, now)
    }

    /// A person says yes to exactly one call, once. The call has to come again.
    pub fn approve(&self, id: &str, by: &str) -> Result<ApprovalRequest, GateError> {
        let at = self.inner.clockwork.now();
        if !self.pending()?.iter().any(|request| request.id == id) {
            let by = by.to_owned();
            return self.answered(id, Answer::Granted { by, at });
        }
        // Recorded first: a yes that the ledger does not know must not be there to be used.
        let mut event = self.event(
            Kind::Approval,
            None,
            json!({ "approval": id, "granted": true }),
        );
        event.approver = Some(by.to_owned());
        self.tell(event, by)?;
        let by = by.to_owned();
        self.answered(id, Answer::Granted { by, at })
    }

    /// A person says no.
    pub fn reject(&self, id: &str, by: &str, reason: &str) -> Result<ApprovalRequest, GateError> {
        let answer = Answer::Rejected {
            by: by.to_owned(),
            reason: reason.to_owned(),
        };
        let request = self.answered(id, answer)?;
        let data = json!({ "approval": id, "rejected": reason });
        self.tell(self.event(Kind::Approval, Some(&request.session), data), by)?;
        Ok(request)
    }

    /// Every question, oldest first.
    pub fn questions(&self) -> Result<Vec<Question>, GateError> {
        self.inner.site.store.questions()
    }

    /// A person answers a question, once.
    pub fn answer(&self, id: &str, by: &str, answer: &str) -> Result<Question, GateError> {
        let question = self.inner.site.store.answer_question(id, answer)?;
        let data = json!({ "question": id, "answered": true });
        self.tell(
            self.event(Kind::Question, Some(&question.session), data),
            by,
        )?;
        Ok(question)
    }

    /// H18: every proposal, oldest first.
    pub fn proposals(&self) -> Result<Vec<Proposal>, GateError> {
        self.inner.site.store.proposals()
    }

    /// H18: a person answers a proposal, once. Writing the intents file is the verb's own work.
    pub fn answer_proposal(
        &self,
        id: &str,
        by: &str,
        refusal: Option<&str>,
    ) -> Result<Proposal, GateError> {
        let by_whom = by.to_owned();
        let state = match refusal {
            None => ProposalState::Accepted { by: by_whom },
            Some(reason) => ProposalState::Rejected {
                by: by_whom,
                reason: reason.to_owned(),
            },
        };
        let proposal = self.inner.site.store.answer_proposal(id, state)?;
        let data = json!({ "proposal": id, "accepted": refusal.is_none() });
        self.tell(self.event(Kind::Intent, Some(&proposal.session), data), by)?;
        Ok(proposal)
    }

    /// A person accepts the tree's files. The engine has to be opened again to judge by them.
    pub fn accept(&self, sources: &Sources, by: &str) -> Result<Accepted, GateError> {
        let at = self.inner.clockwork.now();
        let data = json!({ "accepted": sources.digest() });
        self.tell(self.event(Kind::Law, None, data), by)?;
        self.inner.site.keep_accepted(sources, (by, at))
    }

    /// Lets an intent go, whoever holds it.
    pub fn release(&self, intent: &IntentId, by: &str) -> Result<bool, GateError> {
        let released = self.inner.site.store.release(intent, None)?;
        if released {
            let mut event = self.event(Kind::Intent, None, json!({ "released": intent }));
            event.intent = Some(intent.clone());
            self.tell(event, by)?;
        }
        Ok(released)
    }

    /// C2: gives a grant, signed with the key of the state folder.
    pub fn issue_grant(&self, draft: GrantDraft, by: &str) -> Result<Grant, GateError> {
        self.network_can_be_given(&draft)?;
        let text = self.inner.clockwork.id("g");
        let grant_id = GrantId::new(&text).map_err(|source| GateError::Id { text, source })?;
        let store = &self.inner.site.store;
        let grant = grants::issue(
            Draft {
                grant_id,
                capabilities: draft.capabilities,
                grantee: draft.grantee,
                grantor: crate::OWNER.to_owned(),
                scope: draft.scope,
                constraints: draft.constraints,
                issued_at: self.inner.clockwork.now(),
                expires_at: draft.expires_at,
            },
            &store.grant_key()?,
        )?;
        let data = json!({ "issued": grant.grant_id, "to": grant.grantee.to_string() });
        self.tell(self.event(Kind::Grant, None, data), by)?;
        store.change_grants(|book| {
            book.given.push(grant.clone());
            Ok(())
        })?;
        Ok(grant)
    }

    /// A grant of the network without effect, or one whose bounds nobody holds, is none.
    fn network_can_be_given(&self, draft: &GrantDraft) -> Result<(), GateError> {
        let network = |one: &&Capability| one.to_string().split('.').next() == Some("network");
        let Some(capability) = draft.capabilities.iter().find(network) else {
            return Ok(());
        };
        let why = if self.inner.shelf.books.law.network() != law::Network::Any {
            "the network is off for every call; `network: any` in your own policy opens it, and \
             nothing less does"
        } else if draft.scope.resources != Allowance::Unrestricted {
            "single hosts can't be held apart yet; say `--anywhere`, which is what it would be"
        } else {
            return Ok(());
        };
        Err(GateError::NotGranted {
            capability: capability.to_string(),
            why,
        })
    }

    /// C2: takes a grant back; it holds at once.
    pub fn revoke_grant(&self, id: &GrantId, by: &str, reason: &str) -> Result<(), GateError> {
        let store = &self.inner.site.store;
        let (key, now) = (store.grant_key()?, self.inner.clockwork.now());
        store.change_grants(|book| {
            if !book.given.iter().any(|grant| grant.grant_id == *id) {
                return Err(GateError::Unknown {
                    what: "grant",
                    id: id.to_string(),
                });
            }
            let revocation = grants::revoke(id.clone(), crate::OWNER, now, reason, &key);
            book.revoked.push(revocation);
            Ok(())
        })?;
        let data = json!({ "revoked": id, "reason": reason });
        self.tell(self.event(Kind::Grant, None, data), by)
    }

    /// Every grant, oldest first.
    pub fn grants(&self) -> Result<Vec<GrantStatus>, GateError> {
        let book = self.inner.site.store.grant_book()?;
        let revoked = |id: &GrantId| {
            let found = book.revoked.iter().find(|one| one.grant_id == *id);
            found.map(|one| one.reason.clone())
        };
        let status = |grant: &Grant| GrantStatus {
            revoked: revoked(&grant.grant_id),
            grant: grant.clone(),
        };
        Ok(book.given.iter().map(status).collect())
    }

    /// A session as it stands.
    pub fn session(&self, id: &SessionId) -> Result<SessionRecord, GateError> {
        self.inner.site.store.session(id)
    }

    fn happened(&self, id: &SessionId, happening: &Happening) -> Result<Session, GateError> {
        let store = &self.inner.site.store;
        let _locked = store.lock_session(id)?;
        let before = store.session(id)?;
        let mut record = before.clone();
        let now = self.inner.clockwork.now();
        record.touched_at = Some(now);
        let applied = requests::advance(&self.inner, &mut record, happening, now);
        if !applied.events.is_empty() {
            store.leave_first(&before, &record)?;
            drop(self.inner.ledger.append(&applied.events)?);
            store.keep_session(&before, &record)?;
            requests::finish(&self.inner, applied)?;
        }
        Ok(record.session)
    }

    /// G3: a prompt event arrived.
    pub fn prompted(
        &self,
        session: &SessionId,
        source: PromptSource,
        blank: bool,
    ) -> Result<Session, GateError> {
        self.happened(session, &Happening::Prompt { source, blank })
    }

    /// A client says that one conversation was begun by another. Said once: the first parent stays,
    /// and nobody is above itself.
    ///
    /// Clients tell it when they like, also after the child has begun to work. Whatever it had of
    /// its own by then, it stands where its parent does from now on, and the intent that it held is
    /// free.
    pub fn adopt(&self, child: &SessionId, parent: &SessionId) -> Result<(), GateError> {
        let store = &self.inner.site.store;
        // Most are told again and again, and then nothing has to be locked.
        if child == parent || store.session(child)?.session.parent.is_some() {
            return Ok(());
        }
        let above = store.session(parent)?.session;
        let mut around = store.ancestors(&above)?.into_iter();
        if around.any(|one| one.id == *child) {
            return Ok(());
        }
        let _locked = store.lock_session(child)?;
        let before = store.session(child)?;
        if before.session.parent.is_some() {
            return Ok(());
        }
        let after = requests::beneath(&self.inner, &above, (&before, "subagent"))?;
        store.leave_first(&before, &after)?;
        let mut told = json!({ "child": child });
        let held = before.session.active_intent();
        if let (Some(held), Some(told)) = (held, told.as_object_mut()) {
            told.insert("dropped".to_owned(), json!(held));
        }
        let event = self.event(Kind::Session, Some(parent), told);
        drop(self.inner.ledger.append(&[event])?);
        store.keep_session(&before, &after)?;
        if let Some(held) = held {
            store.release(held, Some(child))?;
        }
        Ok(())
    }

    /// Records that a client's hook found itself not registered any more.
    pub fn hook_gone(
        &self,
        session: &SessionId,
        (client, what): (&str, &str),
    ) -> Result<(), GateError> {
        let data = json!({ "hook": client, "gone": what });
        let event = self.event(Kind::Session, Some(session), data);
        drop(self.inner.ledger.append(&[event])?);
        Ok(())
    }

    /// G3: a person or the client started the conversation over.
    pub fn reset(&self, session: &SessionId) -> Result<Session, GateError> {
        self.happened(session, &Happening::Reset)
    }
}
