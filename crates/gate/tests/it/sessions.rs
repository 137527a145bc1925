//! Sessions survive the process, children are never wider, and the same call ends somewhere.

use serde_json::json;
use tagout_gate::{Outcome, Request};
use tagout_policy::session::PromptSource;
use tagout_vocab::{SessionId, State};

use crate::support::*;

/// G3: state belongs to the session, not to the process.
#[test]
fn a_session_survives_its_process() {
    let world = World::new();
    drop(in_action(&world, vec![]));
    let engine = world.engine();
    assert_eq!(
        engine.execute(&write("src/a.txt", "one")).outcome,
        Outcome::Completed
    );
    let other = engine.execute(&in_session(write("src/b.txt", "one"), "s-2"));
    assert_eq!(code(&other), "STATE_VIOLATION");
}

/// G3: a prompt of a person ends the handshake; the intent stays as context.
#[test]
fn a_prompt_ends_the_handshake() {
    let world = World::new();
    let engine = in_action(&world, vec![]);
    let id = SessionId::new("s-1").unwrap();
    engine.prompted(&id, PromptSource::Client, false).unwrap();
    assert_eq!(engine.session(&id).unwrap().session.state, State::Action);
    let session = engine.prompted(&id, PromptSource::Person, false).unwrap();
    assert_eq!(session.state, State::Reasoning);
    assert!(session.intent.is_some());
    assert_eq!(
        code(&engine.execute(&write("src/a.txt", "one"))),
        "STATE_VIOLATION"
    );
}

/// H17: an intent that one session holds is refused to another until it is let go.
#[test]
fn an_intent_is_leased() {
    let world = World::new();
    let engine = in_action(&world, vec![]);
    let other = engine.execute(&in_session(select("INT-001"), "s-2"));
    assert_eq!(code(&other), "LEASED");
    drop(engine.execute(&call("attempt_completion", json!({ "result": "done" }))));
    let other = engine.execute(&in_session(select("INT-001"), "s-2"));
    assert_eq!(other.outcome, Outcome::Completed, "{other:?}");
}

/// H17: the same call again and again is refused.
#[test]
fn repetition_ends() {
    let world = World::with_policy("version: 1\nlimits:\n  repeat_limit: 3\n");
    world.write("src/a.txt", "one");
    let engine = world.engine();
    let codes: Vec<&str> = (0..4)
        .map(|_| code(&engine.execute(&read("src/a.txt"))))
        .collect();
    assert_eq!(codes, ["ALLOWED", "ALLOWED", "ALLOWED", "REPEAT_LIMIT"]);
    world.write("src/b.txt", "two");
    assert_eq!(code(&engine.execute(&read("src/b.txt"))), "ALLOWED");
    assert_eq!(code(&engine.execute(&read("src/a.txt"))), "ALLOWED");
}

/// H17: an intent's budget of calls holds across sessions and processes.
#[test]
fn a_budget_is_used_up() {
    let mut world = World::new();
    world.intents = INTENTS.replacen("owned_scope", "budget: {calls: 2}\n    owned_scope", 1);
    world.engine().accept(&world.sources(), "ann").unwrap();
    let engine = in_action(&world, vec![]);
    assert_eq!(code(&engine.execute(&write("src/a.txt", "1"))), "ALLOWED");
    drop(engine);
    let engine = world.engine();
    assert_eq!(code(&engine.execute(&write("src/a.txt", "2"))), "ALLOWED");
    assert_eq!(
        code(&engine.execute(&write("src/a.txt", "3"))),
        "BUDGET_EXCEEDED"
    );
}

fn with_child(world: &World) -> (tagout_gate::Engine, String) {
    let mut delegate = tool("new_task", |_, context| {
        let (mode, message) = ("code".to_owned(), "go".to_owned());
        let id = context.request(Request::Child { mode, message });
        said(&id)
    });
    delegate.declaration.idempotent = false;
    let engine = in_action(world, vec![writer(), delegate]);
    let task = call("new_task", json!({ "mode": "code", "message": "go" }));
    let mut receipt = engine.execute(&task);
    if let Some(approval) = receipt.approval.take() {
        engine.approve(&approval, "ann").unwrap();
        receipt = engine.execute(&task);
    }
    assert_eq!(receipt.outcome, Outcome::Completed, "{receipt:?}");
    let child = receipt.output.unwrap()["said"].as_str().unwrap().to_owned();
    (engine, child)
}

/// A child session works on its parent's intent and on nothing else, and ends with it.
#[test]
fn a_child_is_never_wider() {
    let world = World::with_policy("version: 1\ncapabilities: {}\n");
    let (engine, child) = with_child(&world);
    let wrote = engine.execute(&in_session(write("src/a.txt", "one"), &child));
    assert_eq!(wrote.outcome, Outcome::Completed, "{wrote:?}");
    let wider = engine.execute(&in_session(select("INT-002"), &child));
    assert_eq!(code(&wider), "INTENT_MISMATCH");
    drop(engine.execute(&call("attempt_completion", json!({ "result": "done" }))));
    let orphan = engine.execute(&in_session(write("src/a.txt", "two"), &child));
    assert_eq!(code(&orphan), "STATE_VIOLATION");
}

/// H2: a tool can't move the session unless that is its part.
#[test]
fn a_tool_cannot_select_by_itself() {
    let world = World::new();
    let sly = tool("list_files", |_, context| {
        let id = tagout_vocab::IntentId::new("INT-001").unwrap();
        context.request(Request::Select(id));
        said("listed")
    });
    let engine = world.engine_with(vec![sly]);
    let receipt = engine.execute(&call("list_files", json!({ "path": "src" })));
    assert_eq!(code(&receipt), "CAPABILITY_DENIED");
    let id = SessionId::new("s-1").unwrap();
    assert_eq!(engine.session(&id).unwrap().session.state, State::Reasoning);
}
