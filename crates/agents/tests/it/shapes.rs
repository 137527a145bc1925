//! Calls that run commands, and what ties results to calls.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use tagout_agents::{PairingKey, ShellCall, pair, quoted, rewrite, shell_call};
use tagout_vocab::{Call, SessionId};

fn map(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

/// Shells are known by their arguments, whatever the tool is called.
#[test]
fn shells_are_known_by_shape() {
    let is = |value: Value| shell_call(&map(value));
    let line = |key: &'static str| {
        Some(ShellCall::Line {
            key,
            line: "make".to_owned(),
        })
    };
    assert_eq!(
        is(json!({"command": "make", "description": "d"})),
        line("command")
    );
    assert_eq!(is(json!({"cmd": "make", "workdir": "/x"})), line("cmd"));
    assert_eq!(
        is(json!({"command_line": "make", "cwd": "/x"})),
        line("command_line")
    );
    let words = || vec!["make".to_owned(), "all".to_owned()];
    let program = ShellCall::Program {
        key: "command",
        words: words(),
    };
    assert_eq!(is(json!({"command": ["make", "all"]})), Some(program));
    let lines = ShellCall::Lines {
        key: "commands",
        lines: words(),
    };
    assert_eq!(is(json!({"commands": ["make", "all"]})), Some(lines));
    assert_eq!(
        is(json!({"session_id": 3, "chars": "y\n"})),
        Some(ShellCall::Typed)
    );
    for other in [
        json!({"command": "create", "path": "a.txt", "file_text": "x"}),
        json!({"command": "*** Begin Patch\n*** End Patch"}),
        json!({"command": "make", "cmd": "rm"}),
        json!({"command": ["make", 3]}),
        json!({"command": "  "}),
        json!({"commands": []}),
        json!({"query": "make"}),
    ] {
        assert_eq!(is(other.clone()), None, "{other}");
    }
}

fn prefix() -> Vec<String> {
    ["/opt/tagout", "exec", "--", "bash", "-c"]
        .map(str::to_owned)
        .to_vec()
}

/// A rewritten call keeps its other arguments and carries the old line as one word.
#[test]
fn rewriting_keeps_the_rest() {
    let one = |value: Value| rewrite(&Call::new("t", map(value)), &prefix()).map(Value::Object);
    assert_eq!(
        one(json!({"command": "echo 'a' > b", "timeout": 3})),
        Some(json!({
            "command": r"/opt/tagout exec -- bash -c 'echo '\''a'\'' > b'",
            "timeout": 3
        }))
    );
    assert_eq!(
        one(json!({"command": ["touch", "a b"]})),
        Some(json!({"command": ["/opt/tagout", "exec", "--", "bash", "-c", "touch 'a b'"]}))
    );
    assert_eq!(
        one(json!({"commands": ["a", "b c"]})),
        Some(json!({"commands": [
            "/opt/tagout exec -- bash -c a",
            "/opt/tagout exec -- bash -c 'b c'"
        ]}))
    );
    assert_eq!(one(json!({"chars": "y", "session_id": 1})), None);
    assert_eq!(one(json!({"path": "a"})), None);
    assert_eq!(one(json!({"command": "x".repeat(200_000)})), None);
}

/// The words of a line, as a shell takes them apart: quotes and nothing else.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut inside = false;
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\'' => inside = !inside,
            '\\' if !inside => words.last_mut().unwrap().push(letters.next().unwrap()),
            ' ' if !inside => words.push(String::new()),
            _ => words.last_mut().unwrap().push(letter),
        }
    }
    words
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn quoting_is_undone_by_a_shell(list in prop::collection::vec("[ -~\n']{0,12}", 1..5)) {
        prop_assert_eq!(words(&quoted(list.iter().map(String::as_str))), list);
    }
}

fn key(session: &str, call: Option<&str>, tool: &str, arguments: Value) -> PairingKey {
    let session = SessionId::new(session).unwrap();
    PairingKey::new(session, call.map(str::to_owned), tool, &map(arguments))
}

/// Without ids, equal arguments decide, then the only call that is open.
#[test]
fn results_are_paired_without_ids() {
    let open = [
        key("s", None, "grep", json!({"pattern": "a"})),
        key("s", None, "read", json!({"path": "x"})),
        key("s", None, "read", json!({"path": "y"})),
        key("s", None, "read", json!({"path": "y"})),
        key("t", None, "read", json!({"path": "z"})),
    ];
    let found = |session, tool, arguments| pair(&key(session, None, tool, arguments), &open);
    assert_eq!(
        found("s", "read", json!({"path": "y"})),
        Some(2),
        "the oldest first"
    );
    assert_eq!(
        found("s", "grep", json!({"pattern": "a", "context": 50})),
        Some(0),
        "the only one"
    );
    assert_eq!(
        found("s", "read", json!({"path": "z"})),
        None,
        "two could be meant"
    );
    assert_eq!(
        found("t", "grep", json!({"pattern": "a"})),
        None,
        "another conversation"
    );
    let reordered = pair(
        &key("s", None, "t", json!({"b": {"d": 1, "c": 2}, "a": 1})),
        &[key("s", None, "t", json!({"a": 1, "b": {"c": 2, "d": 1}}))],
    );
    assert_eq!(reordered, Some(0), "the order of keys does not count");
}

/// With ids, nothing but the id counts.
#[test]
fn ids_decide() {
    let open = [
        key("s", Some("1"), "shell", json!({"command": "a"})),
        key("s", Some("2"), "shell", json!({"command": "a"})),
    ];
    let found = |call, arguments| pair(&key("s", call, "shell", arguments), &open);
    assert_eq!(found(Some("2"), json!({"command": "rewritten"})), Some(1));
    assert_eq!(found(Some("3"), json!({"command": "a"})), None);
    assert_eq!(found(None, json!({"command": "a"})), None);
}
