//! `.intentignore`, in its denying reading only (H8).
//!
//! The same line blocks an intent in one place, protects a path in another and frees a path from
//! checks in a third. Whoever wrote it meant at least one of the first two or nothing that may be
//! relied on, so every line denies in both ways in which it can be read, and none ever allows.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use tagout_vocab::IntentId;
use tagout_vocab::limits::{IGNORE_LINES_MAX, PATTERN_BYTES_MAX, SIDECAR_BYTES_MAX};

use super::overlap::segment_glob_matches;
use crate::problem::{Position, Problem, Problems};
use crate::scope::Pattern;

/// What marks a line as an intent's id and nothing else.
const ID_PREFIX: &str = "intent:";

/// One line that denies.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct IgnoreLine {
    /// The file it stands in.
    pub file: String,
    /// Its number, from 1.
    pub line: usize,
    /// What it says.
    pub text: String,
}

impl fmt::Display for IgnoreLine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, text } = self;
        write!(formatter, "`{text}` in {file}, line {line}")
    }
}

/// What one or more `.intentignore` files deny. The default denies nothing: there is no file.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
pub struct IgnoreFile {
    lines: Vec<IgnoreLine>,
    // Ids in lower case, each with the index of its line.
    ids: BTreeMap<String, usize>,
    id_globs: Vec<(String, usize)>,
    path_patterns: Vec<String>,
    warnings: Vec<Problem>,
}

impl IgnoreFile {
    /// Reads one file.
    pub fn read(file: &str, text: &str) -> Result<Self, Vec<Problem>> {
        let mut problems = Problems::new(file);
        let start = Position { line: 1, column: 1 };
        if text.len() > SIDECAR_BYTES_MAX {
            let message = format!("the file is larger than {SIDECAR_BYTES_MAX} bytes");
            problems.add(start, message);
            return problems.finish(Self::default());
        }
        let mut warnings = Problems::new(file);
        let mut found = Self::default();
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        for (index, line) in text.lines().enumerate() {
            let number = index + 1;
            let said = trimmed(line);
            if said.is_empty() || said.starts_with('#') {
                continue;
            }
            if found.lines.len() >= IGNORE_LINES_MAX {
                let message = format!("more than {IGNORE_LINES_MAX} lines");
                problems.add(place(number, 1), message);
                break;
            }
            let says = IgnoreLine {
                file: file.to_owned(),
                line: number,
                text: said.to_owned(),
            };
            if let Err(problem) = found.take(says, &mut warnings) {
                problems.add(place(number, problem.column), problem.message);
            }
        }
        found.tidy();
        found.warnings = warnings.finish(()).err().unwrap_or_default();
        problems.finish(found)
    }

    /// Both files' denials together.
    pub fn merge(mut self, other: Self) -> Self {
        let offset = self.lines.len();
        self.lines.extend(other.lines);
        for (id, line) in other.ids {
            self.ids.entry(id).or_insert(line + offset);
        }
        let globs = other.id_globs.into_iter();
        self.id_globs
            .extend(globs.map(|(glob, line)| (glob, line + offset)));
        self.path_patterns.extend(other.path_patterns);
        self.warnings.extend(other.warnings);
        self.tidy();
        self
    }

    /// The line that blocks an intent. Ids are compared without regard to case: a denial that
    /// misses by a letter's case would allow.
    pub fn blocks_intent(&self, id: &IntentId) -> Option<&IgnoreLine> {
        let folded = id.as_str().to_lowercase();
        let line = self.ids.get(&folded).copied().or_else(|| {
            let mut globs = self.id_globs.iter();
            let found = globs.find(|(glob, _)| segment_glob_matches(glob, &folded));
            found.map(|(_, line)| *line)
        });
        line.and_then(|line| self.lines.get(line))
    }

    /// Paths that nobody may change, as scope patterns.
    pub fn path_patterns(&self) -> &[String] {
        &self.path_patterns
    }

    /// The lines that deny something.
    pub fn lines(&self) -> &[IgnoreLine] {
        &self.lines
    }

    /// What is written but has no effect.
    pub fn warnings(&self) -> &[Problem] {
        &self.warnings
    }

    fn tidy(&mut self) {
        self.id_globs.dedup();
        self.path_patterns.sort_unstable();
        self.path_patterns.dedup();
    }

    fn take(&mut self, says: IgnoreLine, warnings: &mut Problems) -> Result<(), Refused> {
        let text = says.text.as_str();
        let control = text.chars().position(char::is_control);
        if let Some(offset) = control {
            return Err(Refused::at(offset + 1, "a control character"));
        }
        if text.len() > PATTERN_BYTES_MAX {
            let message = format!("the line is longer than {PATTERN_BYTES_MAX} bytes");
            return Err(Refused::at(1, message));
        }
        let at = place(says.line, 1);
        if text.starts_with('!') {
            warnings.add(at, format!("`{text}` has no effect: nothing here allows"));
            return Ok(());
        }
        let index = self.lines.len();
        let (id_only, id_text) = match after_id_prefix(text) {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        if id_only && id_text.is_empty() {
            return Err(Refused::at(1, format!("`{ID_PREFIX}` names no intent")));
        }
        self.deny_ids(id_text, index);
        if !id_only && !is_id_with_reason(text) {
            self.deny_paths(text, at, warnings);
        }
        self.lines.push(says);
        Ok(())
    }

    /// Every id that a line can be read as: all of it, or what stands before a colon or a blank.
    fn deny_ids(&mut self, text: &str, line: usize) {
        let before_colon = text.split(':').next().unwrap_or(text);
        let before_blank = text.split_whitespace().next().unwrap_or(text);
        let before_either = before_blank.split(':').next().unwrap_or(before_blank);
        for reading in [text, before_colon, before_blank, before_either] {
            let folded = reading.trim().to_lowercase();
            if folded.is_empty() {
                continue;
            }
            if folded.contains(['*', '?']) {
                self.id_globs.push((folded, line));
            } else {
                self.ids.entry(folded).or_insert(line);
            }
        }
    }

    fn deny_paths(&mut self, text: &str, at: Position, warnings: &mut Problems) {
        let uncommented = text.split(" #").next().unwrap_or(text).trim_end();
        let mut readings = vec![text];
        if uncommented != text {
            readings.push(uncommented);
        }
        let mut outside = None;
        for pattern in readings.into_iter().flat_map(scope_patterns) {
            match Pattern::parse_relative(&pattern) {
                Ok(_) => self.path_patterns.push(pattern),
                Err(error) => outside = Some(error),
            }
        }
        if let Some(error) = outside {
            warnings.add(at, format!("`{text}` protects no path: {error}"));
        }
    }
}

struct Refused {
    column: usize,
    message: String,
}

impl Refused {
    fn at(column: usize, message: impl Into<String>) -> Self {
        Self {
            column,
            message: message.into(),
        }
    }
}

const fn place(line: usize, column: usize) -> Position {
    Position { line, column }
}

/// A line without the blanks around it; a blank that is escaped belongs to the name.
fn trimmed(line: &str) -> &str {
    line.trim_matches([' ', '\t', '\r'])
}

fn after_id_prefix(text: &str) -> Option<&str> {
    let (head, rest) = text.split_at_checked(ID_PREFIX.len())?;
    head.eq_ignore_ascii_case(ID_PREFIX).then(|| rest.trim())
}

/// `INT-001: reason`: capitals, a hyphen, and a colon with a reason. No path looks like this.
fn is_id_with_reason(text: &str) -> bool {
    let Some((head, _)) = text.split_once(": ") else {
        return false;
    };
    let Some((letters, rest)) = head.split_once('-') else {
        return false;
    };
    let capitals = !letters.is_empty() && letters.chars().all(|c| c.is_ascii_uppercase());
    capitals && !rest.is_empty() && IntentId::new(head).is_ok()
}

/// A line of a `.gitignore` in the words of scope patterns: the thing itself and all beneath it.
///
/// Scope patterns know `*`, `?` and `**`; what else the line may mean (a character class, an
/// escape, a separator of another system) is widened to `?`, because wider only denies more.
fn scope_patterns(line: &str) -> Vec<String> {
    let mut patterns = Vec::new();
    let mut bodies = vec![classes_as_any(line), odd_as_any(line)];
    if line.contains('\\') {
        bodies.push(escapes_as_any(line));
        bodies.push(odd_as_any(&line.replace('\\', "/")));
    }
    for body in bodies {
        let anchored = body.trim_end_matches('/').contains('/');
        let name = body.trim_matches('/');
        let stem = if name.is_empty() || name == "**" {
            patterns.push("**".to_owned());
            continue;
        } else if anchored || name.starts_with("**/") {
            name.to_owned()
        } else {
            format!("**/{name}")
        };
        if !stem.ends_with("/**") {
            patterns.push(stem.clone());
        }
        patterns.push(format!("{}/**", stem.trim_end_matches("/**")));
    }
    patterns.dedup();
    patterns
}

const ODD: [char; 5] = ['[', ']', '{', '}', '\\'];

/// Characters that may or may not be taken literally, each as any one character.
fn odd_as_any(text: &str) -> String {
    text.replace(ODD, "?")
}

/// `[abc]` as one character, the rest as it is.
fn classes_as_any(text: &str) -> String {
    let mut widened = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('[') {
        // A `]` right at the start belongs to the class.
        let skipped = after.chars().next().map_or(0, char::len_utf8);
        let close = after
            .get(skipped..)
            .and_then(|tail| tail.split_once(']'))
            .map(|(_, tail)| tail);
        let Some(tail) = close else {
            break;
        };
        widened.push_str(before);
        widened.push('?');
        rest = tail;
    }
    widened.push_str(rest);
    odd_as_any(&widened)
}

/// An escaped character as any one character.
fn escapes_as_any(text: &str) -> String {
    let mut widened = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if character == '\\' && characters.next().is_some() {
            widened.push('?');
        } else {
            widened.push(character);
        }
    }
    odd_as_any(&widened)
}
