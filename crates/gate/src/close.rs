//! How a run ends: told to the ledger, to the session and to the caller.

use std::ops::Range;

use tagout_ledger::{Appended, NewEvent, Sealing};
use tagout_vocab::{Code, Refusal, Timestamp};
use tagout_workspace::{ConflictPath, RelPath};

use crate::admit::unavailable;
use crate::command;
use crate::engine::Inner;
use crate::error::GateError;
use crate::failure::{Failure, FailureKind};
use crate::history;
use crate::lifecycle::{Cause, Executing, Execution};
use crate::permit::Ticket;
use crate::receipt::{Outcome, Promise, Receipt};
use crate::record::{self, Closing};
use crate::requests;
use crate::run::Ran;
use crate::tool::Request;
use crate::tracing;

/// The receipt of a call that never began.
pub(crate) fn refused(outcome: Outcome, refusal: Box<Refusal>, seqs: Range<u64>) -> Receipt {
    let failure = match outcome {
        Outcome::Failed => FailureKind::Validation,
        Outcome::Completed | Outcome::RolledBack | Outcome::Denied | Outcome::Pending => {
            FailureKind::Authorization
        }
    };
    Receipt {
        refusal: Some(refusal),
        failure: Some(failure),
        seqs,
        ..Receipt::of(outcome, Promise::Run)
    }
}

pub(crate) fn of_state(error: &GateError) -> Failure {
    let (kind, cause) = (FailureKind::State, Cause::ExecutionError);
    Failure::new(kind, cause, error.code(), error.to_string())
}

pub(crate) fn not_registered() -> Failure {
    let message = "the tool is not registered".to_owned();
    let (kind, cause) = (FailureKind::State, Cause::ExecutionError);
    Failure::new(kind, cause, Code::ToolUnknown, message)
}

fn warn(receipt: &mut Receipt, appended: &Appended) {
    if let Sealing::Failed(error) = &appended.sealing {
        receipt
            .warnings
            .push(format!("no seal could be written: {error}"));
    }
    if let Some(error) = &appended.texts_failure {
        receipt
            .warnings
            .push(format!("the readable texts could not be kept: {error}"));
    }
}

/// `ABORTED` and `ROLLED_BACK`, and the short error.
pub(crate) fn aborted(
    inner: &Inner,
    (execution, ticket): (Execution<Executing>, &Ticket),
    failure: Failure,
) -> Receipt {
    let ended = inner.clockwork.now();
    let closing = Closing {
        clockwork: &inner.clockwork,
        ticket,
        started: ticket.admitted_at,
        ended,
    };
    let id = execution.id().clone();
    let events = closing.aborted(execution, &failure);
    let mut receipt = Receipt {
        execution: Some(id),
        refusal: Some(Box::new(failure.refusal(ticket.intent.as_ref()))),
        failure: Some(failure.kind),
        left: failure.more.left,
        output: failure.more.output,
        parked: failure.more.parked,
        ..Receipt::of(Outcome::RolledBack, Promise::Run)
    };
    match inner.ledger.append(&events) {
        Ok(appended) => {
            warn(&mut receipt, &appended);
            receipt.seqs = appended.seqs;
        }
        Err(error) => receipt
            .warnings
            .push(format!("the ledger can't be written: {error}")),
    }
    spend(inner, ticket, (ticket.admitted_at, ended));
    receipt
}

fn spend(inner: &Inner, ticket: &Ticket, (from, to): (Timestamp, Timestamp)) {
    let spent = to.as_millis().saturating_sub(from.as_millis());
    if let (Some(intent), Ok(spent)) = (&ticket.intent, u64::try_from(spent)) {
        // A count that is lost makes a budget last longer by one call; the calls are counted
        // before.
        drop(inner.site.store.count_time(intent, spent));
    }
}

/// COMPLETED, with what the tool asked for, in one durable step.
pub(crate) fn completed(
    inner: &Inner,
    (execution, ticket): (Execution<Executing>, &Ticket),
    ran: Ran,
    started: Timestamp,
) -> Receipt {
    let ended = inner.clockwork.now();
    let closing = Closing {
        clockwork: &inner.clockwork,
        ticket,
        started,
        ended,
    };
    let id = execution.id().clone();
    let changes = ran.committed.as_ref();
    let changes = changes.map(|committed| record::path_changes(&committed.changes));
    let changes = changes.unwrap_or_default();
    let until = ran
        .committed
        .as_ref()
        .map(|committed| committed.undoable_until);
    let mut events = closing.completed(
        execution,
        (Some(&ran.output), Some(ran.usage)),
        changes.clone(),
    );
    if let Some(last) = events.last_mut() {
        last.undoable_until = until;
    }
    record::tell_of_command(&mut events, ran.told.as_ref());
    let mut receipt = Receipt {
        execution: Some(id),
        changes,
        undoable_until: until,
        ..Receipt::of(Outcome::Completed, Promise::Run)
    };
    match tell(inner, ticket, (events, &ran), ended) {
        Ok(appended) => {
            warn(&mut receipt, &appended);
            receipt.seqs = appended.seqs;
        }
        Err(error) => return untold(inner, ticket, receipt, (&error, &ran)),
    }
    after(inner, ticket, &ran, &mut receipt);
    history::note(inner, ticket, &receipt);
    tracing::closed(inner, &mut receipt, (&ticket.execution, None));
    over(inner, ticket, &ran, &mut receipt);
    receipt.output = Some(ran.output);
    if let Some(committed) = ran.committed {
        let due = committed.checkpoint_due;
        tell_kept(&mut receipt, &committed.kept);
        committed.confirm();
        // A checkpoint that fails is due again with the next commit.
        if due && let Ok(checkpoint) = inner.workspace.checkpoint(|| Ok(())) {
            tell_kept(&mut receipt, &checkpoint.conflicts);
        }
    }
    spend(inner, ticket, (started, ended));
    receipt
}

/// Says where work of other programs lies that was found in what was replaced.
fn tell_kept(receipt: &mut Receipt, kept: &[ConflictPath]) {
    let told = kept
        .iter()
        .map(|one| format!("another program's work was kept: {one}"));
    receipt.warnings.extend(told);
}

/// Appends the closing events and what the tool asked for, under the session's lock.
fn tell(
    inner: &Inner,
    ticket: &Ticket,
    (mut events, ran): (Vec<NewEvent>, &Ran),
    now: Timestamp,
) -> Result<Appended, GateError> {
    if ran.requests.is_empty() {
        return Ok(inner.ledger.append(&events)?);
    }
    let store = &inner.site.store;
    let _locked = store.lock_session(&ticket.session)?;
    let before = store.session(&ticket.session)?;
    let mut record = before.clone();
    let mut applied = requests::apply(inner, &mut record, &ran.requests, now)?;
    events.append(&mut applied.events);
    store.leave_first(&before, &record)?;
    let appended = inner.ledger.append(&events)?;
    store.keep_session(&before, &record)?;
    requests::finish(inner, applied)?;
    Ok(appended)
}

/// The work is done but the ledger could not be told. A change stands, and the journal's record
/// tells the ledger later; what was only read is withheld.
fn untold(
    inner: &Inner,
    ticket: &Ticket,
    mut receipt: Receipt,
    (error, ran): (&GateError, &Ran),
) -> Receipt {
    receipt.refusal = Some(Box::new(unavailable(error)));
    receipt.failure = Some(FailureKind::State);
    if ran.committed.is_none() {
        receipt.outcome = Outcome::RolledBack;
        return receipt;
    }
    let told = "the ledger can't be written; the journal holds what it has to be told";
    receipt.warnings.push(told.to_owned());
    after(inner, ticket, ran, &mut receipt);
    receipt
}

/// A session that is over takes with it what it left running.
fn over(inner: &Inner, ticket: &Ticket, ran: &Ran, receipt: &mut Receipt) {
    let completes = |(_, request): &(String, Request)| *request == Request::Complete;
    if ran.requests.iter().any(completes)
        && let Err(error) = command::end_session(inner, &ticket.session)
    {
        let told = format!("what the session left running could not be ended: {error}");
        receipt.warnings.push(told);
    }
}

/// What the session has seen now.
fn after(inner: &Inner, ticket: &Ticket, ran: &Ran, receipt: &mut Receipt) {
    let noted = (|| {
        let seen = inner.workspace.seen(&ticket.session)?;
        for (path, before) in &ran.seen {
            let path = RelPath::from(path);
            let now = seen.note(&path)?;
            // It changed while the tool looked, so nobody knows which of the two was seen.
            if before.is_some() && now != *before {
                seen.forget(&path)?;
            }
        }
        match &ran.committed {
            Some(committed) => seen.note_committed(committed),
            None => Ok(()),
        }
    })();
    if let Err(error) = noted {
        receipt
            .warnings
            .push(format!("what was seen could not be noted: {error}"));
    }
}
