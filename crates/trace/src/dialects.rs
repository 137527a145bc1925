//! Readers of every trace dialect, and the writer of the canonical one.
//!
//! A line that can't be read is reported with its place, and the rest is read on: a trace is many
//! writers' work, and one torn line must not hide the others.

mod audit;
mod fields;
mod nested;
mod ranged;
mod scan;
mod simple;

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tagout_vocab::Timestamp;
use tagout_vocab::limits::{TRACE_DAMAGE_MAX, TRACE_RECORD_RANGES_MAX, TRANSACTION_PATHS_MAX};
use thiserror::Error;

use crate::agent_trace;
use crate::record::{Link, Record, VERSION};

/// The forms in which traces are found.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Ord, PartialOrd, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dialect {
    /// Tagout's own.
    Canonical,
    /// Files, conversations and ranges within each other.
    Nested,
    /// Ranges with hashes before and after.
    Ranged,
    /// An audit log of everything, with one range at most.
    Audit,
    /// A flat line about one file.
    Simple,
    /// Agent Trace.
    AgentTrace,
}

/// What a line holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// A record.
    Record(Box<Record>),
    /// A tie between records and a commit.
    Link(Link),
}

/// One thing that was read, and where it stood.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its place.
    pub place: Place,
    /// Its form.
    pub dialect: Dialect,
    /// What it says.
    pub item: Item,
}

/// A place in a file.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Ord, PartialOrd, Serialize)]
pub struct Place {
    /// The line, counted from one.
    pub line: usize,
    /// The byte in the line, counted from one.
    pub column: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "line {}, column {}", self.line, self.column)
    }
}

/// Something that could not be read.
#[derive(Clone, Debug, Eq, PartialEq, Error)]
#[error("{place}: {problem}")]
pub struct Damage {
    /// Where.
    pub place: Place,
    /// What.
    pub problem: Problem,
}

/// What is wrong with a place in a trace.
#[derive(Clone, Debug, Eq, PartialEq, Error)]
#[non_exhaustive]
pub enum Problem {
    /// The text is not JSON.
    #[error("not JSON: {message}; the line is skipped")]
    Json {
        /// The parser's words.
        message: String,
    },
    /// Left over from a merge.
    #[error("a conflict marker was left here; remove it, both sides can stay")]
    ConflictMarker,
    /// JSON, but nothing that any dialect writes.
    #[error("no trace dialect writes this; expected an object with a file, a range or an id")]
    Unknown,
    /// A record of the canonical form with a field that can't be.
    #[error("not a record of version {VERSION}: {message}")]
    Malformed {
        /// What is wrong with it.
        message: String,
    },
    /// Written by a newer version.
    #[error("written in version {version} of the form; this program knows {VERSION}")]
    Newer {
        /// The version it says.
        version: u64,
    },
    /// Longer than is read.
    #[error("the text is too long to be read")]
    TooLong,
}

/// Everything that was read from a trace file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// What was read, in the file's order.
    pub entries: Vec<Entry>,
    /// What could not be read; at most [`TRACE_DAMAGE_MAX`] places.
    pub damage: Vec<Damage>,
    /// How many places could not be read.
    pub damage_count: usize,
}

impl Reading {
    /// The records, in the file's order.
    pub fn records(&self) -> impl Iterator<Item = &Record> {
        self.entries.iter().filter_map(|entry| match &entry.item {
            Item::Record(record) => Some(&**record),
            Item::Link(_) => None,
        })
    }

    /// The records with their places, in the file's order.
    pub fn placed_records(&self) -> impl Iterator<Item = (Place, &Record)> {
        self.entries.iter().filter_map(|entry| match &entry.item {
            Item::Record(record) => Some((entry.place, &**record)),
            Item::Link(_) => None,
        })
    }

    /// Notes that something that was read can't be kept.
    pub fn refuse(&mut self, place: Place, message: String) {
        self.damage(place, Problem::Malformed { message });
    }

    fn damage(&mut self, place: Place, problem: Problem) {
        self.damage_count += 1;
        if self.damage.len() < TRACE_DAMAGE_MAX {
            self.damage.push(Damage { place, problem });
        }
    }
}

/// H16: reads a trace file of any dialect, or of several at once.
pub fn read(text: &[u8]) -> Reading {
    let mut reading = Reading::default();
    scan::values(text, &mut |place, found| match found {
        Ok(value) => match item(&value) {
            Ok((dialect, item)) => reading.entries.push(Entry {
                place,
                dialect,
                item,
            }),
            Err(problem) => reading.damage(place, problem),
        },
        Err(problem) => reading.damage(place, problem),
    });
    reading
}

/// The canonical file of what was read: each record once, in the order of time and id, whatever
/// order the lines had. What union merges and several writers leave behind becomes one text.
pub fn write(reading: &Reading) -> String {
    let mut lines: Vec<(i64, &str, String)> = reading
        .entries
        .iter()
        .map(|entry| match &entry.item {
            Item::Record(record) => {
                let time = record.timestamp.map_or(i64::MIN, Timestamp::as_millis);
                (time, record.id.as_str(), record.to_line())
            }
            Item::Link(link) => {
                let time = link.timestamp.map_or(i64::MIN, Timestamp::as_millis);
                (time, link.id.as_str(), link.to_line())
            }
        })
        .collect();
    lines.sort();
    lines.dedup();
    lines.into_iter().map(|(_, _, line)| line).collect()
}

fn item(value: &Value) -> Result<(Dialect, Item), Problem> {
    let Some(object) = value.as_object() else {
        return Err(Problem::Unknown);
    };
    if object.get("version").is_some_and(Value::is_u64) {
        return canonical(object).map(|item| (Dialect::Canonical, item));
    }
    let has = |key: &str| object.contains_key(key);
    let (dialect, record) = if object.get("version").is_some_and(Value::is_string) && has("files") {
        let record = agent_trace::import(value).map_err(|error| Problem::Malformed {
            message: error.to_string(),
        })?;
        (Dialect::AgentTrace, record)
    } else if has("modified_ranges") {
        (Dialect::Ranged, ranged::record(object))
    } else if object.get("files").is_some_and(Value::is_array) {
        (Dialect::Nested, nested::record(object))
    } else if has("trace_id") || has("action_type") {
        (Dialect::Audit, audit::record(object))
    } else if simple::is_record(object) {
        (Dialect::Simple, simple::record(object))
    } else {
        return Err(Problem::Unknown);
    };
    bounded(record).map(|record| (dialect, record))
}

/// A record that names no more files than one change can touch.
fn bounded(record: Record) -> Result<Item, Problem> {
    let max = TRACE_RECORD_RANGES_MAX.saturating_add(TRANSACTION_PATHS_MAX);
    if record.modified_ranges.len() > max {
        return Err(Problem::TooLong);
    }
    Ok(Item::Record(Box::new(record)))
}

fn canonical(object: &Map<String, Value>) -> Result<Item, Problem> {
    let version = object.get("version").and_then(Value::as_u64).unwrap_or(0);
    if version != u64::from(VERSION) {
        return Err(Problem::Newer { version });
    }
    let malformed = |error: serde_json::Error| Problem::Malformed {
        message: error.to_string(),
    };
    let value = Value::Object(object.clone());
    if object.contains_key("commit") {
        let link = Link::deserialize(value).map_err(malformed)?;
        return Ok(Item::Link(link));
    }
    let record = Record::deserialize(value).map_err(malformed)?;
    if record.id.is_empty() {
        let message = "the id is missing".to_owned();
        return Err(Problem::Malformed { message });
    }
    bounded(record)
}

#[cfg(test)]
mod tests;
