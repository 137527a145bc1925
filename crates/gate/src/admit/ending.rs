//! How considering a call ends: every step is recorded in one durable append, whatever it came to.

use std::ops::Range;

use serde_json::Value;
use tagout_ledger::{Commitment, NewEvent, Texts};
use tagout_vocab::{CallId, Code, Gate, MutationClass, Refusal, Verdict};
use tagout_workspace::Claim;

use super::{Considered, Judged, Step, unavailable};
use crate::error::GateError;
use crate::lifecycle::{Denied, Execution, Failed};
use crate::permit::Ticket;
use crate::record;
use crate::store::ApprovalRequest;

/// The version of a tool that a client runs. Clients do not tell theirs; what is known is by which
/// catalogue the call was judged.
const CATALOGUED: &str = concat!("catalogue-", env!("CARGO_PKG_VERSION"));

/// The version of a tool that the catalogue does not know.
const UNKNOWN: &str = "unknown";

impl Step<'_> {
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
            version: match entry {
                Some(entry) => entry.tool.declaration().version.clone(),
                None if judged.known => CATALOGUED.to_owned(),
                None => UNKNOWN.to_owned(),
            },
            session: self.record.session.id.clone(),
            intent: self.record.session.active_intent().cloned(),
            agent: self.call.agent.clone(),
            class: judged.judgement.class,
            input_hash: Commitment::new(salt, text.as_bytes()).digest,
            capabilities: judged.capabilities.clone(),
            code: code.as_str().to_owned(),
            rule,
            approver: None,
            grants: judged.grants.clone(),
            admitted_at: self.now,
            law: Some(self.inner.shelf.version),
            mutated: judged.gathered.mutated.clone(),
            absent: judged.gathered.absent(),
            reads: judged.gathered.reads.clone(),
            predicted: judged.predicted.clone(),
            selects: judged.selects.clone(),
            role: judged.role,
            declared: judged
                .arguments
                .get("mutation_class")
                .and_then(Value::as_str)
                .and_then(MutationClass::parse),
            given: None,
        }
    }

    /// Records the step in one durable append, whatever it came to.
    pub(super) fn end(
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
            Verdict::Allow(_) => {
                let mut ticket = ticket;
                let recorded = self.events.len();
                match self.prepare(&mut ticket, asked.clone()) {
                    Ok(applied) => {
                        // Whoever cleans up before would take its layers for a dead one's.
                        let ready = self.ready(&ticket, &judged);
                        let with = (judged, applied, (claim, ready));
                        self.allow(validated.authorize(), ticket, with)
                    }
                    Err(error) => {
                        self.events.truncate(recorded);
                        self.unprepared(&validated.deny(), (ticket, asked), &error)
                    }
                }
            }
            Verdict::Ask(refusal) => self.ask(&validated.deny(), &ticket, (asked, refusal)),
            Verdict::Deny(refusal) => {
                if refusal.code == Code::ApprovalExpired
                    && let Some(request) = &asked
                {
                    self.inner.site.store.drop_approval(&request.digest)?;
                }
                let seqs = self.deny(&validated.deny(), &ticket, &refusal)?;
                Ok(Considered::Denied {
                    refusal,
                    invalid: false,
                    seqs,
                })
            }
        }
    }

    /// What a call needs before it may run could not be stored: a denial like any other. A yes
    /// that it was to use is good for the next try.
    fn unprepared(
        &mut self,
        denied: &Execution<Denied>,
        (mut ticket, asked): (Ticket, Option<ApprovalRequest>),
        error: &GateError,
    ) -> Result<Considered, GateError> {
        self.forget(&ticket);
        ticket.approver = None;
        let mut refusal = Box::new(unavailable(error));
        if let Some(request) = asked
            && self.inner.site.store.keep_approval(&request).is_err()
        {
            refusal.reason.push_str(&used_up(&request.id));
        }
        refusal.code.as_str().clone_into(&mut ticket.code);
        ticket.rule.clone_from(&refusal.rule);
        let seqs = self.deny(denied, &ticket, &refusal)?;
        Ok(Considered::Denied {
            refusal,
            invalid: false,
            seqs,
        })
    }

    fn fail(
        &mut self,
        failed: &Execution<Failed>,
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
        let seqs = self.append()?;
        Ok(Considered::Denied {
            refusal,
            invalid: true,
            seqs,
        })
    }

    pub(super) fn deny(
        &mut self,
        denied: &Execution<Denied>,
        ticket: &Ticket,
        refusal: &Refusal,
    ) -> Result<Range<u64>, GateError> {
        let event = record::transition(&self.inner.clockwork, denied, ticket, self.now);
        let mut event = record::judged(event, ticket);
        event.error = Some(details(crate::FailureKind::Authorization, refusal));
        self.events.push(event);
        self.append()
    }

    pub(super) fn event(&self, kind: tagout_ledger::Kind, data: Value) -> NewEvent {
        let session = &self.record.session.id;
        record::other((&self.inner.clockwork, self.now), kind, Some(session), data)
    }

    fn append(&mut self) -> Result<Range<u64>, GateError> {
        self.leave_first()?;
        let appended = self.inner.ledger.append(&self.events)?;
        self.keep_session()?;
        Ok(appended.seqs)
    }

    pub(super) fn leave_first(&self) -> Result<(), GateError> {
        let store = &self.inner.site.store;
        store.leave_first(&self.before, &self.record)
    }

    pub(super) fn keep_session(&self) -> Result<(), GateError> {
        let store = &self.inner.site.store;
        store.keep_session(&self.before, &self.record)
    }
}

/// What is said when a yes was spent on a call that did not run.
pub(super) fn used_up(id: &str) -> String {
    format!("; the yes to `{id}` is used up, and the call needs another one")
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
