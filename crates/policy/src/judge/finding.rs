//! How one check ends, and the one place where refusals are put together.

use tagout_vocab::limits::REFUSAL_PATHS_MAX;
use tagout_vocab::{Code, Gate, IntentId, Reason, Refusal};

/// How one check ended.
pub(super) enum Finding {
    /// Nothing against the call; what was found.
    Pass(String),
    /// The check does not concern this call; why not.
    Skip(String),
    /// The check that decides in the end found nothing against it.
    Allow(Reason),
    /// A person has to agree.
    Ask(Box<Refusal>),
    /// The call may not run.
    Refuse(Box<Refusal>),
}

/// A refusal under construction.
pub(super) struct No {
    refusal: Refusal,
}

impl No {
    /// A refusal by a built-in rule, final unless said otherwise.
    pub(super) fn new(gate: Gate, code: Code, reason: impl Into<String>) -> Self {
        let rule = format!("built-in: {}", gate.as_str());
        let refusal = Refusal {
            code,
            reason: reason.into(),
            remedy: String::new(),
            retryable: false,
            intent_id: None,
            paths: Vec::new(),
            gate,
            rule,
        };
        Self { refusal }
    }

    /// What to do about it.
    pub(super) fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.refusal.remedy = remedy.into();
        self
    }

    /// The same or a mended call can succeed without a person widening anything.
    pub(super) fn retryable(mut self) -> Self {
        self.refusal.retryable = true;
        self
    }

    /// The intent concerned.
    pub(super) fn intent(mut self, intent: Option<&IntentId>) -> Self {
        self.refusal.intent_id = intent.cloned();
        self
    }

    /// The paths concerned, as many as a reader can use.
    pub(super) fn paths(mut self, paths: impl IntoIterator<Item = String>) -> Self {
        self.refusal.paths = paths.into_iter().take(REFUSAL_PATHS_MAX).collect();
        self
    }

    /// The rule that decided, where it is not built in.
    pub(super) fn rule(mut self, rule: impl Into<String>) -> Self {
        self.refusal.rule = rule.into();
        self
    }

    /// As a denial.
    pub(super) fn deny(self) -> Finding {
        Finding::Refuse(Box::new(self.refusal))
    }

    /// As a question to a person.
    pub(super) fn ask(self) -> Finding {
        Finding::Ask(Box::new(self.refusal))
    }
}

/// A pass with what was found.
pub(super) fn pass(detail: impl Into<String>) -> Finding {
    Finding::Pass(detail.into())
}

/// A check that does not concern the call.
pub(super) fn skip(detail: impl Into<String>) -> Finding {
    Finding::Skip(detail.into())
}
