//! Exit codes as a type: scripts branch on them.

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

impl Exit {
    /// The number that scripts see.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Denied => 2,
            Self::Invalid => 3,
            Self::Conflict => 4,
            Self::Own(code) => code,
        }
    }
}
