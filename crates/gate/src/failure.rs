//! The failure types of RFC-0001 §7, and the one short form in which callers see them.

use std::error::Error as _;

use tagout_ledger::ErrorDetails;
use tagout_vocab::{Code, Gate, IntentId, Refusal};
use tagout_workspace::Error as W;

use crate::lifecycle::Cause;
use crate::tool::ToolError;

/// What kind of failure it is; it decides whether a retry is allowed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FailureKind {
    /// The input or the output does not conform.
    Validation,
    /// A check refused.
    Authorization,
    /// Something needed is not to be had now, or a bound was passed.
    Resource,
    /// The tool failed.
    Execution,
    /// The tool took too long.
    Timeout,
    /// The transaction or the state failed.
    State,
}

impl FailureKind {
    /// The name of RFC-0001.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Validation => "ValidationError",
            Self::Authorization => "AuthorizationError",
            Self::Resource => "ResourceError",
            Self::Execution => "ExecutionError",
            Self::Timeout => "TimeoutError",
            Self::State => "StateError",
        }
    }

    /// L9: whether an idempotent tool may be tried again after this.
    pub const fn may_retry(self) -> bool {
        match self {
            Self::Resource | Self::Timeout => true,
            Self::Validation | Self::Authorization | Self::Execution | Self::State => false,
        }
    }
}

/// How an execution failed after it had begun.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) kind: FailureKind,
    pub(crate) cause: Cause,
    pub(crate) code: Code,
    pub(crate) message: String,
    pub(crate) remedy: String,
    pub(crate) more: Box<More>,
}

/// What only some failures have to tell.
#[derive(Debug, Default)]
pub(crate) struct More {
    pub(crate) paths: Vec<String>,
    pub(crate) context: Option<String>,
    pub(crate) backtrace: Option<String>,
    /// What could not be undone.
    pub(crate) left: Vec<String>,
    /// What the tool returned before its changes were refused.
    pub(crate) output: Option<serde_json::Value>,
    /// Under which id its changes are kept.
    pub(crate) parked: Option<String>,
    /// What the closing event says about it.
    pub(crate) told: Option<serde_json::Value>,
}

const TEXT_CHARS_MAX: usize = 8_000;

fn cut(text: &str) -> String {
    text.chars().take(TEXT_CHARS_MAX).collect()
}

impl Failure {
    pub(crate) fn new(kind: FailureKind, cause: Cause, code: Code, message: String) -> Self {
        Self {
            kind,
            cause,
            code,
            message,
            remedy: remedy(code).to_owned(),
            more: Box::default(),
        }
    }

    pub(crate) fn with_backtrace(mut self, backtrace: &str) -> Self {
        self.more.backtrace = Some(cut(backtrace));
        self
    }

    /// A tool's own error.
    pub(crate) fn of_tool(error: &ToolError) -> Self {
        let message = error.to_string();
        let candidates = error.candidates().join("\n");
        let failed = |kind, cause, code| Self::new(kind, cause, code, message.clone());
        let mut failure = match error {
            ToolError::TooLarge { .. } => failed(
                FailureKind::Resource,
                Cause::LimitPassed,
                Code::LimitExceeded,
            ),
            ToolError::Resource { .. } => failed(
                FailureKind::Resource,
                Cause::ExecutionError,
                Code::ExecutionFailed,
            ),
            ToolError::Confinement { remedy, .. } => {
                let (kind, cause) = (FailureKind::Resource, Cause::ExecutionError);
                let mut refused = failed(kind, cause, Code::IsolationUnavailable);
                refused.remedy.clone_from(remedy);
                refused
            }
            ToolError::Outside { path } => {
                let (kind, cause) = (FailureKind::Execution, Cause::ScopeViolated);
                let mut outside = failed(kind, cause, Code::ScopeViolation);
                outside.more.paths.push(path.clone());
                outside
            }
            ToolError::Invalid { .. }
            | ToolError::NotFound { .. }
            | ToolError::Binary { .. }
            | ToolError::NoMatch { .. }
            | ToolError::Ambiguous { .. }
            | ToolError::Failed { .. } => failed(
                FailureKind::Execution,
                Cause::ExecutionError,
                Code::ExecutionFailed,
            ),
            ToolError::Workspace(error) => Self::of_workspace(error),
        };
        let mut chain = Vec::new();
        let mut source = error.source();
        while let Some(cause) = source {
            chain.push(cause.to_string());
            source = cause.source();
        }
        failure.more.context = (!chain.is_empty()).then(|| cut(&chain.join(": ")));
        if !candidates.is_empty() {
            failure.remedy = format!("{}\n{candidates}", failure.remedy);
        }
        failure
    }

    /// The workspace refused or failed.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the enum may grow; what is not known here is a failure of the state"
    )]
    pub(crate) fn of_workspace(error: &W) -> Self {
        let message = error.to_string();
        let (kind, cause, code) = match error {
            W::Conflict { .. } => (FailureKind::State, Cause::Conflicted, Code::Conflict),
            W::TooLarge { .. } | W::TooMany { .. } => (
                FailureKind::Resource,
                Cause::LimitPassed,
                Code::LimitExceeded,
            ),
            W::Full { .. } | W::Locked { .. } => (
                FailureKind::Resource,
                Cause::ExecutionError,
                Code::ExecutionFailed,
            ),
            W::Outside { .. } => (
                FailureKind::Execution,
                Cause::ScopeViolated,
                Code::ScopeViolation,
            ),
            W::Missing { .. }
            | W::WrongKind { .. }
            | W::Special { .. }
            | W::NotEmpty { .. }
            | W::NotUtf8 { .. }
            | W::BadPath { .. }
            | W::TooLong { .. }
            | W::Loop { .. } => (
                FailureKind::Execution,
                Cause::ExecutionError,
                Code::ExecutionFailed,
            ),
            _ => (
                FailureKind::State,
                Cause::ExecutionError,
                Code::ExecutionFailed,
            ),
        };
        Self::new(kind, cause, code, message)
    }

    /// What the ledger keeps of it.
    pub(crate) fn details(&self) -> ErrorDetails {
        ErrorDetails {
            failure: self.kind.as_str().to_owned(),
            message: cut(&self.message),
            context: self.more.context.clone(),
            backtrace: self.more.backtrace.clone(),
        }
    }

    /// What the caller sees of it.
    pub(crate) fn refusal(&self, intent: Option<&IntentId>) -> Refusal {
        Refusal {
            code: self.code,
            reason: cut(&self.message),
            remedy: self.remedy.clone(),
            retryable: self.kind.may_retry()
                || matches!(self.code, Code::Conflict | Code::StaleFile),
            intent_id: intent.cloned(),
            paths: self.more.paths.clone(),
            gate: Gate::Record,
            rule: format!("built-in: {}", self.kind.as_str()),
        }
    }
}

fn remedy(code: Code) -> &'static str {
    const REMEDIES: [(Code, &str); 6] = [
        (
            Code::Timeout,
            "nothing was changed; do less at once, or try again",
        ),
        (
            Code::OutputInvalid,
            "nothing was changed; the tool has a defect, use another one",
        ),
        (
            Code::Conflict,
            "nothing of the others was overwritten; read the files again",
        ),
        (
            Code::StaleFile,
            "nothing of the others was overwritten; read the files again",
        ),
        (
            Code::ScopeViolation,
            "nothing was changed; stay inside the intent's scope",
        ),
        (Code::LimitExceeded, "nothing was changed; do less at once"),
    ];
    let found = REMEDIES.iter().find(|(known, _)| *known == code);
    found.map_or(
        "nothing was changed; mend the call and try again",
        |(_, text)| text,
    )
}
