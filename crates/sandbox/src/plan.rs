//! From what is wanted and what this machine holds to a lane with named enforcers, or a refusal.

use serde::{Deserialize, Serialize};

use crate::confine::{self, Running};
use crate::error::{Refused, SandboxError};
use crate::host::Host;
use crate::wanted::{Lane, Wanted};

/// A wall or a limit and who holds it.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct Enforcer {
    /// The wall or the limit.
    pub what: String,
    /// Who holds it.
    pub by: String,
    /// Whether this is a weaker form that the user's layer accepted.
    pub weaker: bool,
}

impl Enforcer {
    /// The usual form.
    pub fn new(what: impl Into<String>, by: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            by: by.into(),
            weaker: false,
        }
    }
}

/// A command that can be held here, with its lane and enforcers named.
#[derive(Debug)]
pub struct Plan {
    pub(crate) wanted: Wanted,
    pub(crate) lane: Lane,
    pub(crate) enforcers: Vec<Enforcer>,
}

impl Plan {
    /// The lane it will run in, which may be a weaker one that was accepted.
    pub fn lane(&self) -> Lane {
        self.lane
    }

    /// Who will hold what.
    pub fn enforcers(&self) -> &[Enforcer] {
        &self.enforcers
    }

    /// Builds the sandbox and starts the command; returns once its program runs.
    pub fn start(self) -> Result<Running, SandboxError> {
        confine::start(self)
    }
}

/// Decides how the command is held, without doing anything.
pub fn plan(_host: &Host, _wanted: &Wanted) -> Result<Plan, Refused> {
    Err(Refused::new(
        "the sandbox",
        "it is not built yet",
        "wait for it",
    ))
}
