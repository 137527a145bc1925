//! Guard: what a client executed is looked at afterwards, recorded, and never rolled back.

use serde_json::{Value, json};
use tagout_ledger::{LifecycleState, NewEvent, PathChange};
use tagout_vocab::limits::PERMIT_REPEAT_MS_MAX;
use tagout_vocab::{Call, CallId, Code, Gate, Refusal, SessionId, Timestamp, WorkspacePath};
use tagout_workspace::RelPath;

use crate::engine::{Engine, Inner};
use crate::error::GateError;
use crate::failure::{Failure, FailureKind};
use crate::history;
use crate::lifecycle::{Cause, Executing, Execution};
use crate::permit::{Permit, Ticket};
use crate::receipt::{Outcome, Promise, Receipt, Report, Reported};
use crate::record::{self, Closing};
use crate::recover;
use crate::tracing;

/// What is known of a call that comes.
#[derive(Debug)]
pub(crate) enum Seen {
    /// Nothing.
    Never,
    /// It is open, and what it was judged by holds.
    Open(Box<Permit>),
    /// It is open, and what it was judged by is not what holds now.
    Outdated(Box<Ticket>),
}

/// The same call seen twice is judged once, as long as nothing that gives authority changed in
/// between. Another call under the same name is refused.
pub(crate) fn seen_before(inner: &Inner, call: &Call) -> Result<Seen, Box<Refusal>> {
    let Some(id) = call.id.as_ref() else {
        return Ok(Seen::Never);
    };
    match resume(inner, id) {
        Ok(permit) if permit.is_for(call) => match still_holds(inner, permit.ticket()) {
            Ok(true) => Ok(Seen::Open(Box::new(permit))),
            Ok(false) => Ok(Seen::Outdated(Box::new(permit.ticket().clone()))),
            Err(error) => Err(Box::new(crate::admit::unavailable(&error))),
        },
        Ok(_) => Err(Box::new(refusal(
            format!("call {id} is open with another tool, other arguments or another folder"),
            "make the call again under an id of its own",
        ))),
        Err(GateError::NoPermit { .. }) => Ok(Seen::Never),
        // What can't be looked up may be open, under another verdict than the one it would get.
        Err(error) => {
            let refusal = crate::admit::unavailable(&error);
            // The denial stands, also where it can't be recorded.
            drop(crate::admit::refuse(inner, call, refusal.clone()));
            Err(Box::new(refusal))
        }
    }
}

/// Whether the law, the session and its parents are what a permit was given under, a moment ago.
fn still_holds(inner: &Inner, ticket: &Ticket) -> Result<bool, GateError> {
    let store = &inner.site.store;
    let session = store.session(&ticket.session)?.session;
    let parents = store.ancestors(&session)?;
    let under = ticket.leaves();
    let same = |one: &tagout_vocab::Session| one.active_intent() == under;
    let now = inner.clockwork.now().as_millis();
    let age = now.saturating_sub(ticket.admitted_at.as_millis());
    Ok(ticket.law == Some(inner.shelf.version)
        && same(&session)
        && parents.iter().all(same)
        && (0..=PERMIT_REPEAT_MS_MAX).contains(&age))
}

fn refusal(reason: String, remedy: &str) -> Refusal {
    Refusal::built_in((Gate::Record, Code::Conflict), "record", reason, remedy)
}

/// A permit from an earlier process, if the ledger confirms it.
pub(crate) fn resume(inner: &Inner, execution: &CallId) -> Result<Permit, GateError> {
    let refused = |why| GateError::NoPermit {
        id: execution.to_string(),
        why,
    };
    let ticket = inner.site.store.ticket(execution)?;
    let mut ticket = ticket.ok_or_else(|| refused("no such permit is open"))?;
    let seq = recover::authorised(inner, execution, ticket.seq)?;
    ticket.seq = seq.ok_or_else(|| refused("the ledger did not authorise it"))?;
    let (event, durable) = inner.ledger.confirm(ticket.seq)?;
    let body = event.body;
    let authorised = body.state == Some(LifecycleState::Authorized)
        && body.execution_id.as_deref() == Some(execution.as_str())
        && body.session.as_ref() == Some(&ticket.session)
        && body.input_hash == Some(ticket.input_hash);
    if !authorised {
        return Err(refused("the ledger did not authorise it"));
    }
    let resumed = Execution::resumed(execution.clone());
    Permit::new(resumed, &durable, ticket).ok_or_else(|| refused("the ledger's token differs"))
}

/// Closes an open permit by what its client reports, once.
pub(crate) fn settled(
    inner: &Inner,
    (execution, ticket): (Execution<Executing>, &Ticket),
    report: &Report,
) -> Receipt {
    // Two reports on one call come one after the other.
    let open = inner
        .site
        .store
        .lock_session(&ticket.session)
        .and_then(|locked| Ok((is_open(inner, ticket)?, locked)));
    match open {
        Ok((true, _locked)) => settle_open(inner, (execution, ticket), report),
        Ok((false, _)) => {
            let reason = format!("call {} was settled before", ticket.execution);
            let remedy = "nothing: what was recorded first stands";
            not_settled(execution.id(), refusal(reason, remedy))
        }
        Err(error) => not_settled(execution.id(), crate::admit::unavailable(&error)),
    }
}

fn not_settled(execution: &CallId, refusal: Refusal) -> Receipt {
    Receipt {
        execution: Some(execution.clone()),
        refusal: Some(Box::new(refusal)),
        failure: Some(FailureKind::State),
        ..Receipt::of(Outcome::Denied, Promise::Guard)
    }
}

/// Whether a permit still waits for its report. A crash may have left it although the ledger knows
/// its end.
fn is_open(inner: &Inner, ticket: &Ticket) -> Result<bool, GateError> {
    let store = &inner.site.store;
    let kept = store.ticket(&ticket.execution)?;
    // The commitment is salted, so it is another one each time a call is admitted.
    if kept.is_none_or(|kept| kept.input_hash != ticket.input_hash) {
        return Ok(false);
    }
    if !recover::has_ended(inner, &ticket.execution, ticket.seq)? {
        return Ok(true);
    }
    let_go(inner, &ticket.execution)?;
    Ok(false)
}

/// Frees the paths of a call and closes its permit.
fn let_go(inner: &Inner, execution: &CallId) -> Result<(), GateError> {
    inner.workspace.release(execution)?;
    inner.site.store.drop_ticket(execution)
}

fn settle_open(
    inner: &Inner,
    (execution, ticket): (Execution<Executing>, &Ticket),
    report: &Report,
) -> Receipt {
    let changes = tracing::since_snapshot(inner, ticket).map(|found| record::path_changes(&found));
    let (changes, unseen) = match changes {
        Ok(changes) => (changes, None),
        Err(error) => (Vec::new(), Some(error.to_string())),
    };
    let altered = is_altered(ticket, report);
    let run = Settling {
        inner,
        ticket,
        altered,
        prediction: prediction(inner, ticket),
        unseen,
    };
    // Whatever the client says: files that hold what the arguments predict were written by it.
    let is_predicted = !changes.is_empty() && run.prediction == Prediction::Kept;
    match &report.ended {
        Reported::Succeeded => run.completed(execution, report.output.as_ref(), changes),
        Reported::Failed { message } => {
            let (kind, cause) = (FailureKind::Execution, Cause::ExecutionError);
            let failure = Failure::new(kind, cause, Code::ExecutionFailed, message.clone());
            run.close(execution, Err((failure, changes, is_predicted)))
        }
        Reported::Unknown if is_predicted => run.completed(execution, None, changes),
        Reported::Unknown => run.guess_not(execution, changes),
    }
}

/// Design §13.6: another program may have changed the arguments after they were permitted.
fn is_altered(ticket: &Ticket, report: &Report) -> bool {
    let (Some(reported), Some(given)) = (&report.arguments, &ticket.given) else {
        return false;
    };
    !given.has(reported)
}

/// Whether the files that a call is about hold what its arguments say.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Prediction {
    /// It is about none.
    Nothing,
    /// All of them do.
    Kept,
    /// One does not. A formatter that ran on it is the usual cause.
    Missed,
    /// For one of them nobody can tell, and the others do.
    Unknown,
}

impl Prediction {
    /// As it stands in the event of an end.
    fn said(self) -> Option<Value> {
        match self {
            Self::Nothing => None,
            Self::Kept => Some(true.into()),
            Self::Missed => Some(false.into()),
            Self::Unknown => Some("unknown".into()),
        }
    }
}

fn prediction(inner: &Inner, ticket: &Ticket) -> Prediction {
    let mut all = Prediction::Nothing;
    for path in &ticket.mutated {
        let now = inner.workspace.digest(&RelPath::from(path)).ok();
        match (ticket.predicted.get(path), now) {
            (Some(after), Some(now)) if *after != now => return Prediction::Missed,
            (Some(_), Some(_)) if all != Prediction::Unknown => all = Prediction::Kept,
            (_, _) => all = Prediction::Unknown,
        }
    }
    all
}

/// What a client returned and changed; or why it failed, what changed all the same, and whether
/// that is what its arguments predict.
type Ended<'a> = Result<(Option<&'a Value>, Vec<PathChange>), (Failure, Vec<PathChange>, bool)>;

/// One permit on its way to its end.
struct Settling<'a> {
    inner: &'a Inner,
    ticket: &'a Ticket,
    altered: bool,
    prediction: Prediction,
    /// Why nobody knows what changed, if the look at it failed.
    unseen: Option<String>,
}

impl Settling<'_> {
    fn completed(
        &self,
        execution: Execution<Executing>,
        output: Option<&Value>,
        changes: Vec<PathChange>,
    ) -> Receipt {
        let receipt = self.close(execution, Ok((output, changes)));
        // What other arguments made the client read, nobody knows.
        if !self.altered {
            note_seen(self.inner, self.ticket);
        }
        receipt
    }

    /// Design §13.8: a missing report is settled by what the arguments predict, and nothing else.
    fn guess_not(&self, execution: Execution<Executing>, changes: Vec<PathChange>) -> Receipt {
        let message = "nobody told how the call ended, and the files do not tell".to_owned();
        let (kind, cause) = (FailureKind::State, Cause::NeverSettled);
        let failure = Failure::new(kind, cause, Code::ExecutionFailed, message);
        self.close(execution, Err((failure, changes, false)))
    }

    fn close(&self, execution: Execution<Executing>, ended: Ended<'_>) -> Receipt {
        let closing = Closing {
            clockwork: &self.inner.clockwork,
            ticket: self.ticket,
            started: self.ticket.admitted_at,
            ended: self.inner.clockwork.now(),
        };
        let id = execution.id().clone();
        let (mut receipt, mut events) = match ended {
            Ok((output, changes)) => {
                let mut events = closing.completed(execution, (output, None), changes.clone());
                if let Some(said) = self.prediction.said() {
                    say(&mut events, AS_PREDICTED, said);
                }
                let mut receipt = Receipt::of(Outcome::Completed, Promise::Guard);
                receipt.changes = changes;
                (receipt, events)
            }
            Err((mut failure, changes, is_predicted)) => {
                failure.more.left = changes.iter().map(|one| one.path.clone()).collect();
                let mut events = closing.aborted(execution, &failure);
                tell_left(&mut events, &changes, is_predicted);
                let mut receipt = Receipt::of(Outcome::RolledBack, Promise::Guard);
                let intent = self.ticket.intent.as_ref();
                receipt.refusal = Some(Box::new(failure.refusal(intent)));
                receipt.failure = Some(failure.kind);
                receipt.left = failure.more.left;
                receipt.changes = changes;
                (receipt, events)
            }
        };
        receipt.execution = Some(id);
        if self.altered {
            self.tell_altered(&mut receipt, &mut events);
        }
        if let Some(why) = &self.unseen {
            receipt.warnings.push(format!(
                "what call {} changed is not known: {why}",
                self.ticket.execution
            ));
            say(&mut events, CHANGES_UNKNOWN, true.into());
        }
        self.finish((receipt, &events))
    }

    fn tell_altered(&self, receipt: &mut Receipt, events: &mut [NewEvent]) {
        receipt.altered = true;
        receipt.warnings.push(format!(
            "call {} was executed with other arguments than it was permitted for: another hook \
             changed them",
            self.ticket.execution
        ));
        say(events, ARGUMENTS_CHANGED, true.into());
    }

    fn finish(&self, (mut receipt, events): (Receipt, &[NewEvent])) -> Receipt {
        let (inner, ticket) = (self.inner, self.ticket);
        match inner.ledger.append(events) {
            Ok(appended) => receipt.seqs = appended.seqs,
            Err(error) => {
                // The permit stays open, to be settled when the ledger can be written again.
                receipt
                    .warnings
                    .push(format!("the ledger can't be written: {error}"));
                return receipt;
            }
        }
        history::note(inner, ticket, &receipt);
        let effects = match tracing::of_snapshot(inner, ticket) {
            Ok(effects) => Some(effects),
            Err(error) if self.unseen.is_none() => {
                receipt.warnings.push(format!(
                    "what call {} changed can't be kept for taking it back: {error}",
                    ticket.execution
                ));
                None
            }
            Err(_) => None,
        };
        let is_looked_at = effects.is_some();
        let is_kept = tracing::closed(inner, &mut receipt, (&ticket.execution, effects));
        let mut freed = let_go(inner, &ticket.execution);
        if is_looked_at && is_kept {
            // The trace has both sides now.
            freed = freed.and(tracing::drop_snapshot(inner, ticket));
        }
        if let Err(error) = freed {
            receipt
                .warnings
                .push(format!("the permit could not be closed: {error}"));
        }
        receipt
    }
}

/// Says something in the event of an end.
fn say(events: &mut [NewEvent], what: &str, value: Value) {
    if let Some(last) = events.last_mut() {
        let mut data = last.data.take().unwrap_or_else(|| json!({}));
        if let Some(data) = data.as_object_mut() {
            data.insert(what.to_owned(), value);
        }
        last.data = Some(data);
    }
}

/// That a call was executed with other arguments than it was let through with, in an event.
pub(crate) const ARGUMENTS_CHANGED: &str = "argumentsChanged";

/// That nobody knows what a call changed, in the event of its end.
const CHANGES_UNKNOWN: &str = "changesUnknown";

/// What a failed call left is a change like any other: the ledger has its digests, and the trace
/// takes it from there.
fn tell_left(events: &mut [NewEvent], changes: &[PathChange], is_predicted: bool) {
    let Some(last) = events.last_mut().filter(|_| !changes.is_empty()) else {
        return;
    };
    last.paths = changes.to_vec();
    if let Some(data) = last.data.as_mut().and_then(Value::as_object_mut) {
        data.insert(AS_PREDICTED.to_owned(), is_predicted.into());
    }
}

/// Whether what a call left is what its arguments predict, in the event of its end.
pub(crate) const AS_PREDICTED: &str = "asPredicted";

/// What the client read or wrote, its session has seen.
fn note_seen(inner: &Inner, ticket: &Ticket) {
    if let Ok(seen) = inner.workspace.seen(&ticket.session) {
        for path in ticket.reads.iter().chain(&ticket.mutated) {
            // A note that is missing makes the next edit ask for another read, no more.
            drop(seen.note(&RelPath::from(path)));
        }
    }
}

impl Engine {
    /// Frees paths for another call of the same session: settles the permits on them whose files
    /// are already what the call makes of them, whether anyone reports it or not, and those that
    /// nobody reported on since a time. A permit on other paths may still wait for a person's yes
    /// at its client, and stays.
    pub fn settle_on(
        &self,
        session: &SessionId,
        paths: &[String],
        before: Timestamp,
    ) -> Result<Vec<Receipt>, GateError> {
        let mut receipts = Vec::new();
        for ticket in self.inner.site.store.open_tickets()? {
            let meets = |path: &WorkspacePath| paths.iter().any(|one| one == path.as_str());
            if ticket.session != *session || !ticket.mutated.iter().any(meets) {
                continue;
            }
            let changed = || tracing::since_snapshot(&self.inner, &ticket);
            let is_done = prediction(&self.inner, &ticket) == Prediction::Kept
                && changed().is_ok_and(|changes| !changes.is_empty());
            if is_done || ticket.admitted_at < before {
                receipts.extend(self.settle_unreported(&ticket)?);
            }
        }
        Ok(receipts)
    }

    /// Settles every permit of a session that was given before a time and that nobody reported on.
    pub fn settle_missing(
        &self,
        session: &SessionId,
        before: Timestamp,
    ) -> Result<Vec<Receipt>, GateError> {
        let mut receipts = Vec::new();
        for ticket in self.inner.site.store.open_tickets()? {
            if ticket.session == *session && ticket.admitted_at < before {
                receipts.extend(self.settle_unreported(&ticket)?);
            }
        }
        Ok(receipts)
    }

    /// Settles a permit by what the files tell. One that the ledger never authorised, because its
    /// process failed or died on the way, was given to nobody and goes.
    pub(crate) fn settle_unreported(&self, ticket: &Ticket) -> Result<Option<Receipt>, GateError> {
        match self.resume(&ticket.execution) {
            Ok(permit) => Ok(Some(self.settle(permit, &Report::default()))),
            Err(GateError::NoPermit { .. }) => {
                self.drop_ungiven(ticket)?;
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn drop_ungiven(&self, ticket: &Ticket) -> Result<bool, GateError> {
        // Whoever is just being admitted holds the lock of its session.
        let inner = &self.inner;
        let _locked = inner.site.store.lock_session(&ticket.session)?;
        let resumed = self.resume(&ticket.execution);
        let ungiven = matches!(resumed, Err(GateError::NoPermit { .. }));
        if ungiven {
            let_go(inner, &ticket.execution)?;
        }
        Ok(ungiven)
    }

    /// Frees what processes hold that failed or died before the ledger had their record, whatever
    /// session they were for. Gives how many there were.
    pub fn free_ungiven(&self, before: Timestamp) -> Result<usize, GateError> {
        let mut freed = 0;
        for ticket in self.inner.site.store.open_tickets()? {
            if ticket.admitted_at >= before {
                continue;
            }
            let resumed = self.resume(&ticket.execution);
            if matches!(resumed, Err(GateError::NoPermit { .. })) && self.drop_ungiven(&ticket)? {
                freed += 1;
            }
        }
        Ok(freed)
    }
}
