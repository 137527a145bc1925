//! What went wrong, for the person who reads it: one message, a hint, an exit code.

use std::fmt::Display;
use std::path::Path;

use tagout_gate::GateError;
use tagout_policy::problem::Problem;
use tagout_vocab::{Code, Gate, Refusal};

use crate::args;
use crate::exit::Exit;

/// A verb that did not do what was asked.
#[derive(Debug)]
pub(crate) struct Failure {
    /// How the program ends.
    pub(crate) exit: Exit,
    /// What programs branch on.
    pub(crate) code: Code,
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
            code: Code::SchemaInvalid,
            message: message.to_string(),
            hint: None,
        }
    }

    /// It was tried and failed.
    pub(crate) fn failed(message: impl Display) -> Self {
        Self {
            exit: Exit::Failed,
            code: Code::ExecutionFailed,
            message: message.to_string(),
            hint: None,
        }
    }

    /// Whoever asked may not, and which rule says so.
    pub(crate) fn denied(code: Code, message: impl Display) -> Self {
        Self {
            exit: Exit::Denied,
            code,
            message: message.to_string(),
            hint: None,
        }
    }

    /// The same under another code.
    pub(crate) const fn code(mut self, code: Code) -> Self {
        self.code = code;
        self
    }

    /// A folder that is no workspace yet, whichever verb comes upon it.
    pub(crate) fn not_set_up(path: &Path) -> Self {
        Self::invalid(format!("`{}` is not set up", path.display()))
            .hint("a person runs `tagout init` there")
    }

    /// A state that a confined command looks for: it is there, and hidden from it.
    pub(crate) fn out_of_reach() -> Self {
        Self::failed("a confined command does not reach Tagout's state")
            .code(Code::StateLost)
            .hint(
                "run this call of `tagout` as a command of its own, with nothing else in the line",
            )
    }

    /// H9: the one form in which programs get every refusal.
    pub(crate) fn refusal(&self) -> Refusal {
        let gate = match self.exit {
            Exit::Invalid => Gate::Schema,
            Exit::Done | Exit::Failed | Exit::Denied | Exit::Conflict | Exit::Own(_) => {
                Gate::Record
            }
        };
        let remedy = self.hint.clone();
        let remedy =
            remedy.unwrap_or_else(|| "mend what the reason names, and try again".to_owned());
        let reason = self.message.as_str();
        Refusal::built_in((gate, self.code), "command line", reason, remedy)
    }

    /// The same, with what to do about it.
    pub(crate) fn hint(mut self, hint: impl Display) -> Self {
        self.hint = Some(hint.to_string());
        self
    }

    /// A file that can't be understood: every problem on its own line.
    pub(crate) fn problems(problems: &[Problem]) -> Self {
        let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
        Self::invalid(lines.join("\n")).code(Code::PolicyInvalid)
    }
}

impl From<GateError> for Failure {
    fn from(error: GateError) -> Self {
        let code = error.code();
        if matches!(
            error,
            GateError::Unknown { .. } | GateError::Id { .. } | GateError::Grant { .. }
        ) {
            return Self::invalid(error);
        }
        if let GateError::NotSetUp { path } = &error {
            return Self::not_set_up(path);
        }
        if matches!(error, GateError::StateLost { .. }) && args::is_governed() {
            return Self::out_of_reach();
        }
        let failure = Self::failed(&error).code(code);
        if matches!(
            error,
            GateError::Answered { .. } | GateError::AlreadySetUp { .. }
        ) {
            return Self {
                exit: Exit::Conflict,
                code: Code::Conflict,
                ..failure
            };
        }
        if matches!(error, GateError::NotGranted { .. }) {
            return Self {
                exit: Exit::Denied,
                ..failure
            };
        }
        if matches!(error, GateError::Expired { .. }) {
            return failure.code(Code::ApprovalExpired);
        }
        failure
    }
}
