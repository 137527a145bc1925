//! Why the logic of a tool could not do what it was asked.

use thiserror::Error;

/// One place in a file that may be the one that was meant.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Candidate {
    /// Its first line, counted from one.
    pub line: usize,
    /// What stands there, cut where it is long.
    pub text: String,
}

/// A failure of pure text work. The tools turn it into the error of the tool boundary.
#[derive(Clone, Debug, Eq, PartialEq, Error)]
pub enum Fault {
    /// The arguments make no sense together.
    #[error("{message}")]
    Invalid {
        /// What is wrong, and what to do.
        message: String,
    },
    /// The text was not found.
    #[error("{message}")]
    NoMatch {
        /// What was looked for.
        message: String,
        /// The nearest places.
        candidates: Vec<Candidate>,
    },
    /// The text was found more often than it may be.
    #[error("{message}")]
    Ambiguous {
        /// What was looked for.
        message: String,
        /// Where it was found.
        candidates: Vec<Candidate>,
    },
    /// The file holds no text.
    #[error("the file is binary")]
    Binary,
    /// More work than one call may cause.
    #[error("{message}")]
    TooLarge {
        /// What is too large, and what to do.
        message: String,
    },
}

impl Fault {
    /// Arguments that make no sense together.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::Invalid {
            message: message.into(),
        }
    }

    /// The same fault, with the file that it is about in front.
    pub fn about(self, path: &str) -> Self {
        let named = |message: String| format!("`{path}`: {message}");
        match self {
            Self::Invalid { message } => Self::Invalid {
                message: named(message),
            },
            Self::NoMatch {
                message,
                candidates,
            } => Self::NoMatch {
                message: named(message),
                candidates,
            },
            Self::Ambiguous {
                message,
                candidates,
            } => Self::Ambiguous {
                message: named(message),
                candidates,
            },
            Self::Binary => Self::Binary,
            Self::TooLarge { message } => Self::TooLarge {
                message: named(message),
            },
        }
    }
}
