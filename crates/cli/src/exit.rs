//! Exit codes as a type: scripts branch on them.
//!
//! 2 (denied) and 4 (conflict) are kept for the verbs that run something.

use std::process::ExitCode;

/// How the program ends.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Exit {
    /// What was asked is done.
    Done,
    /// It was tried and failed.
    Failed,
    /// What was given can't be understood.
    Invalid,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::Invalid => 3,
        })
    }
}
