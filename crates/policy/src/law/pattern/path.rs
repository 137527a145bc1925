//! Paths of the workspace: anchored at its root, `*` within a segment, `**` across segments.

use serde::{Deserialize, Serialize};
use tagout_vocab::limits::PATTERN_BYTES_MAX;

use super::{PatternError, check_text, wildcard};

/// A path pattern, anchored at the workspace's root. A plain folder means all beneath it.
#[derive(Clone, Debug, Eq, PartialEq, Ord, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PathGlob(String);

impl PathGlob {
    /// The pattern of a text, if the text can be one.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        check_text(text, PATTERN_BYTES_MAX)?;
        if text.starts_with('!') {
            return Err(PatternError::Exclusion);
        }
        if text.contains('\\') {
            return Err(PatternError::Backslash);
        }
        let kept: Vec<&str> = segments(text).collect();
        if kept.contains(&"..") {
            return Err(PatternError::Climbs);
        }
        if kept.is_empty() {
            return Err(PatternError::Empty);
        }
        Ok(Self(kept.join("/")))
    }

    /// The text, without leading, trailing or doubled slashes.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether a path beneath the workspace's root is meant. `fold` ignores case, for file systems
    /// that do.
    pub fn matches(&self, path: &str, fold: bool) -> bool {
        glob_match(&self.0, path, fold)
    }

    /// Whether every path that `inner` means is meant by this one too, as far as that is easy to
    /// see.
    ///
    /// `false` means «can't tell»: whoever asks must then take the wider reading.
    pub fn covers(&self, inner: &Self) -> bool {
        if self == inner {
            return true;
        }
        if self.0 == "**" {
            return true;
        }
        let subtree = self.0.strip_suffix("/**").unwrap_or(&self.0);
        // Whether `src/**` owns a file named `src` is not worth an argument here.
        if has_wildcard(subtree) || inner.0 == subtree {
            return false;
        }
        let mut inner = inner.0.split('/');
        subtree
            .split('/')
            .all(|wanted| inner.next() == Some(wanted))
    }
}

fn segments(text: &str) -> impl Iterator<Item = &str> {
    text.split('/')
        .filter(|segment| !segment.is_empty() && *segment != ".")
}

fn has_wildcard(text: &str) -> bool {
    text.contains(['*', '?'])
}

/// Matches segment by segment, without recursion or allocation.
fn glob_match(pattern: &str, path: &str, fold: bool) -> bool {
    if !has_wildcard(pattern) {
        return literal(pattern, path, fold);
    }
    if !fold && !starts_alike(pattern, path) {
        return false;
    }
    let mut wanted = pattern.split('/');
    let mut found = path.split('/').filter(|segment| !segment.is_empty());
    let mut retry = None;
    loop {
        let mut ahead = wanted.clone();
        match (ahead.next(), found.clone().next()) {
            (None, None) => return true,
            (Some("**"), _) => {
                retry = Some((ahead.clone(), found.clone()));
                wanted = ahead;
            }
            (Some(segment), Some(name)) if wildcard(segment, name, fold) => {
                wanted = ahead;
                found.next();
            }
            (Some(_) | None, _) => match &mut retry {
                None => return false,
                Some((after, from)) => {
                    if from.next().is_none() {
                        return false;
                    }
                    wanted = after.clone();
                    found = from.clone();
                }
            },
        }
    }
}

/// A plain path means itself and all beneath it.
fn literal(pattern: &str, path: &str, fold: bool) -> bool {
    let mut found = path.split('/').filter(|segment| !segment.is_empty());
    pattern.split('/').all(|wanted| {
        found
            .next()
            .is_some_and(|name| name == wanted || (fold && wildcard(wanted, name, true)))
    })
}

/// A cheap «no» for most patterns: the text before the first wildcard must be there.
fn starts_alike(pattern: &str, path: &str) -> bool {
    let plain = pattern.split(['*', '?']).next().unwrap_or_default();
    // `src/**` means `src` itself too, so the slash before the wildcard may be missing.
    path.starts_with(plain.trim_end_matches('/'))
}
