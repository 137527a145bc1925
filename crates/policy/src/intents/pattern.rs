//! What a scope pattern may never hold, whatever matches it later.

use tagout_vocab::limits::PATTERN_BYTES_MAX;
use thiserror::Error;

/// Why a text is not a scope pattern.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Error)]
pub enum PatternError {
    /// Nothing there.
    #[error("an empty pattern")]
    Empty,
    /// It starts at the file system's root, a drive or a home folder.
    #[error("the pattern is absolute: scopes are relative to the workspace, as in `src/auth/**`")]
    Absolute,
    /// It climbs out of the workspace, or could.
    #[error("the pattern holds `..`: a scope can't leave the workspace")]
    Climbs,
    /// It holds a NUL, a line break or another control character.
    #[error("the pattern holds a control character")]
    Control,
    /// Longer than any path that it could match needs.
    #[error("the pattern is longer than {PATTERN_BYTES_MAX} bytes")]
    TooLong,
}

/// Whether a text can be a scope pattern at all. Whether it matches is asked elsewhere.
pub fn check_pattern(pattern: &str) -> Result<(), PatternError> {
    if pattern.len() > PATTERN_BYTES_MAX {
        return Err(PatternError::TooLong);
    }
    if pattern.chars().any(char::is_control) {
        return Err(PatternError::Control);
    }
    let body = pattern.strip_prefix('!').unwrap_or(pattern);
    if body.trim().is_empty() {
        return Err(PatternError::Empty);
    }
    let mut start = body.chars();
    let drive = start.next().is_some_and(|c| c.is_ascii_alphabetic()) && start.next() == Some(':');
    let home = body == "~" || body.starts_with("~/");
    if body.starts_with(['/', '\\']) || drive || home {
        return Err(PatternError::Absolute);
    }
    if body.split(['/', '\\']).any(|segment| segment == "..") {
        return Err(PatternError::Climbs);
    }
    Ok(())
}
