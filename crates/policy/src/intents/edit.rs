//! Small edits of an intents file: only the bytes of the field in question change.
//!
//! Comments, order, quoting and line endings of everything else survive, in every dialect. After
//! each edit the result is read again and held against what was meant; an edit that touches
//! anything else is refused.

mod append;
mod ends;
mod field;
mod splice;
mod verify;

use tagout_vocab::{Intent, IntentId, IntentStatus, Timestamp};
use thiserror::Error;

pub use append::append;
use field::{Change, Wanted};

use super::entry::SCOPE_KEYS;
use super::read::{IntentFile, list_node, read};
use super::write;
use crate::problem::{Position, Problem};
use crate::scope::{Pattern, PatternError};
use crate::yaml::{self, Node};

/// Why a file was not edited.
#[derive(Clone, Debug, Eq, PartialEq, Error)]
pub enum EditError {
    /// The file can't be understood as it is.
    #[error("the file can't be read: {}", shown(.problems))]
    Unreadable {
        /// What is wrong with it.
        problems: Vec<Problem>,
    },
    /// No such intent.
    #[error("there is no intent `{id}` in the file")]
    Unknown {
        /// The id that was asked for.
        id: IntentId,
    },
    /// The new intent is there already.
    #[error("the intent `{id}` is in the file already")]
    Exists {
        /// Its id.
        id: IntentId,
    },
    /// Text that other places refer to.
    #[error(
        "line {}, column {}: the file uses anchors, so an edit would show up in other places; \
         write the values out first", .at.line, .at.column
    )]
    Anchors {
        /// Where the first one stands.
        at: Position,
    },
    /// A way of writing that can't be changed in place.
    #[error("line {}, column {}: {what} can't be edited in place", .at.line, .at.column)]
    Unsupported {
        /// Where it stands.
        at: Position,
        /// What it is.
        what: &'static str,
    },
    /// Not a scope pattern.
    #[error("`{pattern}`: {source}")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// Why not.
        source: PatternError,
    },
    /// The edit would have changed something else, or nothing.
    #[error("the edit would not do what it should ({what}); the file is left as it is")]
    Diverged {
        /// What differs.
        what: String,
    },
}

fn shown(problems: &[Problem]) -> String {
    problems
        .first()
        .map(ToString::to_string)
        .unwrap_or_default()
}

/// The text with another status for one intent.
pub fn set_status(
    file: &str,
    text: &str,
    id: &IntentId,
    status: IntentStatus,
) -> Result<String, EditError> {
    let change = Change {
        keys: &["status"],
        wanted: Wanted::Word(status.as_str().to_owned()),
    };
    set(file, text, id, &change, |intent| {
        intent.status = status;
    })
}

/// The text with another scope for one intent.
pub fn set_scope(
    file: &str,
    text: &str,
    id: &IntentId,
    patterns: &[String],
) -> Result<String, EditError> {
    for pattern in patterns {
        Pattern::parse_relative(pattern).map_err(|source| EditError::Pattern {
            pattern: pattern.clone(),
            source,
        })?;
    }
    let change = Change {
        keys: &SCOPE_KEYS,
        wanted: Wanted::List(patterns.to_vec()),
    };
    set(file, text, id, &change, |intent| {
        intent.owned_scope = patterns.to_vec();
    })
}

/// The text with other intents that may own the same files as one intent.
pub fn set_shares_with(
    file: &str,
    text: &str,
    id: &IntentId,
    others: &[IntentId],
) -> Result<String, EditError> {
    let names = others.iter().map(|other| other.as_str().to_owned());
    let change = Change {
        keys: &["shares_with"],
        wanted: Wanted::List(names.collect()),
    };
    set(file, text, id, &change, |intent| {
        intent.shares_with = others.to_vec();
    })
}

/// The text with another time at which one intent expires.
pub fn set_expiry(
    file: &str,
    text: &str,
    id: &IntentId,
    at: Timestamp,
) -> Result<String, EditError> {
    let change = Change {
        keys: &["expires_at"],
        wanted: Wanted::Word(write::time(at)),
    };
    set(file, text, id, &change, |intent| {
        intent.expires_at = Some(at);
    })
}

/// Changes one field, and checks that the file then says what is meant.
fn set(
    file: &str,
    text: &str,
    id: &IntentId,
    change: &Change<'_>,
    mean: impl FnOnce(&mut Intent),
) -> Result<String, EditError> {
    let document = Document::open(file, text)?;
    let (index, entry) = document.entry(id)?;
    let splices = field::splices(text, entry, change)?;
    let edited = splice::apply(text, splices);
    let mut meant = document.read.intents.clone();
    if let Some(intent) = meant.get_mut(index) {
        mean(intent);
    }
    verify::field(&document, &edited, change.keys, (index, &meant))?;
    Ok(edited)
}

/// A file that was understood and can be edited.
struct Document<'a> {
    file: &'a str,
    root: Option<Node>,
    read: IntentFile,
}

impl<'a> Document<'a> {
    fn open(file: &'a str, text: &str) -> Result<Self, EditError> {
        let read = read(file, text).map_err(|problems| EditError::Unreadable { problems })?;
        if let Some(at) = yaml::first_anchor(text) {
            return Err(EditError::Anchors { at });
        }
        let root = yaml::parse(file, text).map_err(|problem| EditError::Unreadable {
            problems: vec![problem],
        })?;
        Ok(Self { file, root, read })
    }

    /// The list of intents, where there is one.
    fn list(&self) -> Option<&Node> {
        self.root.as_ref().and_then(list_node)
    }

    /// An intent's entry and its place in the list. Reading makes one intent of each entry, so both
    /// lists run in step.
    fn entry(&self, id: &IntentId) -> Result<(usize, &Node), EditError> {
        let unknown = || EditError::Unknown { id: id.clone() };
        let mut intents = self.read.intents.iter();
        let index = intents
            .position(|intent| intent.id == *id)
            .ok_or_else(unknown)?;
        let items = self.list().and_then(Node::as_list).unwrap_or_default();
        let entry = items.get(index).ok_or_else(unknown)?;
        Ok((index, entry))
    }
}
