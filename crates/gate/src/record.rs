//! From executions to events: the state in an event always comes from the type.

use serde_json::{Value, json};
use tagout_ledger::{
    Commitment, Kind, LedgerError, NewEvent, PathChange, Stamp, Texts, ToolRef, Usage,
};
use tagout_vocab::limits::LEDGER_EVENT_BYTES_MAX;
use tagout_vocab::{SessionId, Timestamp};
use tagout_workspace::Change;

use crate::clockwork::Clockwork;
use crate::failure::Failure;
use crate::lifecycle::{Cause, Execution, State};
use crate::permit::Ticket;

/// Bytes that a line has beside its event: a number, a hash, and what is known only later.
const LINE_BYTES: usize = 1_024;

fn size(event: &NewEvent) -> usize {
    let bytes = serde_json::to_vec(event).map_or(usize::MAX, |bytes| bytes.len());
    bytes.saturating_add(LINE_BYTES)
}

/// Whether the ledger takes these events. It is asked before anything is done that they tell of:
/// what can't be told would stand in the way of everything after it.
pub(crate) fn can_be_told(events: &[NewEvent]) -> Result<(), LedgerError> {
    let sizes = events.iter().map(size);
    match sizes.max().filter(|bytes| *bytes > LEDGER_EVENT_BYTES_MAX) {
        Some(bytes) => Err(LedgerError::EventTooLarge { bytes }),
        None => Ok(()),
    }
}

/// Events about what is done already, with as many of their paths as the ledger takes.
pub(crate) fn shortened(mut events: Vec<NewEvent>) -> Vec<NewEvent> {
    for event in &mut events {
        let all = event.paths.len();
        while size(event) > LEDGER_EVENT_BYTES_MAX && !event.paths.is_empty() {
            event.paths.truncate(event.paths.len() / 2);
        }
        let left_out = all - event.paths.len();
        if left_out > 0 {
            let data = event.data.get_or_insert_with(|| json!({}));
            if let Some(data) = data.as_object_mut() {
                data.insert("pathsLeftOut".to_owned(), json!(left_out));
            }
        }
    }
    events
}

fn stamp(clockwork: &Clockwork, at: Timestamp) -> Stamp {
    Stamp {
        event_id: clockwork.id("ev"),
        timestamp: at,
    }
}

/// L10: the event of one transition.
pub(crate) fn transition<S: State>(
    clockwork: &Clockwork,
    execution: &Execution<S>,
    ticket: &Ticket,
    at: Timestamp,
) -> NewEvent {
    let tool = ToolRef {
        id: ticket.tool.clone(),
        version: ticket.version.clone(),
    };
    let id = execution.id().to_string();
    let stamp = stamp(clockwork, at);
    let mut event = NewEvent::lifecycle(stamp, tool, id, S::STATE, ticket.input_hash);
    event.session = Some(ticket.session.clone());
    event.intent.clone_from(&ticket.intent);
    event.agent.clone_from(&ticket.agent.name);
    event.model.clone_from(&ticket.agent.model);
    event
}

/// The same with what the judge said.
pub(crate) fn judged(mut event: NewEvent, ticket: &Ticket) -> NewEvent {
    event.capabilities.clone_from(&ticket.capabilities);
    event.verdict_code = Some(ticket.code.clone());
    event.rule = Some(ticket.rule.clone());
    event.approver.clone_from(&ticket.approver);
    event.grants = ticket.grants.iter().cloned().collect();
    event
}

/// An event of another kind, with what only it has to say.
pub(crate) fn other(
    (clockwork, at): (&Clockwork, Timestamp),
    kind: Kind,
    session: Option<&SessionId>,
    data: Value,
) -> NewEvent {
    let mut event = NewEvent::new(stamp(clockwork, at), kind);
    event.session = session.cloned();
    event.data = Some(data);
    event
}

/// What a finished run has to tell.
#[derive(Debug)]
pub(crate) struct Closing<'a> {
    pub(crate) clockwork: &'a Clockwork,
    pub(crate) ticket: &'a Ticket,
    pub(crate) started: Timestamp,
    pub(crate) ended: Timestamp,
}

impl Closing<'_> {
    fn duration(&self) -> u64 {
        let spent = self
            .ended
            .as_millis()
            .saturating_sub(self.started.as_millis());
        u64::try_from(spent).unwrap_or_default()
    }

    /// EXECUTING and COMPLETED.
    pub(crate) fn completed(
        &self,
        execution: Execution<crate::lifecycle::Executing>,
        (output, usage): (Option<&Value>, Option<Usage>),
        paths: Vec<PathChange>,
    ) -> Vec<NewEvent> {
        let began = transition(self.clockwork, &execution, self.ticket, self.started);
        let completed = execution.complete();
        let mut event = transition(self.clockwork, &completed, self.ticket, self.ended);
        event.capabilities.clone_from(&self.ticket.capabilities);
        event.grants = self.ticket.grants.iter().cloned().collect();
        event.duration = Some(self.duration());
        event.paths = paths;
        event.usage = usage;
        let class = self.ticket.declared.filter(|_| !event.paths.is_empty());
        event.data = class.map(|class| json!({ "mutationClass": class.as_str() }));
        if let Some(output) = output {
            self.commit_to(&mut event, output);
        }
        vec![began, event]
    }

    /// A salted commitment to what the tool returned, with the text beside the ledger.
    fn commit_to(&self, event: &mut NewEvent, output: &Value) {
        let salt = self.clockwork.random();
        let bytes = output.to_string();
        event.output_hash = Some(Commitment::new(salt, bytes.as_bytes()).digest);
        event.texts = Some(Texts {
            salt,
            input: None,
            output: Some(output.clone()),
        });
    }

    /// `EXECUTING`, `ABORTED` and `ROLLED_BACK`; the last two never come apart.
    pub(crate) fn aborted(
        &self,
        execution: Execution<crate::lifecycle::Executing>,
        failure: &Failure,
    ) -> Vec<NewEvent> {
        let began = transition(self.clockwork, &execution, self.ticket, self.started);
        let aborted = execution.abort();
        let mut ended = transition(self.clockwork, &aborted, self.ticket, self.ended);
        ended.duration = Some(self.duration());
        ended.error = Some(failure.details());
        ended.verdict_code = Some(failure.code.as_str().to_owned());
        ended.data = Some(json!({ "cause": cause_word(failure.cause) }));
        if let (Some(Value::Object(data)), Some(Value::Object(told))) =
            (&mut ended.data, &failure.more.told)
        {
            data.extend(told.clone());
        }
        if let Some(output) = &failure.more.output {
            self.commit_to(&mut ended, output);
        }
        let undone = aborted.roll_back();
        let mut undone = transition(self.clockwork, &undone, self.ticket, self.ended);
        undone.data = Some(json!({ "notUndone": failure.more.left }));
        vec![began, ended, undone]
    }
}

/// Whether a command could reach the network, in the event of its end.
pub(crate) const NETWORK_OPEN: &str = "networkOpen";

/// Adds what a command came to to the last event of its call.
pub(crate) fn tell_of_command(events: &mut [NewEvent], told: Option<&Value>) {
    if let (Some(last), Some(told)) = (events.last_mut(), told) {
        let mut told = told.clone();
        if let (Some(Value::Object(known)), Some(told)) = (last.data.take(), told.as_object_mut()) {
            told.extend(known);
        }
        last.data = Some(told);
    }
}

/// Changes as they stand in the ledger.
pub(crate) fn path_changes(changes: &[Change]) -> Vec<PathChange> {
    let change = |one: &Change| PathChange {
        path: one.path.to_string(),
        before: one.before,
        after: one.after,
    };
    changes.iter().map(change).collect()
}

/// A cause as it stands in the ledger.
pub(crate) fn cause_word(cause: Cause) -> String {
    let mut word = String::new();
    for character in format!("{cause:?}").chars() {
        if character.is_uppercase() && !word.is_empty() {
            word.push('_');
        }
        word.extend(character.to_lowercase());
    }
    word
}
