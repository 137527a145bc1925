//! What a line of the log says about its event beyond the columns: what a call was about, what it
//! changed, why it was refused.

use std::collections::BTreeMap;

use serde_json::Value;
use tagout_agents::install::is_canary;
use tagout_ledger::{Event, Index, LifecycleState, Query};
use tagout_vocab::limits::{LOG_REASON_CHARS_MAX, LOG_WORDS_CHARS_MAX};

use crate::report;

/// The arguments that say best what a call is about, the best first.
const TELLING: [&str; 8] = [
    "command",
    "path",
    "paths",
    "intent_id",
    "query",
    "regex",
    "pattern",
    "question",
];

/// What is said of a call that nobody made.
const CANARY: &str = "canary: `tagout install` tried the hook";

/// Paths of a change that are named; the rest is counted.
const PATHS_SHOWN: usize = 3;

/// The words of the calls that were looked at, by the number of the event that declared each.
#[derive(Debug, Default)]
pub(super) struct Words {
    declared: BTreeMap<String, u64>,
    told: BTreeMap<u64, Option<String>>,
}

impl Words {
    /// The last cell of an event's line.
    pub(super) fn of(&mut self, index: &Index, event: &Event) -> String {
        let body = &event.body;
        let reason = body.error.as_ref().map(|error| error.message.as_str());
        let reason = reason.map(|text| cut(text, LOG_REASON_CHARS_MAX));
        let about = if body.paths.is_empty() {
            self.about(index, event)
        } else {
            Some(paths(event))
        };
        let beside = body.data.as_ref().and_then(beside);
        let about = match (about, beside) {
            (Some(about), Some(beside)) => Some(format!("{about}; {beside}")),
            (None, None) => body.data.as_ref().and_then(scalars),
            (one, other) => one.or(other),
        };
        if body
            .session
            .as_ref()
            .is_some_and(|one| is_canary(one.as_str()))
        {
            return match reason {
                Some(reason) => format!("{CANARY}, to see that it denies: {reason}"),
                None => CANARY.to_owned(),
            };
        }
        match (about, reason) {
            (Some(about), Some(reason)) => format!("{about}: {reason}"),
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => "-".to_owned(),
        }
    }

    /// What the call of an event is about, from the redacted text of its arguments. That text may
    /// be gone, and then the line says less.
    fn about(&mut self, index: &Index, event: &Event) -> Option<String> {
        let execution = event.body.execution_id.as_ref()?;
        if event.body.state == Some(LifecycleState::Declared) {
            self.declared.insert(execution.clone(), event.seq);
        }
        let known = self.declared.get(execution).copied();
        let seq = known.or_else(|| declared(index, event))?;
        self.declared.insert(execution.clone(), seq);
        if !self.told.contains_key(&seq) {
            let beside = index.reader().texts_beside(seq).unwrap_or_default();
            let words = beside
                .iter()
                .map(|record| (record.seq, record.input.as_ref().and_then(told)));
            self.told.extend(words);
        }
        self.told.entry(seq).or_default().clone()
    }
}

/// The number of the event that declared an execution: its text has the arguments.
fn declared(index: &Index, event: &Event) -> Option<u64> {
    let query = Query {
        execution: event.body.execution_id.clone(),
        state: Some(LifecycleState::Declared),
        ..Query::default()
    };
    // A client may use an id again: the latest before this event is the one.
    let found = index.query(&query).ok()?;
    let earlier = found.iter().rev().find(|one| one.seq < event.seq);
    earlier.map(|one| one.seq)
}

fn told(arguments: &Value) -> Option<String> {
    let arguments = arguments.as_object()?;
    let best = TELLING.iter().find_map(|key| text(arguments.get(*key)?));
    best.or_else(|| arguments.values().find_map(text))
        .map(|text| cut(&text, LOG_WORDS_CHARS_MAX))
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
        Value::Array(items) => {
            let words: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
            (!words.is_empty()).then(|| words.join(" "))
        }
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {
            None
        }
    }
}

fn paths(event: &Event) -> String {
    let all = event.body.paths.iter().map(|change| change.path.as_str());
    let all: Vec<&str> = all.collect();
    some(&all, all.len())
}

/// The first of so many paths.
fn some(all: &[&str], count: usize) -> String {
    let named: Vec<&str> = all.iter().copied().take(PATHS_SHOWN).collect();
    let named_count = named.len();
    let named = report::plain(&named.join(", "));
    match count.saturating_sub(named_count) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

/// What a client did otherwise than it was let do, or said that it would.
const BESIDE: [(&str, bool, &str); 5] = [
    (
        "argumentsChanged",
        true,
        "executed with other arguments than it was let through with",
    ),
    ("unconfined", true, "it ran unconfined, or not at all"),
    ("unreported", true, "nobody reported its end"),
    (
        "changesUnknown",
        true,
        "nobody could look whose the changed files are",
    ),
    (
        "asPredicted",
        false,
        "not what its arguments say: a formatter, or someone else",
    ),
];

fn beside(data: &Value) -> Option<String> {
    let is_so = |(key, is, _): &&(&str, bool, &str)| data.get(key) == Some(&Value::Bool(*is));
    let words = BESIDE.iter().filter(is_so);
    let mut words: Vec<String> = words.map(|(.., words)| (*words).to_owned()).collect();
    let unexpected = data.get("unexpected").and_then(Value::as_array);
    if let Some(unexpected) = unexpected {
        let paths = unexpected
            .iter()
            .filter_map(|one| one.get("path")?.as_str());
        let paths: Vec<&str> = paths.collect();
        let count = data.get("unexpectedCount").and_then(Value::as_u64);
        let count = count.and_then(|count| usize::try_from(count).ok());
        let count = count.unwrap_or(paths.len());
        words.push(format!("no call accounts for {}", some(&paths, count)));
    }
    (!words.is_empty()).then(|| words.join("; "))
}

/// What other events have to say, as far as it is short.
fn scalars(data: &Value) -> Option<String> {
    let pairs = data.as_object()?.iter().filter_map(|(key, value)| {
        let value = match value {
            // What has lines is a document, such as a checkpoint.
            Value::String(text) if !text.contains('\n') => text.clone(),
            Value::Bool(_) | Value::Number(_) => value.to_string(),
            Value::String(_) | Value::Null | Value::Array(_) | Value::Object(_) => return None,
        };
        Some(format!("{key} {value}"))
    });
    let pairs: Vec<String> = pairs.collect();
    (!pairs.is_empty()).then(|| cut(&pairs.join(", "), LOG_WORDS_CHARS_MAX))
}

/// One line of plain characters, no longer than this.
fn cut(text: &str, chars_max: usize) -> String {
    let one_line = text.split_whitespace().collect::<Vec<&str>>().join(" ");
    let mut shown: String = one_line.chars().take(chars_max).collect();
    if shown.len() < one_line.len() {
        shown.push('…');
    }
    report::plain(&shown)
}
