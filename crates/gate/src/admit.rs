//! From a call to a permit: gather, judge, claim, judge again, record.

use std::sync::Arc;

use serde_json::{Map, Value};
use tagout_ledger::{Commitment, NewEvent, Texts};
use tagout_policy::judge::{Approval, Case, judge_case};
use tagout_policy::session::{self, Happening};
use tagout_policy::targets::{check_input, normalise};
use tagout_vocab::{
    Call, CallId, Code, Digest, Gate, IntentId, Judgement, Refusal, Role, SessionId, Timestamp,
    Verdict,
};
use tagout_workspace::{Claim, Claiming, Holding, RelPath};

use crate::engine::Inner;
use crate::error::GateError;
use crate::facts::{self, Gathered};
use crate::lifecycle::Execution;
use crate::permit::{Permit, Ticket};
use crate::record;
use crate::registry::Entry;
use crate::requests::{self, Applied};
use crate::store::{ApprovalRequest, Binding, SessionRecord, Store};

/// Who executes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Way {
    /// The engine.
    Run,
    /// The agent's client.
    Guard,
}

/// What came of considering a call.
#[derive(Debug)]
pub(crate) enum Considered {
    Permitted(Box<Admitted>),
    Pending {
        approval: String,
        refusal: Box<Refusal>,
    },
    Denied {
        refusal: Box<Refusal>,
        /// The input did not conform.
        invalid: bool,
    },
}

/// A permit with what running needs.
#[derive(Debug)]
pub(crate) struct Admitted {
    pub(crate) permit: Permit,
    pub(crate) arguments: Map<String, Value>,
    pub(crate) entry: Option<Arc<Entry>>,
    pub(crate) warnings: Vec<String>,
}

/// The same call has the same digest, whatever its id.
pub(crate) fn call_digest(case: &Case<'_>) -> Digest {
    let name = case
        .tool()
        .map_or(case.call.tool.as_str(), |tool| &tool.name);
    let arguments = Value::Object(case.arguments().clone()).to_string();
    let parts = [name, &arguments, &case.call.cwd];
    Digest::of_parts("tagout call v1", parts.map(str::as_bytes))
}

/// One call on its way through the checks.
struct Step<'a> {
    inner: &'a Inner,
    call: &'a Call,
    way: Way,
    now: Timestamp,
    before: SessionRecord,
    /// The session as it is judged: after the call itself, and never wider than its parents.
    record: SessionRecord,
    events: Vec<NewEvent>,
}

/// What the judge and the engine's own checks found.
struct Judged {
    judgement: Judgement,
    gathered: Gathered,
    arguments: Map<String, Value>,
    valid: bool,
    name: String,
    role: Option<Role>,
    capabilities: Vec<String>,
    selects: Option<IntentId>,
    digest: Digest,
    predicted: std::collections::BTreeMap<tagout_vocab::WorkspacePath, Option<Digest>>,
}

/// Considers a call. Every failure on the way is a denial.
pub(crate) fn consider(inner: &Inner, call: &Call, way: Way) -> Considered {
    let denied = |error: &GateError| Considered::Denied {
        refusal: Box::new(unavailable(error)),
        invalid: false,
    };
    let session = match session_of(call) {
        Ok(session) => session,
        Err(error) => return denied(&error),
    };
    let locked = inner.site.store.lock_session(&session);
    let considered = locked.and_then(|_locked| {
        let mut step = Step::new(inner, call, way, &session)?;
        step.go()
    });
    considered.unwrap_or_else(|error| denied(&error))
}

/// Calls without a session share one, so that they are still governed.
pub(crate) fn session_of(call: &Call) -> Result<SessionId, GateError> {
    let unnamed = || {
        SessionId::new("unnamed").map_err(|source| GateError::Id {
            text: "unnamed".to_owned(),
            source,
        })
    };
    call.session.clone().map_or_else(unnamed, Ok)
}

/// Invariant 3: what can't be recorded or looked up is denied.
pub(crate) fn unavailable(error: &GateError) -> Refusal {
    Refusal {
        code: error.code(),
        reason: error.to_string(),
        remedy: "a person looks at the state folder; nothing runs until it can be written"
            .to_owned(),
        retryable: matches!(error, GateError::Locked { .. }),
        intent_id: None,
        paths: Vec::new(),
        gate: Gate::Record,
        rule: "built-in: record".to_owned(),
    }
}

impl<'a> Step<'a> {
    fn new(inner: &'a Inner, call: &'a Call, way: Way, id: &SessionId) -> Result<Self, GateError> {
        let now = inner.clockwork.now();
        let before = inner.site.store.session(id)?;
        let moved = session::advance(&before.session, &Happening::Called);
        let mut record = before.clone();
        record.session = moved.session;
        let mut events = Vec::new();
        for change in &moved.changes {
            events.push(requests::session_event(inner, id, change, now));
        }
        Ok(Self {
            inner,
            call,
            way,
            now,
            before,
            record,
            events,
        })
    }

    fn go(&mut self) -> Result<Considered, GateError> {
        let execution = self.execution_id()?;
        let mut judged = self.judge(Approval::None, None)?;
        let mut asked = None;
        if let Verdict::Ask(refusal) = &judged.judgement.verdict {
            let request = self.request_for(&judged, refusal)?;
            let fact = request.fact(self.now);
            judged = self.judge(fact, None)?;
            asked = Some(request);
        }
        let mut claim = None;
        if judged.judgement.verdict.is_allow() && !judged.gathered.mutated.is_empty() {
            match self.claim(&execution, &judged)? {
                Ok(held) => {
                    claim = Some(held);
                    // Someone may have changed a file between the look and the claim.
                    let fact = asked
                        .as_ref()
                        .map_or(Approval::None, |one| one.fact(self.now));
                    judged = self.judge(fact, None)?;
                }
                Err(busy) => judged = self.judge(Approval::None, Some(busy))?,
            }
        }
        let ended = self.end(execution.clone(), judged, (asked, claim));
        if !matches!(ended, Ok(Considered::Permitted(_))) && self.way == Way::Guard {
            self.inner.workspace.release(&execution)?;
        }
        ended
    }

    fn execution_id(&self) -> Result<CallId, GateError> {
        let fresh = || self.inner.clockwork.id("x");
        let text = match (&self.call.id, self.way) {
            (Some(id), Way::Guard) => id.to_string(),
            (_, Way::Run) | (None, Way::Guard) => fresh(),
        };
        CallId::new(&text).map_err(|source| GateError::Id { text, source })
    }

    /// The session as it may be judged: a child acts only under the intent that its parents act
    /// under.
    fn narrowed(&self) -> Result<SessionRecord, GateError> {
        let mut record = self.record.clone();
        let active = record.session.active_intent().cloned();
        let ancestors = self.inner.site.store.ancestors(&record.session)?;
        if ancestors
            .iter()
            .any(|one| one.active_intent() != active.as_ref())
        {
            record.session.state = tagout_vocab::State::Reasoning;
        }
        Ok(record)
    }

    fn judge(
        &self,
        approval: Approval,
        busy: Option<(tagout_vocab::WorkspacePath, String)>,
    ) -> Result<Judged, GateError> {
        let record = self.narrowed()?;
        let mut gathered = facts::gather(self.inner, self.call, &record, self.now)?;
        gathered.facts.approval = approval;
        gathered.facts.busy.extend(busy);
        let books = &self.inner.shelf.books;
        let case = Case::new(self.call, &record.session, books, &gathered.facts);
        let mut judgement = judge_case(&case);
        let normalised = normalise(self.call, &books.catalogue);
        let tool = case.tool();
        let role = tool.and_then(|tool| tool.role);
        let arguments = case.arguments().clone();
        let named = arguments.get("intent_id").and_then(Value::as_str);
        let named = named.and_then(|id| IntentId::new(id).ok());
        let predicted = crate::old_text::predicted(self.inner, &case, &gathered.mutated);
        let name = tool.map_or(self.call.tool.clone(), |tool| tool.name.clone());
        let mut judged = Judged {
            valid: check_input(&normalised).is_ok(),
            name,
            role,
            capabilities: tool
                .map(|tool| tool.capabilities.clone())
                .unwrap_or_default(),
            selects: named.filter(|_| role == Some(Role::SelectIntent)),
            digest: call_digest(&case),
            judgement: judgement.clone(),
            arguments,
            predicted,
            gathered,
        };
        if judgement.verdict.is_allow()
            && let Some(refusal) =
                crate::own::check(self.inner, &record.session, &own(&judged, self.way))?
        {
            judged.valid &= refusal.gate != Gate::Schema;
            judgement.verdict = Verdict::Deny(Box::new(refusal));
            judged.judgement = judgement;
        }
        Ok(judged)
    }

    /// The stored request for exactly this call, made if there is none.
    fn request_for(
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

    /// One open permit per path.
    fn claim(
        &self,
        execution: &CallId,
        judged: &Judged,
    ) -> Result<Result<Claim, (tagout_vocab::WorkspacePath, String)>, GateError> {
        let paths: Vec<RelPath> = judged.gathered.mutated.iter().map(RelPath::from).collect();
        let holding = match self.way {
            Way::Run => Holding::WhileAlive,
            Way::Guard => Holding::UntilReleased,
        };
        Ok(
            match self.inner.workspace.claim(execution, &paths, holding)? {
                Claiming::Held(claim) => Ok(claim),
                Claiming::Busy { path, by } => {
                    let by =
                        by.map_or_else(|| "another call".to_owned(), |by| format!("call {by}"));
                    Err((path.to_workspace()?, by))
                }
            },
        )
    }

    fn ticket(&self, execution: &CallId, judged: &Judged, salt: [u8; 32]) -> Ticket {
        let text = Value::Object(judged.arguments.clone()).to_string();
        let (code, rule) = match &judged.judgement.verdict {
            Verdict::Allow(reason) => (Code::Allowed, reason.rule.clone()),
            Verdict::Ask(refusal) | Verdict::Deny(refusal) => (refusal.code, refusal.rule.clone()),
        };
        let entry = self.inner.registry.get(&judged.name);
        Ticket {
            execution: execution.clone(),
            seq: 0,
            tool: judged.name.chars().take(100).collect(),
            version: entry.map_or("0.0.0".to_owned(), |entry| {
                entry.tool.declaration().version.clone()
            }),
            session: self.record.session.id.clone(),
            intent: self.record.session.active_intent().cloned(),
            agent: self.call.agent.clone(),
            class: judged.judgement.class,
            input_hash: Commitment::new(salt, text.as_bytes()).digest,
            capabilities: judged.capabilities.clone(),
            code: code.as_str().to_owned(),
            rule,
            approver: None,
            admitted_at: self.now,
            mutated: judged.gathered.mutated.clone(),
            reads: judged.gathered.reads.clone(),
            predicted: judged.predicted.clone(),
            selects: judged.selects.clone(),
            role: judged.role,
        }
    }

    /// Records the step in one durable append, whatever it came to.
    fn end(
        &mut self,
        id: CallId,
        judged: Judged,
        (asked, claim): (Option<ApprovalRequest>, Option<Claim>),
    ) -> Result<Considered, GateError> {
        let salt = self.inner.clockwork.random();
        let ticket = self.ticket(&id, &judged, salt);
        let declared = Execution::declare(id);
        let mut first = record::transition(&self.inner.clockwork, &declared, &ticket, self.now);
        first.texts = Some(Texts {
            salt,
            input: Some(Value::Object(judged.arguments.clone())),
            output: None,
        });
        first.data = self
            .call
            .id
            .as_ref()
            .map(|id| serde_json::json!({ "call": id }));
        self.events.push(first);
        self.record.count(judged.digest);
        if !judged.valid {
            return self.fail(&declared.fail(), &ticket, &judged);
        }
        let validated = declared.validate();
        let event = record::transition(&self.inner.clockwork, &validated, &ticket, self.now);
        self.events.push(event);
        match judged.judgement.verdict.clone() {
            Verdict::Allow(_) => self.allow(validated.authorize(), ticket, (judged, asked, claim)),
            Verdict::Ask(refusal) => self.ask(&validated.deny(), &ticket, (asked, refusal)),
            Verdict::Deny(refusal) => {
                if refusal.code == Code::ApprovalExpired
                    && let Some(request) = &asked
                {
                    self.inner.site.store.drop_approval(&request.digest)?;
                }
                self.deny(&validated.deny(), &ticket, &refusal)?;
                Ok(Considered::Denied {
                    refusal,
                    invalid: false,
                })
            }
        }
    }

    fn fail(
        &mut self,
        failed: &Execution<crate::lifecycle::Failed>,
        ticket: &Ticket,
        judged: &Judged,
    ) -> Result<Considered, GateError> {
        let refusal = match &judged.judgement.verdict {
            Verdict::Ask(refusal) | Verdict::Deny(refusal) => refusal.clone(),
            Verdict::Allow(reason) => Box::new(Refusal {
                code: Code::SchemaInvalid,
                reason: reason.text.clone(),
                remedy: "mend the arguments".to_owned(),
                retryable: true,
                intent_id: None,
                paths: Vec::new(),
                gate: Gate::Schema,
                rule: reason.rule.clone(),
            }),
        };
        let event = record::transition(&self.inner.clockwork, failed, ticket, self.now);
        let mut event = record::judged(event, ticket);
        event.error = Some(details(crate::FailureKind::Validation, &refusal));
        self.events.push(event);
        self.append()?;
        Ok(Considered::Denied {
            refusal,
            invalid: true,
        })
    }

    fn deny(
        &mut self,
        denied: &Execution<crate::lifecycle::Denied>,
        ticket: &Ticket,
        refusal: &Refusal,
    ) -> Result<(), GateError> {
        let event = record::transition(&self.inner.clockwork, denied, ticket, self.now);
        let mut event = record::judged(event, ticket);
        event.error = Some(details(crate::FailureKind::Authorization, refusal));
        self.events.push(event);
        self.append()?;
        Ok(())
    }

    /// H6: the request is stored, the execution ends, the call has to come again.
    fn ask(
        &mut self,
        denied: &Execution<crate::lifecycle::Denied>,
        ticket: &Ticket,
        (asked, refusal): (Option<ApprovalRequest>, Box<Refusal>),
    ) -> Result<Considered, GateError> {
        let Some(request) = asked else {
            self.deny(denied, ticket, &refusal)?;
            return Ok(Considered::Denied {
                refusal,
                invalid: false,
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
        self.deny(denied, ticket, &refusal)?;
        Ok(Considered::Pending {
            approval: request.id,
            refusal,
        })
    }

    fn event(&self, kind: tagout_ledger::Kind, data: Value) -> NewEvent {
        let session = &self.record.session.id;
        record::other((&self.inner.clockwork, self.now), kind, Some(session), data)
    }

    fn allow(
        &mut self,
        authorized: Execution<crate::lifecycle::Authorized>,
        mut ticket: Ticket,
        (judged, asked, claim): (Judged, Option<ApprovalRequest>, Option<Claim>),
    ) -> Result<Considered, GateError> {
        let store = &self.inner.site.store;
        if let Some(mut request) = asked {
            if let crate::Answer::Granted { by, .. } = &request.answer {
                ticket.approver = Some(by.clone());
            }
            // Used before it is recorded: a crash in between costs a yes, never gives a second one.
            let execution = ticket.execution.clone();
            request.answer = crate::Answer::Used { execution };
            store.keep_approval(&request)?;
            let data = serde_json::json!({ "approval": request.id, "used": true });
            self.events
                .push(self.event(tagout_ledger::Kind::Approval, data));
        }
        self.count_use(&ticket, &judged)?;
        let event = record::transition(&self.inner.clockwork, &authorized, &ticket, self.now);
        let event = record::judged(event, &ticket);
        let event_id = event.event_id.clone();
        self.events.push(event);
        let mut applied = Applied::default();
        if self.way == Way::Guard {
            applied = requests::on_admission(self.inner, &mut self.record, &ticket, self.now)?;
            self.events.append(&mut applied.events);
        }
        let place = self
            .events
            .iter()
            .position(|event| event.event_id == event_id);
        let appended = self.append()?;
        ticket.seq = appended.seqs.start + place.unwrap_or_default() as u64;
        requests::finish(self.inner, applied)?;
        let entry = self.inner.registry.get(&judged.name).cloned();
        if self.way == Way::Guard {
            let paths: Vec<RelPath> = ticket.mutated.iter().map(RelPath::from).collect();
            self.inner
                .workspace
                .snapshot(&ticket.execution, &paths, self.now)?;
            store.keep_ticket(&ticket)?;
        }
        let warnings = crate::own::warnings(entry.as_deref());
        let no_permit = GateError::NoPermit {
            id: ticket.execution.to_string(),
            why: "the ledger's token does not cover it",
        };
        let permit = Permit::new(authorized, &appended.token, ticket).ok_or(no_permit)?;
        Ok(Considered::Permitted(Box::new(Admitted {
            permit: permit.holding(claim),
            arguments: judged.arguments,
            entry,
            warnings,
        })))
    }

    /// Counts the call for its intent and for the grants that it may rest on.
    fn count_use(&self, ticket: &Ticket, judged: &Judged) -> Result<(), GateError> {
        let store = &self.inner.site.store;
        if ticket.class == tagout_vocab::Class::Destructive
            && let Some(intent) = &ticket.intent
        {
            store.count_call(intent, self.now)?;
        }
        let law = &self.inner.shelf.books.law;
        let granted = |name: &&String| law.capability_denied(name).is_some();
        let needed = judged.capabilities.iter().filter(granted);
        let needed =
            needed.filter_map(|name| tagout_policy::capability::Capability::parse(name).ok());
        store.note_grant_uses(&judged.gathered.facts.grants, &needed.collect(), self.now)
    }

    fn append(&mut self) -> Result<tagout_ledger::Appended, GateError> {
        let appended = self.inner.ledger.append(&self.events)?;
        self.inner
            .site
            .store
            .keep_session(&self.before, &self.record)?;
        Ok(appended)
    }
}

fn own(judged: &Judged, way: Way) -> crate::own::Asked<'_> {
    crate::own::Asked {
        name: &judged.name,
        arguments: &judged.arguments,
        mutated: &judged.gathered.mutated,
        selects: judged.selects.as_ref(),
        runs: way == Way::Run,
    }
}

fn details(kind: crate::FailureKind, refusal: &Refusal) -> tagout_ledger::ErrorDetails {
    tagout_ledger::ErrorDetails {
        failure: kind.as_str().to_owned(),
        message: refusal.reason.clone(),
        context: Some(format!(
            "{} at {}",
            refusal.code.as_str(),
            refusal.gate.as_str()
        )),
        backtrace: None,
    }
}
