//! Names of things, each its own type so that one cannot be passed for another.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::limits::ID_BYTES_MAX;

/// Why a text is not an id.
#[derive(Clone, Debug, Eq, PartialEq, Error)]
pub enum IdError {
    /// Nothing there.
    #[error("an id is empty")]
    Empty,
    /// Longer than any id needs to be.
    #[error("an id is longer than {ID_BYTES_MAX} bytes")]
    TooLong,
    /// A character that would break a log line, a path or a terminal.
    #[error("an id holds `{0}`, which is not a letter, a digit or one of `-_.:@/+`")]
    Character(char),
    /// A part that would be a way through folders.
    #[error("an id holds an empty part, `.` or `..` between slashes")]
    Climbs,
}

fn checked(text: &str) -> Result<String, IdError> {
    if text.is_empty() {
        return Err(IdError::Empty);
    }
    if text.len() > ID_BYTES_MAX {
        return Err(IdError::TooLong);
    }
    let odd = text
        .chars()
        .find(|c| !(c.is_alphanumeric() || "-_.:@/+".contains(*c)));
    if let Some(character) = odd {
        return Err(IdError::Character(character));
    }
    // Ids come from clients and end up in file names.
    if text.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return Err(IdError::Climbs);
    }
    Ok(text.to_owned())
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Eq, PartialEq, Ord, PartialOrd, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// The id of a text, if the text can be one.
            pub fn new(text: &str) -> Result<Self, IdError> {
                checked(text).map(Self)
            }

            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = IdError;
            fn try_from(text: String) -> Result<Self, IdError> {
                Self::new(&text)
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }
    };
}

id! {
    /// The name of an intent, as people write it: `INT-001`.
    IntentId
}
id! {
    /// The name of one agent conversation.
    SessionId
}
id! {
    /// The name of one tool call.
    CallId
}
id! {
    /// The name of one grant of capabilities.
    GrantId
}
