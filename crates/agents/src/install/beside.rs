//! Hooks of others: how many stand in the places that a client reads, and where.

use serde_json::Value;

use super::check::{Finding, FindingKind};
use super::jsonc::{self, TextError};
use super::plan::Place;
use super::sources::{Form, Source, Which};
use super::{Texts, command, scripts, toml};
use crate::client::Client;

/// Hooks of others in the texts of a client's sources. A folder that has a text itself is one
/// whose names are not known.
pub fn beside(client: Client, texts: &Texts) -> Vec<Finding> {
    let sources = client.profile().install.sources;
    let told = |(place, text): (&Place, &String)| {
        let words = match sources.iter().find(|source| source.covers(client, place)) {
            Some(source) => words(client, source, place, text)?,
            None => sources
                .iter()
                .any(|source| source.listed().as_ref() == Some(place))
                .then(|| {
                    "the folder can't be listed, so hooks of others may be in it".to_owned()
                })?,
        };
        Some(Finding {
            kind: FindingKind::Foreign,
            place: Some(place.clone()),
            text: words,
        })
    };
    texts.iter().filter_map(told).collect()
}

fn words(client: Client, source: &Source, place: &Place, text: &str) -> Option<String> {
    let thing = match (source.form, source.which) {
        (Form::Listed(_), _) | (Form::Whole, Which::Endings(_)) => "plugin",
        (Form::Below(_) | Form::Top | Form::Whole, _) => "hook",
    };
    match count(client, source.form, place, text) {
        Ok(0) => None,
        Ok(1) => Some(format!("a {thing} of somebody else stands beside Tagout's")),
        Ok(many) => Some(format!("{many} {thing}s of others stand beside Tagout's")),
        Err(error) => Some(format!(
            "can't be read ({error}), so hooks of others may be in it"
        )),
    }
}

fn count(client: Client, form: Form, place: &Place, text: &str) -> Result<usize, TextError> {
    let key = match form {
        Form::Whole => return Ok(usize::from(!scripts::is_ours(client, place, text))),
        Form::Below(key) if place.is_toml() => return in_toml(text, key),
        Form::Below(key) | Form::Listed(key) => Some(key),
        Form::Top => None,
    };
    let Some(root) = jsonc::read(text)? else {
        return Ok(0);
    };
    let node = match key {
        Some(key) => root.get(key),
        None => Some(&root),
    };
    let Some(value) = node.map(jsonc::Node::to_value) else {
        return Ok(0);
    };
    Ok(match form {
        Form::Listed(_) => value.as_array().map_or(0, Vec::len),
        Form::Below(_) | Form::Top | Form::Whole => others(&value),
    })
}

/// The handlers of others in a list, or in the lists of every event: clients know more events with
/// every version.
fn others(value: &Value) -> usize {
    match value {
        Value::Array(entries) => entries
            .iter()
            .flat_map(handlers)
            .filter(|handler| is_other(handler))
            .count(),
        Value::Object(events) => {
            let lists = events.values().filter(|value| value.is_array());
            lists.map(others).sum()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

/// What an entry runs: a group's handlers, or the entry itself.
fn handlers(entry: &Value) -> &[Value] {
    match entry.get("hooks") {
        Some(Value::Array(inner)) => inner,
        Some(_) | None => std::slice::from_ref(entry),
    }
}

fn is_other(handler: &Value) -> bool {
    let off = handler.get("enabled") == Some(&Value::Bool(false));
    handler.is_object() && !off && !is_tagouts(handler)
}

/// Whether Tagout wrote it, for whichever client: some read each other's files.
fn is_tagouts(value: &Value) -> bool {
    Client::ALL
        .iter()
        .any(|client| command::is_ours(*client, value))
}

/// Every handler of the client that has TOML names its type; which of them were trusted is noted
/// below the same key.
fn in_toml(text: &str, key: &str) -> Result<usize, TextError> {
    let (mut all, mut ours) = (0_usize, 0_usize);
    for entry in toml::entries(text)? {
        let way = entry.way();
        let mut steps = way.split('.');
        if steps.next() != Some(key) || steps.next() == Some("state") {
            continue;
        }
        match way.rsplit('.').next() {
            Some("type") => all += 1,
            Some("command") if is_tagouts(&Value::from(entry.value.as_str())) => ours += 1,
            Some(_) | None => all += toml::inner(&entry.value, "type"),
        }
    }
    Ok(all.saturating_sub(ours))
}
