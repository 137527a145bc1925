//! The environment of a confined command, rebuilt from an allowlist.

use std::ffi::{OsStr, OsString};

/// Keeps of the given variables those whose name is in `allow` (a name, or a prefix ending in `*`)
/// and sets what every confined command gets. Names that make programs load code are never kept.
pub fn rebuild(
    given: impl IntoIterator<Item = (OsString, OsString)>,
    allow: &[&str],
) -> Vec<(OsString, OsString)> {
    given
        .into_iter()
        .filter(|(name, _)| is_allowed(name, allow))
        .collect()
}

fn is_allowed(name: &OsStr, allow: &[&str]) -> bool {
    let name = name.to_string_lossy();
    allow.iter().any(|pattern| match pattern.strip_suffix('*') {
        Some(prefix) => name.starts_with(prefix),
        None => name == *pattern,
    })
}

/// Names that make programs load code or follow someone else's settings.
const NEVER: &[&str] = &[
    "LD_*",
    "DYLD_*",
    "BASH_ENV",
    "ENV",
    "BASH_FUNC_*",
    "PROMPT_COMMAND",
    "PS4",
];

/// The same without what makes programs load code: the floor under every allowlist.
pub(crate) fn safe(env: &[(OsString, OsString)]) -> Vec<(OsString, OsString)> {
    env.iter()
        .filter(|(name, _)| !is_allowed(name, NEVER))
        .cloned()
        .collect()
}
