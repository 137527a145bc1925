//! The one boundary that every tool stands behind, native or custom (H2).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tagout_vocab::{Declaration, IntentId, Timestamp};
use thiserror::Error;

use crate::command::Command;
pub use crate::context::Context;

/// A tool that the engine can run. Whoever implements this gets the whole lifecycle.
pub trait Tool: Send + Sync {
    /// RFC-0001's ten fields.
    fn declaration(&self) -> &Declaration;

    /// Whether this version is going away, and what comes instead.
    fn deprecation(&self) -> Option<Deprecation> {
        None
    }

    /// The command that a run with this input begins with, if it runs one. Its sandbox may be built
    /// while the call is being recorded; nothing is started before that is done.
    fn command(&self, input: &Map<String, Value>) -> Option<Command> {
        let _ = input;
        None
    }

    /// Does the work. Every change goes through the context's transaction and happens only after
    /// this has returned, its output was checked and its changes were judged again.
    fn run(
        &self,
        input: &Map<String, Value>,
        context: &mut Context<'_, '_>,
    ) -> Result<Value, ToolError>;
}

/// L13: a tool version that is going away.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Deprecation {
    /// Since which version.
    pub since: String,
    /// The tool or version to use instead.
    pub successor: String,
    /// How to move over.
    pub guidance: String,
}

/// What a tool asks the engine to do once it has returned, in the same step of the ledger.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Request {
    /// Select an intent: the handshake.
    Select(IntentId),
    /// The task is done: give up the intent.
    Complete,
    /// Ask a person.
    Question {
        /// The question.
        question: String,
        /// Answers to choose from.
        choices: Vec<String>,
    },
    /// Ask a person for an intent or for a wider scope (H18).
    Propose {
        /// The intent to widen; a new one is wanted without it.
        intent: Option<IntentId>,
        /// The name of a new intent.
        name: Option<String>,
        /// The paths that it would own.
        owned_scope: Vec<String>,
        /// Why.
        reason: String,
        /// What it has to keep to.
        constraints: Vec<String>,
        /// When it is done.
        acceptance_criteria: Vec<String>,
    },
    /// Keep the agent's own list of things to do.
    Todo(String),
    /// Note the mode in which the agent works from now on.
    SwitchMode(String),
    /// H14: keep what a failed verification taught.
    Learn(Lesson),
    /// Begin a child session, whose law is never wider.
    Child {
        /// Its mode.
        mode: String,
        /// Its task.
        message: String,
    },
}

/// H14: what a failed verification command taught, as it is kept with the session.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct Lesson {
    /// When.
    pub at: Timestamp,
    /// For which intent.
    pub intent: Option<IntentId>,
    /// The command, without what looks like a secret.
    pub command: String,
    /// How it ended, as a shell says it.
    pub exit_code: i32,
    /// The end of what it printed, without what looks like a secret.
    pub output: String,
}

/// Why a tool could not do its work.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ToolError {
    /// An argument that the schema could not catch.
    #[error("{message}")]
    Invalid {
        /// What is wrong with it.
        message: String,
    },
    /// Nothing is there.
    #[error("`{path}` does not exist")]
    NotFound {
        /// Where.
        path: String,
    },
    /// The path leads out of the workspace.
    #[error("`{path}` leads out of the workspace")]
    Outside {
        /// The path as it was given.
        path: String,
    },
    /// More than may be read or written.
    #[error("`{path}` has {size} bytes, more than {max}")]
    TooLarge {
        /// Where.
        path: String,
        /// Its bytes.
        size: u64,
        /// The bound.
        max: u64,
    },
    /// Not text.
    #[error("`{path}` is not text")]
    Binary {
        /// Where.
        path: String,
    },
    /// The old text is nowhere.
    #[error("{message}")]
    NoMatch {
        /// What was looked for, where.
        message: String,
        /// Places that come near.
        candidates: Vec<String>,
    },
    /// The old text is in several places.
    #[error("{message}")]
    Ambiguous {
        /// What was looked for, where.
        message: String,
        /// The places.
        candidates: Vec<String>,
    },
    /// Something that the tool needs is not to be had now; the same call may succeed later.
    #[error("{message}")]
    Resource {
        /// What is lacking.
        message: String,
    },
    /// A command that can't be held here: it was not run.
    #[error("{message}")]
    Confinement {
        /// What is missing.
        message: String,
        /// What a person can change.
        remedy: String,
    },
    /// The workspace refused.
    #[error(transparent)]
    Workspace(#[from] tagout_workspace::Error),
    /// Anything else.
    #[error("{message}")]
    Failed {
        /// What happened.
        message: String,
        /// What led to it.
        #[source]
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
}

impl ToolError {
    /// A failure in plain words.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::Failed {
            message: message.into(),
            source: None,
        }
    }

    /// Places that come near, where the error knows some.
    pub fn candidates(&self) -> &[String] {
        match self {
            Self::NoMatch { candidates, .. } | Self::Ambiguous { candidates, .. } => candidates,
            Self::Invalid { .. }
            | Self::NotFound { .. }
            | Self::Outside { .. }
            | Self::TooLarge { .. }
            | Self::Binary { .. }
            | Self::Resource { .. }
            | Self::Confinement { .. }
            | Self::Workspace(_)
            | Self::Failed { .. } => &[],
        }
    }
}
