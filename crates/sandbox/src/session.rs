//! What outlives one command: a session's network and its long-running commands.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::confine;
use crate::error::SandboxError;

/// A long-running command that was left to its session.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct Detached {
    /// Its number within the session.
    pub id: i32,
}

/// Where it is noted how the long-running command with this artifact ended: its exit code, in
/// digits.
pub fn exit_note(artifact: &Path) -> PathBuf {
    let mut name = artifact.as_os_str().to_owned();
    name.push(".exit");
    PathBuf::from(name)
}

/// The long-running commands that still run in the session of this folder.
pub fn session_runs(dir: &Path) -> Result<Vec<Detached>, SandboxError> {
    let numbers = confine::alive(dir)?;
    Ok(numbers.into_iter().map(|id| Detached { id }).collect())
}

/// Ends one long-running command of the session; says whether it ran. On return it is gone.
pub fn stop_detached(dir: &Path, run: Detached) -> Result<bool, SandboxError> {
    confine::stop_one(dir, run.id)
}

/// Ends everything that runs in the session of this folder, and its network. It is no error if
/// nothing runs. On return everything is gone.
pub fn stop_session(dir: &Path) -> Result<(), SandboxError> {
    confine::stop(dir)
}
