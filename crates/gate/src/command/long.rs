//! Long-running commands: noted with their session, told to the ledger when they are over.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::json;
use tagout_ledger::Kind;
use tagout_sandbox::Detached;
use tagout_vocab::limits::EXIT_NOTE_BYTES_MAX;
use tagout_vocab::{CallId, SessionId};
use tagout_workspace::files;

use super::folders::Folders;
use crate::engine::{Engine, Inner};
use crate::error::GateError;
use crate::permit::Ticket;
use crate::record;
use crate::store::Store;

const FILE: &str = "running.json";

/// One command that was left to its session.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Left {
    id: String,
    execution: CallId,
    session: SessionId,
    detached: Detached,
    command: String,
}

fn all(session: &Path) -> Vec<Left> {
    let path = session.join(FILE);
    if !path.is_file() {
        return Vec::new();
    }
    Store::read(&path).ok().flatten().unwrap_or_default()
}

/// Notes a command that goes on, and gives it an id.
pub(crate) fn note(
    session: &Path,
    ticket: &Ticket,
    detached: Detached,
    line: &str,
) -> Result<String, GateError> {
    let mut left = all(session);
    let id = ticket.execution.to_string();
    left.push(Left {
        id: id.clone(),
        execution: ticket.execution.clone(),
        session: ticket.session.clone(),
        detached,
        command: tagout_ledger::redact(line, tagout_ledger::Strength::Full),
    });
    Store::write(&session.join(FILE), &left)?;
    Ok(id)
}

/// Whether a command of the session was left running and still runs.
pub(crate) fn goes_on(session: &Path) -> bool {
    !all(session).is_empty()
        && tagout_sandbox::session_runs(&session.join("net")).is_ok_and(|runs| !runs.is_empty())
}

/// Ends what a session left running, and its network; the ledger is told.
pub(crate) fn end_session(inner: &Inner, session: &SessionId) -> Result<Vec<String>, GateError> {
    let folder = Folders::of(&inner.site.state).session(session);
    let left = all(&folder);
    if left.is_empty() {
        return Ok(Vec::new());
    }
    tagout_sandbox::stop_session(&folder.join("net")).map_err(|source| GateError::Sandbox {
        source: Box::new(source),
    })?;
    let now = inner.clockwork.now();
    let ended: Vec<String> = left.into_iter().map(|one| one.id).collect();
    let data = json!({ "ended": ended, "why": "its session ended" });
    let event = record::other((&inner.clockwork, now), Kind::Session, Some(session), data);
    drop(inner.ledger.append(&[event])?);
    files::remove(&folder.join(FILE))?;
    Ok(ended)
}

/// Tells the ledger of commands that ended by themselves since somebody looked.
pub(super) fn settle(inner: &Inner, layers: &[PathBuf]) -> Result<(), GateError> {
    for session in super::clean::named(layers, "s-") {
        let known = all(&session);
        let Some(of) = known.first().map(|one| one.session.clone()) else {
            continue;
        };
        // A keeper that can't be asked may still keep something.
        let Ok(runs) = tagout_sandbox::session_runs(&session.join("net")) else {
            continue;
        };
        let (left, over): (Vec<Left>, Vec<Left>) = known
            .into_iter()
            .partition(|one| runs.contains(&one.detached));
        if over.is_empty() {
            continue;
        }
        let exits = exits(inner, &over)?;
        let over: Vec<String> = over.into_iter().map(|one| one.id).collect();
        let data = json!({ "ended": over, "exits": exits, "why": "by themselves" });
        let clock = (&inner.clockwork, inner.clockwork.now());
        let event = record::other(clock, Kind::Session, Some(&of), data);
        drop(inner.ledger.append(&[event])?);
        if left.is_empty() {
            files::remove(&session.join(FILE))?;
        } else {
            Store::write(&session.join(FILE), &left)?;
        }
    }
    Ok(())
}

/// How commands that ended by themselves did, as far as the session's keeper noted it.
fn exits(inner: &Inner, over: &[Left]) -> Result<BTreeMap<String, i64>, GateError> {
    let folders = Folders::of(&inner.site.state);
    let mut found = BTreeMap::new();
    for one in over {
        let note = tagout_sandbox::exit_note(&folders.artifacts().join(one.execution.as_str()));
        let text = files::read(&note, EXIT_NOTE_BYTES_MAX)?.unwrap_or_default();
        if let Ok(code) = String::from_utf8_lossy(&text).trim().parse() {
            found.insert(one.id.clone(), code);
            files::remove(&note)?;
        }
    }
    Ok(found)
}

impl Engine {
    /// Ends the commands that a session left running, and says which.
    pub fn end_commands(&self, session: &SessionId) -> Result<Vec<String>, GateError> {
        end_session(&self.inner, session)
    }
}
