//! What can go wrong, in words that say what happened, where, and what to do.

use std::io;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// A plan that this machine can't hold: nothing was run.
#[derive(Clone, Debug, Eq, PartialEq, Error, Serialize, Deserialize)]
#[error("{what} can't be held here: {why}; {remedy}")]
pub struct Refused {
    /// The wall, the limit or the lane that is missing.
    pub what: String,
    /// What was seen.
    pub why: String,
    /// What a person can change.
    pub remedy: String,
}

impl Refused {
    /// A refusal in three parts.
    pub fn new(what: impl Into<String>, why: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            why: why.into(),
            remedy: remedy.into(),
        }
    }
}

/// A confined run that could not be started or followed. The command was not run outside instead.
#[derive(Debug, Error)]
pub enum SandboxError {
    /// The machine can't hold what was planned after all.
    #[error("{0}")]
    Refused(#[from] Refused),
    /// The program is not there, or can't be run.
    #[error("the program `{program}` can't be run: {source}")]
    Program {
        /// Its name as given.
        program: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// A step of the setup failed.
    #[error("the sandbox could not be built: {step}: {source}")]
    Setup {
        /// Which step.
        step: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The helper process could not be started or is gone.
    #[error("the sandbox's helper process can't be reached: {step}: {source}")]
    Helper {
        /// What was tried.
        step: &'static str,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The run ended without a word, as when its first process is killed from outside.
    #[error("the sandbox was ended from outside before it could report")]
    Vanished,
    /// The output could not be kept.
    #[error("the command's output could not be kept in `{path}`: {source}")]
    Output {
        /// The artifact.
        path: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

impl SandboxError {
    /// Whether the program was not found, which shells report as 127.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::Program { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }
}
