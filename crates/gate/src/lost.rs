//! Executions that the ledger authorised and that nobody can end any more: what was stored about
//! them is gone, as after a power failure. The ledger alone still knows them, and ends them.

use std::collections::{BTreeMap, BTreeSet};

use tagout_ledger::{Event, LifecycleState, Reader};
use tagout_vocab::limits::{LOST_SCAN_EVENTS_MAX, PERMIT_OPEN_MS_MAX};
use tagout_vocab::{Agent, CallId, Class, Timestamp};

use crate::engine::Inner;
use crate::error::GateError;
use crate::failure::FailureKind;
use crate::lifecycle::Cause;
use crate::permit::Ticket;
use crate::recover::{self, Why};

/// What the ledger shows from a number on.
struct Looked {
    /// Executions that were authorised and have no end so far.
    open: BTreeMap<String, Event>,
    /// The first number that was not looked at.
    next: u64,
}

fn look(inner: &Inner, from: u64) -> Result<Looked, GateError> {
    let reader = Reader::open(inner.ledger.dir())?;
    let mut looked = Looked {
        open: BTreeMap::new(),
        next: from,
    };
    if from >= reader.size()? {
        return Ok(looked);
    }
    for event in reader.events_from(from)?.take(LOST_SCAN_EVENTS_MAX) {
        let event = event?;
        looked.next = event.seq.saturating_add(1);
        let Some(id) = event.body.execution_id.clone() else {
            continue;
        };
        match event.body.state {
            Some(LifecycleState::Authorized) => drop(looked.open.insert(id, event)),
            Some(LifecycleState::Completed | LifecycleState::RolledBack) => {
                looked.open.remove(&id);
            }
            Some(
                LifecycleState::Declared
                | LifecycleState::Validated
                | LifecycleState::Executing
                | LifecycleState::Failed
                | LifecycleState::Denied
                | LifecycleState::Aborted,
            )
            | None => {}
        }
    }
    Ok(looked)
}

/// Ends every execution that has been open for longer than any permit and that no store knows.
/// Goes on where the last look ended; what is still open is looked at again.
pub(crate) fn close(inner: &Inner, now: Timestamp) -> Result<usize, GateError> {
    let store = &inner.site.store;
    let looked = look(inner, store.ended_before()?)?;
    let mut known: BTreeSet<CallId> = store
        .living()?
        .into_iter()
        .map(|ticket| ticket.execution)
        .collect();
    known.extend(store.open_tickets()?.into_iter().map(|one| one.execution));
    let (mut closed, mut before) = (0, looked.next);
    for event in looked.open.into_values() {
        let Some(ticket) = ticket(&event) else {
            continue;
        };
        if recover::has_ended(inner, &ticket.execution, event.seq)? {
            continue;
        }
        let age = now
            .as_millis()
            .saturating_sub(ticket.admitted_at.as_millis());
        if age <= PERMIT_OPEN_MS_MAX || known.contains(&ticket.execution) {
            before = before.min(event.seq);
            continue;
        }
        let why = Why {
            kind: FailureKind::State,
            cause: Cause::NeverSettled,
            message: "nobody told how the call ended, and what was stored about it is gone",
        };
        let events = recover::aborted(inner, &ticket, &why);
        drop(inner.ledger.append(&events)?);
        inner.workspace.release(&ticket.execution)?;
        closed += 1;
    }
    store.note_ended_before(before)?;
    Ok(closed)
}

/// As much of a permit as the event that authorised it says.
fn ticket(event: &Event) -> Option<Ticket> {
    let body = &event.body;
    Some(Ticket {
        execution: CallId::new(body.execution_id.as_deref()?).ok()?,
        seq: event.seq,
        tool: body.tool_id.clone()?,
        version: body.tool_version.clone()?,
        session: body.session.clone()?,
        intent: body.intent.clone(),
        agent: Agent {
            name: body.agent.clone(),
            model: body.model.clone(),
            parents: Vec::new(),
        },
        class: Class::Destructive,
        input_hash: body.input_hash?,
        capabilities: body.capabilities.clone(),
        code: body.verdict_code.clone().unwrap_or_default(),
        rule: body.rule.clone().unwrap_or_default(),
        approver: body.approver.clone(),
        grants: body.grants.iter().cloned().collect(),
        admitted_at: body.timestamp,
        law: None,
        mutated: Vec::new(),
        absent: Vec::new(),
        reads: Vec::new(),
        predicted: BTreeMap::new(),
        selects: None,
        role: None,
        declared: None,
        given: None,
    })
}
