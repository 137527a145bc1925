//! The intents file as a whole: which dialect it speaks, and its entries.

use std::collections::HashMap;

use tagout_vocab::limits::INTENTS_MAX;
use tagout_vocab::{Intent, IntentId};

use super::entry::read_entry;
use super::set::IntentSet;
use crate::problem::{Position, Problem, Problems};
use crate::yaml::{self, Fields, Node, Value};

/// The version of the canonical form that this build reads and writes.
pub(super) const VERSION: u64 = 1;

/// The key under which the canonical form lists its intents: the one most files already use.
pub(super) const LIST_KEY: &str = "active_intents";

const LEGACY_LIST_KEY: &str = "intents";
const ROOT_KEYS: &[&str] = &["version", LIST_KEY, LEGACY_LIST_KEY, "active_intent_id"];

/// How a file writes its intents down.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Dialect {
    /// A mapping with a `version`: what new files look like.
    Canonical,
    /// A mapping with `active_intents` and no version.
    ActiveIntents,
    /// A mapping with `intents` and no version.
    Intents,
    /// A list, and nothing around it.
    BareList,
    /// Nothing but blanks and comments.
    Empty,
}

/// An intents file that was understood in full.
#[derive(Clone, Debug, PartialEq)]
pub struct IntentFile {
    /// How it is written.
    pub dialect: Dialect,
    /// Its version, where it says one.
    pub version: Option<u64>,
    /// Its intents, in the order of the file.
    pub intents: Vec<Intent>,
    /// Where each of them starts, in the same order.
    pub positions: Vec<Position>,
    /// What is valid but probably not meant.
    pub warnings: Vec<Problem>,
}

impl IntentFile {
    /// The intents by id.
    pub fn into_set(self) -> IntentSet {
        // Reading refuses an id that appears twice, so nothing is lost here.
        IntentSet::new(self.intents).unwrap_or_default()
    }
}

/// Reads an intents file of any dialect.
///
/// A text that can't be understood is an error with line and column. A file of nothing but comments
/// declares no intents, and says so in a warning.
pub fn read(file: &str, text: &str) -> Result<IntentFile, Vec<Problem>> {
    let root = yaml::parse(file, text).map_err(|problem| vec![problem])?;
    let mut reader = Reader {
        problems: Problems::new(file),
        warnings: Problems::new(file),
    };
    let (dialect, version, entries) = match &root {
        None => reader.empty(),
        Some(root) => {
            let (dialect, version, list) = reader.root(root);
            let entries = list.map_or_else(Vec::new, |list| reader.entries(list));
            (dialect, version, entries)
        }
    };
    let (intents, positions) = entries.into_iter().unzip();
    let Reader { problems, warnings } = reader;
    let mut file = IntentFile {
        dialect,
        version,
        intents,
        positions,
        warnings: warnings.finish(()).err().unwrap_or_default(),
    };
    file.warnings.sort_by_key(|warning| warning.at);
    problems.finish(file).map_err(|mut problems| {
        problems.sort_by_key(|problem| problem.at);
        problems
    })
}

/// The list of intents in a document, wherever its dialect keeps it.
pub(super) fn list_node(root: &Node) -> Option<&Node> {
    match &root.value {
        Value::List(_) => Some(root),
        Value::Map(_) => root.get(LIST_KEY).or_else(|| root.get(LEGACY_LIST_KEY)),
        Value::Scalar { .. } => None,
    }
}

/// Gathers what is wrong apart from what is only odd.
pub(super) struct Reader {
    pub(super) problems: Problems,
    pub(super) warnings: Problems,
}

type Entries = Vec<(Intent, Position)>;

impl Reader {
    fn empty(&mut self) -> (Dialect, Option<u64>, Entries) {
        self.warnings.add_with(
            Position { line: 1, column: 1 },
            "the file is empty: it declares no intents, so nothing can be selected",
            Some(format!("start with `version: {VERSION}` and `{LIST_KEY}:`")),
        );
        (Dialect::Empty, None, Vec::new())
    }

    fn root<'a>(&mut self, root: &'a Node) -> (Dialect, Option<u64>, Option<&'a Node>) {
        if root.as_list().is_some() {
            return (Dialect::BareList, None, Some(root));
        }
        if root.as_map().is_none() {
            let message = format!("the file must list intents, not hold {}", root.described());
            let hint = Some(format!("put them under `{LIST_KEY}:`"));
            self.problems.add_with(root.at(), message, hint);
            return (Dialect::Empty, None, None);
        }
        let version = self.version(root);
        let dialect = match (root.get("version").is_some(), root.get(LIST_KEY).is_some()) {
            (true, _) => Dialect::Canonical,
            (false, true) => Dialect::ActiveIntents,
            (false, false) => Dialect::Intents,
        };
        let problems = &mut self.problems;
        let Some(fields) = Fields::of(root, "the intents file", ROOT_KEYS, problems) else {
            return (dialect, version, None);
        };
        fields.text("active_intent_id", problems);
        let lists = (root.get(LIST_KEY), root.get(LEGACY_LIST_KEY));
        match lists {
            (None, None) => problems.add_with(
                root.at(),
                format!("the intents file has no `{LIST_KEY}`"),
                Some(format!("write `{LIST_KEY}: []` if there are none")),
            ),
            (Some(_), Some(second)) => problems.add(
                second.at(),
                format!("both `{LIST_KEY}` and `{LEGACY_LIST_KEY}`: keep one list"),
            ),
            (Some(_), None) | (None, Some(_)) => {}
        }
        (dialect, version, lists.0.or(lists.1))
    }

    fn version(&mut self, root: &Node) -> Option<u64> {
        let node = root.get("version")?;
        let version = node.as_u64();
        if version != Some(VERSION) {
            let found = node.as_text().unwrap_or(node.described());
            self.problems.add_with(
                node.at(),
                format!("version `{found}` is not known"),
                Some(format!("this build reads version {VERSION}")),
            );
        }
        version
    }

    fn entries(&mut self, list: &Node) -> Entries {
        if list.is_null() {
            return Vec::new();
        }
        let Some(items) = list.as_list() else {
            let message = format!("the intents must be a list, not {}", list.described());
            self.problems.add(list.at(), message);
            return Vec::new();
        };
        if let Some(item) = items.get(INTENTS_MAX) {
            let message = format!("more than {INTENTS_MAX} intents");
            self.problems.add(item.at(), message);
            return Vec::new();
        }
        let mut entries = Vec::with_capacity(items.len());
        let mut seen: HashMap<IntentId, Position> = HashMap::with_capacity(items.len());
        for item in items {
            if self.problems.is_full() {
                break;
            }
            let Some((intent, at)) = read_entry(item, self) else {
                continue;
            };
            if let Some(first) = seen.insert(intent.id.clone(), at) {
                let message = format!(
                    "the intent `{}` is declared twice: first in line {}, again in line {}",
                    intent.id, first.line, at.line
                );
                self.problems.add(at, message);
            }
            entries.push((intent, at));
        }
        entries
    }
}
