//! Command lines: words that they start with, or a regular expression.
//!
//! The two directions differ on purpose. A pattern that forbids looks for its words anywhere in the
//! line, so that `sudo`, `sh -c` and a chain can't hide them; one that permits must match from the
//! first word, and only a line that is one plain command.

use std::collections::BTreeSet;

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

/// A command line, taken apart once for all the patterns that look at it.
#[derive(Clone, Debug)]
pub struct CommandLine<'a> {
    line: &'a str,
    parts: Option<&'a [Vec<String>]>,
    // The words between operators, with quotes and backslashes taken away.
    segments: Vec<Vec<String>>,
    // Every word a pattern could start at, so that most patterns are done after one look.
    heads: BTreeSet<String>,
    // Whether a program's name still has to be expanded: it could be any program.
    any_program: bool,
    plain: bool,
}

/// Characters that make more of a line than one command with plain words.
const OPERATORS: [char; 16] = [
    '|', '&', ';', '<', '>', '(', ')', '$', '`', '{', '}', '\\', '*', '?', '[', '~',
];

/// Characters between which simple commands may stand.
const SEPARATORS: [char; 12] = ['|', '&', ';', '<', '>', '(', ')', '{', '}', '`', '\n', '\r'];

/// Characters by which a word becomes another word, or several.
const EXPANSIONS: [char; 4] = ['$', '*', '?', '['];

impl<'a> CommandLine<'a> {
    /// A line that nobody analysed.
    pub fn raw(line: &'a str) -> Self {
        Self::new(line, None)
    }

    /// A line of which a shell grammar read every simple command, at any depth.
    pub fn analysed(line: &'a str, parts: &'a [Vec<String>]) -> Self {
        Self::new(line, Some(parts))
    }

    fn new(line: &'a str, parts: Option<&'a [Vec<String>]>) -> Self {
        let segments = if line.len() > COMMAND_MATCH_BYTES_MAX {
            Vec::new()
        } else {
            segments(line)
        };
        let read = parts.unwrap_or_default().iter().flatten();
        let heads = segments.iter().flatten().chain(read);
        let heads = heads.flat_map(|word| [word.clone(), file_name(word).to_owned()]);
        let heads = heads.collect();
        let any_program = segments.iter().any(|words| {
            let mut words = words.iter().skip_while(|word| word.contains('='));
            words.next().is_some_and(|word| word.contains(EXPANSIONS))
        });
        let plain = parts.is_none_or(|parts| parts.len() == 1)
            && line.len() <= COMMAND_MATCH_BYTES_MAX
            && !line.trim().is_empty()
            && !line.contains(OPERATORS)
            && !line.contains(char::is_control);
        Self {
            line,
            parts,
            segments,
            heads,
            any_program,
            plain,
        }
    }

    /// The line as it was given.
    pub const fn line(&self) -> &'a str {
        self.line
    }

    /// Whether the line is one simple command without operators, redirections or expansions.
    pub const fn is_plain(&self) -> bool {
        self.plain
    }
}

fn segments(line: &str) -> Vec<Vec<String>> {
    let bare = line.replace(['\'', '"', '\\'], "");
    let words = |segment: &str| segment.split_whitespace().map(str::to_owned).collect();
    bare.split(SEPARATORS).map(words).collect()
}

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
                let unclear = if command.any_program {
                    Hit::Unclear
                } else {
                    Hit::No
                };
                if !words
                    .first()
                    .is_some_and(|word| command.heads.contains(word))
                {
                    return unclear;
                }
                let parts = command.parts.unwrap_or_default();
                let read = parts.iter().any(|part| holds(part, words));
                let raw = command.segments.iter().map(|found| holds_raw(found, words));
                unclear.or(Hit::of(read)).or(raw.fold(Hit::No, Hit::or))
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

/// Looks for the words in a part of a line that no grammar read.
fn holds_raw(found: &[String], words: &[String]) -> Hit {
    let Some(last) = found.len().checked_sub(words.len()) else {
        return Hit::No;
    };
    let begins_at = |start| begins(found.iter().skip(start), words);
    (0..=last).map(begins_at).fold(Hit::No, Hit::or)
}

fn begins<'a>(mut found: impl Iterator<Item = &'a String>, words: &[String]) -> Hit {
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
