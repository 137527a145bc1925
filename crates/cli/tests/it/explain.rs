//! `explain`: seed 000's matrix through the real binary, and what people read.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::ran::Folder;

const SAFE: &[(&str, &str)] = &[
    ("read_file", r#"{"path": "src/main.rs"}"#),
    ("list_files", r#"{"path": "."}"#),
    ("list_code_definition_names", r#"{"path": "src"}"#),
    ("search_files", r#"{"path": ".", "regex": "x"}"#),
    ("codebase_search", r#"{"query": "x"}"#),
    (
        "ask_followup_question",
        r#"{"question": "x?", "follow_up": []}"#,
    ),
    ("select_active_intent", r#"{"intent_id": "INT-001"}"#),
    ("switch_mode", r#"{"mode_slug": "code", "reason": "x"}"#),
    ("update_todo_list", r#"{"todos": "[ ] x"}"#),
    ("read_command_output", r#"{"artifact_id": "cmd-1.txt"}"#),
    (
        "access_mcp_resource",
        r#"{"server_name": "s", "uri": "s://x"}"#,
    ),
    ("attempt_completion", r#"{"result": "x"}"#),
];

const DESTRUCTIVE: &[(&str, &str)] = &[
    (
        "write_to_file",
        r#"{"path": "src/weather/a.rs", "content": "x"}"#,
    ),
    (
        "apply_diff",
        r#"{"path": "src/weather/a.rs", "diff": "@@\n-a\n+b"}"#,
    ),
    (
        "edit",
        r#"{"file_path": "src/weather/a.rs", "old_string": "a", "new_string": "b"}"#,
    ),
    (
        "search_and_replace",
        r#"{"file_path": "tests/a", "old_string": "a", "new_string": "b"}"#,
    ),
    (
        "search_replace",
        r#"{"file_path": "tests/a", "old_string": "a", "new_string": "b"}"#,
    ),
    (
        "edit_file",
        r#"{"file_path": "tests/a", "old_string": "a", "new_string": "b"}"#,
    ),
    (
        "apply_patch",
        r#"{"patch": "*** Begin Patch\n*** Delete File: tests/a\n*** End Patch"}"#,
    ),
    ("delete_file", r#"{"path": "src/weather/a.rs"}"#),
    (
        "execute_command",
        r#"{"command": "touch src/weather/a.rs"}"#,
    ),
    ("new_task", r#"{"mode": "code", "message": "x"}"#),
];

/// G1, G2, G4: 22 tools in three states, and unknown ones, through `--batch --json`.
#[test]
fn the_matrix_in_a_batch() {
    let mut lines = String::new();
    let mut expected = Vec::new();
    for state in ["REQUEST", "REASONING", "ACTION"] {
        let unknown = [("nobody_declared_this", "{}")];
        for (tool, arguments) in SAFE.iter().chain(DESTRUCTIVE).chain(&unknown) {
            let mut arguments: Value = serde_json::from_str(arguments).unwrap();
            let safe = SAFE.iter().any(|(name, _)| name == tool);
            if !safe && !["execute_command", "new_task", "nobody_declared_this"].contains(tool) {
                arguments["intent_id"] = "INT-001".into();
                arguments["mutation_class"] = "AST_REFACTOR".into();
            }
            let id = expected.len();
            let question = json!({"id": id, "tool": tool, "arguments": arguments, "state": state,
                "intent": (state == "ACTION").then_some("INT-001")});
            writeln!(lines, "{question}").unwrap();
            let answer = match (safe, state, *tool) {
                (true, ..) => ("SAFE", "allow", "ALLOWED"),
                (false, "ACTION", "new_task") => ("DESTRUCTIVE", "ask", "APPROVAL_REQUIRED"),
                (false, "ACTION", "nobody_declared_this") => {
                    ("DESTRUCTIVE", "deny", "TOOL_UNKNOWN")
                }
                (false, "ACTION", _) => ("DESTRUCTIVE", "allow", "ALLOWED"),
                (false, ..) => ("DESTRUCTIVE", "deny", "STATE_VIOLATION"),
            };
            expected.push((format!("{tool} in {state}"), answer));
        }
    }
    assert_eq!(expected.len(), 69);
    let ran = Folder::workspace().run_with(&["explain", "--batch", "--json"], &lines);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let answers = ran.json_lines();
    assert_eq!(answers.len(), expected.len());
    for (at, (what, (class, verdict, code))) in expected.iter().enumerate() {
        let answer = &answers[at];
        assert_eq!(answer["id"], at, "{what}");
        assert_eq!(answer["class"], *class, "{what}: {answer}");
        assert_eq!(answer["verdict"], *verdict, "{what}: {answer}");
        assert_eq!(answer["code"], *code, "{what}: {answer}");
        assert!(
            answer["reason"]
                .as_str()
                .is_some_and(|reason| !reason.is_empty()),
            "{what}"
        );
        assert!(
            answer["checks"]
                .as_array()
                .is_some_and(|checks| checks.len() >= 18),
            "{what}"
        );
        if *code == "STATE_VIOLATION" {
            let words = "State Violation: Intent Handshake required for DESTRUCTIVE actions. \
                         Call 'select_active_intent' first.";
            assert_eq!(answer["reason"], words);
        }
    }
}

/// H9: the refusal that an agent gets has every field of the one structured form.
#[test]
fn a_refusal_is_structured() {
    let line = r#"{"tool": "delete_file", "arguments": {"path": "Cargo.toml",
        "intent_id": "INT-001", "mutation_class": "AST_REFACTOR"}, "state": "ACTION",
        "intent": "INT-001"}"#
        .replace('\n', " ");
    let ran = Folder::workspace().run_with(&["explain", "--batch", "--json"], &line);
    let refusal = ran.json_lines()[0]["refusal"].to_string();
    insta::assert_snapshot!(refusal);
}

#[test]
fn what_a_person_reads() {
    let folder = Folder::workspace().with(
        "call.json",
        r#"{"tool": "write_to_file", "arguments": {"path": "src/main.rs", "content": "x",
            "intent_id": "INT-001", "mutation_class": "AST_REFACTOR"},
            "state": "ACTION", "intent": "INT-001"}"#,
    );
    insta::assert_snapshot!(folder.run(&["explain", "--call", "call.json"]).shown());
}

#[test]
fn a_command_line() {
    let ran = Folder::workspace().run(&["explain", "--command", "touch x", "--json"]);
    let answer = &ran.json_lines()[0];
    assert_eq!(answer["class"], "DESTRUCTIVE");
    assert_eq!(answer["code"], "STATE_VIOLATION");
}

/// Outside a workspace the built-in knowledge judges.
#[test]
fn outside_a_workspace() {
    let input = "{\"command\": \"rm -rf x\"}\n{\"tool\": \"read_file\", \"arguments\": {\"path\": \"x\"}}\n";
    let ran = Folder::empty().run_with(&["explain", "--batch", "--json"], input);
    assert_eq!(ran.code, Some(0));
    let answers = ran.json_lines();
    assert_eq!(answers[0]["class"], "DESTRUCTIVE");
    assert_eq!(answers[1]["verdict"], "allow");
}

/// A line that is no question gets its answer in its place, and the answer is no.
#[test]
fn odd_lines_are_refused_in_order() {
    let input = "not json\n[1]\n{}\n{\"id\": 4, \"tool\": 7}\n{\"id\": 5, \"tool\": \"read_file\", \
                 \"stat\": \"ACTION\"}\n{\"id\": 6, \"tool\": \"read_file\", \"state\": \"ACTON\"}\n\
                 {\"id\": 7, \"tool\": \"read_file\", \"arguments\": {\"path\": \"x\"}}\n";
    let ran = Folder::workspace().run_with(&["explain", "--batch", "--json"], input);
    assert_eq!(ran.code, Some(0));
    let answers = ran.json_lines();
    let said: Vec<String> = answers
        .iter()
        .map(|answer| format!("{} {} {}", answer["id"], answer["code"], answer["reason"]))
        .collect();
    insta::assert_snapshot!(said.join("\n"));
}
