//! Git notes in the form `authorship/3.0.0`: which session or person wrote which lines of a
//! commit.

mod read;

pub use read::parse;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tagout_vocab::Digest;
use thiserror::Error;

use crate::ranges::LineRange;

/// Where such notes live.
pub const NOTES_REF: &str = "refs/notes/ai";

/// The version of the form.
pub const SCHEMA_VERSION: &str = "authorship/3.0.0";

/// One commit's note.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Note {
    /// Files in order, each with who wrote which lines. Lines that are not named are untracked.
    pub files: Vec<NoteFile>,
    /// Who the keys stand for.
    pub metadata: Metadata,
}

/// One file of a note.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct NoteFile {
    /// Its path.
    pub path: String,
    /// Keys with their lines.
    pub entries: Vec<(Key, Vec<LineRange>)>,
}

/// Who wrote some lines.
#[derive(Clone, Debug, Eq, PartialEq, Ord, PartialOrd)]
pub enum Key {
    /// A session, and the turn in it.
    Session {
        /// 14 hexadecimal characters.
        session: String,
        /// 14 hexadecimal characters.
        turn: String,
    },
    /// A person.
    Human {
        /// 14 hexadecimal characters.
        person: String,
    },
    /// The older form: a prompt.
    Prompt {
        /// 16 or 7 hexadecimal characters.
        prompt: String,
    },
}

/// The JSON part of a note.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Metadata {
    /// The version of the form.
    pub schema_version: String,
    /// The program that wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git_ai_version: Option<String>,
    /// The commit that the work began at.
    pub base_commit_sha: String,
    /// Older keys.
    pub prompts: Map<String, Value>,
    /// Sessions by their 14 characters, with `s_` before them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sessions: BTreeMap<String, NoteSession>,
    /// People by their 14 characters, with `h_` before them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub humans: BTreeMap<String, NoteHuman>,
    /// What else it says.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// One session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NoteSession {
    /// The agent.
    pub agent_id: NoteAgent,
    /// The person at whose terminal it ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub human_author: Option<String>,
    /// What else is known: here the intent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub custom_attributes: Option<Map<String, Value>>,
    /// What else it says.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// An agent.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
pub struct NoteAgent {
    /// Its program.
    pub tool: String,
    /// The conversation.
    pub id: String,
    /// The model.
    pub model: String,
}

/// One person.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NoteHuman {
    /// Who.
    pub author: String,
    /// What else it says.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// Why a note can't be read or written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum NoteError {
    /// The line between both parts is missing.
    #[error("the line `---` between attestations and metadata is missing")]
    NoDivider,
    /// A line of the first part.
    #[error("line {line}: {problem}")]
    Line {
        /// Which.
        line: usize,
        /// What is wrong.
        problem: &'static str,
    },
    /// The second part.
    #[error("the metadata is not what `{SCHEMA_VERSION}` asks for")]
    Metadata {
        /// Why.
        #[source]
        source: serde_json::Error,
    },
    /// Another version of the form.
    #[error("the note is written in `{version}`; this program knows `{SCHEMA_VERSION}`")]
    Version {
        /// The version it says.
        version: String,
    },
}

/// Who wrote some lines, as the note is made from.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Author {
    /// An agent in a conversation.
    Agent {
        /// The agent's program.
        tool: String,
        /// The conversation.
        conversation: String,
        /// The model.
        model: String,
        /// The call.
        call: String,
        /// The intent.
        intent: Option<String>,
    },
    /// A person, known by name.
    Human {
        /// Who.
        name: String,
    },
}

/// Lines of a file and who wrote them.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Attested {
    /// The file.
    pub path: String,
    /// Its lines.
    pub lines: LineRange,
    /// Who.
    pub author: Author,
}

/// The first 14 characters of a hash.
fn short(text: &str) -> String {
    Digest::of(text.as_bytes()).hex().chars().take(14).collect()
}

/// The note of a commit. Lines that nobody is known to have written are left out.
pub fn note(base_commit: &str, attested: &[Attested]) -> Note {
    let mut metadata = Metadata {
        schema_version: SCHEMA_VERSION.to_owned(),
        base_commit_sha: base_commit.to_owned(),
        ..Metadata::default()
    };
    let mut files: BTreeMap<&str, BTreeMap<Key, Vec<LineRange>>> = BTreeMap::new();
    for one in attested.iter().filter(|one| !one.lines.is_empty()) {
        let key = metadata.add(&one.author);
        let keys = files.entry(&one.path).or_default();
        keys.entry(key).or_default().push(one.lines);
    }
    let file = |(path, keys): (&str, BTreeMap<Key, Vec<LineRange>>)| NoteFile {
        path: path.to_owned(),
        entries: keys
            .into_iter()
            .map(|(key, ranges)| (key, merged(ranges)))
            .collect(),
    };
    Note {
        files: files.into_iter().map(file).collect(),
        metadata,
    }
}

impl Metadata {
    fn add(&mut self, author: &Author) -> Key {
        match author {
            Author::Agent {
                tool,
                conversation,
                model,
                call,
                intent,
            } => {
                let session = short(&format!("{tool}:{conversation}"));
                let attributes = intent.as_ref().map(|intent| {
                    let mut attributes = Map::new();
                    attributes.insert("intent_id".to_owned(), Value::from(intent.as_str()));
                    attributes
                });
                let entry = self.sessions.entry(format!("s_{session}"));
                entry.or_insert_with(|| NoteSession {
                    agent_id: NoteAgent {
                        tool: tool.clone(),
                        id: conversation.clone(),
                        model: model.clone(),
                    },
                    custom_attributes: attributes,
                    ..NoteSession::default()
                });
                let turn = short(call);
                Key::Session { session, turn }
            }
            Author::Human { name } => {
                let person = short(name);
                let entry = self.humans.entry(format!("h_{person}"));
                entry.or_insert_with(|| NoteHuman {
                    author: name.clone(),
                    extra: Map::new(),
                });
                Key::Human { person }
            }
        }
    }
}

/// Ranges in order, those that touch made one.
fn merged(mut ranges: Vec<LineRange>) -> Vec<LineRange> {
    ranges.sort();
    let mut out: Vec<LineRange> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match out.last_mut() {
            Some(last) if range.start_line <= last.end_line.saturating_add(1) => {
                last.end_line = last.end_line.max(range.end_line);
            }
            _ => out.push(range),
        }
    }
    out
}

impl Note {
    /// The note's text.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for file in &self.files {
            let quote = if is_blank_bearing(&file.path) {
                "\""
            } else {
                ""
            };
            // Writing into a `String` cannot fail, here and below.
            writeln!(text, "{quote}{}{quote}", file.path).unwrap_or_default();
            for (key, ranges) in &file.entries {
                let ranges: Vec<String> = ranges.iter().map(range_text).collect();
                writeln!(text, "  {} {}", key.text(), ranges.join(",")).unwrap_or_default();
            }
        }
        text.push_str("---\n");
        let json = serde_json::to_string_pretty(&self.metadata).unwrap_or_default();
        text.push_str(&json);
        text.push('\n');
        text
    }
}

fn is_blank_bearing(path: &str) -> bool {
    path.contains(char::is_whitespace) || path.starts_with('"') || path == "---"
}

fn range_text(range: &LineRange) -> String {
    if range.start_line == range.end_line {
        range.start_line.to_string()
    } else {
        format!("{}-{}", range.start_line, range.end_line)
    }
}

impl Key {
    /// The key as it stands in a note.
    pub fn text(&self) -> String {
        match self {
            Self::Session { session, turn } => format!("s_{session}::t_{turn}"),
            Self::Human { person } => format!("h_{person}"),
            Self::Prompt { prompt } => prompt.clone(),
        }
    }

    /// The key of a text, if it is one.
    pub fn parse(text: &str) -> Option<Self> {
        let hex = |text: &str, lengths: &[usize]| {
            let fits = lengths.contains(&text.len());
            let is_hex = text
                .bytes()
                .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
            (fits && is_hex).then(|| text.to_owned())
        };
        if let Some((session, turn)) = text.strip_prefix("s_").and_then(|t| t.split_once("::t_")) {
            return Some(Self::Session {
                session: hex(session, &[14])?,
                turn: hex(turn, &[14])?,
            });
        }
        if let Some(person) = text.strip_prefix("h_") {
            let person = hex(person, &[14])?;
            return Some(Self::Human { person });
        }
        let prompt = hex(text, &[16, 7])?;
        Some(Self::Prompt { prompt })
    }
}

#[cfg(test)]
mod tests;
