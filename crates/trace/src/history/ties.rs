//! The last link of the chain: which calls' lines are in which commit.

use serde::{Deserialize, Serialize};
use tagout_vocab::{CallId, WorkspacePath};

use super::bytes::{Reader, Writer};
use super::{HistoryError, Key, Store};

/// Lines of one call in one file of a commit.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct Tie {
    /// The call.
    pub execution: CallId,
    /// The file.
    pub path: WorkspacePath,
    /// How many of its lines are there.
    pub lines_count: usize,
    /// Whether there is no doubt about any of them.
    pub is_certain: bool,
}

/// What is known of a commit; `None` for one that was never tied.
pub fn ties_of<S: Store>(store: &S, commit: &str) -> Result<Option<Vec<Tie>>, HistoryError> {
    let key = Key::commit(commit);
    let Some(bytes) = store.get(&key)? else {
        return Ok(None);
    };
    let ties = serde_json::from_slice(&bytes).map_err(|_| HistoryError::Damaged {
        key: key.to_string(),
        what: "the calls of a commit",
    })?;
    Ok(Some(ties))
}

/// The commits that a call's lines went into, in the order in which they were tied.
pub fn commits_of<S: Store>(store: &S, execution: &CallId) -> Result<Vec<String>, HistoryError> {
    let key = Key::commits_of(execution.as_str());
    let bytes = store.get(&key)?.unwrap_or_default();
    let damaged = || HistoryError::Damaged {
        key: key.to_string(),
        what: "the commits of a call",
    };
    let mut reader = Reader(&bytes);
    let mut commits: Vec<String> = Vec::new();
    while !reader.0.is_empty() {
        let id = reader.framed().ok_or_else(damaged)?;
        let id = std::str::from_utf8(id).map_err(|_| damaged())?;
        if !commits.iter().any(|known| known == id) {
            commits.push(id.to_owned());
        }
    }
    Ok(commits)
}

/// Ties calls to a commit, both ways. What is known stays, so that doing it again says the same;
/// an empty list notes that the commit was looked into.
pub fn add_ties<S: Store>(store: &mut S, commit: &str, ties: &[Tie]) -> Result<(), HistoryError> {
    let key = Key::commit(commit);
    let mut all = ties_of(store, commit)?.unwrap_or_default();
    let mut executions: Vec<CallId> = Vec::new();
    for tie in ties {
        if !all.contains(tie) {
            let is_new = all.iter().all(|known| known.execution != tie.execution);
            if is_new {
                executions.push(tie.execution.clone());
            }
            all.push(tie.clone());
        }
    }
    let bytes = serde_json::to_vec(&all).map_err(|_| HistoryError::Damaged {
        key: key.to_string(),
        what: "calls that can be written",
    })?;
    store.put(&key, &bytes)?;
    let mut id = Writer::default();
    id.framed(commit.as_bytes());
    for execution in executions {
        store.append(&Key::commits_of(execution.as_str()), &id.0)?;
    }
    Ok(())
}
