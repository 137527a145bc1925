//! The tools that clients offer their models fit the catalogue.

use std::collections::BTreeMap;

use super::*;

/// What the clients that were run offered their models: each tool's keys, those with `?` need not
/// be given.
const ON_WIRE: &str = include_str!("../../../tests/fixtures/keys_on_wire.json");

/// The one tool whose arguments on the wire are not those that a hook sees: there a text without
/// keys, here `command`.
const OTHERWISE: (&str, &str) = ("codex", "apply_patch");

/// A value as clients send it under a key; under most a text.
fn value(key: &str) -> Value {
    match key {
        "files" => json!([{ "path": "a.txt" }]),
        "requests" => json!([{ "url": "http://127.0.0.1/", "prompt": "x" }]),
        "questions" => json!([{ "id": "a", "header": "b", "question": "c", "options": [] }]),
        "todos" => json!([{ "content": "a", "status": "pending" }]),
        "queries" | "commands" | "patterns" | "options" | "paths" => json!(["x"]),
        "findings" | "requiredSections" => json!([]),
        "arguments" => json!({}),
        "approved" => json!(true),
        "max_results" | "session_id" | "pid" | "delay" | "delaySeconds" | "x1" | "x2" | "y1"
        | "y2" => json!(1),
        _ => json!("x"),
    }
}

/// L7 a call with the keys that its client demands, and no others, is never refused as malformed.
#[test]
fn what_a_client_demands_is_enough() {
    let all: BTreeMap<String, BTreeMap<String, Vec<String>>> =
        serde_json::from_str(ON_WIRE).unwrap();
    let tools = all.iter().flat_map(|(client, tools)| {
        let tools = tools.iter();
        tools.map(move |(tool, keys)| (client.as_str(), tool.as_str(), keys))
    });
    let mut wrong = Vec::new();
    let mut count = 0;
    for (client, tool, keys) in tools {
        let demanded = keys.iter().filter(|key| !key.ends_with('?'));
        let arguments = demanded.map(|key| (key.clone(), value(key))).collect();
        let call = client_call(client, tool, &Value::Object(arguments));
        let checked = CATALOGUE.with(|catalogue| check_input(&normalise(&call, catalogue)));
        if checked.is_err() != (OTHERWISE == (client, tool)) {
            wrong.push(format!("{client} {tool}: {checked:?}"));
        }
        count += 1;
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(count, 147);
}

/// A folder that is not named is the one that the agent works in.
#[test]
fn listing_without_a_folder() {
    for (client, tool) in [("factory-droid", "LS"), ("opencode", "list")] {
        let call = client_call(client, tool, &json!({}));
        assert_eq!(shown(&call), ["read ."], "{client}");
    }
}
