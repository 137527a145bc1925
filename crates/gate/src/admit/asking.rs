//! A person's yes: the request that waits for it, and how a call ends that needs one.

use serde_json::Value;
use tagout_vocab::Refusal;

use super::{Considered, Judged, Step};
use crate::error::GateError;
use crate::lifecycle::{Denied, Execution};
use crate::permit::Ticket;
use crate::store::{ApprovalRequest, Binding, Store};

impl Step<'_> {
    /// The stored request for exactly this call, made if there is none.
    pub(super) fn request_for(
        &self,
        judged: &Judged,
        refusal: &Refusal,
    ) -> Result<ApprovalRequest, GateError> {
        let store = &self.inner.site.store;
        let session = &self.record.session;
        let digest = Binding {
            tool: &judged.name,
            arguments: &judged.arguments,
            cwd: &self.call.cwd,
            law: &self.inner.shelf.version,
            intent: session.active_intent(),
            session: &session.id,
        }
        .digest();
        if let Some(known) = store.approval(&digest)? {
            let used = matches!(known.answer, crate::Answer::Used { .. });
            let waited = known.answer == crate::Answer::Pending && known.is_expired(self.now);
            if !used && !waited {
                return Ok(known);
            }
        }
        let arguments = Value::Object(judged.arguments.clone());
        let effects = judged.judgement.effects.iter();
        Ok(ApprovalRequest {
            id: self.inner.clockwork.id("a"),
            digest,
            tool: judged.name.clone(),
            session: session.id.clone(),
            intent: session.active_intent().cloned(),
            law: self.inner.shelf.version,
            effects: effects.map(tagout_vocab::Effect::described).collect(),
            arguments: tagout_ledger::redact_json(&arguments, tagout_ledger::Strength::Full),
            reason: refusal.reason.clone(),
            rule: refusal.rule.clone(),
            asked_at: self.now,
            expires_at: Store::waits_until(self.now),
            answer: crate::Answer::Pending,
        })
    }

    /// H6: the request is stored, the execution ends, the call has to come again.
    pub(super) fn ask(
        &mut self,
        denied: &Execution<Denied>,
        ticket: &Ticket,
        (asked, refusal): (Option<ApprovalRequest>, Box<Refusal>),
    ) -> Result<Considered, GateError> {
        let Some(request) = asked else {
            let seqs = self.deny(denied, ticket, &refusal)?;
            return Ok(Considered::Denied {
                refusal,
                invalid: false,
                seqs,
            });
        };
        if self
            .inner
            .site
            .store
            .approval(&request.digest)?
            .is_none_or(|one| one.id != request.id)
        {
            self.inner.site.store.keep_approval(&request)?;
            let data = serde_json::json!({
                "approval": request.id, "binds": request.digest, "asked": true,
            });
            self.events
                .push(self.event(tagout_ledger::Kind::Approval, data));
        }
        let seqs = self.deny(denied, ticket, &refusal)?;
        Ok(Considered::Pending {
            approval: request.id,
            refusal,
            seqs,
        })
    }
}
