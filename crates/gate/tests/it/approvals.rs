//! H6: a person's yes is data, bound to one call, good once and for a while.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::json;
use tagout_gate::{Admission, GateError, Outcome};
use tagout_vocab::limits::{APPROVAL_GRANTED_MS_MAX, APPROVAL_PENDING_MS_MAX};

use crate::support::*;

const STRICT: &str = "version: 1\nprofile: strict\n";

fn asking() -> (World, tagout_gate::Engine, String) {
    let world = World::with_policy(STRICT);
    let engine = in_action(&world, vec![]);
    let receipt = engine.execute(&write("src/a.txt", "one"));
    assert_eq!(receipt.outcome, Outcome::Pending, "{receipt:?}");
    assert_eq!(code(&receipt), "APPROVAL_REQUIRED");
    assert_eq!(world.read("src/a.txt"), None);
    let id = receipt.approval.unwrap();
    (world, engine, id)
}

/// H6: asked once, granted, used once, asked anew.
#[test]
fn a_yes_is_good_once() {
    let (world, engine, id) = asking();
    // The same call does not make a second request.
    let again = engine.execute(&write("src/a.txt", "one"));
    assert_eq!(again.approval.as_deref(), Some(id.as_str()));
    let pending = engine.pending().unwrap();
    assert_eq!(pending.len(), 1);
    assert!(pending[0].effects[0].contains("src/a.txt"), "{pending:?}");
    engine.approve(&id, "ann").unwrap();
    assert!(engine.pending().unwrap().is_empty());
    let receipt = engine.execute(&write("src/a.txt", "one"));
    assert_eq!(receipt.outcome, Outcome::Completed, "{receipt:?}");
    let events = world.events();
    let authorised = events
        .iter()
        .rev()
        .find(|event| event.body.approver.is_some());
    assert_eq!(authorised.unwrap().body.approver.as_deref(), Some("ann"));
    // Used up: the same call asks again, under another id.
    let anew = engine.execute(&write("src/a.txt", "one"));
    assert_eq!(anew.outcome, Outcome::Pending);
    assert_ne!(anew.approval.as_deref(), Some(id.as_str()));
}

/// H6: a yes is bound to arguments and law.
#[test]
fn a_yes_is_bound_to_its_call() {
    let (world, engine, id) = asking();
    engine.approve(&id, "ann").unwrap();
    assert_eq!(
        engine.execute(&write("src/a.txt", "two")).outcome,
        Outcome::Pending
    );
    assert_eq!(
        engine.execute(&write("src/b.txt", "one")).outcome,
        Outcome::Pending
    );
    // Another law: the yes was for the old one.
    let mut world = world;
    world.policy = STRICT.replace("strict", "strict # the same in other words");
    world.engine().accept(&world.sources(), "ann").unwrap();
    let engine = world.engine();
    assert_eq!(
        engine.execute(&write("src/a.txt", "one")).outcome,
        Outcome::Pending
    );
    assert_eq!(world.read("src/a.txt"), None);
}

/// H6: a yes is bound to the session and the intent that asked, and is still good for these.
#[test]
fn a_yes_is_bound_to_its_session_and_intent() {
    let world = World::with_policy(STRICT);
    let count = Arc::new(AtomicU32::new(0));
    let inside = count.clone();
    // A call whose arguments name no intent, so that nothing else differs.
    let begins = tool("new_task", move |_, _| {
        inside.fetch_add(1, Ordering::SeqCst);
        said("begun")
    });
    let engine = world.engine_with(vec![begins]);
    let begin = |session: &str| {
        let call = call("new_task", json!({ "mode": "code", "message": "go on" }));
        engine.execute(&in_session(call, session))
    };
    let take_up = |session: &str, intent: &str| {
        let receipt = engine.execute(&in_session(select(intent), session));
        assert_eq!(receipt.outcome, Outcome::Completed, "{receipt:?}");
    };
    take_up("s-1", "INT-001");
    let asked = begin("s-1");
    assert_eq!(asked.outcome, Outcome::Pending, "{asked:?}");
    let id = asked.approval.unwrap();
    engine.approve(&id, "ann").unwrap();
    take_up("s-1", "INT-002");
    take_up("s-2", "INT-001");
    for session in ["s-1", "s-2"] {
        let other = begin(session);
        assert_eq!(other.outcome, Outcome::Pending, "{session}: {other:?}");
        assert_ne!(other.approval.as_deref(), Some(id.as_str()));
    }
    let done = call("attempt_completion", json!({ "result": "done" }));
    drop(engine.execute(&in_session(done, "s-2")));
    take_up("s-1", "INT-001");
    assert_eq!(count.load(Ordering::SeqCst), 0);
    let receipt = begin("s-1");
    assert_eq!(receipt.outcome, Outcome::Completed, "{receipt:?}");
    assert_eq!(count.load(Ordering::SeqCst), 1);
}

/// H6: a yes that waits too long, and a request that nobody answers, are worth nothing.
#[test]
fn a_yes_expires() {
    let (world, engine, id) = asking();
    engine.approve(&id, "ann").unwrap();
    world.time.pass(APPROVAL_GRANTED_MS_MAX);
    let late = engine.execute(&write("src/a.txt", "one"));
    assert_eq!(code(&late), "APPROVAL_EXPIRED");
    let anew = engine.execute(&write("src/a.txt", "one"));
    assert_eq!(anew.outcome, Outcome::Pending);
    world.time.pass(APPROVAL_PENDING_MS_MAX);
    let refused = engine.approve(&anew.approval.unwrap(), "ann");
    assert!(
        matches!(refused, Err(GateError::Expired { .. })),
        "{refused:?}"
    );
}

/// H6: a no stays a no, and an answer is given once.
#[test]
fn a_no_stays() {
    let (_world, engine, id) = asking();
    engine.reject(&id, "ann", "not today").unwrap();
    let receipt = engine.execute(&write("src/a.txt", "one"));
    assert_eq!(code(&receipt), "APPROVAL_REJECTED");
    assert!(receipt.refusal.unwrap().reason.contains("not today"));
    assert!(matches!(
        engine.approve(&id, "bob"),
        Err(GateError::Answered { .. })
    ));
    assert!(matches!(
        engine.approve("a-0", "bob"),
        Err(GateError::Unknown { .. })
    ));
}

/// H6, H13: after the yes the whole judge runs again; a file that changed meanwhile is refused, and
/// the yes is not used up by that.
#[test]
fn a_granted_call_is_judged_again() {
    let (world, engine, id) = asking();
    engine.approve(&id, "ann").unwrap();
    world.write("src/a.txt", "theirs");
    let stale = engine.execute(&write("src/a.txt", "one"));
    assert_eq!(code(&stale), "STALE_FILE");
    assert_eq!(world.read("src/a.txt").as_deref(), Some("theirs"));
    drop(engine.execute(&read("src/a.txt")));
    assert_eq!(
        engine.execute(&write("src/a.txt", "one")).outcome,
        Outcome::Completed
    );
}

/// H6: a request outlives the process, and guard asks in the same way.
#[test]
fn a_request_survives_the_process() {
    let (world, engine, id) = asking();
    drop(engine);
    let engine = world.engine();
    engine.approve(&id, "ann").unwrap();
    drop(engine);
    let engine = world.engine();
    match engine.admit(&write("src/a.txt", "one")) {
        Admission::Permit(permit) => assert_eq!(permit.paths()[0].as_str(), "src/a.txt"),
        other => panic!("{other:?}"),
    }
}

/// H6, H17: where the law has a person asked about two intents that own the same files, a yes lets
/// exactly one selection through, and a no ends it.
#[test]
fn an_overlap_can_be_agreed_to() {
    let mut world = World::untrusted("version: 1\nintents: {overlap: ask}\n");
    world.intents = INTENTS.replace("docs/**", "src/docs/**");
    let engine = world.engine();
    engine.accept(&world.sources(), "ann").unwrap();
    let engine = world.engine();
    let asked = engine.execute(&select("INT-001"));
    assert_eq!(asked.outcome, Outcome::Pending, "{asked:?}");
    assert_eq!(code(&asked), "INTENT_OVERLAP");
    engine.approve(&asked.approval.unwrap(), "ann").unwrap();
    let taken = engine.execute(&select("INT-001"));
    assert_eq!(taken.outcome, Outcome::Completed, "{taken:?}");
    let written = engine.execute(&write("src/docs/a.txt", "one"));
    assert_eq!(written.outcome, Outcome::Completed, "{written:?}");
    // The yes was for one selection of one intent in one session.
    let other = in_session(select("INT-002"), "s-2");
    let asked = engine.execute(&other);
    assert_eq!(asked.outcome, Outcome::Pending, "{asked:?}");
    let id = asked.approval.unwrap();
    engine.reject(&id, "ann", "one after the other").unwrap();
    let refused = engine.execute(&other);
    assert_eq!(refused.outcome, Outcome::Denied);
    assert_eq!(code(&refused), "APPROVAL_REJECTED");
}
