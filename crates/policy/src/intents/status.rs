//! What an intent's status, expiry and budget permit.

use tagout_vocab::{Budget, Code, Intent, IntentId, IntentStatus, Timestamp};
use thiserror::Error;

use super::ignore::{IgnoreFile, IgnoreLine};
use super::set::IntentSet;

/// Every word that files use for a status. The first of each status is the one that is written.
pub(super) const STATUS_WORDS: &[(&str, IntentStatus)] = &[
    ("DRAFT", IntentStatus::Draft),
    ("PROPOSED", IntentStatus::Draft),
    ("PENDING", IntentStatus::Pending),
    ("NOT_STARTED", IntentStatus::Pending),
    ("PLANNED", IntentStatus::Pending),
    ("IN_PROGRESS", IntentStatus::InProgress),
    ("ACTIVE", IntentStatus::InProgress),
    ("BLOCKED", IntentStatus::Blocked),
    ("COMPLETED", IntentStatus::Completed),
    ("DONE", IntentStatus::Completed),
    ("ABANDONED", IntentStatus::Abandoned),
];

/// The status that a word means, in any case and with `-` or a blank for `_`.
pub fn status_of_word(word: &str) -> Option<IntentStatus> {
    let plain = word.trim().replace(['-', ' '], "_");
    STATUS_WORDS
        .iter()
        .find(|(known, _)| known.eq_ignore_ascii_case(&plain))
        .map(|(_, status)| *status)
}

/// Who makes a transition.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum By {
    /// An agent, in a governed call.
    Agent,
    /// A person, at a terminal.
    Person,
}

/// Every transition there is, and the least that is needed to make it. What is not listed does not
/// exist: no status is ever gone back to but by reopening what was blocked.
pub const TRANSITIONS: &[(IntentStatus, IntentStatus, By)] = &[
    (IntentStatus::Draft, IntentStatus::Pending, By::Person),
    (IntentStatus::Draft, IntentStatus::Abandoned, By::Person),
    (IntentStatus::Pending, IntentStatus::InProgress, By::Agent),
    (IntentStatus::Pending, IntentStatus::Blocked, By::Agent),
    (IntentStatus::Pending, IntentStatus::Abandoned, By::Person),
    (IntentStatus::InProgress, IntentStatus::Completed, By::Agent),
    (IntentStatus::InProgress, IntentStatus::Blocked, By::Agent),
    (
        IntentStatus::InProgress,
        IntentStatus::Abandoned,
        By::Person,
    ),
    (IntentStatus::Blocked, IntentStatus::InProgress, By::Person),
    (IntentStatus::Blocked, IntentStatus::Abandoned, By::Person),
];

/// Why a status can't be changed that way.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Error)]
pub enum TransitionError {
    /// It has that status.
    #[error("the intent is {} already", .status.as_str())]
    Unchanged {
        /// The status it has.
        status: IntentStatus,
    },
    /// There is no such way.
    #[error("an intent can't go from {} to {}", .from.as_str(), .to.as_str())]
    Impossible {
        /// The status it has.
        from: IntentStatus,
        /// The status that was asked for.
        to: IntentStatus,
    },
    /// There is, for people.
    #[error("only a person can take an intent from {} to {}", .from.as_str(), .to.as_str())]
    NeedsPerson {
        /// The status it has.
        from: IntentStatus,
        /// The status that was asked for.
        to: IntentStatus,
    },
}

/// Whether an intent may go from one status to another.
pub fn transition(from: IntentStatus, to: IntentStatus, by: By) -> Result<(), TransitionError> {
    if from == to {
        return Err(TransitionError::Unchanged { status: from });
    }
    let rule = TRANSITIONS
        .iter()
        .find(|(source, target, _)| (*source, *target) == (from, to));
    match (rule, by) {
        (None, _) => Err(TransitionError::Impossible { from, to }),
        (Some((_, _, By::Person)), By::Agent) => Err(TransitionError::NeedsPerson { from, to }),
        (Some(_), _) => Ok(()),
    }
}

/// Why an intent can't be selected or worked on.
#[derive(Clone, Debug, Eq, PartialEq, Error)]
pub enum Unselectable {
    /// No such intent.
    #[error("there is no intent `{id}`")]
    Unknown {
        /// The id that was asked for.
        id: IntentId,
    },
    /// A person has not agreed to it yet.
    #[error("the intent `{id}` is a draft: a person has to agree to it first")]
    Draft {
        /// Its id.
        id: IntentId,
    },
    /// Its status is not open.
    #[error("the intent `{id}` is {}", .status.as_str())]
    Closed {
        /// Its id.
        id: IntentId,
        /// Where it stands.
        status: IntentStatus,
    },
    /// Listed in `.intentignore`.
    #[error("the intent `{id}` is blocked by {line}")]
    Ignored {
        /// Its id.
        id: IntentId,
        /// The line that blocks it.
        line: IgnoreLine,
    },
    /// Its time is over.
    #[error("the intent `{id}` expired at {at}")]
    Expired {
        /// Its id.
        id: IntentId,
        /// When.
        at: Timestamp,
    },
    /// It owns nothing.
    #[error("the intent `{id}` owns nothing: its `owned_scope` is empty")]
    ScopeEmpty {
        /// Its id.
        id: IntentId,
    },
}

impl Unselectable {
    /// The stable word for it.
    pub const fn code(&self) -> Code {
        match self {
            Self::Unknown { .. } => Code::IntentUnknown,
            Self::Draft { .. } | Self::Closed { .. } => Code::IntentClosed,
            Self::Ignored { .. } => Code::IntentIgnored,
            Self::Expired { .. } => Code::IntentExpired,
            Self::ScopeEmpty { .. } => Code::ScopeEmpty,
        }
    }
}

/// Whether a scope owns anything: excludes alone own nothing.
pub fn owns_something(scope: &[String]) -> bool {
    scope.iter().any(|pattern| !pattern.starts_with('!'))
}

/// Whether an intent stands so that it can be selected and worked on now.
pub fn selectable(intent: &Intent, now: Timestamp) -> Result<(), Unselectable> {
    let id = || intent.id.clone();
    match intent.status {
        IntentStatus::Draft => return Err(Unselectable::Draft { id: id() }),
        IntentStatus::Blocked | IntentStatus::Completed | IntentStatus::Abandoned => {
            return Err(Unselectable::Closed {
                id: id(),
                status: intent.status,
            });
        }
        IntentStatus::Pending | IntentStatus::InProgress => {}
    }
    if let Some(at) = intent.expires_at.filter(|at| *at <= now) {
        return Err(Unselectable::Expired { id: id(), at });
    }
    if !owns_something(&intent.owned_scope) {
        return Err(Unselectable::ScopeEmpty { id: id() });
    }
    Ok(())
}

/// H1: the intent of this id, if it is known, not ignored, open, not expired and owns something.
pub fn select<'a>(
    intents: &'a IntentSet,
    ignored: &IgnoreFile,
    id: &IntentId,
    now: Timestamp,
) -> Result<&'a Intent, Unselectable> {
    let intent = intents
        .get(id)
        .ok_or_else(|| Unselectable::Unknown { id: id.clone() })?;
    if let Some(line) = ignored.blocks_intent(id) {
        return Err(Unselectable::Ignored {
            id: id.clone(),
            line: line.clone(),
        });
    }
    selectable(intent, now).map(|()| intent)
}

/// What of a budget is used up.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Error)]
pub enum OverBudget {
    /// The calls.
    #[error("the intent's budget of {max} calls is used up")]
    Calls {
        /// How many it had.
        max: u64,
    },
    /// The time.
    #[error("the intent's budget of {max_ms} ms is used up")]
    Time {
        /// How many milliseconds it had.
        max_ms: u64,
    },
}

/// Whether one more call fits. `None` is unlimited; zero is nothing.
pub fn within_budget(
    budget: &Budget,
    used_calls: u64,
    used_time_ms: u64,
) -> Result<(), OverBudget> {
    if let Some(max) = budget.calls_max.filter(|max| used_calls >= *max) {
        return Err(OverBudget::Calls { max });
    }
    if let Some(max_ms) = budget.time_ms_max.filter(|max| used_time_ms >= *max) {
        return Err(OverBudget::Time { max_ms });
    }
    Ok(())
}
