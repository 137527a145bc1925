//! One entry of an intents file, in every spelling that is in use.

use std::collections::HashSet;

use tagout_vocab::limits::{SCOPE_PATTERNS_MAX, SHARES_MAX};
use tagout_vocab::{Budget, Intent, IntentId, IntentStatus, Timestamp};

use super::read::Reader;
use super::status::{STATUS_WORDS, owns_something, status_of_word};
use crate::problem::{Position, suggestion};
use crate::scope::Pattern;
use crate::yaml::{Fields, Node, Value};

/// Every key an entry may have. The second group means nothing to Tagout; other tools write it, so
/// it is kept where it stands.
const ENTRY_KEYS: &[&str] = &[
    "id",
    "intent_id",
    "name",
    "title",
    "description",
    "status",
    "owned_scope",
    "ownedScope",
    "scope",
    "constraints",
    "acceptance_criteria",
    "acceptanceCriteria",
    "related_requirements",
    "related_specs",
    "expires_at",
    "budget",
    "shares_with",
    // Kept for others.
    "created_at",
    "updated_at",
    "assigned_agent",
    "recent_history",
    "related_files",
    "status_history",
    "last_verification",
    "last_trace_ref",
    "spec_hash",
    "spec_file",
];

const BUDGET_KEYS: &[&str] = &[
    "calls",
    "minutes",
    "time_ms",
    "max_turns",
    "max_tokens",
    "consumed_turns",
    "consumed_tokens",
];

/// How much of a wrong pattern a message quotes: enough to find it by.
const QUOTED_CHARS_MAX: usize = 80;

/// Milliseconds in the unit people write budgets in.
pub(super) const MINUTE_MS: u64 = 60_000;

/// The keys under which an entry lists its scope directly, the canonical one first.
pub(super) const SCOPE_KEYS: [&str; 2] = ["owned_scope", "ownedScope"];

/// Reads one entry; `None` when it has no usable id, which is then a problem.
pub(super) fn read_entry(node: &Node, reader: &mut Reader) -> Option<(Intent, Position)> {
    let fields = Fields::of(node, "an intent", ENTRY_KEYS, &mut reader.problems)?;
    let mut entry = Entry { fields, reader };
    let (id, at) = entry.id()?;
    let intent = Intent {
        name: entry.name(&id, at),
        status: entry.status(),
        owned_scope: entry.scope(),
        constraints: entry.texts(&["constraints"]),
        acceptance_criteria: entry.texts(&["acceptance_criteria", "acceptanceCriteria"]),
        related_requirements: entry.related(),
        description: entry.text("description"),
        expires_at: entry.expires_at(),
        budget: entry.budget(),
        shares_with: entry.shares_with(),
        id,
    };
    if intent.status.is_open() && !owns_something(&intent.owned_scope) {
        let message = format!(
            "the intent `{}` owns nothing, so it can't be selected",
            intent.id
        );
        entry.reader.warnings.add(at, message);
    }
    Some((intent, at))
}

struct Entry<'a, 'r> {
    fields: Fields<'a>,
    reader: &'r mut Reader,
}

impl<'a> Entry<'a, '_> {
    fn problem(&mut self, at: Position, message: impl Into<String>) {
        self.reader.problems.add(at, message);
    }

    fn id(&mut self) -> Option<(IntentId, Position)> {
        let canonical = self.fields.get("id");
        let second = self.fields.get("intent_id");
        let Some(node) = canonical.or(second) else {
            let at = self.fields.node().at();
            self.problem(at, "an intent without `id`");
            return None;
        };
        if let (Some(canonical), Some(second)) = (canonical, second)
            && canonical.as_text() != second.as_text()
        {
            self.problem(second.at(), "`intent_id` and `id` differ: keep one");
        }
        let key = if canonical.is_some() {
            "id"
        } else {
            "intent_id"
        };
        let text = self.fields.text(key, &mut self.reader.problems)?;
        match IntentId::new(text) {
            Ok(id) => Some((id, node.at())),
            Err(error) => {
                self.problem(node.at(), error.to_string());
                None
            }
        }
    }

    /// Some files say `title`, some only `description`. A name decides nothing, so that a missing
    /// one is a warning.
    fn name(&mut self, id: &IntentId, at: Position) -> String {
        if let Some(node) = self.one_of(&["name", "title"]) {
            return self.as_text(node, "name").unwrap_or_default();
        }
        let described = self.fields.get("description").and_then(Node::as_text);
        let first_line = described.and_then(|text| text.trim().lines().next());
        first_line.map_or_else(
            || {
                let message = format!("the intent `{id}` has no `name`");
                self.reader.warnings.add(at, message);
                id.as_str().to_owned()
            },
            str::to_owned,
        )
    }

    fn status(&mut self) -> IntentStatus {
        let Some(text) = self.fields.text("status", &mut self.reader.problems) else {
            return IntentStatus::default();
        };
        status_of_word(text).unwrap_or_else(|| {
            let at = self.fields.get("status").map(Node::at).unwrap_or_default();
            let hint = suggestion(text, STATUS_WORDS.iter().map(|(word, _)| *word));
            let message = format!("`status` can't be `{text}`");
            self.reader.problems.add_with(at, message, hint);
            // Never used: the problem above refuses the file.
            IntentStatus::Blocked
        })
    }

    fn scope(&mut self) -> Vec<String> {
        let listed = self.one_of(&SCOPE_KEYS);
        let Some(scope) = self.fields.get("scope") else {
            return listed.map_or_else(Vec::new, |node| self.patterns(node, "owned_scope"));
        };
        let nested = match &scope.value {
            Value::Scalar { .. } => {
                self.reader.warnings.add_with(
                    scope.at(),
                    "`scope` is prose and owns nothing",
                    Some("list its paths under `owned_scope`".to_owned()),
                );
                None
            }
            Value::Map(_) => {
                let problems = &mut self.reader.problems;
                let inner = Fields::of(scope, "`scope`", &["paths"], problems);
                inner.and_then(|inner| inner.get("paths"))
            }
            Value::List(_) => {
                let message = "`scope` must be a mapping with `paths`, not a list";
                let hint = Some("name the list `owned_scope`".to_owned());
                self.reader.problems.add_with(scope.at(), message, hint);
                None
            }
        };
        if let (Some(_), Some(nested)) = (listed, nested) {
            let message = "both `owned_scope` and `scope.paths`: keep one";
            self.problem(nested.at(), message);
        }
        let node = listed.or(nested);
        node.map_or_else(Vec::new, |node| self.patterns(node, "owned_scope"))
    }

    fn patterns(&mut self, node: &'a Node, name: &str) -> Vec<String> {
        let Some(items) = self.as_list(node, name) else {
            return Vec::new();
        };
        if let Some(item) = items.get(SCOPE_PATTERNS_MAX) {
            let message = format!("`{name}` lists more than {SCOPE_PATTERNS_MAX} patterns");
            self.problem(item.at(), message);
        }
        let mut patterns = Vec::with_capacity(items.len());
        for item in items.iter().take(SCOPE_PATTERNS_MAX) {
            let Some(text) = self.item_text(item, name) else {
                continue;
            };
            match Pattern::parse_relative(&text) {
                Ok(_) => patterns.push(text),
                Err(error) => {
                    let start: String = text.chars().take(QUOTED_CHARS_MAX).collect();
                    self.problem(item.at(), format!("`{start}`: {error}"));
                }
            }
        }
        patterns
    }

    /// A list of texts, or one text that stands for a list of one.
    fn texts(&mut self, names: &[&str]) -> Vec<String> {
        let name = names.first().copied().unwrap_or_default();
        let Some(node) = self.one_of(names) else {
            return Vec::new();
        };
        if let Some(text) = node.as_text() {
            let text = text.trim_end();
            return if text.is_empty() {
                Vec::new()
            } else {
                vec![text.to_owned()]
            };
        }
        let items = self.as_list(node, name).unwrap_or_default();
        items
            .iter()
            .filter_map(|item| self.item_text(item, name))
            .collect()
    }

    fn related(&mut self) -> Vec<String> {
        let mut related = self.texts(&["related_requirements"]);
        let specs = self.texts(&["related_specs"]);
        let known: HashSet<String> = related.iter().cloned().collect();
        related.extend(specs.into_iter().filter(|spec| !known.contains(spec)));
        related
    }

    fn text(&mut self, name: &str) -> Option<String> {
        let text = self.fields.text(name, &mut self.reader.problems);
        text.map(str::to_owned)
    }

    fn expires_at(&mut self) -> Option<Timestamp> {
        let text = self.text("expires_at")?;
        let at = self.fields.get("expires_at").map(Node::at)?;
        match Timestamp::parse(&text) {
            Ok(time) => Some(time),
            Err(error) => {
                self.problem(at, format!("`expires_at` is `{text}`: {error}"));
                None
            }
        }
    }

    fn budget(&mut self) -> Budget {
        let problems = &mut self.reader.problems;
        let Some(node) = self.fields.get("budget") else {
            return Budget::default();
        };
        let Some(fields) = Fields::of(node, "`budget`", BUDGET_KEYS, problems) else {
            return Budget::default();
        };
        if let Some(tokens) = fields.get("max_tokens") {
            let message = "`max_tokens` is not enforced: calls and time are what is counted";
            self.reader.warnings.add(tokens.at(), message);
        }
        let calls = fields.u64("calls", problems);
        let turns = fields.u64("max_turns", problems);
        let minutes = fields.u64("minutes", problems);
        let millis = fields.u64("time_ms", problems);
        let minutes_ms = minutes.map(|minutes| minutes.checked_mul(MINUTE_MS));
        if minutes_ms == Some(None) {
            problems.add(node.at(), "`minutes` is too large");
        }
        Budget {
            calls_max: least(calls, turns),
            time_ms_max: least(minutes_ms.flatten(), millis),
        }
    }

    fn shares_with(&mut self) -> Vec<IntentId> {
        let Some(node) = self.fields.get("shares_with") else {
            return Vec::new();
        };
        let items = self.as_list(node, "shares_with").unwrap_or_default();
        if let Some(item) = items.get(SHARES_MAX) {
            let message = format!("`shares_with` lists more than {SHARES_MAX} intents");
            self.problem(item.at(), message);
        }
        let mut ids = Vec::new();
        for item in items.iter().take(SHARES_MAX) {
            let Some(text) = self.item_text(item, "shares_with") else {
                continue;
            };
            match IntentId::new(&text) {
                Ok(id) => ids.push(id),
                Err(error) => self.problem(item.at(), format!("`shares_with`: {error}")),
            }
        }
        ids
    }

    /// The field that has several spellings; two of them at once is a question nobody can answer.
    fn one_of(&mut self, names: &[&str]) -> Option<&'a Node> {
        let mut found: Option<(&str, &'a Node)> = None;
        for name in names {
            let Some(node) = self.fields.get(name) else {
                continue;
            };
            match found {
                None => found = Some((name, node)),
                Some((first, _)) => {
                    self.problem(node.at(), format!("both `{first}` and `{name}`: keep one"));
                }
            }
        }
        found.map(|(_, node)| node)
    }

    fn as_text(&mut self, node: &Node, name: &str) -> Option<String> {
        let text = node.as_text().map(str::to_owned);
        if text.is_none() {
            let message = format!("`{name}` must be text, not {}", node.described());
            self.problem(node.at(), message);
        }
        text
    }

    fn as_list(&mut self, node: &'a Node, name: &str) -> Option<&'a [Node]> {
        let list = node.as_list();
        if list.is_none() {
            let message = format!("`{name}` must be a list, not {}", node.described());
            self.problem(node.at(), message);
        }
        list
    }

    fn item_text(&mut self, item: &Node, name: &str) -> Option<String> {
        let text = item.as_text().map(str::to_owned);
        if text.is_none() {
            let message = format!("`{name}` lists texts, not {}", item.described());
            let quote = matches!(item.value, Value::Map(_))
                .then(|| "a text that holds `: ` needs quotes".to_owned());
            self.reader.problems.add_with(item.at(), message, quote);
        }
        text
    }
}

/// The stricter of two bounds on the same thing.
fn least(left: Option<u64>, right: Option<u64>) -> Option<u64> {
    match (left, right) {
        (Some(left), Some(right)) => Some(left.min(right)),
        (bound, None) | (None, bound) => bound,
    }
}
