//! One thing that a call would touch.

use serde::{Deserialize, Serialize};

use crate::Place;

/// A path in a call: as it was given, and where it lies.
#[derive(Clone, Debug, Eq, PartialEq, Ord, PartialOrd, Serialize, Deserialize)]
pub struct Target {
    /// The text as the caller spelled it. Whoever sees the file system resolves this, not `place`.
    pub raw: String,
    /// Where the text alone says it lies.
    #[serde(flatten)]
    pub place: Place,
}

/// One thing that a call would do, derived from its annotations and arguments.
#[derive(Clone, Debug, Eq, PartialEq, Ord, PartialOrd, Serialize, Deserialize)]
#[serde(tag = "effect", rename_all = "snake_case")]
pub enum Effect {
    /// Reads a path.
    Read(Target),
    /// Creates or changes a path.
    Write(Target),
    /// Makes a folder where none is; one that is there stays as it is.
    MakeFolder(Target),
    /// Removes a path.
    Delete(Target),
    /// Removes one path and writes another.
    Move {
        /// What is moved.
        from: Target,
        /// Where it goes.
        to: Target,
    },
    /// Runs a command line whose own effects are not all known.
    Run {
        /// The command line.
        command: String,
    },
    /// Reaches another machine.
    Reach {
        /// Host or address, where it is known.
        host: Option<String>,
    },
    /// Calls a tool of a remote server.
    Remote {
        /// The server.
        server: String,
        /// The tool there.
        tool: String,
    },
    /// Hands work to another agent.
    Delegate,
    /// Drives the desktop.
    Desktop,
    /// Something that can't be read from the arguments.
    Unknown {
        /// What is unknown, and why.
        what: String,
    },
}

impl Effect {
    /// The paths that this effect changes.
    pub fn mutated(&self) -> Vec<&Target> {
        match self {
            Self::Write(target) | Self::MakeFolder(target) | Self::Delete(target) => vec![target],
            Self::Move { from, to } => vec![from, to],
            Self::Read(_)
            | Self::Run { .. }
            | Self::Reach { .. }
            | Self::Remote { .. }
            | Self::Delegate
            | Self::Desktop
            | Self::Unknown { .. } => Vec::new(),
        }
    }

    /// Every path that this effect names.
    pub fn targets(&self) -> Vec<&Target> {
        match self {
            Self::Read(target) => vec![target],
            Self::Write(_)
            | Self::MakeFolder(_)
            | Self::Delete(_)
            | Self::Move { .. }
            | Self::Run { .. }
            | Self::Reach { .. }
            | Self::Remote { .. }
            | Self::Delegate
            | Self::Desktop
            | Self::Unknown { .. } => self.mutated(),
        }
    }
}

impl Effect {
    /// The effect in words, for a person.
    pub fn described(&self) -> String {
        match self {
            Self::Read(target) => format!("reads {}", target.place.shown()),
            Self::Write(target) => format!("writes {}", target.place.shown()),
            Self::MakeFolder(target) => format!("makes the folder {}", target.place.shown()),
            Self::Delete(target) => format!("deletes {}", target.place.shown()),
            Self::Move { from, to } => {
                format!("moves {} to {}", from.place.shown(), to.place.shown())
            }
            Self::Run { command } => format!("runs {command}"),
            Self::Reach { host: Some(host) } => format!("reaches {host}"),
            Self::Reach { host: None } => "reaches the network".to_owned(),
            Self::Remote { server, tool } => format!("calls {tool} of server {server}"),
            Self::Delegate => "hands work to another agent".to_owned(),
            Self::Desktop => "drives the desktop".to_owned(),
            Self::Unknown { what } => format!("unknown: {what}"),
        }
    }
}
