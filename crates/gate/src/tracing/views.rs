//! The list of records in the tree, looked at and made again.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::UNIX_EPOCH;

use serde_json::Value;
use tagout_trace::dialects::{self, Item};
use tagout_trace::intent_map::IntentMap;
use tagout_trace::record::Record;
use tagout_vocab::Timestamp;
use tagout_vocab::limits::TRACE_FILE_BYTES_MAX;
use tagout_workspace::files;

use super::book::Shown;
use crate::error::GateError;

/// What a file looks like from outside; `None` if it is not there.
pub(super) fn look(path: &Path) -> Option<String> {
    let found = std::fs::metadata(path).ok()?;
    let since = found.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(format!("{} {}", found.len(), since.as_nanos()))
}

/// A list that was made again.
#[derive(Debug)]
pub(super) struct Mended {
    /// The whole text, if it differs from what is there.
    pub(super) text: Option<Vec<u8>>,
    /// What others' records say.
    pub(super) others: IntentMap,
    /// Places that nobody can read; they are left out.
    pub(super) lost: usize,
}

/// The list as it should be: every line of this state, and every one that others wrote.
pub(super) fn mended(path: &Path, mut own: Vec<Shown>) -> Result<Mended, GateError> {
    let max = u64::try_from(TRACE_FILE_BYTES_MAX).unwrap_or(u64::MAX);
    let there = files::read(path, max)?.unwrap_or_default();
    let there = String::from_utf8_lossy(&there);
    let found = Found::of(&there, &own);
    for one in &mut own {
        if let Some(fuller) = found.fuller.get(&one.id) {
            one.line.clone_from(fuller);
        }
    }
    let mut all: Vec<Shown> = [own, found.foreign].concat();
    all.sort();
    all.dedup();
    // Whoever put lines in another order, or some of them twice, changed nothing.
    let expected: BTreeSet<&str> = all.iter().map(|one| one.line.as_str()).collect();
    let is_right = there.lines().collect::<BTreeSet<&str>>() == expected;
    let text = || all.iter().flat_map(|one| [one.line.as_str(), "\n"]);
    Ok(Mended {
        text: (!is_right).then(|| text().collect::<String>().into_bytes()),
        others: found.map,
        lost: found.lost,
    })
}

/// What is in a list besides this state's own lines.
#[derive(Debug, Default)]
struct Found {
    /// What others wrote.
    foreign: Vec<Shown>,
    /// The same as a map.
    map: IntentMap,
    /// Own records as they were written when more was known, by id.
    fuller: BTreeMap<String, String>,
    /// Places that nobody can read.
    lost: usize,
}

impl Found {
    fn of(there: &str, own: &[Shown]) -> Self {
        let own: BTreeMap<&str, &str> = own
            .iter()
            .map(|one| (one.id.as_str(), one.line.as_str()))
            .collect();
        let mut found = Self::default();
        let mut records = Vec::new();
        let mut newer = 0_usize;
        let mut known: BTreeSet<String> = BTreeSet::new();
        for line in there.lines() {
            let mut reading = dialects::read(line.as_bytes());
            match (
                reading.entries.pop(),
                reading.entries.len(),
                reading.damage_count,
            ) {
                (Some(entry), 0, 0) => {
                    known.insert(id(&entry.item).to_owned());
                    found.take(entry.item, line, (&own, &mut records));
                }
                (None, _, 1..) if found.take_newer(line, &own) => newer += 1,
                (Some(_) | None, _, _) => {}
            }
        }
        // Objects over several lines, or several on one: a formatter was here.
        let whole = dialects::read(there.as_bytes());
        for entry in whole.entries {
            if !known.contains(id(&entry.item)) {
                let line = match &entry.item {
                    Item::Record(record) => record.to_line(),
                    Item::Link(link) => link.to_line(),
                };
                found.take(entry.item, line.trim_end(), (&own, &mut records));
            }
        }
        found.lost = whole.damage_count.saturating_sub(newer);
        records.sort_by_key(|one| (one.timestamp.map(Timestamp::as_millis), one.id.clone()));
        found.map = IntentMap::of(records.iter());
        found
    }

    fn take(
        &mut self,
        item: Item,
        line: &str,
        (own, records): (&BTreeMap<&str, &str>, &mut Vec<Record>),
    ) {
        let at = match &item {
            Item::Record(record) => record.timestamp,
            Item::Link(tied) => tied.timestamp,
        };
        match (own.get(id(&item)), item) {
            (Some(known), Item::Record(record)) if is_fuller(&record, line, known) => {
                self.fuller.insert(record.id, line.to_owned());
            }
            (Some(_), Item::Record(_) | Item::Link(_)) => {}
            (None, item) => {
                self.foreign.push(Shown {
                    at: at.map_or(i64::MIN, Timestamp::as_millis),
                    id: id(&item).to_owned(),
                    line: line.to_owned(),
                });
                if let Item::Record(record) = item {
                    records.push(*record);
                }
            }
        }
    }

    /// A line in a form that this version does not know: whoever wrote it knows. Whether it is one.
    fn take_newer(&mut self, line: &str, own: &BTreeMap<&str, &str>) -> bool {
        let Ok(Value::Object(object)) = serde_json::from_str(line) else {
            return false;
        };
        let id = object.get("id").and_then(Value::as_str).unwrap_or_default();
        let is_foreign = !own.contains_key(id);
        if is_foreign {
            self.foreign.push(Shown {
                at: i64::MAX,
                id: id.to_owned(),
                line: line.to_owned(),
            });
        }
        is_foreign
    }
}

fn id(item: &Item) -> &str {
    match item {
        Item::Record(record) => &record.id,
        Item::Link(link) => &link.id,
    }
}

/// Whether a record in the tree is the known one with the revision, which only the moment of the
/// change knew: the state was lost since and made again.
fn is_fuller(there: &Record, line: &str, known: &str) -> bool {
    if line == known {
        return false;
    }
    let Ok(known) = serde_json::from_str::<Record>(known) else {
        return false;
    };
    let bare = Record {
        vcs: None,
        ..there.clone()
    };
    known.vcs.is_none() && bare == known
}
