//! The generated view of which intent made which files and symbols.
//!
//! Every line says all of what it says: lines from two branches can stand beside each other in any
//! order, and the same fact is always the same line.

mod read;

pub use read::{Mapping, read};

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use tagout_vocab::MutationClass;

use crate::record::{ChangeKind, ModifiedRange, Record};

/// The view's first lines.
const HEAD: &str = "# Intent Map\n\n\
    A view of the trace: written anew from it, never read by it.\n\n";

/// What the view says when there is nothing to say.
const EMPTY: &str = "No intents mapped yet.\n";

/// The intents' files and symbols, as they stand after some records.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
pub struct IntentMap {
    /// Files with their intents' symbols. An intent without symbols has the file as a whole.
    files: BTreeMap<String, BTreeSet<(String, String)>>,
}

impl IntentMap {
    /// The map after some records, in the order in which they happened.
    pub fn of<'r>(records: impl IntoIterator<Item = &'r Record>) -> Self {
        let mut map = Self::default();
        for record in records {
            map.add(record);
        }
        map
    }

    /// H12: takes one more record into account. Files that went away or moved do so for every
    /// class; only `INTENT_EVOLUTION` adds.
    pub fn add(&mut self, record: &Record) {
        for range in &record.modified_ranges {
            self.follow(range);
            let adds = record.mutation_class == Some(MutationClass::IntentEvolution)
                && range.change != ChangeKind::Deleted;
            if let Some(intent) = record.intent_id.as_ref().filter(|_| adds) {
                self.put(intent, range);
            }
        }
    }

    /// Takes in what another map says besides.
    pub fn extend(&mut self, other: &Self) {
        for (file, known) in &other.files {
            let own = self.files.entry(file.clone()).or_default();
            own.extend(known.iter().cloned());
        }
    }

    fn follow(&mut self, range: &ModifiedRange) {
        if let Some(old) = &range.old_file
            && let Some(known) = self.files.remove(old)
        {
            self.files
                .entry(range.file.clone())
                .or_default()
                .extend(known);
        }
        if range.change == ChangeKind::Deleted {
            self.files.remove(&range.file);
        }
        if let Some(known) = self.files.get_mut(&range.file) {
            for node in range.ast_nodes.iter().filter(|node| node.removed) {
                known.retain(|(_, symbol)| *symbol != node.symbol);
            }
        }
    }

    fn put(&mut self, intent: &str, range: &ModifiedRange) {
        let known = self.files.entry(range.file.clone()).or_default();
        let symbols = range.ast_nodes.iter().filter(|node| !node.removed);
        known.insert((intent.to_owned(), String::new()));
        known.extend(symbols.map(|node| (intent.to_owned(), node.symbol.clone())));
    }

    /// The view as markdown. `names` gives an intent's name, if it has one.
    pub fn to_markdown(&self, names: impl Fn(&str) -> Option<String>) -> String {
        let mut lines = BTreeSet::new();
        for (file, known) in &self.files {
            for (intent, symbol) in known {
                lines.insert(line(intent, file, symbol));
            }
            for (intent, _) in known {
                if let Some(name) = names(intent) {
                    // The name sorts before the intent's files.
                    lines.insert(format!("- {}: {}", code(intent), plain(&name)));
                }
            }
        }
        if lines.is_empty() {
            return format!("{HEAD}{EMPTY}");
        }
        let mut text = HEAD.to_owned();
        for line in lines {
            text.push_str(&line);
            text.push('\n');
        }
        text
    }
}

fn line(intent: &str, file: &str, symbol: &str) -> String {
    let head = format!("- {} {}", code(intent), code(file));
    if symbol.is_empty() {
        head
    } else {
        format!("{head} {}", code(symbol))
    }
}

/// A text that a formatter leaves alone.
fn code(text: &str) -> String {
    let text = one_line(text);
    if text.contains('`') {
        format!("`` {text} ``")
    } else {
        format!("`{text}`")
    }
}

fn plain(text: &str) -> String {
    one_line(text).replace('<', "&lt;")
}

fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ")
}

#[cfg(test)]
mod tests;
