//! How a confined command ended.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::limits::LimitHit;
use crate::output::Captured;
use crate::plan::Enforcer;
use crate::wanted::Lane;

/// How the command itself ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// It returned this code.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
}

impl Exit {
    /// The code that a shell would report.
    pub fn shell_code(self) -> i32 {
        match self {
            Self::Code(code) => code,
            Self::Signal(signal) => 128 + signal,
        }
    }

    /// Whether the command says that all went well.
    pub fn is_success(self) -> bool {
        self == Self::Code(0)
    }
}

/// A run that is over: every process of it is gone.
#[derive(Clone, Debug, Serialize)]
pub struct Ended {
    /// How the command itself ended.
    pub exit: Exit,
    /// The limit that was hit, if one was, or that processes were left behind; the run has failed
    /// then, whatever the exit says.
    pub failed_by: Option<LimitHit>,
    /// Whether [`crate::Running::stop`] or the end of the session ended it.
    pub stopped: bool,
    /// Who held what.
    pub enforcers: Vec<Enforcer>,
    /// The lane it ran in.
    pub lane: Lane,
    /// From start to end.
    pub wall: Duration,
    /// Processor time of all its processes.
    pub cpu: Duration,
    /// The most memory that was seen in use at once, in bytes; `None` where nobody measured.
    pub peak_memory: Option<u64>,
    /// Its output.
    pub output: Captured,
    /// Whether someone set the machine's clock meanwhile, so that times can't be compared.
    pub clock_was_set: bool,
    /// A note about a known limit of this lane that the output points to, with the remedy.
    pub hint: Option<String>,
}

impl Ended {
    /// Whether the run counts as a success: exit 0, no limit hit, not stopped.
    pub fn is_success(&self) -> bool {
        self.exit.is_success() && self.failed_by.is_none() && !self.stopped
    }
}
