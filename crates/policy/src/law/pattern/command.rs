//! Command lines: words that they start with, or a regular expression.
//!
//! The two directions differ on purpose. A pattern that forbids looks for its words anywhere in the
//! line, so that `sudo`, `sh -c` and a chain can't hide them; one that permits must match from the
//! first word, and only a line that is one plain command.

use serde::{Deserialize, Serialize};
use tagout_vocab::limits::{COMMAND_MATCH_BYTES_MAX, PATTERN_BYTES_MAX};

use super::{Hit, PatternError, Regex, check_text};

/// What a command line must look like.
#[derive(Clone, Debug, Eq, PartialEq, Ord, PartialOrd, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommandPattern {
    /// The words that the command starts with.
    Words(Vec<String>),
    /// A regular expression over the line.
    Regex(Regex),
}

/// A command line, and what an analysis of it found.
#[derive(Clone, Copy, Debug, Default)]
pub struct CommandLine<'a> {
    /// The line as it was given.
    pub line: &'a str,
    /// The words of every simple command in it, at any depth, where a shell grammar read them.
    pub parts: Option<&'a [Vec<String>]>,
}

impl<'a> CommandLine<'a> {
    /// A line that nobody analysed.
    pub const fn raw(line: &'a str) -> Self {
        Self { line, parts: None }
    }

    /// Whether the line is one simple command without operators, redirections or expansions.
    pub fn is_plain(&self) -> bool {
        let one = self.parts.is_none_or(|parts| parts.len() == 1);
        one && self.line.len() <= COMMAND_MATCH_BYTES_MAX
            && !self.line.trim().is_empty()
            && !self.line.contains(OPERATORS)
            && !self.line.contains(char::is_control)
    }
}

/// Characters that make more of a line than one command with plain words.
const OPERATORS: [char; 18] = [
    '|', '&', ';', '<', '>', '(', ')', '$', '`', '{', '}', '\\', '\n', '\r', '*', '?', '[', '~',
];

/// Characters between which simple commands may stand.
const SEPARATORS: [char; 12] = ['|', '&', ';', '<', '>', '(', ')', '{', '}', '`', '\n', '\r'];

/// Characters by which a word becomes another word, or several.
const EXPANSIONS: [char; 4] = ['$', '*', '?', '['];

impl CommandPattern {
    /// The pattern of some words, separated by blanks.
    pub fn words(text: &str) -> Result<Self, PatternError> {
        check_text(text, PATTERN_BYTES_MAX)?;
        let words = text.split_whitespace().map(str::to_owned).collect();
        Ok(Self::Words(words))
    }

    /// The text as people would write it.
    pub fn shown(&self) -> String {
        match self {
            Self::Words(words) => words.join(" "),
            Self::Regex(regex) => format!("/{}/", regex.as_str()),
        }
    }

    /// Whether a line may count as meant by a pattern that permits something.
    pub fn permits(&self, command: &CommandLine<'_>) -> bool {
        if !command.is_plain() {
            return false;
        }
        match self {
            Self::Words(words) => {
                if let Some(parts) = command.parts {
                    return parts.first().is_some_and(|part| starts_with(part, words));
                }
                let mut found = command.line.split_whitespace();
                !words.is_empty() && words.iter().all(|word| found.next() == Some(word))
            }
            Self::Regex(regex) => regex.matches(command.line.trim()) == Hit::Yes,
        }
    }

    /// Whether a line counts as meant by a pattern that forbids something.
    pub fn forbids(&self, command: &CommandLine<'_>) -> Hit {
        if command.line.len() > COMMAND_MATCH_BYTES_MAX {
            return Hit::Unclear;
        }
        match self {
            Self::Words(words) => {
                let parts = command.parts.unwrap_or_default();
                let read = parts.iter().any(|part| holds(part, words));
                Hit::of(read).or(holds_raw(command.line, words))
            }
            Self::Regex(regex) => {
                let joined = |part: &Vec<String>| regex.matches(&part.join(" "));
                let parts = command.parts.unwrap_or_default();
                let read = parts.iter().map(joined).fold(Hit::No, Hit::or);
                read.or(regex.matches(command.line))
            }
        }
    }
}

fn starts_with(found: &[String], words: &[String]) -> bool {
    !words.is_empty() && found.starts_with(words)
}

fn holds(found: &[String], words: &[String]) -> bool {
    !words.is_empty() && found.windows(words.len()).any(|window| window == words)
}

/// Looks for the words in a line that no grammar read, with quotes and backslashes taken away.
fn holds_raw(line: &str, words: &[String]) -> Hit {
    let bare = line.replace(['\'', '"', '\\'], "");
    let mut hit = Hit::No;
    for segment in bare.split(SEPARATORS) {
        let found: Vec<&str> = segment.split_whitespace().collect();
        // A program that the shell still has to expand could be any program.
        let mut program = found.iter().skip_while(|word| word.contains('='));
        hit = hit.or(match program.next() {
            Some(program) if program.contains(EXPANSIONS) => Hit::Unclear,
            Some(_) | None => Hit::No,
        });
        for start in 0..found.len() {
            hit = hit.or(begins(found.iter().skip(start), words));
        }
        if hit == Hit::Yes {
            break;
        }
    }
    hit
}

fn begins<'a>(mut found: impl Iterator<Item = &'a &'a str>, words: &[String]) -> Hit {
    let mut hit = Hit::of(!words.is_empty());
    for (index, word) in words.iter().enumerate() {
        let same = match found.next() {
            Some(found) if found == word || file_name(found) == word => Hit::Yes,
            Some(found) if index > 0 && found.contains(EXPANSIONS) => Hit::Unclear,
            Some(_) | None => return Hit::No,
        };
        hit = hit.and(same);
    }
    hit
}

/// `/usr/bin/git` is `git`.
fn file_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}
