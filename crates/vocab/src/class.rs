//! The two classes of a call, and the two classes of a mutation.

use serde::{Deserialize, Serialize};

/// G1: every call is one or the other; what nobody declared is destructive.
#[derive(
    Clone, Copy, Debug, Default, Eq, PartialEq, Ord, PartialOrd, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Class {
    /// Changes nothing; allowed in every state.
    Safe,
    /// May change something; needs an intent.
    #[default]
    Destructive,
}

impl Class {
    /// The wire name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Safe => "SAFE",
            Self::Destructive => "DESTRUCTIVE",
        }
    }
}

/// Seed 002's pair: what a mutation means for the intent. Declared by the agent, computed by the
/// trace.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Ord, PartialOrd, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum MutationClass {
    /// The same behaviour in another form.
    AstRefactor,
    /// New or changed behaviour.
    IntentEvolution,
}

impl MutationClass {
    /// Both classes.
    pub const ALL: [Self; 2] = [Self::AstRefactor, Self::IntentEvolution];

    /// The wire name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AstRefactor => "AST_REFACTOR",
            Self::IntentEvolution => "INTENT_EVOLUTION",
        }
    }

    /// The class of a wire name, if it is one.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.as_str() == word)
    }
}
