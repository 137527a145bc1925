//! Patterns that a policy file may hold: names, paths and command lines, each bounded in time.
//!
//! Paths are written as in the scopes of intents: one pattern language for all of the files.

mod command;
mod name;
mod regex;

pub use command::{CommandLine, CommandPattern};
pub use name::NameGlob;
pub use regex::Regex;

use thiserror::Error;

use crate::capability::UnknownCapability;
use crate::scope::{self, Pattern};

/// Why a text is not a pattern.
#[derive(Clone, Debug, Eq, PartialEq, Error)]
pub enum PatternError {
    /// Nothing there.
    #[error("the pattern is empty")]
    Empty,
    /// Longer than any pattern needs to be.
    #[error("the pattern is longer than {max} bytes")]
    TooLong {
        /// The bound.
        max: usize,
    },
    /// It holds a control character.
    #[error("the pattern holds a control character")]
    Control,
    /// Not a path pattern.
    #[error(transparent)]
    Path(#[from] scope::PatternError),
    /// Not a capability.
    #[error(transparent)]
    Capability(#[from] UnknownCapability),
    /// An exclusion where there is nothing to exclude from.
    #[error("the pattern starts with `!`; only a scope can exclude")]
    Exclusion,
    /// A wildcard where only a name is meant.
    #[error("the name holds `*`; name what is meant")]
    Wildcard,
    /// Not a tool of a server.
    #[error("write it as `server/tool`")]
    ServerTool,
    /// A regular expression that can't be compiled.
    #[error("not a regular expression: {message}")]
    Regex {
        /// The engine's own words.
        message: String,
    },
}

/// What a pattern says about an input. A law must not treat «can't tell» as «no».
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Hit {
    /// It matches.
    Yes,
    /// It does not.
    No,
    /// The input can't be read well enough to tell.
    Unclear,
}

impl Hit {
    /// Yes or no, where that is known.
    pub const fn of(matches: bool) -> Self {
        if matches { Self::Yes } else { Self::No }
    }

    /// Both must match.
    pub const fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::No, _) | (_, Self::No) => Self::No,
            (Self::Unclear, _) | (_, Self::Unclear) => Self::Unclear,
            (Self::Yes, Self::Yes) => Self::Yes,
        }
    }

    /// One match is enough.
    pub const fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Yes, _) | (_, Self::Yes) => Self::Yes,
            (Self::Unclear, _) | (_, Self::Unclear) => Self::Unclear,
            (Self::No, Self::No) => Self::No,
        }
    }
}

/// The path pattern of a text. There is nothing to exclude from outside of a scope.
pub fn path(text: &str) -> Result<Pattern, PatternError> {
    let pattern = Pattern::parse(text)?;
    if pattern.excludes() {
        return Err(PatternError::Exclusion);
    }
    Ok(pattern)
}

/// Checks what names and command lines have in common.
fn check_text(text: &str, max: usize) -> Result<(), PatternError> {
    if text.trim().is_empty() {
        return Err(PatternError::Empty);
    }
    if text.len() > max {
        return Err(PatternError::TooLong { max });
    }
    if text.chars().any(char::is_control) {
        return Err(PatternError::Control);
    }
    Ok(())
}

/// Matches `*` (any run) and `?` (any one character) without recursion, in time bounded by the
/// product of the lengths.
fn wildcard(pattern: &str, text: &str) -> bool {
    let mut pattern_rest = pattern.chars();
    let mut text_rest = text.chars();
    // Where to go on when the text after the last `*` does not fit.
    let mut retry: Option<(std::str::Chars<'_>, std::str::Chars<'_>)> = None;
    loop {
        let mut ahead = pattern_rest.clone();
        match (ahead.next(), text_rest.clone().next()) {
            (None, None) => return true,
            (Some('*'), _) => {
                retry = Some((ahead.clone(), text_rest.clone()));
                pattern_rest = ahead;
            }
            (Some(wanted), Some(found)) if wanted == '?' || wanted == found => {
                pattern_rest = ahead;
                text_rest.next();
            }
            (Some(_) | None, _) => match &mut retry {
                None => return false,
                Some((after_star, from)) => {
                    if from.next().is_none() {
                        return false;
                    }
                    pattern_rest = after_star.clone();
                    text_rest = from.clone();
                }
            },
        }
    }
}

#[cfg(test)]
mod tests;
