//! Questions about what happened.

use rusqlite::types::Value;
use tagout_vocab::limits::LEDGER_QUERY_ROWS_MAX;
use tagout_vocab::{IntentId, SessionId, Timestamp};

use crate::error::LedgerError;
use crate::event::{Event, Kind, LifecycleState};
use crate::index::{Index, Place};

/// Which events are wanted. What is not said does not matter.
#[derive(Clone, Debug, Default)]
pub struct Query {
    /// Those that served this intent.
    pub intent: Option<IntentId>,
    /// Those that changed this file, or a file in this folder.
    pub path: Option<String>,
    /// Those of this conversation.
    pub session: Option<SessionId>,
    /// Those since then, by their own time.
    pub since: Option<Timestamp>,
    /// Those of this tool.
    pub tool: Option<String>,
    /// Those with this state.
    pub state: Option<LifecycleState>,
    /// Those of this kind.
    pub kind: Option<Kind>,
    /// Those of this execution.
    pub execution: Option<String>,
    /// Those after this number: for following a ledger.
    pub after_seq: Option<u64>,
    /// The newest of them, at most this many.
    pub limit: Option<usize>,
}

/// Conditions on the table of events, and their values.
pub(crate) struct Conditions {
    pub(crate) clause: String,
    pub(crate) values: Vec<Value>,
}

impl Query {
    pub(crate) fn conditions(&self) -> Conditions {
        let text = |text: &str| Value::Text(text.to_owned());
        let mut parts: Vec<(&str, Vec<Value>)> = Vec::new();
        if let Some(intent) = &self.intent {
            parts.push(("intent = ?", vec![text(intent.as_str())]));
        }
        if let Some(session) = &self.session {
            parts.push(("session = ?", vec![text(session.as_str())]));
        }
        if let Some(since) = self.since {
            parts.push(("time >= ?", vec![Value::Integer(since.as_millis())]));
        }
        if let Some(tool) = &self.tool {
            parts.push(("tool = ?", vec![text(tool)]));
        }
        if let Some(state) = self.state {
            parts.push(("state = ?", vec![text(state.as_str())]));
        }
        if let Some(kind) = &self.kind {
            parts.push(("kind = ?", vec![text(kind.as_str())]));
        }
        if let Some(execution) = &self.execution {
            parts.push(("execution = ?", vec![text(execution)]));
        }
        if let Some(seq) = self.after_seq {
            let seq = i64::try_from(seq).unwrap_or(i64::MAX);
            parts.push(("seq > ?", vec![Value::Integer(seq)]));
        }
        if let Some(path) = &self.path {
            let path = path.trim_end_matches('/');
            // `0` is the character after `/`: everything beneath the folder, nothing beside it.
            let clause = "seq IN (SELECT seq FROM paths WHERE path = ? OR (path > ? AND path < ?))";
            let beneath = (format!("{path}/"), format!("{path}0"));
            let values = vec![text(path), Value::Text(beneath.0), Value::Text(beneath.1)];
            parts.push((clause, values));
        }
        let (clauses, values): (Vec<&str>, Vec<Vec<Value>>) = parts.into_iter().unzip();
        Conditions {
            clause: if clauses.is_empty() {
                "TRUE".to_owned()
            } else {
                clauses.join(" AND ")
            },
            values: values.into_iter().flatten().collect(),
        }
    }
}

impl Index {
    /// The events that a question asks for, oldest first.
    pub fn query(&self, query: &Query) -> Result<Vec<Event>, LedgerError> {
        let Conditions { clause, mut values } = query.conditions();
        let most = query
            .limit
            .unwrap_or(LEDGER_QUERY_ROWS_MAX)
            .min(LEDGER_QUERY_ROWS_MAX);
        values.push(Value::Integer(i64::try_from(most).unwrap_or(i64::MAX)));
        let text = format!(
            "SELECT segment, offset, length, hash FROM events
             WHERE {clause} AND kind <> 'unreadable' ORDER BY seq DESC LIMIT ?"
        );
        let places = self
            .places(&text, values)
            .map_err(|error| self.wrong(error))?;
        self.fetch(&places)
    }

    fn places(&self, text: &str, values: Vec<Value>) -> rusqlite::Result<Vec<Place>> {
        let mut statement = self.connection.prepare_cached(text)?;
        let rows = statement.query_map(rusqlite::params_from_iter(values), |row| {
            Ok(Place {
                segment: row.get(0)?,
                offset: row.get(1)?,
                length: row.get(2)?,
                hash: row.get(3)?,
            })
        })?;
        let mut places: Vec<Place> = rows.collect::<Result<_, _>>()?;
        places.reverse();
        Ok(places)
    }
}
