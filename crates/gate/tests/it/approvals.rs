//! H6: a person's yes is data, bound to one call, good once and for a while.

use serde_json::json;
use tagout_gate::{Admission, GateError, Outcome};
use tagout_vocab::limits::{APPROVAL_GRANTED_MS_MAX, APPROVAL_PENDING_MS_MAX};
use tagout_workspace::RelPath;

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
    let mut world = World::with_policy(STRICT);
    world.intents.push_str(
        "  - id: INT-003\n    name: Sun\n    status: IN_PROGRESS\n    owned_scope: [src/**]\n",
    );
    world.engine().accept(&world.sources(), "ann").unwrap();
    world.write("src/a.txt", "one");
    let remover = tool("delete_file", |_, context| {
        let path = context.resolve_name("src/a.txt")?;
        context.transaction().delete(&RelPath::from(&path))?;
        said("deleted")
    });
    let engine = world.engine_with(vec![remover]);
    // Nothing but the session and its intent differs between the calls.
    let delete = || call("delete_file", json!({ "path": "src/a.txt" }));
    let begin = |session: &str, intent: &str| {
        for call in [select(intent), read("src/a.txt")] {
            let receipt = engine.execute(&in_session(call, session));
            assert_eq!(receipt.outcome, Outcome::Completed, "{receipt:?}");
        }
    };
    let end = |session: &str| {
        let done = call("attempt_completion", json!({ "result": "done" }));
        let receipt = engine.execute(&in_session(done, session));
        assert_eq!(receipt.outcome, Outcome::Completed, "{receipt:?}");
    };
    begin("s-1", "INT-001");
    let id = engine.execute(&delete()).approval.unwrap();
    engine.approve(&id, "ann").unwrap();
    end("s-1");
    for (session, intent) in [("s-1", "INT-003"), ("s-2", "INT-001")] {
        begin(session, intent);
        let other = engine.execute(&in_session(delete(), session));
        assert_eq!(other.outcome, Outcome::Pending, "{other:?}");
        assert_ne!(other.approval.as_deref(), Some(id.as_str()));
        assert_eq!(world.read("src/a.txt").as_deref(), Some("one"));
        end(session);
    }
    begin("s-1", "INT-001");
    let receipt = engine.execute(&delete());
    assert_eq!(receipt.outcome, Outcome::Completed, "{receipt:?}");
    assert_eq!(world.read("src/a.txt"), None);
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
