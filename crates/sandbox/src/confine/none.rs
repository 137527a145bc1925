//! Systems without walls that were proven to hold: every run is refused.

use std::path::{Path, PathBuf};

use crate::ended::Ended;
use crate::error::{Refused, SandboxError};
use crate::plan::Plan;
use crate::session::Detached;
use crate::wanted::Lane;

/// A sandbox that waits for the word to start its command. There is none on this system.
#[derive(Debug)]
pub struct Prepared {
    never: std::convert::Infallible,
}

impl Prepared {
    /// Starts the command.
    pub fn start(self) -> Result<Running, SandboxError> {
        match self.never {}
    }
}

/// A run that is under way. There is none on this system.
#[derive(Debug)]
pub struct Running {
    never: std::convert::Infallible,
}

impl Running {
    /// The lane it runs in.
    pub fn lane(&self) -> Lane {
        match self.never {}
    }

    /// Waits for the end of the command and of everything it started.
    pub fn wait(self) -> Result<Ended, SandboxError> {
        match self.never {}
    }

    /// Whether the run is over within this time.
    pub fn ended_within(&self, _time: std::time::Duration) -> Result<bool, SandboxError> {
        match self.never {}
    }

    /// Ends the command and everything it started; [`Running::wait`] then returns.
    pub fn stop(&self) {
        match self.never {}
    }

    /// A handle with which another thread can end the run.
    pub fn stopper(&self) -> Stopper {
        match self.never {}
    }

    /// Leaves a long-running command to its session.
    pub fn detach(self) -> Result<Detached, SandboxError> {
        match self.never {}
    }
}

/// Ends a run from another thread. There is none on this system.
#[derive(Clone, Debug)]
pub struct Stopper {
    never: std::convert::Infallible,
}

impl Stopper {
    /// Ends the command and everything it started.
    pub fn stop(&self) {
        match self.never {}
    }
}

/// Must be the first thing in `main`. There is no helper on this system.
pub fn serve_if_helper() {}

/// Names another program to start as the helper. There is none on this system.
pub fn use_helper(_program: PathBuf) {}

/// There is none on this system.
pub fn start_helper_early(_home: Option<&std::path::Path>) {}

/// Refuses.
pub(crate) fn prepare(_plan: Plan) -> Result<Prepared, SandboxError> {
    Err(unavailable().into())
}

/// There is no Landlock on this system.
pub(crate) fn landlock_abi() -> u32 {
    0
}

/// Why nothing runs here.
pub(crate) fn unavailable() -> Refused {
    Refused::new(
        "a confined command",
        "there is no sandbox for this system yet",
        "use Linux, or a Linux container or virtual machine",
    )
}

/// How many processors this process may use; nobody asks on this system.
pub fn processors() -> usize {
    1
}

/// Who runs this; nobody asks on this system.
pub(crate) fn user() -> String {
    String::new()
}

/// Nothing runs on this system.
pub(crate) fn alive(_dir: &Path) -> Result<Vec<i32>, SandboxError> {
    Ok(Vec::new())
}

/// Nothing runs on this system.
pub(crate) fn stop_one(_dir: &Path, _number: i32) -> Result<bool, SandboxError> {
    Ok(false)
}

/// Nothing runs on this system.
pub(crate) fn stop(_dir: &Path) -> Result<(), SandboxError> {
    Ok(())
}
