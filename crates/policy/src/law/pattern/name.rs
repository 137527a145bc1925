//! Names of tools, servers, capabilities and intents, with `*` for any run of characters.

use serde::{Deserialize, Serialize};
use tagout_vocab::limits::ID_BYTES_MAX;

use super::{PatternError, check_text, wildcard};

/// A name, or a pattern of names in which `*` stands for any run of characters.
#[derive(Clone, Debug, Eq, PartialEq, Ord, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NameGlob(String);

impl NameGlob {
    /// The pattern of a text, if the text can be one.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        check_text(text, ID_BYTES_MAX)?;
        Ok(Self(text.to_owned()))
    }

    /// A name without wildcards.
    pub fn parse_exact(text: &str) -> Result<Self, PatternError> {
        if text.contains('*') {
            return Err(PatternError::Wildcard);
        }
        Self::parse(text)
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether only one name matches.
    pub fn is_exact(&self) -> bool {
        !self.0.contains(['*', '?'])
    }

    /// Whether every name that `other` means is meant by this one too, as far as the texts show.
    pub fn covers(&self, other: &Self) -> bool {
        // Only a run of any length surely takes in the other's wildcards.
        self == other || (!self.0.contains('?') && self.matches(&other.0))
    }

    /// Whether the name is meant. Names are compared as they are written: no case, no blanks.
    pub fn matches(&self, name: &str) -> bool {
        if self.is_exact() {
            return self.0 == name;
        }
        wildcard(&self.0, name)
    }
}
