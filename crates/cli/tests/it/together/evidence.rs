//! What everybody noted down, what the ledger holds and what the trace says, side by side.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::Value;
use tagout_vocab::Digest;

use super::hands::Notes;

/// An execution that changed files, as the ledger has it.
#[derive(Clone, Debug)]
pub(super) struct Done {
    pub(super) seq: u64,
    pub(super) hash: String,
    pub(super) execution: String,
    /// Each path with the digests before and after.
    pub(super) paths: Vec<(String, Option<String>, Option<String>)>,
}

/// A file as it is, and what blame says of its lines.
#[derive(Clone, Debug)]
pub(super) struct Blamed {
    pub(super) text: String,
    pub(super) lines: Vec<Value>,
}

/// A version of a file that lies beside it.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    /// Its path in the workspace.
    pub(super) place: String,
    pub(super) digest: String,
}

#[derive(Clone, Debug)]
pub(super) struct Evidence {
    pub(super) is_verified: bool,
    pub(super) done: Vec<Done>,
    pub(super) records: Vec<Value>,
    /// The records as they stand in the tree.
    pub(super) view: Vec<Value>,
    pub(super) blamed: BTreeMap<String, Blamed>,
    pub(super) kept: Vec<Kept>,
    /// The digests of the replaced files that the state still has, to look at them once more.
    pub(super) resting: BTreeSet<String>,
    pub(super) notes: Notes,
}

fn digest(text: &str) -> String {
    Digest::of(text.as_bytes()).to_string()
}

impl Evidence {
    /// What a command left is what was there with its line at the end.
    pub(super) fn learn_commands(&mut self) {
        for done in &self.done {
            let called = self
                .notes
                .calls
                .iter()
                .find(|call| call.execution == done.execution);
            let line = called.and_then(|call| call.appended.as_ref());
            let (Some(line), [(_, Some(before), Some(_))]) = (line, done.paths.as_slice()) else {
                continue;
            };
            if let Some(text) = self.notes.contents.get(before) {
                let text = format!("{text}{line}\n");
                self.notes.contents.insert(digest(&text), text);
            }
        }
    }

    /// Everything that does not fit together.
    pub(super) fn findings(&self) -> Vec<String> {
        let mut found = Vec::new();
        if !self.is_verified {
            found.push("the ledger does not verify".to_owned());
        }
        self.calls(&mut found);
        self.records(&mut found);
        self.updates(&mut found);
        self.lines(&mut found);
        found
    }

    /// The ledger has what the agents were told, and nothing else.
    fn calls(&self, found: &mut Vec<String>) {
        let by_call: BTreeMap<&str, &Done> = self
            .done
            .iter()
            .map(|done| (done.execution.as_str(), done))
            .collect();
        for call in &self.notes.calls {
            let Some(done) = by_call.get(call.execution.as_str()) else {
                found.push(format!("the ledger knows nothing of {}", call.execution));
                continue;
            };
            let [(path, before, after)] = done.paths.as_slice() else {
                found.push(format!("{} changed {:?}", call.execution, done.paths));
                continue;
            };
            let (read, wrote) = call.wrote.clone().unzip();
            let is_told = *path == call.file
                && read.is_none_or(|read| before.as_ref() == Some(&read))
                && wrote.is_none_or(|wrote| after.as_ref() == Some(&wrote));
            if !is_told {
                found.push(format!("{call:?} is not what the ledger has: {done:?}"));
            }
        }
        let told: BTreeSet<&str> = self
            .notes
            .calls
            .iter()
            .map(|call| call.execution.as_str())
            .collect();
        for done in &self.done {
            if !told.contains(done.execution.as_str()) {
                found.push(format!("nobody made the call {}", done.execution));
            }
        }
    }

    /// Each completed call has its record, in the store and in the tree, and the record tells how
    /// the bytes before became the bytes after.
    fn records(&self, found: &mut Vec<String>) {
        let by_event: BTreeMap<&str, &Value> = self
            .records
            .iter()
            .filter_map(|record| Some((record["ledger_event"].as_str()?, record)))
            .collect();
        if by_event.len() != self.records.len() || self.records.len() != self.done.len() {
            let (records, done) = (self.records.len(), self.done.len());
            found.push(format!(
                "{done} calls, {records} records, {} events",
                by_event.len()
            ));
        }
        let sorted = |records: &[Value]| -> BTreeSet<String> {
            records.iter().map(Value::to_string).collect()
        };
        if sorted(&self.records) != sorted(&self.view) {
            found.push("the records in the tree are others than those of the store".to_owned());
        }
        for done in &self.done {
            let Some(record) = by_event.get(done.hash.as_str()) else {
                found.push(format!("{} has no record", done.execution));
                continue;
            };
            if record["call_id"] != done.execution.as_str() {
                found.push(format!(
                    "the record of {} names another call",
                    done.execution
                ));
            }
            let ranges: Vec<&Value> = record["modified_ranges"]
                .as_array()
                .unwrap()
                .iter()
                .collect();
            if ranges.iter().any(|range| {
                done.paths
                    .iter()
                    .all(|(path, ..)| range["file"] != path.as_str())
            }) {
                found.push(format!(
                    "the record of {} names other files",
                    done.execution
                ));
            }
            for path in &done.paths {
                let own: Vec<&Value> = ranges
                    .iter()
                    .copied()
                    .filter(|range| range["file"] == path.0.as_str())
                    .collect();
                if let Err(why) = self.explained(path, &own) {
                    found.push(format!("{}: {why}", done.execution));
                }
            }
        }
    }

    /// Whether the ranges of one file say all of what changed, and nothing else.
    fn explained(
        &self,
        (path, before, after): &(String, Option<String>, Option<String>),
        ranges: &[&Value],
    ) -> Result<(), String> {
        let text = |digest: &Option<String>| -> Result<&str, String> {
            let digest = digest
                .as_ref()
                .ok_or_else(|| format!("{path} came or went"))?;
            let known = self.notes.contents.get(digest);
            known
                .map(String::as_str)
                .ok_or_else(|| format!("nobody wrote {digest} to {path}"))
        };
        let lines = |text: &'_ str| -> Vec<String> {
            text.split_inclusive('\n').map(str::to_owned).collect()
        };
        let (old, new) = (lines(text(before)?), lines(text(after)?));
        let mut rebuilt = Vec::new();
        let mut at = 0;
        for range in ranges {
            if range["before_hash"].as_str() != before.as_deref()
                || range["after_hash"].as_str() != after.as_deref()
            {
                return Err(format!("the digests of {path} differ: {range}"));
            }
            let (from, until) = indices(&range["old_range"]);
            let (new_from, new_until) = indices(&range["new_range"]);
            let segment = |lines: &[String], from: usize, until: usize| -> Result<String, String> {
                let segment = lines.get(from..until).map(<[String]>::concat);
                segment.ok_or_else(|| format!("a range lies outside of {path}: {range}"))
            };
            let (gone, came) = (
                segment(&old, from, until)?,
                segment(&new, new_from, new_until)?,
            );
            let is_hash = |hash: &Value, text: &str| match hash.as_str() {
                Some(hash) => hash == digest(text),
                None => text.is_empty(),
            };
            if !is_hash(&range["content_hash"], &came)
                || !is_hash(&range["old_content_hash"], &gone)
            {
                return Err(format!("the hash of a segment of {path} is wrong: {range}"));
            }
            rebuilt.extend_from_slice(old.get(at..from).ok_or("ranges out of order")?);
            rebuilt.push(came);
            at = until;
        }
        rebuilt.extend_from_slice(old.get(at..).ok_or("ranges out of order")?);
        if rebuilt.concat() == new.concat() {
            Ok(())
        } else {
            Err(format!("the ranges do not turn {path} into what it became"))
        }
    }

    /// Whoever changed a file had seen what it was: no state vanished.
    fn updates(&self, found: &mut Vec<String>) {
        let ends: BTreeSet<String> = self
            .blamed
            .values()
            .map(|file| digest(&file.text))
            .collect();
        for end in &ends {
            if !self.notes.contents.contains_key(end) {
                found.push(format!("nobody wrote what a file is now: {end}"));
            }
        }
        let mut seen = ends;
        seen.extend(self.notes.saves.iter().map(|save| save.read.clone()));
        let paths = self.done.iter().flat_map(|done| &done.paths);
        seen.extend(paths.clone().filter_map(|(_, before, _)| before.clone()));
        let kept = self.told_of(found);
        for save in &self.notes.saves {
            let is_kept = kept.contains(&save.wrote) || self.resting.contains(&save.wrote);
            if !seen.contains(&save.wrote) && !is_kept {
                found.push(format!("what the person saved is lost: {save:?}"));
            }
        }
        for done in &self.done {
            for (path, before, after) in &done.paths {
                let after = after.clone().unwrap_or_default();
                if !seen.contains(&after) && !self.is_overwritten(path, before.as_deref()) {
                    found.push(format!("what {} wrote is lost", done.execution));
                }
            }
        }
    }

    /// The digests of what was kept beside the files, where the answer to a call said so.
    fn told_of(&self, found: &mut Vec<String>) -> BTreeSet<String> {
        let mut told = BTreeSet::new();
        for kept in &self.kept {
            let named = format!("`{}`", kept.place);
            if self.notes.answers.iter().any(|all| all.contains(&named)) {
                told.insert(kept.digest.clone());
            } else {
                found.push(format!("nobody was told of {kept:?}"));
            }
        }
        told
    }

    /// Whether the person saved over it, having read what was there before it.
    fn is_overwritten(&self, path: &str, before: Option<&str>) -> bool {
        let mut at = before;
        while let Some(state) = at {
            let has = self
                .notes
                .saves
                .iter()
                .any(|save| save.file == path && save.read == state);
            if has {
                return true;
            }
            let paths = self.done.iter().flat_map(|done| &done.paths);
            let made = paths
                .clone()
                .find(|(name, _, after)| name == path && after.as_deref() == Some(state));
            at = made.and_then(|(_, before, _)| before.as_deref());
        }
        false
    }

    /// Blame gives a line to a call only if the call brought it, and never a person's for certain.
    fn lines(&self, found: &mut Vec<String>) {
        for (file, blamed) in &self.blamed {
            let texts: Vec<&str> = blamed.text.lines().collect();
            if texts.len() != blamed.lines.len() {
                found.push(format!(
                    "{file} has {} lines, blame {}",
                    texts.len(),
                    blamed.lines.len()
                ));
            }
            for (text, said) in texts.iter().zip(&blamed.lines) {
                if said["author"] == "agent"
                    && let Some(why) = self.wrong(file, text, said)
                {
                    found.push(format!("{file}: `{text}` {why}: {said}"));
                }
            }
        }
    }

    fn wrong(&self, file: &str, text: &str, said: &Value) -> Option<&'static str> {
        let done = self
            .done
            .iter()
            .find(|done| said["call"] == done.execution.as_str());
        let Some((_, before, after)) =
            done.and_then(|done| done.paths.iter().find(|(path, ..)| path == file))
        else {
            return Some("is given to a call that the ledger does not have there");
        };
        let count = |digest: &Option<String>| {
            let text_of = digest
                .as_ref()
                .and_then(|digest| self.notes.contents.get(digest));
            text_of.map_or(0, |all| all.lines().filter(|line| *line == text).count())
        };
        if count(after) <= count(before) {
            return Some("is given to a call that did not bring it");
        }
        let mark = self
            .notes
            .calls
            .iter()
            .find(|call| said["call"] == call.execution.as_str());
        let is_own = mark.is_some_and(|call| text.starts_with(&format!("{}_", call.mark)));
        let is_common = text == "pass";
        (said["certainty"] == "certain" && !is_own && !is_common)
            .then_some("is given to a call for certain, and another one wrote it")
    }

    /// What happened, in numbers.
    pub(super) fn counts(&self) -> String {
        let notes = &self.notes;
        let of = |agent: &str| {
            notes
                .calls
                .iter()
                .filter(|call| call.agent == agent)
                .count()
        };
        let commands = notes
            .calls
            .iter()
            .filter(|call| call.appended.is_some())
            .count();
        let mut authors: BTreeMap<String, usize> = BTreeMap::new();
        for line in self.blamed.values().flat_map(|file| &file.lines) {
            let word = |key: &str| line[key].as_str().unwrap_or("-").to_owned();
            *authors
                .entry(format!("{} {}", word("author"), word("certainty")))
                .or_default() += 1;
        }
        let mut text = String::new();
        write!(
            text,
            "calls: {} of a, {} of b ({commands} commands); {} saves, {} versions kept beside; \
             refused: {:?}; {} events, {} records, last event {}; lines: {authors:?}",
            of("a"),
            of("b"),
            notes.saves.len(),
            self.kept.len(),
            notes.refusals,
            self.done.len(),
            self.records.len(),
            self.done.last().map_or(0, |done| done.seq),
        )
        .unwrap();
        text
    }
}

/// A range of lines counted from one and closed, as indices; an empty one ends before it begins.
fn indices(range: &Value) -> (usize, usize) {
    let number = |key: &str| usize::try_from(range[key].as_u64().unwrap()).unwrap();
    (number("start_line") - 1, number("end_line"))
}
