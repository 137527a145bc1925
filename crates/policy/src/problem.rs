//! What is wrong with a text that a person wrote: where it is and what to do about it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A place in a text, counted as editors count: from one.
#[derive(
    Clone, Copy, Debug, Default, Eq, PartialEq, Ord, PartialOrd, Hash, Serialize, Deserialize,
)]
pub struct Position {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

/// One thing that is wrong with a file.
#[derive(Clone, Debug, Eq, PartialEq, Ord, PartialOrd, Serialize, Deserialize)]
pub struct Problem {
    /// The file as the caller names it.
    pub file: String,
    /// Where in the file.
    pub at: Position,
    /// What is wrong.
    pub message: String,
    /// What to do, where there is something better than the message.
    pub hint: Option<String>,
}

impl Problem {
    /// A problem whose words are fit for a terminal: bounded, and without control characters that
    /// the file may have smuggled into them.
    pub fn new(file: &str, at: Position, message: impl Into<String>, hint: Option<String>) -> Self {
        Self {
            file: file.to_owned(),
            at,
            message: shown(&message.into()),
            hint: hint.map(|hint| shown(&hint)),
        }
    }
}

fn shown(words: &str) -> String {
    let clean = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    let mut shown: String = words.chars().take(MESSAGE_CHARS_MAX).map(clean).collect();
    if words.chars().nth(MESSAGE_CHARS_MAX).is_some() {
        shown.push('…');
    }
    shown
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            file,
            at,
            message,
            hint,
        } = self;
        write!(formatter, "{file}:{}:{}: {message}", at.line, at.column)?;
        hint.as_ref()
            .map_or(Ok(()), |hint| write!(formatter, " ({hint})"))
    }
}

impl std::error::Error for Problem {}

/// The problems of one file, gathered so that a person sees all of them at once.
#[derive(Debug)]
pub struct Problems {
    file: String,
    found: Vec<Problem>,
}

/// More than this many problems help nobody.
const PROBLEMS_MAX: usize = 50;

/// A message that quotes the file quotes no more of it than a person reads.
const MESSAGE_CHARS_MAX: usize = 400;

/// No valid word is longer, and the distance costs the product of both lengths.
const WORD_BYTES_MAX: usize = 64;

impl Problems {
    /// No problems yet, in the file of this name.
    pub fn new(file: &str) -> Self {
        Self {
            file: file.to_owned(),
            found: Vec::new(),
        }
    }

    /// Adds one.
    pub fn add(&mut self, at: Position, message: impl Into<String>) {
        self.add_with(at, message, None);
    }

    /// Adds one with what to do about it.
    pub fn add_with(&mut self, at: Position, message: impl Into<String>, hint: Option<String>) {
        if self.found.len() < PROBLEMS_MAX {
            self.found.push(Problem::new(&self.file, at, message, hint));
        }
    }

    /// Whether no more are gathered.
    pub fn is_full(&self) -> bool {
        self.found.len() >= PROBLEMS_MAX
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// The value if nothing was wrong, else the problems.
    pub fn finish<T>(self, value: T) -> Result<T, Vec<Problem>> {
        if self.found.is_empty() {
            Ok(value)
        } else {
            Err(self.found)
        }
    }
}

/// The valid word nearest to a wrong one, when it is near enough to be meant.
pub fn nearest<'a>(wrong: &str, valid: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if wrong.len() > WORD_BYTES_MAX {
        return None;
    }
    let wrong = wrong.to_lowercase();
    valid
        .into_iter()
        .map(|word| {
            (
                strsim::damerau_levenshtein(&wrong, &word.to_lowercase()),
                word,
            )
        })
        .filter(|(distance, word)| *distance <= (word.len().max(wrong.len()) / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, word)| word)
}

/// A hint that names the nearest valid word, or all of them when they are few.
pub fn suggestion<'a>(
    wrong: &str,
    valid: impl IntoIterator<Item = &'a str> + Clone,
) -> Option<String> {
    if let Some(word) = nearest(wrong, valid.clone()) {
        return Some(format!("did you mean `{word}`?"));
    }
    let words: Vec<&str> = valid.into_iter().collect();
    let listed = words
        .iter()
        .map(|word| format!("`{word}`"))
        .collect::<Vec<_>>()
        .join(", ");
    (!words.is_empty() && words.len() <= 16).then(|| format!("valid: {listed}"))
}
