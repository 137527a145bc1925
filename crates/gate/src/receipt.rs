//! What a caller gets back, and what a client reports.

use std::ops::Range;

use serde_json::{Map, Value};
use tagout_ledger::PathChange;
use tagout_vocab::{CallId, Refusal, Timestamp};

use crate::enforced::Enforced;
use crate::failure::FailureKind;
use crate::permit::Permit;

/// What comes of asking to run a call.
#[derive(Debug)]
#[must_use]
pub enum Admission {
    /// It may run, once.
    Permit(Box<Permit>),
    /// A person has to agree first; the call has to come again after that.
    Pending {
        /// The stored request.
        approval: String,
        /// What to tell the caller.
        refusal: Box<Refusal>,
    },
    /// It may not run.
    Deny(Box<Refusal>),
}

/// How a call ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Outcome {
    /// It did its work.
    Completed,
    /// It was ended, and nothing of it is left but what the receipt names.
    RolledBack,
    /// Its input does not conform.
    Failed,
    /// A check refused.
    Denied,
    /// A person has to agree first.
    Pending,
}

/// What a receipt promises about the effects.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Promise {
    /// Every effect went through a transaction and is known.
    Run,
    /// The client executed; the declared targets were looked at before and after.
    Guard,
}

/// What happened to one call, and where the ledger says so.
#[derive(Clone, Debug)]
#[must_use]
pub struct Receipt {
    /// The execution; the last one, where there were retries.
    pub execution: Option<CallId>,
    /// How it ended.
    pub outcome: Outcome,
    /// What the tool returned.
    pub output: Option<Value>,
    /// Why it did not complete.
    pub refusal: Option<Box<Refusal>>,
    /// The failure type of RFC-0001.
    pub failure: Option<FailureKind>,
    /// Every path that changed.
    pub changes: Vec<PathChange>,
    /// What could not be undone.
    pub left: Vec<String>,
    /// The numbers of the events of its last step: how it ended, or why it never began. Empty if
    /// nothing could be recorded.
    pub seqs: Range<u64>,
    /// Until when it can be undone.
    pub undoable_until: Option<Timestamp>,
    /// The client executed the call with other arguments than it was permitted for.
    pub altered: bool,
    /// What is promised.
    pub promise: Promise,
    /// S1: the limits that it ran under, and what enforced each.
    pub limits: Vec<Enforced>,
    /// Under which id the changes of a command are kept that were not applied.
    pub parked: Option<String>,
    /// What should be looked at: deprecations, seals that failed.
    pub warnings: Vec<String>,
    /// The stored request, where a person has to agree.
    pub approval: Option<String>,
    /// How many retries there were.
    pub retries: u32,
}

impl Receipt {
    pub(crate) const fn of(outcome: Outcome, promise: Promise) -> Self {
        Self {
            execution: None,
            outcome,
            output: None,
            refusal: None,
            failure: None,
            changes: Vec::new(),
            left: Vec::new(),
            seqs: 0..0,
            undoable_until: None,
            altered: false,
            promise,
            limits: Vec::new(),
            parked: None,
            warnings: Vec::new(),
            approval: None,
            retries: 0,
        }
    }

    /// The first and the last number of those events, for those who read.
    pub fn events(&self) -> Option<(u64, u64)> {
        let last = self.seqs.end.checked_sub(1)?;
        (!self.seqs.is_empty()).then_some((self.seqs.start, last))
    }
}

/// How a client says that a call ended.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum Reported {
    /// Well.
    Succeeded,
    /// Not well.
    Failed {
        /// What it said.
        message: String,
    },
    /// It does not say.
    #[default]
    Unknown,
}

/// What a client reports after it has executed a call.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Report {
    /// How it ended.
    pub ended: Reported,
    /// What it returned, as far as the client tells.
    pub output: Option<Value>,
    /// The arguments that were really used, where the client tells, as it named them when it asked.
    pub arguments: Option<Map<String, Value>>,
}
