//! The command that a client runs, and how to know it again.

use serde_json::{Map, Value, json};

use super::Binary;
use super::plan::{Closed, Command, Handler, Unit};
use crate::client::Client;
use crate::profile::Event;
use crate::shell::quoted;

/// Turns every way in which the hook can end without an answer into code 2 with a reason, which
/// clients take for a denial; most take everything else for consent. No single quotes in it.
const GUARD: &str = concat!(
    r#""$0" "$@"; c=$?; [ $c -eq 0 ] && exit 0; "#,
    r#"[ $c -eq 2 ] || echo "tagout: the hook ended with code $c, so the call is denied" >&2; "#,
    "exit 2"
);

/// The arguments after the program.
pub(crate) fn arguments(client: Client, event: &Event, binary: &Binary) -> Vec<String> {
    let mut words: Vec<String> = ["hook", "--client", client.as_str(), "--event", event.name]
        .map(str::to_owned)
        .to_vec();
    words.extend(places(binary));
    words
}

/// The arguments that tell where workspace and state lie.
pub(crate) fn places(binary: &Binary) -> Vec<String> {
    let mut words = Vec::new();
    let pairs = [
        ("--workspace", &binary.workspace),
        ("--state-dir", &binary.state),
    ];
    for (flag, value) in pairs {
        if let Some(value) = value {
            words.extend([flag.to_owned(), value.clone()]);
        }
    }
    words
}

/// The whole command as one line for a shell.
pub(crate) fn line(client: Client, event: &Event, binary: &Binary) -> String {
    let arguments = arguments(client, event, binary);
    let call = [binary.program.as_str()]
        .into_iter()
        .chain(arguments.iter().map(String::as_str));
    if event.can_block() {
        quoted(["/bin/sh", "-c", GUARD].into_iter().chain(call))
    } else {
        quoted(call)
    }
}

/// The entry of a handler.
pub(crate) fn handler(client: Client, event: &Event, binary: &Binary, form: Handler) -> Value {
    let mut map = Map::new();
    let mut set = |key: &str, value: Value| map.insert(key.to_owned(), value);
    if form.says_type {
        set("type", Value::from("command"));
    }
    match form.command {
        Command::Exec => {
            set("command", Value::from(binary.program.as_str()));
            set("args", json!(arguments(client, event, binary)));
        }
        Command::Line(key) | Command::LineBut { key, .. } => {
            set(key, Value::from(line(client, event, binary)));
        }
    }
    if let (Some((key, unit)), Some(wait_ms)) = (form.timeout, event.wait_ms) {
        let wait = match unit {
            Unit::Seconds => wait_ms.div_ceil(1_000),
            Unit::Milliseconds => wait_ms,
        };
        set(key, Value::from(wait));
    }
    if event.can_block() {
        match form.closed {
            Some(Closed::Word(key, word)) => {
                set(key, Value::from(word));
            }
            Some(Closed::True(key)) => {
                set(key, Value::Bool(true));
            }
            None => {}
        }
    }
    Value::Object(map)
}

/// Whether an entry of a client's configuration is one of ours.
pub(crate) fn is_ours(client: Client, value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains(&format!(" hook --client {client} --event ")),
        Value::Array(items) => {
            let words: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
            words.starts_with(&["hook", "--client", client.as_str()])
                || items.iter().any(|item| is_ours(client, item))
        }
        Value::Object(map) => map.values().any(|inner| is_ours(client, inner)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}
