//! G1, G2: seed 000's table of 22 tools in three states, and what nobody declared.

use serde_json::{Value, json};
use tagout_vocab::{Class, Gate, State, Verdict};

use super::world::{books, call, facts, said, session, with_metadata};
use crate::judge::judge;

/// Tool, class, valid arguments.
fn table() -> Vec<(&'static str, Class, Value)> {
    use Class::{Destructive as D, Safe as S};
    let patch = "*** Begin Patch\n*** Update File: src/weather/a.rs\n@@\n-a\n+b\n*** End Patch\n";
    let edit = json!({"file_path": "src/weather/a.rs", "old_string": "a", "new_string": "b"});
    vec![
        ("read_file", S, json!({"path": "src/main.rs"})),
        ("list_files", S, json!({"path": ".", "recursive": false})),
        ("list_code_definition_names", S, json!({"path": "src"})),
        ("search_files", S, json!({"path": ".", "regex": "fn "})),
        ("codebase_search", S, json!({"query": "where is it"})),
        (
            "ask_followup_question",
            S,
            json!({"question": "which?", "follow_up": []}),
        ),
        ("select_active_intent", S, json!({"intent_id": "INT-001"})),
        (
            "switch_mode",
            S,
            json!({"mode_slug": "code", "reason": "to work"}),
        ),
        ("update_todo_list", S, json!({"todos": "[ ] one"})),
        (
            "read_command_output",
            S,
            json!({"artifact_id": "cmd-1.txt"}),
        ),
        (
            "access_mcp_resource",
            S,
            json!({"server_name": "docs", "uri": "docs://a"}),
        ),
        ("attempt_completion", S, json!({"result": "done"})),
        (
            "write_to_file",
            D,
            with_metadata(json!({"path": "src/weather/a.rs", "content": "x"})),
        ),
        (
            "apply_diff",
            D,
            with_metadata(json!({"path": "src/weather/a.rs", "diff": "@@\n-a\n+b"})),
        ),
        ("edit", D, with_metadata(edit.clone())),
        ("search_and_replace", D, with_metadata(edit.clone())),
        ("search_replace", D, with_metadata(edit.clone())),
        ("edit_file", D, with_metadata(edit)),
        ("apply_patch", D, with_metadata(json!({"patch": patch}))),
        (
            "delete_file",
            D,
            with_metadata(json!({"path": "src/weather/a.rs"})),
        ),
        (
            "execute_command",
            D,
            json!({"command": "touch src/weather/a.rs"}),
        ),
        ("new_task", D, json!({"mode": "code", "message": "do it"})),
        (
            "nobody_declared_this",
            D,
            json!({"path": "src/weather/a.rs"}),
        ),
    ]
}

/// G1, G2: every tool in every state.
#[test]
fn seed_matrix() {
    let books = books("");
    for (tool, class, arguments) in table() {
        for state in State::ALL {
            let intent = (state == State::Action).then_some("INT-001");
            let judgement = judge(
                &call(tool, arguments.clone()),
                &session(state, intent),
                &books,
                &facts(),
            );
            assert_eq!(judgement.class, class, "{tool}");
            let expected = match (class, state, tool) {
                (Class::Destructive, State::Request | State::Reasoning, _) => {
                    "deny STATE_VIOLATION"
                }
                // Handing work on can't be taken back, so the balanced profile asks a person.
                (Class::Destructive, State::Action, "new_task") => "ask APPROVAL_REQUIRED",
                (Class::Destructive, State::Action, "nobody_declared_this") => "deny TOOL_UNKNOWN",
                (Class::Safe, _, _) | (Class::Destructive, State::Action, _) => "allow ALLOWED",
            };
            assert_eq!(
                said(&judgement),
                expected,
                "{tool} in {state:?}: {judgement:#?}"
            );
        }
    }
    assert_eq!(table().len(), 23);
}

/// G4: the seed's own words.
#[test]
fn refusal_before_the_handshake_says_what_to_do() {
    let write = call(
        "write_to_file",
        json!({"path": "src/weather/a.rs", "content": "x"}),
    );
    let judgement = judge(
        &write,
        &session(State::Reasoning, None),
        &books(""),
        &facts(),
    );
    let Verdict::Deny(refusal) = judgement.verdict else {
        panic!("allowed")
    };
    assert_eq!(
        refusal.reason,
        "State Violation: Intent Handshake required for DESTRUCTIVE actions. \
         Call 'select_active_intent' first."
    );
    assert_eq!(refusal.gate, Gate::State);
    assert!(refusal.retryable);
}
