//! Reaching into arguments: `path`, `options.path`, `files[].path`.

use serde_json::{Map, Value};

/// What stands under a key.
#[derive(Debug, Default)]
pub(super) struct Found<'a> {
    /// The texts, in order.
    pub(super) texts: Vec<&'a str>,
    /// Whether anything there is not the text or list of texts that it should be.
    pub(super) odd: bool,
    /// Whether an object on the way lacks the next step.
    pub(super) lacking: bool,
    /// Whether the key is there at all.
    pub(super) present: bool,
}

/// The texts under a key: a text, or lists of texts, at every place that the key reaches.
pub(super) fn texts<'a>(arguments: &'a Map<String, Value>, key: &str) -> Found<'a> {
    let mut found = Found::default();
    let mut steps = key.split('.');
    let first = steps.next().unwrap_or_default();
    let (name, in_list) = list_step(first);
    let Some(value) = arguments.get(name) else {
        return found;
    };
    found.present = true;
    let rest: Vec<&str> = steps.collect();
    walk(value, in_list, &rest, &mut found);
    found
}

fn list_step(step: &str) -> (&str, bool) {
    step.strip_suffix("[]")
        .map_or((step, false), |name| (name, true))
}

/// The depth is the key's own: a few steps that the catalogue wrote.
fn walk<'a>(value: &'a Value, in_list: bool, rest: &[&str], found: &mut Found<'a>) {
    match value {
        Value::Array(items) if in_list || rest.is_empty() => {
            for item in items {
                match (item, rest) {
                    // A list of objects may be given as a plain list of what they would name.
                    (Value::String(text), [] | [_]) => found.texts.push(text),
                    (Value::Object(_), [_, ..]) => step(item, rest, found),
                    _ => found.odd = true,
                }
            }
            found.odd |= items.is_empty();
        }
        Value::String(text) if rest.is_empty() || (in_list && rest.len() == 1) => {
            found.texts.push(text);
        }
        Value::Object(_) if !rest.is_empty() => step(value, rest, found),
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)
        | Value::Object(_) => found.odd = true,
    }
}

fn step<'a>(value: &'a Value, rest: &[&str], found: &mut Found<'a>) {
    let Some((first, rest)) = rest.split_first() else {
        found.odd = true;
        return;
    };
    let (name, in_list) = list_step(first);
    match value.get(name) {
        Some(value) => walk(value, in_list, rest, found),
        None => found.lacking = true,
    }
}
