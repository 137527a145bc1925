//! Exit codes as a type: scripts branch on them.
//!
//! 4 (conflict) is kept for the verbs that run something.

use std::process::ExitCode;

/// How the program ends.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Exit {
    /// What was asked is done.
    Done,
    /// It was tried and failed.
    Failed,
    /// Whoever asked may not.
    Denied,
    /// What was given can't be understood.
    Invalid,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::Denied => 2,
            Exit::Invalid => 3,
        })
    }
}
