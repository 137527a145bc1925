//! The canonical trace record: what one execution changed, for which intent, and of which class.

mod build;

pub use build::{Change, Facts, Side, chain, record};

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tagout_vocab::{Digest, MutationClass, Timestamp};

use crate::nodes::AstNode;
use crate::ranges::LineRange;

/// The version of the canonical form.
pub const VERSION: u32 = 1;

/// H11: one execution's changes.
///
/// Records of other dialects are read into the same type; what has no place here is kept in
/// `extra` as it was.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Record {
    /// The version of the form.
    pub version: u32,
    /// The record's own id.
    pub id: String,
    /// When it happened.
    #[serde(with = "time", skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<Timestamp>,
    /// The revision that the change was made upon.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vcs: Option<Revision>,
    /// The intent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intent_id: Option<String>,
    /// What the intent serves.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub related_requirements: Vec<String>,
    /// The class that counts: the computed one where the trees could be compared, else the
    /// declared one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mutation_class: Option<MutationClass>,
    /// What the agent said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub declared_class: Option<MutationClass>,
    /// What the trees say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub computed_class: Option<MutationClass>,
    /// Why they say so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class_reason: Option<String>,
    /// The tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// Where the tool comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_origin: Option<String>,
    /// What the agent did, in a word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_action: Option<String>,
    /// Who did it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contributor: Option<Contributor>,
    /// The conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// What changed.
    pub modified_ranges: Vec<ModifiedRange>,
    /// Hash of the ledger's event about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ledger_event: Option<Digest>,
    /// What another dialect said beyond this.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub extra: Map<String, Value>,
}

/// A revision of a version control system.
#[derive(Clone, Debug, Eq, PartialEq, Ord, PartialOrd, Hash, Serialize, Deserialize)]
pub struct Revision {
    /// `git`, `jj`, …
    #[serde(rename = "type")]
    pub kind: String,
    /// The commit's or change's id.
    pub revision: String,
}

/// Who made a change.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Contributor {
    /// A person, an agent, both, or nobody knows.
    #[serde(rename = "type")]
    pub kind: Entity,
    /// The agent's program, or the person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// What kind of contributor.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Entity {
    /// A person.
    Human,
    /// An agent.
    Ai,
    /// Both.
    Mixed,
    /// Nobody knows.
    #[default]
    Unknown,
}

impl Entity {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Human, Self::Ai, Self::Mixed, Self::Unknown];

    /// The wire name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Human => "human",
            Self::Ai => "ai",
            Self::Mixed => "mixed",
            Self::Unknown => "unknown",
        }
    }

    /// The kind of a word in any case.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.as_str().eq_ignore_ascii_case(word))
    }
}

/// One changed range of one file, or what became of the file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ModifiedRange {
    /// The file.
    pub file: String,
    /// What the file was called before, if that changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old_file: Option<String>,
    /// What became of the file.
    pub change: ChangeKind,
    /// Where the old text changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old_range: Option<LineRange>,
    /// Where the new text changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new_range: Option<LineRange>,
    /// Hash of the new lines of the range.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_hash: Option<Digest>,
    /// Hash of the old lines of the range.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old_content_hash: Option<Digest>,
    /// Hash of the whole file before; null if it was not there.
    pub before_hash: Option<Digest>,
    /// Hash of the whole file after; null if it is gone.
    pub after_hash: Option<Digest>,
    /// Permission bits before, in octal, if they changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old_mode: Option<String>,
    /// Permission bits after, in octal, if they changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new_mode: Option<String>,
    /// Whether the file is not text.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub binary: bool,
    /// Whether there was a tree to look at.
    pub ast_status: AstStatus,
    /// The definitions that the range touches.
    pub ast_nodes: Vec<AstNode>,
    /// A hash that is not SHA-256, or only a part of one, as another dialect wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_hash: Option<String>,
}

/// What became of a file.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// It is new.
    Created,
    /// Its content changed.
    #[default]
    Modified,
    /// It is gone.
    Deleted,
    /// It has another name; its content may have changed too.
    Renamed,
    /// Only its permissions changed.
    Mode,
}

/// Whether there was a tree to look at.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AstStatus {
    /// The grammar could read the text.
    Ok,
    /// No grammar, or the text could not be read: lines only.
    #[default]
    Fallback,
}

/// B6: ties records to the commit that holds their bytes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Link {
    /// The version of the form.
    pub version: u32,
    /// The link's own id.
    pub id: String,
    /// When the commit was seen.
    #[serde(with = "time", skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<Timestamp>,
    /// The commit.
    pub commit: Option<Revision>,
    /// The ids of the records whose bytes it holds.
    pub records: Vec<String>,
    /// Hash of the ledger's event about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ledger_event: Option<Digest>,
}

impl Record {
    /// The record as one line of `agent_trace.jsonl`, with its end.
    pub fn to_line(&self) -> String {
        line(self)
    }

    /// Whether the agent said something else than the trees.
    pub fn is_contradicted(&self) -> bool {
        let both = self.declared_class.zip(self.computed_class);
        both.is_some_and(|(said, seen)| said != seen)
    }

    /// The files that it names, each once, in order.
    pub fn files(&self) -> Vec<&str> {
        let mut files: Vec<&str> = Vec::new();
        let mut known = HashSet::new();
        for range in &self.modified_ranges {
            if known.insert(range.file.as_str()) {
                files.push(&range.file);
            }
        }
        files
    }
}

impl Link {
    /// The link as one line of `agent_trace.jsonl`, with its end.
    pub fn to_line(&self) -> String {
        line(self)
    }
}

fn line<T: Serialize>(value: &T) -> String {
    // Every value here has string keys and finite numbers, so it can always be written.
    let mut line = serde_json::to_string(value).unwrap_or_default();
    line.push('\n');
    line
}

/// Times as RFC 3339 in UTC.
pub(crate) mod time {
    use serde::{Deserialize, Deserializer, Serializer, de};
    use tagout_vocab::Timestamp;

    #[expect(clippy::ref_option, reason = "the signature is serde's")]
    pub(crate) fn serialize<S: Serializer>(
        time: &Option<Timestamp>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match time {
            Some(time) => serializer.collect_str(time),
            None => serializer.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Timestamp>, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?;
        text.map(|text| Timestamp::parse(&text).map_err(de::Error::custom))
            .transpose()
    }
}

#[cfg(test)]
mod tests;
