//! What went wrong, for the person who reads it: one message, a hint, an exit code.

use std::fmt::Display;

use tagout_policy::problem::Problem;

use crate::exit::Exit;

/// A verb that did not do what was asked.
#[derive(Debug)]
pub(crate) struct Failure {
    /// How the program ends.
    pub(crate) exit: Exit,
    /// What happened and where.
    pub(crate) message: String,
    /// What to do about it.
    pub(crate) hint: Option<String>,
}

impl Failure {
    /// What was given can't be used.
    pub(crate) fn invalid(message: impl Display) -> Self {
        Self {
            exit: Exit::Invalid,
            message: message.to_string(),
            hint: None,
        }
    }

    /// It was tried and failed.
    pub(crate) fn failed(message: impl Display) -> Self {
        Self {
            exit: Exit::Failed,
            message: message.to_string(),
            hint: None,
        }
    }

    /// Whoever asked may not.
    pub(crate) fn denied(message: impl Display) -> Self {
        Self {
            exit: Exit::Denied,
            message: message.to_string(),
            hint: None,
        }
    }

    /// The same, with what to do about it.
    pub(crate) fn hint(mut self, hint: impl Display) -> Self {
        self.hint = Some(hint.to_string());
        self
    }

    /// A file that can't be understood: every problem on its own line.
    pub(crate) fn problems(problems: &[Problem]) -> Self {
        let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
        Self::invalid(lines.join("\n"))
    }
}
