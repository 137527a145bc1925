//! What dead processes left behind: the ledger is brought to agree with the workspace.

use serde::{Deserialize, Serialize};
use serde_json::json;
use tagout_ledger::{Kind, LifecycleState, NewEvent, Reader};
use tagout_vocab::{CallId, Code};
use tagout_workspace::{ConflictPath, Outcome};

use crate::command::{self, SealedApply};
use crate::engine::Inner;
use crate::error::GateError;
use crate::failure::{Failure, FailureKind};
use crate::lifecycle::{Cause, Executing, Execution};
use crate::permit::Ticket;
use crate::record::{self, Closing};
use crate::undo::SealedUndo;

/// What a journal record carries for the ledger.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Sealed {
    /// The number of the event that authorised the call: nothing about its end comes before it.
    pub(crate) admitted: u64,
    pub(crate) ticket: Ticket,
    pub(crate) events: Vec<NewEvent>,
}

/// What recovery did, for whoever opened the engine.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Recovered {
    /// Executions whose change is in the workspace and that the ledger now knows to be completed.
    pub completed: Vec<CallId>,
    /// Executions of which nothing is left.
    pub rolled_back: Vec<CallId>,
    /// Places where someone else's work was found and left alone.
    pub conflicts: Vec<String>,
}

impl Recovered {
    /// Nothing but files of others that were kept.
    pub(crate) fn kept(conflicts: &[ConflictPath]) -> Self {
        Self {
            conflicts: conflicts.iter().map(ToString::to_string).collect(),
            ..Self::default()
        }
    }
}

/// Whether the ledger knows how an execution ended.
pub(crate) fn has_ended(inner: &Inner, execution: &CallId, from: u64) -> Result<bool, GateError> {
    let reader = Reader::open(inner.ledger.dir())?;
    for event in reader.events_from(from)? {
        let body = event?.body;
        let ended = body.state.is_some_and(|state| {
            matches!(
                state,
                LifecycleState::Completed | LifecycleState::RolledBack
            )
        });
        if ended && body.execution_id.as_deref() == Some(execution.as_str()) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The number of the event that authorised an execution, if the ledger did.
pub(crate) fn authorised(
    inner: &Inner,
    execution: &CallId,
    from: u64,
) -> Result<Option<u64>, GateError> {
    let reader = Reader::open(inner.ledger.dir())?;
    if from >= reader.size()? {
        return Ok(None);
    }
    for event in reader.events_from(from)? {
        let event = event?;
        let body = event.body;
        if body.state == Some(LifecycleState::Authorized)
            && body.execution_id.as_deref() == Some(execution.as_str())
        {
            return Ok(Some(event.seq));
        }
    }
    Ok(None)
}

/// Whether a call that holds paths can never report: its process died before the permit was kept,
/// before it was authorised, or after it had ended. Who can't be looked up is not gone.
pub(crate) fn is_gone(inner: &Inner, execution: &CallId) -> bool {
    match inner.site.store.ticket(execution) {
        Ok(None) => true,
        Ok(Some(ticket)) => {
            let authorised = authorised(inner, execution, ticket.seq);
            matches!(authorised, Ok(None))
                || has_ended(inner, execution, ticket.seq).unwrap_or(false)
        }
        Err(_) => false,
    }
}

/// Frees the paths of calls that are gone.
pub(crate) fn release_gone(inner: &Inner) -> Result<(), GateError> {
    let is_gone = |execution: &CallId| is_gone(inner, execution);
    Ok(inner.workspace.release_gone(is_gone)?)
}

/// Why an execution ends that did not end by itself.
pub(crate) struct Why {
    pub(crate) kind: FailureKind,
    pub(crate) cause: Cause,
    pub(crate) message: &'static str,
}

/// The process that was at it is gone.
const PROCESS_ENDED: Why = Why {
    kind: FailureKind::State,
    cause: Cause::ProcessEnded,
    message: "its process ended before it did",
};

pub(crate) fn aborted(inner: &Inner, ticket: &Ticket, why: &Why) -> Vec<NewEvent> {
    let now = inner.clockwork.now();
    let closing = Closing {
        clockwork: &inner.clockwork,
        ticket,
        started: ticket.admitted_at,
        ended: now,
    };
    let code = Code::ExecutionFailed;
    let failure = Failure::new(why.kind, why.cause, code, why.message.to_owned());
    let execution = Execution::<Executing>::orphaned(ticket.execution.clone());
    closing.aborted(execution, &failure)
}

/// Brings workspace and ledger to agree. Cheap when nothing was left.
pub(crate) fn recover(inner: &Inner) -> Result<Recovered, GateError> {
    let found = inner.workspace.recover()?;
    let mut recovered = Recovered::default();
    let mut confirmed = Vec::new();
    for settled in &found.settled {
        // A record without closing events is an undo, which its own execution already told of.
        if let Ok(sealed) = serde_json::from_slice::<Sealed>(&settled.closing)
            && !has_ended(inner, &settled.execution, sealed.admitted)?
        {
            match settled.outcome {
                Outcome::Committed => {
                    let events = record::shortened(sealed.events);
                    drop(inner.ledger.append(&events)?);
                    recovered.completed.push(settled.execution.clone());
                }
                Outcome::Aborted => {
                    let events = aborted(inner, &sealed.ticket, &PROCESS_ENDED);
                    drop(inner.ledger.append(&events)?);
                    recovered.rolled_back.push(settled.execution.clone());
                }
            }
        }
        if let Ok(applied) = serde_json::from_slice::<SealedApply>(&settled.closing)
            && settled.outcome == Outcome::Committed
        {
            applied.tell(inner)?;
        }
        if let Ok(undone) = serde_json::from_slice::<SealedUndo>(&settled.closing)
            && settled.outcome == Outcome::Committed
        {
            undone.tell(inner)?;
        }
        confirmed.push(settled.execution.clone());
    }
    if !confirmed.is_empty() {
        inner.workspace.confirm(&confirmed)?;
    }
    let taken = command::take_back(inner)?;
    orphans(inner, &mut recovered)?;
    // What commands left costs a look into every session that ran some, and is only in the way of
    // the next command.
    if inner.commands.is_some() {
        command::clean(inner)?;
    }
    recovered.conflicts = found.conflicts.iter().map(ToString::to_string).collect();
    recovered.conflicts.extend(taken);
    // Told before the checkpoint: nobody finds these again if that fails.
    tell(inner, &recovered)?;
    if found.checkpoint_due {
        let late = Recovered::kept(&inner.workspace.checkpoint(|| Ok(()))?.conflicts);
        tell(inner, &late)?;
        recovered.conflicts.extend(late.conflicts);
    }
    Ok(recovered)
}

/// Tells the ledger what was done and found, if it was anything.
pub(crate) fn tell(inner: &Inner, recovered: &Recovered) -> Result<(), GateError> {
    if *recovered == Recovered::default() {
        return Ok(());
    }
    let data = json!({
        "completed": recovered.completed,
        "rolledBack": recovered.rolled_back,
        "conflicts": recovered.conflicts,
    });
    let now = inner.clockwork.now();
    let event = record::other((&inner.clockwork, now), Kind::Recovery, None, data);
    drop(inner.ledger.append(&[event])?);
    Ok(())
}

/// Calls that were running in a process that is gone and whose change was never committed.
fn orphans(inner: &Inner, recovered: &mut Recovered) -> Result<(), GateError> {
    inner.site.store.orphans(|tickets| {
        for ticket in tickets {
            let (execution, from) = (&ticket.execution, ticket.seq);
            if authorised(inner, execution, from)?.is_some() && !has_ended(inner, execution, from)?
            {
                let events = aborted(inner, &ticket, &PROCESS_ENDED);
                drop(inner.ledger.append(&events)?);
                recovered.rolled_back.push(ticket.execution.clone());
            }
        }
        Ok(())
    })
}
