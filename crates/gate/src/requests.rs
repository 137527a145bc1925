//! What tools ask of the engine: carried out in the same step of the ledger as their end.

use serde_json::json;
use tagout_ledger::{Kind, NewEvent};
use tagout_policy::session::{self, Change, Happening};
use tagout_vocab::{Code, IntentId, Role, Session, SessionId, Timestamp};

use crate::engine::Inner;
use crate::error::GateError;
use crate::failure::{Failure, FailureKind};
use crate::lifecycle::Cause;
use crate::permit::Ticket;
use crate::record;
use crate::store::{Proposal, ProposalState, Question, SessionRecord};
use crate::teach;
use crate::tool::{Lesson, Request};

/// What carrying out requests came to: events for the step, and what follows once it is durable.
#[derive(Debug, Default)]
pub(crate) struct Applied {
    pub(crate) events: Vec<NewEvent>,
    released: Vec<(IntentId, SessionId)>,
    learnt: Vec<Lesson>,
}

/// The event of one move of a session.
pub(crate) fn session_event(
    inner: &Inner,
    id: &SessionId,
    change: &Change,
    now: Timestamp,
) -> NewEvent {
    let data = json!({
        "from": change.from, "to": change.to, "dropped": change.dropped, "why": change.why,
    });
    record::other((&inner.clockwork, now), Kind::Session, Some(id), data)
}

/// Only the tools whose part it is may move a session; anything else is beyond what was judged.
pub(crate) fn permitted(ticket: &Ticket, request: &Request) -> Result<(), Failure> {
    let fits = match request {
        Request::Select(id) => ticket.selects.as_ref() == Some(id),
        Request::Complete => ticket.role == Some(Role::Completion),
        Request::Child { .. } => ticket.role == Some(Role::Delegation),
        Request::Question { .. }
        | Request::Propose { .. }
        | Request::Todo(_)
        | Request::SwitchMode(_) => true,
        Request::Learn(_) => ticket.role == Some(Role::Shell),
    };
    if fits {
        return Ok(());
    }
    let message = format!("the tool `{}` asked for what is not its part", ticket.tool);
    let (kind, cause) = (FailureKind::Execution, Cause::ScopeViolated);
    Err(Failure::new(kind, cause, Code::CapabilityDenied, message))
}

/// Moves a session, with the events of each move.
pub(crate) fn advance(
    inner: &Inner,
    record: &mut SessionRecord,
    happening: &Happening,
    now: Timestamp,
) -> Applied {
    let moved = session::advance(&record.session, happening);
    let mut applied = Applied::default();
    for change in &moved.changes {
        let id = &record.session.id;
        applied.events.push(session_event(inner, id, change, now));
        let dropped = change.dropped.clone();
        applied
            .released
            .extend(dropped.map(|intent| (intent, id.clone())));
    }
    record.session = moved.session;
    applied
}

fn merge(applied: &mut Applied, mut more: Applied) {
    applied.events.append(&mut more.events);
    applied.released.append(&mut more.released);
    applied.learnt.append(&mut more.learnt);
}

/// In guard the hook that sees the selection performs it, because it knows the session.
pub(crate) fn on_admission(
    inner: &Inner,
    record: &mut SessionRecord,
    ticket: &Ticket,
    now: Timestamp,
) -> Result<Applied, GateError> {
    let request = match (&ticket.selects, ticket.role) {
        (Some(id), _) => Request::Select(id.clone()),
        (None, Some(Role::Completion)) => Request::Complete,
        (None, _) => return Ok(Applied::default()),
    };
    apply(inner, record, &[(String::new(), request)], now)
}

/// Carries requests out on a session whose lock is held.
pub(crate) fn apply(
    inner: &Inner,
    record: &mut SessionRecord,
    requests: &[(String, Request)],
    now: Timestamp,
) -> Result<Applied, GateError> {
    let mut applied = Applied::default();
    for (id, request) in requests {
        let more = one(inner, record, (id, request), now)?;
        merge(&mut applied, more);
    }
    Ok(applied)
}

fn one(
    inner: &Inner,
    record: &mut SessionRecord,
    (id, request): (&str, &Request),
    now: Timestamp,
) -> Result<Applied, GateError> {
    let store = &inner.site.store;
    let session = record.session.id.clone();
    let event = |kind, data| record::other((&inner.clockwork, now), kind, Some(&session), data);
    let mut applied = Applied::default();
    match request {
        Request::Select(intent) => {
            // A child works under its parent's lease.
            if record.session.parent.is_none() && !store.lease(intent, &session, now)? {
                return Err(GateError::Unknown {
                    what: "free intent",
                    id: intent.to_string(),
                });
            }
            applied = advance(inner, record, &Happening::Selected(intent.clone()), now);
            let mut selected = event(Kind::Intent, json!({ "selected": intent }));
            selected.intent = Some(intent.clone());
            applied.events.push(selected);
        }
        Request::Complete => applied = advance(inner, record, &Happening::Completed, now),
        Request::Question { question, choices } => {
            store.keep_question(Question {
                id: id.to_owned(),
                session: session.clone(),
                question: question.clone(),
                choices: choices.clone(),
                asked_at: now,
                answer: None,
            })?;
            applied
                .events
                .push(event(Kind::Question, json!({ "question": id })));
        }
        Request::Propose { .. } => {
            store.keep_proposal(proposal(id, &session, request, now))?;
            applied
                .events
                .push(event(Kind::Intent, json!({ "proposed": id })));
        }
        Request::Learn(lesson) => {
            if record.learn(lesson) {
                let data = json!({ "learned": lesson.command, "exit": lesson.exit_code });
                applied.events.push(event(Kind::Session, data));
                applied.learnt.push(lesson.clone());
            }
        }
        Request::Todo(list) => record.todos = Some(list.clone()),
        Request::SwitchMode(mode) => {
            record.mode = Some(mode.clone());
            applied
                .events
                .push(event(Kind::Session, json!({ "mode": mode })));
        }
        Request::Child { mode, .. } => {
            let child = child(inner, &record.session, (id, mode))?;
            applied
                .events
                .push(event(Kind::Session, json!({ "child": child })));
        }
    }
    Ok(applied)
}

fn proposal(id: &str, session: &SessionId, request: &Request, now: Timestamp) -> Proposal {
    let mut made = Proposal {
        id: id.to_owned(),
        session: session.clone(),
        intent: None,
        name: None,
        owned_scope: Vec::new(),
        reason: String::new(),
        constraints: Vec::new(),
        acceptance_criteria: Vec::new(),
        asked_at: now,
        state: ProposalState::Pending,
    };
    if let Request::Propose {
        intent,
        name,
        owned_scope,
        reason,
        constraints,
        acceptance_criteria,
    } = request
    {
        made.intent.clone_from(intent);
        made.name.clone_from(name);
        made.owned_scope.clone_from(owned_scope);
        made.reason.clone_from(reason);
        made.constraints.clone_from(constraints);
        made.acceptance_criteria.clone_from(acceptance_criteria);
    }
    made
}

/// A child begins where its parent stands, and is demoted as soon as the parent leaves.
pub(crate) fn child(
    inner: &Inner,
    parent: &Session,
    (id, mode): (&str, &str),
) -> Result<SessionId, GateError> {
    let id = SessionId::new(id).map_err(|source| GateError::Id {
        text: id.to_owned(),
        source,
    })?;
    let _locked = inner.site.store.lock_session(&id)?;
    let empty = SessionRecord::new(id.clone());
    let record = beneath(inner, parent, (&empty, mode))?;
    inner.site.store.keep_session(&empty, &record)?;
    Ok(id)
}

/// A session as a child of another: it stands where its parent does, whatever it did before.
pub(crate) fn beneath(
    inner: &Inner,
    parent: &Session,
    (before, mode): (&SessionRecord, &str),
) -> Result<SessionRecord, GateError> {
    let mut record = before.clone();
    record.session = Session {
        id: before.session.id.clone(),
        parent: Some(parent.id.clone()),
        ..parent.clone()
    };
    record.mode = Some(mode.to_owned());
    // One too deep to be checked at every call is not begun.
    inner.site.store.ancestors(&record.session)?;
    Ok(record)
}

/// What follows once the step is durable.
pub(crate) fn finish(inner: &Inner, applied: Applied) -> Result<(), GateError> {
    for (intent, session) in applied.released {
        inner.site.store.release(&intent, Some(&session))?;
    }
    for lesson in applied.learnt {
        // The session and the ledger have it; the intent's own list is for orientation only.
        drop(inner.site.store.note_lesson(&lesson));
        drop(teach::note(inner, &lesson));
    }
    Ok(())
}
