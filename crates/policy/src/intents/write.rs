//! The canonical form: one spelling, one order, quoted only where it must be.

use std::fmt::Write as _;

use tagout_vocab::{Intent, IntentId, Timestamp};

use super::entry::MINUTE_MS;
use super::read::{LIST_KEY, VERSION};

/// The canonical text of an intents file.
pub fn write(intents: &[Intent]) -> String {
    let start = format!("version: {VERSION}\n{LIST_KEY}:");
    if intents.is_empty() {
        return format!("{start} []\n");
    }
    let mut text = start + "\n";
    for intent in intents {
        for line in entry_lines(intent) {
            text.push_str("  ");
            text.push_str(&line);
            text.push('\n');
        }
    }
    text
}

/// The lines of one entry in a block list, from its dash on.
pub(super) fn entry_lines(intent: &Intent) -> Vec<String> {
    let mut lines = Vec::new();
    for (key, value) in fields(intent) {
        let dash = if lines.is_empty() { "- " } else { "  " };
        match value {
            Field::Scalar(text) => lines.push(format!("{dash}{key}: {text}")),
            Field::Map(_) => lines.push(format!("{dash}{key}: {}", value.flow())),
            Field::List(items) => {
                lines.push(format!("{dash}{key}:"));
                lines.extend(items.iter().map(|item| format!("    - {item}")));
            }
        }
    }
    lines
}

/// One entry as a flow mapping, for a list that is written that way.
pub(super) fn flow_entry(intent: &Intent) -> String {
    let fields: Vec<String> = fields(intent)
        .into_iter()
        .map(|(key, value)| format!("{key}: {}", value.flow()))
        .collect();
    format!("{{{}}}", fields.join(", "))
}

/// Texts as a flow list.
pub(super) fn flow_list<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    format!("[{}]", texts.map(scalar).collect::<Vec<_>>().join(", "))
}

/// A value in the file, its texts already quoted where they must be.
enum Field {
    Scalar(String),
    List(Vec<String>),
    Map(Vec<(&'static str, u64)>),
}

impl Field {
    fn list<'a>(texts: impl Iterator<Item = &'a str>) -> Self {
        Self::List(texts.map(scalar).collect())
    }

    fn is_empty(&self) -> bool {
        match self {
            Self::Scalar(_) => false,
            Self::List(items) => items.is_empty(),
            Self::Map(entries) => entries.is_empty(),
        }
    }

    fn flow(&self) -> String {
        match self {
            Self::Scalar(text) => text.clone(),
            Self::List(items) => format!("[{}]", items.join(", ")),
            Self::Map(entries) => {
                let entries = entries.iter().map(|(key, value)| format!("{key}: {value}"));
                format!("{{ {} }}", entries.collect::<Vec<_>>().join(", "))
            }
        }
    }
}

/// The fields of an entry in their order. What is empty is left out, but for the scope: an intent
/// that owns nothing should look like one.
fn fields(intent: &Intent) -> Vec<(&'static str, Field)> {
    let texts = |texts: &[String]| Field::list(texts.iter().map(String::as_str));
    let mut fields = vec![
        ("id", Field::Scalar(scalar(intent.id.as_str()))),
        ("name", Field::Scalar(scalar(&intent.name))),
        ("status", Field::Scalar(intent.status.as_str().to_owned())),
    ];
    if let Some(description) = &intent.description {
        fields.push(("description", Field::Scalar(scalar(description))));
    }
    fields.push(match texts(&intent.owned_scope) {
        scope if scope.is_empty() => ("owned_scope", Field::Scalar("[]".to_owned())),
        scope => ("owned_scope", scope),
    });
    let shares = intent.shares_with.iter().map(IntentId::as_str);
    let optional = [
        ("constraints", texts(&intent.constraints)),
        ("acceptance_criteria", texts(&intent.acceptance_criteria)),
        ("related_requirements", texts(&intent.related_requirements)),
        ("shares_with", Field::list(shares)),
        ("budget", budget(intent)),
    ];
    fields.extend(optional.into_iter().filter(|(_, field)| !field.is_empty()));
    if let Some(at) = intent.expires_at {
        fields.push(("expires_at", Field::Scalar(time(at))));
    }
    fields
}

fn budget(intent: &Intent) -> Field {
    let mut entries = Vec::new();
    if let Some(calls) = intent.budget.calls_max {
        entries.push(("calls", calls));
    }
    if let Some(millis) = intent.budget.time_ms_max {
        entries.push(if millis.is_multiple_of(MINUTE_MS) {
            ("minutes", millis / MINUTE_MS)
        } else {
            ("time_ms", millis)
        });
    }
    Field::Map(entries)
}

/// A time that can be read again: beyond the calendar it is the calendar's end.
pub(super) fn time(at: Timestamp) -> String {
    let (first, last) = (jiff::Timestamp::MIN, jiff::Timestamp::MAX);
    let millis = at
        .as_millis()
        .clamp(first.as_millisecond(), last.as_millisecond());
    Timestamp::from_millis(millis).to_string()
}

/// Words that some reader takes for something else than text.
const TYPED_WORDS: &[&str] = &["null", "true", "false", "yes", "no", "on", "off", "y", "n"];

/// A text as a YAML scalar: plain where no reader can mistake it, else in double quotes.
pub(super) fn scalar(text: &str) -> String {
    let starts_well = text.starts_with(|c: char| c.is_ascii_alphabetic());
    let ordinary = |c: char| c.is_ascii_alphanumeric() || "-_./*+@ ".contains(c);
    let typed = TYPED_WORDS
        .iter()
        .any(|word| word.eq_ignore_ascii_case(text));
    if starts_well && text.chars().all(ordinary) && !text.ends_with(' ') && !typed {
        return text.to_owned();
    }
    quoted(text)
}

/// A text in double quotes, everything that can't be seen escaped.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            hidden if must_escape(hidden) => {
                // Writing to a string can't fail.
                write!(quoted, "\\U{:08X}", u32::from(hidden)).unwrap_or_default();
            }
            shown => quoted.push(shown),
        }
    }
    quoted.push('"');
    quoted
}

/// Control characters, other line breaks, byte order marks, direction marks and non-characters.
fn must_escape(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{85}'
                | '\u{a0}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{2069}'
                | '\u{feff}'
                | '\u{fffe}'
                | '\u{ffff}'
        )
}
