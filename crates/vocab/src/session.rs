//! One agent conversation.

use serde::{Deserialize, Serialize};

use crate::{IntentId, SessionId};

/// G2: where a conversation stands.
#[derive(
    Clone, Copy, Debug, Default, Eq, PartialEq, Ord, PartialOrd, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum State {
    /// Nothing asked yet.
    #[default]
    Request,
    /// Asked; no intent selected.
    Reasoning,
    /// An intent is selected: mutations inside its scope are possible.
    Action,
}

impl State {
    /// All three.
    pub const ALL: [Self; 3] = [Self::Request, Self::Reasoning, Self::Action];

    /// The wire name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Request => "REQUEST",
            Self::Reasoning => "REASONING",
            Self::Action => "ACTION",
        }
    }

    /// The state of a wire name, if it is one.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == word)
    }
}

/// What the engine remembers of one conversation between calls.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// Its id.
    pub id: SessionId,
    /// Where it stands.
    pub state: State,
    /// The selected intent. Outside ACTION it is context only: kept for the reader, worth nothing.
    pub intent: Option<IntentId>,
    /// The session that started this one; a child's law is never wider than its parent's.
    pub parent: Option<SessionId>,
}

impl Session {
    /// A conversation in which nothing has happened.
    pub const fn new(id: SessionId) -> Self {
        Self {
            id,
            state: State::Request,
            intent: None,
            parent: None,
        }
    }

    /// The intent that mutations are judged against: only in ACTION is there one.
    pub fn active_intent(&self) -> Option<&IntentId> {
        match self.state {
            State::Action => self.intent.as_ref(),
            State::Request | State::Reasoning => None,
        }
    }
}
