//! Commands: how a tool runs one, what it is given, and what becomes of what it changed.
//!
//! A command runs in a lane that its class chose. What it wrote lies in a layer of its own; the
//! private part of that stays with the session, the rest is judged path by path and staged into the
//! call's one transaction, or parked as a whole.

mod again;
mod apart;
mod apply;
mod bare;
mod clean;
mod commits;
mod confine;
mod ended;
mod exclude;
mod folders;
mod git_asked;
mod host;
mod inplace;
mod judged;
mod long;
mod park;
mod parked;
mod planted;
mod private;
mod run;
mod settle;
mod stored;
mod tracked;
mod words;
mod writable;

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tagout_sandbox::{Host, Input, LiveSink};

use crate::error::GateError;

pub use ended::{CommandEnded, Printed};
pub use parked::{AppliedParked, Parked, ParkedPath};
pub use stored::StoredOutput;

pub(crate) use apply::SealedApply;
pub(crate) use bare::beyond_written;
pub(crate) use clean::clean;
pub(crate) use inplace::recover as take_back;
pub(crate) use judged::{judged, owns, read};
pub(crate) use long::end_session;
pub(crate) use park::park;
pub(crate) use run::{Layer, Ready, Room, confinement};
pub(crate) use settle::{Refused, not_of_git};
pub(crate) use stored::stored;
pub(crate) use words::Words;

/// What an engine needs to run commands. One that was opened without runs none.
#[derive(Clone, Debug, Default)]
pub struct Commands {
    /// The variables that commands may see, already chosen from an allowlist.
    pub environment: Vec<(OsString, OsString)>,
    /// The person's home: its caches get private layers, its credentials are hidden.
    pub home: Option<PathBuf>,
    /// Folders that no command may see.
    pub hidden: Vec<PathBuf>,
}

/// What is connected to one call while it runs.
#[derive(Clone, Debug, Default)]
pub struct Attached {
    /// Who is handed a command's output while it comes.
    pub live: Option<LiveSink>,
    /// What a command reads.
    pub input: Input,
    /// How it can be ended from outside.
    pub stop: Stop,
}

/// One command line that a tool wants to be run.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Command {
    /// The line, for the shell.
    pub line: String,
    /// The folder to run it in; the call's own without it.
    pub cwd: Option<String>,
    /// How long it may take.
    pub timeout_ms: Option<u64>,
    /// Whether it goes on until its session ends.
    pub long_running: bool,
}

type Ending = Box<dyn Fn() + Send>;

/// A way to end the command of a call from another thread.
#[derive(Clone, Default)]
pub struct Stop(Arc<Mutex<Stopping>>);

#[derive(Default)]
struct Stopping {
    wanted: bool,
    end: Option<Ending>,
}

impl Stop {
    /// Ends the command that runs, or the one that is about to.
    pub fn stop(&self) {
        let mut stopping = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        stopping.wanted = true;
        if let Some(end) = &stopping.end {
            end();
        }
    }

    /// Whether someone wants it to end.
    pub fn is_wanted(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).wanted
    }

    /// Says how the running command is ended; ends it if that was asked for before.
    pub(crate) fn attach(&self, end: impl Fn() + Send + 'static) {
        let mut stopping = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if stopping.wanted {
            end();
        }
        stopping.end = Some(Box::new(end));
    }

    /// Ends nothing any more; says whether that was asked for before.
    pub(crate) fn detach(&self) -> bool {
        let mut stopping = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        stopping.end = None;
        stopping.wanted
    }
}

impl fmt::Debug for Stop {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Stop({})", self.is_wanted())
    }
}

/// What the engine holds for commands.
#[derive(Debug)]
pub(crate) struct Yard {
    pub(crate) given: Commands,
    pub(crate) words: Words<'static>,
    host: OnceLock<Host>,
}

impl Yard {
    pub(crate) fn new(given: Commands) -> Result<Self, GateError> {
        Ok(Self {
            given,
            words: Words::read()?,
            host: OnceLock::new(),
        })
    }
}
