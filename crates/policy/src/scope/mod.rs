//! Which paths a list of patterns owns, matched on the pattern's text without compiling it.
//!
//! A pattern is anchored at the workspace's root; a leading `/` or `./` says the same. `*` and `?`
//! and `[…]` stay within a segment, `**` as a whole segment crosses segments, `\` takes the next
//! character literally, and `{a,b}` stands for one pattern per alternative. A pattern without
//! wildcard, or with a trailing `/`, means that path and everything beneath it. `!` excludes, and
//! an exclusion wins wherever it stands in the list. Nothing owns the root itself but `**` and `/`.

mod braces;
mod cover;
mod fold;
mod glob;
mod pattern;

pub use pattern::{Answer, Pattern, PatternError, Subject};

use serde::{Deserialize, Serialize};
use tagout_vocab::WorkspacePath;
use tagout_vocab::limits::SCOPE_PATTERNS_MAX;
use thiserror::Error;

/// Whether a pattern's text holds a comma that is neither between alternatives nor in a class.
pub fn has_bare_comma(text: &str) -> bool {
    braces::has_bare_comma(text)
}

/// How the file system compares names.
#[derive(
    Clone, Copy, Debug, Default, Eq, PartialEq, Ord, PartialOrd, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum CaseRule {
    /// Bytes decide: two Unicode spellings of one name are two files.
    #[default]
    Sensitive,
    /// Case and Unicode form do not count.
    Insensitive,
}

/// Which way doubt falls. A pattern too hard to decide, and a name that only some file systems hold
/// to be equal, are «no» when granting and «yes» when denying.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Reading {
    /// A match lets something through.
    Granting,
    /// A match refuses something.
    Denying,
}

/// The patterns of one owner. Empty owns nothing.
#[derive(Clone, Debug, Default, Eq, PartialEq, Ord, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub struct Scope {
    patterns: Vec<Pattern>,
}

/// What a scope says about a path, with the pattern that decided.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Owned<'a> {
    /// Owned, by this pattern.
    Yes(&'a Pattern),
    /// Taken out again, by this pattern.
    Excluded(&'a Pattern),
    /// No pattern speaks of it.
    No,
}

impl Owned<'_> {
    /// Whether the path is owned.
    pub const fn is_yes(&self) -> bool {
        matches!(self, Self::Yes(_))
    }
}

/// Why a list of texts is not a scope.
#[derive(Clone, Debug, Eq, PartialEq, Error)]
pub enum ScopeError {
    /// More patterns than anyone means.
    #[error("a scope of {count} patterns; at most {SCOPE_PATTERNS_MAX} are read")]
    TooMany {
        /// How many there are.
        count: usize,
    },
    /// One of them is not a pattern.
    #[error("pattern {} of the scope, `{text}`: {source}", index + 1)]
    Pattern {
        /// Which one, from zero.
        index: usize,
        /// Its text.
        text: String,
        /// What is wrong with it.
        source: PatternError,
    },
}

impl Scope {
    /// Reads the patterns; one that can't be read spoils the scope.
    pub fn parse(texts: &[String]) -> Result<Self, ScopeError> {
        if texts.len() > SCOPE_PATTERNS_MAX {
            return Err(ScopeError::TooMany { count: texts.len() });
        }
        let read = |(index, text): (usize, &String)| {
            Pattern::parse(text).map_err(|source| ScopeError::Pattern {
                index,
                text: text.clone(),
                source,
            })
        };
        let patterns = texts
            .iter()
            .enumerate()
            .map(read)
            .collect::<Result<_, _>>()?;
        Ok(Self { patterns })
    }

    /// The patterns, in the order in which they were written.
    pub fn patterns(&self) -> &[Pattern] {
        &self.patterns
    }

    /// Whether it can own anything: a scope without a pattern that includes owns nothing.
    pub fn is_empty(&self) -> bool {
        self.patterns.iter().all(Pattern::excludes)
    }

    /// What it says about a path. Exclusions are asked first, because they always win.
    pub fn owns(&self, path: &WorkspacePath, case: CaseRule) -> Owned<'_> {
        self.owns_subject(&Subject::new(path, case))
    }

    /// The same for a path that is asked about more than once.
    pub fn owns_subject(&self, subject: &Subject<'_>) -> Owned<'_> {
        let mut excluding = self.patterns.iter().filter(|pattern| pattern.excludes());
        if let Some(pattern) = excluding.find(|pattern| pattern.denies_subject(subject)) {
            return Owned::Excluded(pattern);
        }
        let mut including = self.patterns.iter().filter(|pattern| !pattern.excludes());
        including
            .find(|pattern| pattern.grants_subject(subject))
            .map_or(Owned::No, Owned::Yes)
    }
}

impl Scope {
    /// Whether a folder leads to something that it can own: some pattern that includes names the
    /// folder, wildcards aside, on the way to all that it matches. What is taken out leads nowhere.
    pub fn lies_beneath(&self, folder: &Subject<'_>) -> bool {
        let mut excluding = self.patterns.iter().filter(|pattern| pattern.excludes());
        let mut including = self.patterns.iter().filter(|pattern| !pattern.excludes());
        !excluding.any(|pattern| pattern.denies_subject(folder))
            && including.any(|pattern| pattern.lies_beneath(folder))
    }
}

impl TryFrom<Vec<String>> for Scope {
    type Error = ScopeError;
    fn try_from(texts: Vec<String>) -> Result<Self, ScopeError> {
        Self::parse(&texts)
    }
}

impl From<Scope> for Vec<String> {
    fn from(scope: Scope) -> Self {
        scope.patterns.into_iter().map(String::from).collect()
    }
}

#[cfg(test)]
mod tests;
