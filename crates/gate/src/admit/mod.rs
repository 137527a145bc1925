//! From a call to a permit: gather, judge, claim, judge again, record.

mod allowing;
mod asking;
mod ending;
mod weigh;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use serde_json::{Map, Value};
use tagout_ledger::NewEvent;
use tagout_policy::judge::{Approval, Case};
use tagout_policy::session::{self, Happening};
use tagout_vocab::{
    Call, CallId, Digest, Gate, GrantId, IntentId, Judgement, Refusal, Role, Session, SessionId,
    Timestamp, Verdict, WorkspacePath,
};

use crate::command::{Attached, Ready};
use crate::engine::Inner;
use crate::error::GateError;
use crate::facts::Gathered;
use crate::permit::Permit;
use crate::registry::Entry;
use crate::requests;
use crate::store::SessionRecord;

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
        /// The numbers of the events of the step.
        seqs: Range<u64>,
    },
    Denied {
        refusal: Box<Refusal>,
        /// The input did not conform.
        invalid: bool,
        /// The numbers of the events of the step; none if it could not be recorded.
        seqs: Range<u64>,
    },
}

/// A permit with what running needs.
#[derive(Debug)]
pub(crate) struct Admitted {
    pub(crate) permit: Permit,
    pub(crate) arguments: Map<String, Value>,
    pub(crate) entry: Option<Arc<Entry>>,
    pub(crate) warnings: Vec<String>,
    /// The session as it was stored.
    pub(crate) session: Session,
    /// The command of the call, if it has one that could be made ready.
    pub(crate) ready: Option<Ready>,
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
    /// What is connected to a call that the engine executes.
    attached: Option<&'a Attached>,
    now: Timestamp,
    before: SessionRecord,
    /// The session as it is judged: after the call itself, and never wider than its parents.
    record: SessionRecord,
    events: Vec<NewEvent>,
    /// The request whose yes was used for it.
    used: Option<String>,
}

/// What the judge and the engine's own checks found.
struct Judged {
    judgement: Judgement,
    gathered: Gathered,
    arguments: Map<String, Value>,
    valid: bool,
    name: String,
    /// Whether the catalogue knows the tool.
    known: bool,
    role: Option<Role>,
    capabilities: Vec<String>,
    /// C3: the grants that the verdict rests on.
    grants: BTreeSet<GrantId>,
    selects: Option<IntentId>,
    digest: Digest,
    predicted: BTreeMap<WorkspacePath, Option<Digest>>,
}

/// Considers a call that the engine executes, with what is connected to it, or else its client.
/// Every failure on the way is a denial.
pub(crate) fn consider(inner: &Inner, call: &Call, attached: Option<&Attached>) -> Considered {
    let denied = |error: &GateError| Considered::Denied {
        refusal: Box::new(unavailable(error)),
        invalid: false,
        seqs: 0..0,
    };
    let session = match session_of(call) {
        Ok(session) => session,
        Err(error) => return denied(&error),
    };
    let locked = inner.site.store.lock_session(&session);
    let considered = locked.and_then(|_locked| {
        let mut step = Step::new(inner, call, attached, &session)?;
        step.go()
    });
    considered.unwrap_or_else(|error| denied(&error))
}

/// Records a refusal that the caller has decided on, as if a check had found it.
pub(crate) fn refuse(inner: &Inner, call: &Call, refusal: Refusal) -> Result<(), GateError> {
    let session = session_of(call)?;
    let _locked = inner.site.store.lock_session(&session)?;
    let mut step = Step::new(inner, call, None, &session)?;
    let execution = step.execution_id()?;
    let mut judged = step.judge(Approval::None, None)?;
    judged.judgement.verdict = Verdict::Deny(Box::new(refusal));
    judged.valid = true;
    step.end(execution, judged, (None, None))?;
    Ok(())
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
        remedy: if error.is_passing() {
            "make the call again".to_owned()
        } else {
            "a person looks at the state folder; nothing runs until it can be written".to_owned()
        },
        retryable: error.is_passing(),
        intent_id: None,
        paths: Vec::new(),
        gate: Gate::Record,
        rule: "built-in: record".to_owned(),
    }
}

impl<'a> Step<'a> {
    fn new(
        inner: &'a Inner,
        call: &'a Call,
        attached: Option<&'a Attached>,
        id: &SessionId,
    ) -> Result<Self, GateError> {
        let now = inner.clockwork.now();
        let before = inner.site.store.session(id)?;
        let moved = session::advance(&before.session, &Happening::Called);
        let mut record = before.clone();
        record.session = moved.session;
        record.touched_at = Some(now);
        let mut events = Vec::new();
        for change in &moved.changes {
            events.push(requests::session_event(inner, id, change, now));
        }
        Ok(Self {
            inner,
            call,
            way: attached.map_or(Way::Guard, |_| Way::Run),
            attached,
            now,
            before,
            record,
            events,
            used: None,
        })
    }

    fn go(&mut self) -> Result<Considered, GateError> {
        let execution = self.execution_id()?;
        let ended = self.weighed(&execution);
        if !matches!(ended, Ok(Considered::Permitted(_))) && self.way == Way::Guard {
            self.inner.workspace.release(&execution)?;
        }
        ended
    }

    fn weighed(&mut self, execution: &CallId) -> Result<Considered, GateError> {
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
            match self.claim(execution, &judged)? {
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
        self.end(execution.clone(), judged, (asked, claim))
    }
}
