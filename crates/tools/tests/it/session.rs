//! The tools that talk to the engine and to people.

use serde_json::json;
use tagout_gate::Request;
use tagout_vocab::IntentId;

use crate::support::Place;

/// H1: a selection answers with the intent's context, escaped.
#[test]
fn a_selection_answers_with_the_context() {
    let place = Place::new(&[]);
    let ran = place.call("select_active_intent", json!({"intent_id": "INT-001"}));
    let output = ran.output.unwrap();
    let text = output["context"].as_str().unwrap();
    assert!(text.starts_with("<intent_context>\n"), "{text}");
    assert!(text.contains("<path>src/**</path>"), "{text}");
    assert!(text.contains("no &lt;b&gt;new"), "{text}");
    let id = IntentId::new("INT-001").unwrap();
    assert_eq!(ran.requests, [Request::Select(id)]);
    let unknown = place.call("select_active_intent", json!({"intent_id": "INT-002"}));
    let error = unknown.output.unwrap_err().to_string();
    assert!(error.contains("did you mean `INT-001`"), "{error}");
    assert!(unknown.requests.is_empty());
}

#[test]
fn a_question_is_stored_with_its_choices() {
    let place = Place::new(&[]);
    let input = json!({"question": "Which?", "follow_up": ["a", "b"]});
    let ran = place.call("ask_followup_question", input);
    assert_eq!(ran.output.unwrap()["status"], "pending");
    let asked = |choices: [&str; 2]| Request::Question {
        question: "Which?".to_owned(),
        choices: choices.map(str::to_owned).to_vec(),
    };
    assert_eq!(ran.requests, [asked(["a", "b"])]);
    let input =
        json!({"question": "Which?", "follow_up": [{"text": "c"}, {"text": "d", "mode": "x"}]});
    assert_eq!(
        place.call("ask_followup_question", input).requests,
        [asked(["c", "d"])]
    );
}

/// H18: a proposal carries what a person needs to answer it.
#[test]
fn a_proposal_is_checked_before_it_is_stored() {
    let place = Place::new(&[]);
    let good = json!({"name": "Docs", "owned_scope": ["docs/**"], "reason": "they are wrong"});
    let ran = place.call("propose_intent", good);
    assert_eq!(ran.output.unwrap()["status"], "pending");
    let [Request::Propose { owned_scope, .. }] = &ran.requests[..] else {
        panic!("{:?}", ran.requests);
    };
    assert_eq!(owned_scope, &["docs/**"]);
    for wrong in [
        json!({"owned_scope": ["docs/**"], "reason": "x"}),
        json!({"name": "D", "owned_scope": [], "reason": "x"}),
        json!({"name": "D", "owned_scope": ["../x"], "reason": "x"}),
        json!({"name": "D", "owned_scope": ["a"], "reason": " "}),
        json!({"intent_id": "a b", "owned_scope": ["a"], "reason": "x"}),
    ] {
        let ran = place.call("propose_intent", wrong.clone());
        assert!(ran.output.is_err() && ran.requests.is_empty(), "{wrong}");
    }
}

#[test]
fn lists_modes_tasks_and_the_end_are_handed_to_the_engine() {
    let place = Place::new(&[]);
    let todos = json!({"todos": [{"content": "a", "status": "completed"}, {"content": "b\nc"}]});
    let ran = place.call("update_todo_list", todos);
    assert_eq!(ran.requests, [Request::Todo("[x] a\n[ ] b c".to_owned())]);
    assert_eq!(ran.output.unwrap()["items"], 2);
    let ran = place.call("switch_mode", json!({"mode_slug": "code"}));
    assert_eq!(ran.requests, [Request::SwitchMode("code".to_owned())]);
    let ran = place.call("attempt_completion", json!({"result": "done"}));
    assert_eq!(ran.requests, [Request::Complete]);
    let ran = place.call(
        "new_task",
        json!({"mode": "code", "message": "go", "todos": ["x"]}),
    );
    let child = Request::Child {
        mode: "code".to_owned(),
        message: "go\nx".to_owned(),
    };
    assert_eq!(ran.requests, [child]);
}

#[test]
fn what_is_not_there_yet_says_so() {
    let place = Place::new(&[]);
    let resource = json!({"server_name": "s", "uri": "u"});
    let error = place
        .call("access_mcp_resource", resource)
        .output
        .unwrap_err()
        .to_string();
    assert!(error.starts_with("no MCP server is connected"), "{error}");
    let artifact = json!({"artifact_id": "cmd-1"});
    let error = place
        .call("read_command_output", artifact)
        .output
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("there is no stored output `cmd-1`"),
        "{error}"
    );
}
