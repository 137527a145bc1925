//! A tool's name, or all names that start alike.

use std::fmt;

use serde::{Deserialize, Serialize};
use tagout_vocab::limits::ID_BYTES_MAX;
use thiserror::Error;

use super::Region;

/// `edit` is one name; `server/*` is every name that starts with `server/`; `*` is every name.
///
/// The star stands only at the end, so that two patterns are always nested or disjoint.
#[derive(Clone, Debug, Eq, PartialEq, Ord, PartialOrd, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct NamePattern {
    stem: String,
    open: bool,
}

/// Why a text is not a name pattern.
#[derive(Clone, Debug, Eq, PartialEq, Error)]
pub enum NameError {
    /// Nothing there.
    #[error("a name is empty; write `*` for every name")]
    Empty,
    /// Longer than any name.
    #[error("a name is longer than {ID_BYTES_MAX} bytes")]
    TooLong,
    /// A control character.
    #[error("a name holds a control character")]
    Control,
    /// A star that is not at the end.
    #[error("`{0}` has a `*` before its end; a name may only end with one")]
    Star(String),
}

impl NamePattern {
    /// Reads a name or a start of names.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        if text.is_empty() {
            return Err(NameError::Empty);
        }
        if text.len() > ID_BYTES_MAX {
            return Err(NameError::TooLong);
        }
        if text.chars().any(char::is_control) {
            return Err(NameError::Control);
        }
        let stem = text.strip_suffix('*');
        let open = stem.is_some();
        let stem = stem.unwrap_or(text).to_owned();
        if stem.contains('*') {
            return Err(NameError::Star(text.to_owned()));
        }
        Ok(Self { stem, open })
    }

    /// Exactly this name, whatever characters it holds.
    pub fn exact(name: &str) -> Self {
        Self {
            stem: name.to_owned(),
            open: false,
        }
    }

    /// Whether a name is meant.
    pub fn matches(&self, name: &str) -> bool {
        if self.open {
            name.starts_with(&self.stem)
        } else {
            name == self.stem
        }
    }
}

impl Region for NamePattern {
    fn covers(&self, other: &Self) -> bool {
        if self.open {
            other.stem.starts_with(&self.stem)
        } else {
            self == other
        }
    }
}

impl TryFrom<String> for NamePattern {
    type Error = NameError;
    fn try_from(text: String) -> Result<Self, NameError> {
        Self::parse(&text)
    }
}

impl From<NamePattern> for String {
    fn from(pattern: NamePattern) -> Self {
        pattern.to_string()
    }
}

impl fmt::Display for NamePattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.stem)?;
        formatter.write_str(if self.open { "*" } else { "" })
    }
}
