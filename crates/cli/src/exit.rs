//! Exit codes as a type: scripts branch on them.

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
    /// Someone else changed the same thing.
    Conflict,
    /// A code of its own: that of a command that was run, or 125 to 127.
    Own(u8),
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::Denied => 2,
            Exit::Invalid => 3,
            Exit::Conflict => 4,
            Exit::Own(code) => code,
        })
    }
}
