//! Guard: what a client executed is looked at afterwards, recorded, and never rolled back.

use serde_json::Value;
use tagout_ledger::{LifecycleState, NewEvent, PathChange};
use tagout_vocab::{Call, CallId, Code, SessionId, Timestamp, WorkspacePath};
use tagout_workspace::RelPath;

use crate::engine::{Engine, Inner};
use crate::error::GateError;
use crate::failure::{Failure, FailureKind};
use crate::lifecycle::{Cause, Executing, Execution};
use crate::permit::{Permit, Ticket};
use crate::receipt::{Outcome, Promise, Receipt, Report, Reported};
use crate::record::{self, Closing};

/// The same call seen twice is judged once.
pub(crate) fn seen_before(inner: &Inner, call: &Call) -> Option<Permit> {
    let id = call.id.as_ref()?;
    let permit = resume(inner, id).ok()?;
    (call.session.as_ref() == Some(permit.session())).then_some(permit)
}

/// A permit from an earlier process, if the ledger confirms it.
pub(crate) fn resume(inner: &Inner, execution: &CallId) -> Result<Permit, GateError> {
    let refused = |why| GateError::NoPermit {
        id: execution.to_string(),
        why,
    };
    let ticket = inner.site.store.ticket(execution)?;
    let ticket = ticket.ok_or_else(|| refused("no such permit is open"))?;
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

/// Closes an open permit by what its client reports.
pub(crate) fn settled(
    inner: &Inner,
    (execution, ticket): (Execution<Executing>, &Ticket),
    report: &Report,
) -> Receipt {
    let changes = inner
        .workspace
        .diff(&ticket.execution)
        .map(|found| record::path_changes(&found));
    let changes = changes.unwrap_or_default();
    match &report.ended {
        Reported::Succeeded => {
            let output = report.output.as_ref();
            let receipt = close(inner, (execution, ticket), Ok((output, changes)));
            note_seen(inner, ticket);
            receipt
        }
        Reported::Failed { message } => {
            let (kind, cause) = (FailureKind::Execution, Cause::ExecutionError);
            let failure = Failure::new(kind, cause, Code::ExecutionFailed, message.clone());
            close(inner, (execution, ticket), Err((failure, changes)))
        }
        Reported::Unknown => guess_not(inner, (execution, ticket), changes),
    }
}

/// Design §13.8: a missing report is settled by what the arguments predict, and by nothing else.
fn guess_not(
    inner: &Inner,
    (execution, ticket): (Execution<Executing>, &Ticket),
    changes: Vec<PathChange>,
) -> Receipt {
    let as_predicted = |path: &WorkspacePath| {
        let now = inner.workspace.digest(&RelPath::from(path));
        let after = ticket.predicted.get(path);
        now.is_ok_and(|now| after == Some(&now))
    };
    if !ticket.mutated.is_empty() && ticket.mutated.iter().all(as_predicted) && !changes.is_empty()
    {
        return close(inner, (execution, ticket), Ok((None, changes)));
    }
    let message = "nobody told how the call ended, and the files do not tell".to_owned();
    let (kind, cause) = (FailureKind::State, Cause::NeverSettled);
    let failure = Failure::new(kind, cause, Code::ExecutionFailed, message);
    close(inner, (execution, ticket), Err((failure, changes)))
}

type Ended<'a> = Result<(Option<&'a Value>, Vec<PathChange>), (Failure, Vec<PathChange>)>;

fn close(
    inner: &Inner,
    (execution, ticket): (Execution<Executing>, &Ticket),
    ended: Ended<'_>,
) -> Receipt {
    let closing = Closing {
        clockwork: &inner.clockwork,
        ticket,
        started: ticket.admitted_at,
        ended: inner.clockwork.now(),
    };
    let id = execution.id().clone();
    let (mut receipt, events) = match ended {
        Ok((output, changes)) => {
            let events = closing.completed(execution, output, changes.clone());
            let mut receipt = Receipt::of(Outcome::Completed, Promise::Guard);
            receipt.changes = changes;
            (receipt, events)
        }
        Err((mut failure, changes)) => {
            failure.more.left = changes.iter().map(|one| one.path.clone()).collect();
            let events = closing.aborted(execution, &failure);
            let mut receipt = Receipt::of(Outcome::RolledBack, Promise::Guard);
            receipt.refusal = Some(Box::new(failure.refusal(ticket.intent.as_ref())));
            receipt.failure = Some(failure.kind);
            receipt.left = failure.more.left;
            receipt.changes = changes;
            (receipt, events)
        }
    };
    receipt.execution = Some(id);
    finish(inner, ticket, (receipt, &events))
}

fn finish(
    inner: &Inner,
    ticket: &Ticket,
    (mut receipt, events): (Receipt, &[NewEvent]),
) -> Receipt {
    match inner.ledger.append(events) {
        Ok(appended) => receipt.seqs = appended.seqs,
        Err(error) => {
            // The permit stays open, so that it is settled when the ledger can be written again.
            receipt
                .warnings
                .push(format!("the ledger can't be written: {error}"));
            return receipt;
        }
    }
    let freed = inner
        .workspace
        .release(&ticket.execution)
        .map_err(GateError::from);
    if let Err(error) = freed.and_then(|()| inner.site.store.drop_ticket(&ticket.execution)) {
        receipt
            .warnings
            .push(format!("the permit could not be closed: {error}"));
    }
    receipt
}

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
    /// Settles every permit of a session that was given before a time and that nobody reported on.
    pub fn settle_missing(
        &self,
        session: &SessionId,
        before: Timestamp,
    ) -> Result<Vec<Receipt>, GateError> {
        let mut receipts = Vec::new();
        for ticket in self.inner.site.store.open_tickets(session)? {
            if ticket.admitted_at < before {
                let permit = self.resume(&ticket.execution)?;
                receipts.push(self.settle(permit, &Report::default()));
            }
        }
        Ok(receipts)
    }
}
