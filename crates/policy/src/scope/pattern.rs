//! One pattern: reading it, and asking it about a path.

use std::fmt;

use serde::{Deserialize, Serialize};
use tagout_vocab::WorkspacePath;
use tagout_vocab::limits::PATTERN_BYTES_MAX;
use thiserror::Error;

use super::glob::{Steps, TooHard};
use super::{CaseRule, Reading, braces, fold, glob};

/// A scope pattern whose text has been checked. It serialises as that text.
#[derive(Clone, Debug, Eq, PartialEq, Ord, PartialOrd, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Pattern {
    text: String,
    /// The text without `!`, without what anchors it, and without escaped slashes; `**` for all.
    body: String,
    excludes: bool,
}

/// Why a text is not a pattern.
#[derive(Clone, Debug, Eq, PartialEq, Error)]
pub enum PatternError {
    /// Nothing there.
    #[error("the pattern is empty; write `**` for the whole workspace")]
    Empty,
    /// Longer than any pattern needs to be.
    #[error("the pattern is longer than {PATTERN_BYTES_MAX} bytes")]
    TooLong,
    /// A control character.
    #[error("the pattern holds a control character")]
    Control,
    /// It would leave the workspace.
    #[error("the pattern holds `..`; patterns start at the workspace's root and stay in it")]
    Climbs,
    /// It starts at the file system's root, a drive or a home folder, where that is not understood.
    #[error("the pattern is absolute; write it from the workspace's root, as in `src/auth/**`")]
    Absolute,
    /// A backslash at the end.
    #[error("the pattern ends with a `\\` that escapes nothing")]
    DanglingEscape,
    /// A backslash before something that has no other meaning.
    #[error("the pattern escapes `{0}`, which needs no escape; write `/` between folders")]
    NeedlessEscape(char),
    /// A `[` without its `]`.
    #[error("a `[` has no `]`; write `\\[` for the character itself")]
    UnclosedClass,
    /// A class that would cross segments.
    #[error("a `[…]` holds `/`, but a class stays within one segment")]
    SlashInClass,
    /// A range from high to low.
    #[error("the range `{low}-{high}` runs backwards")]
    BackwardRange {
        /// The first character.
        low: char,
        /// The last character.
        high: char,
    },
    /// A `{` without its `}`.
    #[error("a `{{` has no `}}`; write `\\{{` for the character itself")]
    UnclosedBrace,
    /// A `}` without its `{`.
    #[error("a `}}` has no `{{`; write `\\}}` for the character itself")]
    UnopenedBrace,
}

/// What a pattern says about a path.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Answer {
    /// It matches.
    Yes,
    /// It does not.
    No,
    /// Telling would take more steps than a match may take.
    TooHard,
}

/// A path prepared for being asked about, so that many patterns share the work.
#[derive(Debug)]
pub struct Subject<'a> {
    path: &'a WorkspacePath,
    /// The folded forms for granting and for denying, where case does not count.
    folded: Option<(String, String)>,
}

impl<'a> Subject<'a> {
    /// Prepares a path.
    pub fn new(path: &'a WorkspacePath, case: CaseRule) -> Self {
        let fold = |reading| fold::name(path.as_str(), reading);
        let folded = match case {
            CaseRule::Sensitive => None,
            CaseRule::Insensitive => Some((fold(Reading::Granting), fold(Reading::Denying))),
        };
        Self { path, folded }
    }

    pub(super) const fn is_folded(&self) -> bool {
        self.folded.is_some()
    }

    pub(super) fn text(&self, reading: Reading) -> &str {
        match (&self.folded, reading) {
            (None, _) => self.path.as_str(),
            (Some((granting, _)), Reading::Granting) => granting,
            (Some((_, denying)), Reading::Denying) => denying,
        }
    }
}

impl Pattern {
    /// Reads a pattern.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        if text.len() > PATTERN_BYTES_MAX {
            return Err(PatternError::TooLong);
        }
        if text.chars().any(char::is_control) {
            return Err(PatternError::Control);
        }
        let included = text.strip_prefix('!');
        let anchored = included.unwrap_or(text);
        if anchored.trim().is_empty() {
            return Err(PatternError::Empty);
        }
        let body = checked(unanchored(anchored))?;
        if body.split(['/', '{', ',', '}']).any(|piece| piece == "..") {
            return Err(PatternError::Climbs);
        }
        let is_root = body.is_empty() || body == ".";
        Ok(Self {
            text: text.to_owned(),
            body: if is_root { "**".to_owned() } else { body },
            excludes: included.is_some(),
        })
    }

    /// Reads a pattern where a leading `/` would be taken for the file system's root.
    pub fn parse_relative(text: &str) -> Result<Self, PatternError> {
        let body = text.strip_prefix('!').unwrap_or(text);
        let mut start = body.chars();
        let letter = start.next().is_some_and(|c| c.is_ascii_alphabetic());
        let is_drive = letter && start.next() == Some(':');
        let is_home = body == "~" || body.starts_with("~/");
        if body.starts_with(['/', '\\']) || is_drive || is_home {
            return Err(PatternError::Absolute);
        }
        Self::parse(text)
    }

    /// The text as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether it excludes.
    pub const fn excludes(&self) -> bool {
        self.excludes
    }

    pub(super) fn body(&self) -> &str {
        &self.body
    }

    /// Whether it matches, when a match lets something through: doubt is «no».
    ///
    /// The `!` does not count here; a list of patterns gives it its meaning.
    pub fn grants(&self, path: &WorkspacePath, case: CaseRule) -> bool {
        self.grants_subject(&Subject::new(path, case))
    }

    /// Whether it matches, when a match refuses something: doubt is «yes».
    pub fn denies(&self, path: &WorkspacePath, case: CaseRule) -> bool {
        self.denies_subject(&Subject::new(path, case))
    }

    /// [`Self::grants`] for a prepared path.
    pub fn grants_subject(&self, subject: &Subject<'_>) -> bool {
        match self.answer(subject, Reading::Granting) {
            Answer::Yes => true,
            Answer::No | Answer::TooHard => false,
        }
    }

    /// [`Self::denies`] for a prepared path.
    pub fn denies_subject(&self, subject: &Subject<'_>) -> bool {
        match self.answer(subject, Reading::Denying) {
            Answer::Yes | Answer::TooHard => true,
            Answer::No => false,
        }
    }

    /// What it says, before doubt falls on either side.
    pub fn answer(&self, subject: &Subject<'_>, reading: Reading) -> Answer {
        match self.walk(subject, reading, &mut Steps::new()) {
            Ok(true) => Answer::Yes,
            Ok(false) => Answer::No,
            Err(TooHard) => Answer::TooHard,
        }
    }

    pub(super) fn walk(
        &self,
        subject: &Subject<'_>,
        reading: Reading,
        steps: &mut Steps,
    ) -> Result<bool, TooHard> {
        let text = subject.text(reading);
        if subject.folded.is_none() && starts_apart(&self.body, text) {
            return Ok(false);
        }
        let path: Vec<&str> = text.split('/').filter(|name| !name.is_empty()).collect();
        if subject.folded.is_some() {
            let body = fold::pattern(&self.body, reading);
            any_alternative(&body, &path, CaseRule::Insensitive, steps)
        } else {
            any_alternative(&self.body, &path, CaseRule::Sensitive, steps)
        }
    }
}

/// Takes groups apart one by one, so that the memory in use stays within what the steps paid for.
fn any_alternative(
    body: &str,
    path: &[&str],
    case: CaseRule,
    steps: &mut Steps,
) -> Result<bool, TooHard> {
    if !body.contains('{') {
        return glob::matches(body, path, case, steps);
    }
    let mut open = vec![body.to_owned()];
    while let Some(text) = open.pop() {
        let Some(group) = braces::first_group(&text) else {
            if glob::matches(&text, path, case, steps)? {
                return Ok(true);
            }
            continue;
        };
        for branch in group.branches.iter().rev() {
            let alternative = [group.before, branch, group.after].concat();
            steps.spend(alternative.len())?;
            open.push(alternative);
        }
    }
    Ok(false)
}

/// A cheap «no» for most patterns of a long list: their first folder is another one.
fn starts_apart(body: &str, path: &str) -> bool {
    let first = body.split('/').next().unwrap_or_default();
    let is_plain = !first.is_empty() && first != "." && !first.contains(['*', '?', '[', '{', '\\']);
    is_plain && path.split('/').next() != Some(first)
}

/// Drops whatever only says that the pattern starts at the root.
fn unanchored(text: &str) -> &str {
    let mut body = text;
    while let Some(rest) = body.strip_prefix("./").or_else(|| body.strip_prefix('/')) {
        body = rest;
    }
    body
}

/// The text with `\/` written as `/`, once every escape, class and brace in it is whole.
fn checked(text: &str) -> Result<String, PatternError> {
    let mut body = String::with_capacity(text.len());
    let mut depth = 0_usize;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (atom, tail) = rest
            .split_at_checked(braces::atom_bytes(rest))
            .unwrap_or((rest, ""));
        rest = tail;
        match first {
            '\\' => match atom.chars().nth(1) {
                None => return Err(PatternError::DanglingEscape),
                Some('/') => {
                    body.push('/');
                    continue;
                }
                Some(c) if c.is_alphanumeric() => return Err(PatternError::NeedlessEscape(c)),
                Some(_) => {}
            },
            '[' => check_class(atom)?,
            '{' => depth += 1,
            '}' => depth = depth.checked_sub(1).ok_or(PatternError::UnopenedBrace)?,
            _ => {}
        }
        body.push_str(atom);
    }
    if depth > 0 {
        return Err(PatternError::UnclosedBrace);
    }
    Ok(body)
}

fn check_class(atom: &str) -> Result<(), PatternError> {
    let class = atom
        .strip_prefix('[')
        .and_then(braces::class)
        .ok_or(PatternError::UnclosedClass)?;
    if class.members.contains('/') {
        return Err(PatternError::SlashInClass);
    }
    glob::ranges(class.members)
        .find(|(low, high)| low > high)
        .map_or(Ok(()), |(low, high)| {
            Err(PatternError::BackwardRange { low, high })
        })
}

impl TryFrom<String> for Pattern {
    type Error = PatternError;
    fn try_from(text: String) -> Result<Self, PatternError> {
        Self::parse(&text)
    }
}

impl From<Pattern> for String {
    fn from(pattern: Pattern) -> Self {
        pattern.text
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}
