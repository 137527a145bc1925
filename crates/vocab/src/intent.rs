//! A declared purpose, and the part of the workspace that it owns.

use serde::{Deserialize, Serialize};

use crate::{IntentId, Timestamp};

/// Where an intent stands. Only open ones can be selected.
#[derive(
    Clone, Copy, Debug, Default, Eq, PartialEq, Ord, PartialOrd, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum IntentStatus {
    /// Asked for, by an agent or a person; not agreed yet.
    Draft,
    /// Agreed, not begun.
    #[default]
    Pending,
    /// Being worked on.
    InProgress,
    /// Waits for a person.
    Blocked,
    /// Done.
    Completed,
    /// Given up.
    Abandoned,
}

impl IntentStatus {
    /// Every status, in the order of an intent's life.
    pub const ALL: [Self; 6] = [
        Self::Draft,
        Self::Pending,
        Self::InProgress,
        Self::Blocked,
        Self::Completed,
        Self::Abandoned,
    ];

    /// The wire name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Draft => "DRAFT",
            Self::Pending => "PENDING",
            Self::InProgress => "IN_PROGRESS",
            Self::Blocked => "BLOCKED",
            Self::Completed => "COMPLETED",
            Self::Abandoned => "ABANDONED",
        }
    }

    /// Whether an agent may select an intent that stands here.
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Pending | Self::InProgress)
    }
}

/// H17: how much work an intent may take. `None` is unlimited; zero is nothing.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
pub struct Budget {
    /// Calls that may be made for the intent.
    pub calls_max: Option<u64>,
    /// Milliseconds of execution that its calls may take together.
    pub time_ms_max: Option<u64>,
}

/// A declared purpose.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct Intent {
    /// Its id.
    pub id: IntentId,
    /// What it is called.
    pub name: String,
    /// Where it stands.
    pub status: IntentStatus,
    /// Scope patterns: the files it owns. Empty owns nothing.
    pub owned_scope: Vec<String>,
    /// What the work must respect.
    pub constraints: Vec<String>,
    /// When the work is done.
    pub acceptance_criteria: Vec<String>,
    /// Requirements it serves, for the trace.
    pub related_requirements: Vec<String>,
    /// Longer text, if any.
    pub description: Option<String>,
    /// After this it can't be selected or worked on.
    pub expires_at: Option<Timestamp>,
    /// How much work it may take.
    pub budget: Budget,
    /// Open intents that a person allowed to own the same files.
    pub shares_with: Vec<IntentId>,
}
