//! What people do: trust, questions, proposals, grants, and a state that is gone.

use std::collections::BTreeSet;

use serde_json::json;
use tagout_gate::{GateError, GrantDraft, Outcome, ProposalState, Request, Site};
use tagout_policy::capability::grants::{GrantScope, Grantee, GranteeKind};
use tagout_policy::capability::{Allowance, Capability};
use tagout_policy::judge::Standing;
use tagout_vocab::{CallId, Code, SessionId};

use crate::support::*;

/// §5: a fresh clone's files wait for a person; reading goes on.
#[test]
fn nothing_changes_before_a_person_trusts() {
    let world = World::untrusted("");
    world.write("src/a.txt", "one");
    let engine = world.engine();
    assert_eq!(engine.shelf().standing, Standing::NotTrusted);
    assert_eq!(
        engine.execute(&read("src/a.txt")).outcome,
        Outcome::Completed
    );
    assert_eq!(
        code(&engine.execute(&write("src/b.txt", "x"))),
        "NOT_TRUSTED"
    );
    engine.accept(&world.sources(), "ann").unwrap();
    let engine = in_action(&world, vec![]);
    assert_eq!(
        engine.execute(&write("src/b.txt", "x")).outcome,
        Outcome::Completed
    );
}

/// §5: what the tree narrows holds at once, what it widens waits.
#[test]
fn narrowing_holds_and_widening_waits() {
    let mut world = World::new();
    let engine = in_action(&world, vec![]);
    assert_eq!(code(&engine.execute(&write("src/a.txt", "1"))), "ALLOWED");
    world.intents = INTENTS.replace("[src/**]", "[src/in/**, docs/**]");
    let engine = world.engine();
    assert!(!engine.shelf().waiting.is_empty());
    assert_eq!(
        code(&engine.execute(&write("src/in/a.txt", "1"))),
        "ALLOWED"
    );
    assert_eq!(
        code(&engine.execute(&write("src/b.txt", "1"))),
        "SCOPE_VIOLATION"
    );
    assert_eq!(
        code(&engine.execute(&write("docs/a.txt", "1"))),
        "SCOPE_VIOLATION"
    );
    engine.accept(&world.sources(), "ann").unwrap();
    let engine = world.engine();
    assert_eq!(code(&engine.execute(&write("docs/a.txt", "1"))), "ALLOWED");
}

/// Invariant 3: a broken file leaves the readers and can't be accepted.
#[test]
fn a_broken_file_leaves_the_readers() {
    let mut world = World::new();
    world.write("src/a.txt", "one");
    drop(in_action(&world, vec![]));
    world.policy = "version: 1\nprofile: [".to_owned();
    let engine = world.engine();
    assert_eq!(code(&engine.execute(&read("src/a.txt"))), "ALLOWED");
    assert_eq!(
        code(&engine.execute(&write("src/b.txt", "x"))),
        "POLICY_INVALID"
    );
    let refused = engine.accept(&world.sources(), "ann");
    assert!(matches!(refused, Err(GateError::Unreadable { .. })));
}

/// A question is stored, answered once, and its answer found by the same question.
#[test]
fn a_question_is_answered_once() {
    let world = World::new();
    let ask = || {
        tool("ask_followup_question", |input, context| {
            let question = input["question"].as_str().unwrap().to_owned();
            if let Some(answer) = context.answer_to(&question) {
                return said(&answer);
            }
            let choices = vec!["red".to_owned()];
            said(&context.request(Request::Question { question, choices }))
        })
    };
    let engine = world.engine_with(vec![ask()]);
    let question = call(
        "ask_followup_question",
        json!({ "question": "Which colour?" }),
    );
    let asked = engine.execute(&question).output.unwrap();
    let id = asked["said"].as_str().unwrap();
    assert_eq!(engine.questions().unwrap()[0].id, id);
    engine.answer(id, "ann", "red").unwrap();
    assert!(matches!(
        engine.answer(id, "ann", "blue"),
        Err(GateError::Answered { .. })
    ));
    let answered = engine.execute(&question).output.unwrap();
    assert_eq!(answered["said"], "red");
}

/// H18: an agent proposes an intent, a person answers once.
#[test]
fn a_proposal_is_answered_once() {
    let world = World::new();
    let propose = tool("propose_intent", |_, context| {
        said(&context.request(Request::Propose {
            intent: None,
            name: Some("Docs".to_owned()),
            owned_scope: vec!["docs/**".to_owned()],
            reason: "they lie".to_owned(),
            constraints: vec![],
            acceptance_criteria: vec![],
        }))
    });
    let engine = world.engine_with(vec![propose]);
    let arguments = json!({ "name": "Docs", "owned_scope": ["docs/**"], "reason": "they lie" });
    let receipt = engine.execute(&call("propose_intent", arguments));
    assert_eq!(receipt.outcome, Outcome::Completed, "{receipt:?}");
    let proposal = engine.proposals().unwrap().remove(0);
    assert_eq!(proposal.owned_scope, ["docs/**"]);
    let answered = engine.answer_proposal(&proposal.id, "ann", None).unwrap();
    assert!(matches!(answered.state, ProposalState::Accepted { .. }));
    let again = engine.answer_proposal(&proposal.id, "ann", Some("no"));
    assert!(matches!(again, Err(GateError::Answered { .. })));
}

/// C2, C3: a grant lets a call through that the policy denies, until it is taken back.
#[test]
fn a_grant_holds_until_it_is_revoked() {
    let world = World::with_policy("version: 1\ncapabilities:\n  allow: [filesystem.read]\n");
    let engine = in_action(&world, vec![]);
    assert_eq!(
        code(&engine.execute(&write("src/a.txt", "1"))),
        "CAPABILITY_DENIED"
    );
    let grant = engine
        .issue_grant(
            GrantDraft {
                capabilities: BTreeSet::from([
                    Capability::parse("filesystem.read").unwrap(),
                    Capability::parse("filesystem.write").unwrap(),
                ]),
                grantee: Grantee {
                    kind: GranteeKind::Session,
                    id: "s-1".to_owned(),
                },
                scope: GrantScope {
                    resources: Allowance::Unrestricted,
                    actions: Allowance::Unrestricted,
                },
                constraints: vec![],
                expires_at: None,
            },
            "ann",
        )
        .unwrap();
    let done = engine.execute(&write("src/a.txt", "1"));
    assert_eq!(code(&done), "ALLOWED");
    // The events of the decision and of the end name the grant; those of before name none.
    let named: Vec<(&str, Vec<String>)> = world
        .events()
        .iter()
        .filter(|event| {
            event.body.execution_id.as_deref() == done.execution.as_ref().map(CallId::as_str)
        })
        .map(|event| {
            let ids = event.body.grants.iter().map(ToString::to_string);
            (event.body.state.unwrap().as_str(), ids.collect())
        })
        .collect();
    let id = grant.grant_id.to_string();
    assert_eq!(
        named,
        [
            ("DECLARED", vec![]),
            ("VALIDATED", vec![]),
            ("AUTHORIZED", vec![id.clone()]),
            ("EXECUTING", vec![]),
            ("COMPLETED", vec![id]),
        ]
    );
    let other = engine.execute(&in_session(write("src/b.txt", "1"), "s-2"));
    assert_ne!(code(&other), "ALLOWED");
    engine.revoke_grant(&grant.grant_id, "ann", "over").unwrap();
    assert_eq!(engine.grants().unwrap()[0].revoked.as_deref(), Some("over"));
    let denied = engine.execute(&write("src/b.txt", "1"));
    assert_eq!(code(&denied), "CAPABILITY_DENIED");
    // The denial says which grant would have done and why it does not.
    let reason = denied.refusal.unwrap().reason;
    assert!(reason.contains(grant.grant_id.as_str()), "{reason}");
}

/// §5: a state that is gone is refused until a person starts anew, and that is an event.
#[test]
fn a_lost_state_is_refused_until_a_new_epoch() {
    let world = World::new();
    std::fs::rename(world.site().state(), world.places.state_home.join("gone")).unwrap();
    let lost = Site::open(&world.places).unwrap_err();
    assert!(matches!(lost, GateError::StateLost { .. }));
    assert_eq!(lost.code(), Code::StateLost);
    let created = Site::create(&world.places, &world.time.clockwork(), "ann");
    assert!(matches!(created, Err(GateError::StateLost { .. })));
    Site::new_epoch(&world.places, &world.time.clockwork(), "ann").unwrap();
    let first = world.events().remove(0).body;
    assert_eq!(first.kind, tagout_ledger::Kind::Epoch);
    assert!(first.data.unwrap()["lost"].is_string());
    // Nothing that was accepted before is accepted now.
    let site = world.site();
    let shelf = site
        .shelve(catalogue().clone(), None, &world.sources())
        .unwrap();
    assert_eq!(shelf.standing, Standing::NotTrusted);
}

/// §5: a folder that was never set up, and a state of a newer format.
#[test]
fn what_cannot_be_opened_says_why() {
    let world = World::new();
    let inside = tagout_gate::Places {
        root: world.places.state_home.clone(),
        ..world.places.clone()
    };
    assert!(matches!(
        Site::open(&inside),
        Err(GateError::StateInside { .. })
    ));
    let nowhere = tempfile::tempdir().unwrap();
    let elsewhere = tagout_gate::Places {
        root: nowhere.path().to_path_buf(),
        ..world.places.clone()
    };
    assert!(matches!(
        Site::open(&elsewhere),
        Err(GateError::NotSetUp { .. })
    ));
    let format = world.site().state().join("format");
    std::fs::write(format, "{\"reader\":9,\"writer\":9}\n").unwrap();
    let site = world.site();
    let known = catalogue().clone();
    let shelf = site.shelve(known.clone(), None, &world.sources()).unwrap();
    let registry = tagout_gate::Registry::new(known);
    let opened = tagout_gate::Engine::open(site, shelf, registry, world.time.clockwork());
    let error = opened.err().unwrap().to_string();
    assert!(error.contains("newer"), "{error}");
}

/// §13.3: a conversation is begun by one other, however many say so at once.
#[test]
fn a_session_has_one_parent() {
    let world = World::new();
    let engine = world.engine();
    for number in 0..8 {
        let child = SessionId::new(&format!("child-{number}")).unwrap();
        let barrier = std::sync::Barrier::new(4);
        std::thread::scope(|scope| {
            for parent in 0..4 {
                let (engine, barrier, child) = (engine.clone(), &barrier, &child);
                scope.spawn(move || {
                    let parent = SessionId::new(&format!("parent-{parent}")).unwrap();
                    barrier.wait();
                    engine.adopt(child, &parent).unwrap();
                });
            }
        });
        let events = world.events();
        let told = events.iter().filter(|event| {
            let data = event.body.data.as_ref();
            data.is_some_and(|data| data["child"] == child.as_str())
        });
        let parents: Vec<_> = told.map(|event| event.body.session.clone()).collect();
        let known = engine.session(&child).unwrap().session.parent;
        assert_eq!(parents, [known], "{child}");
    }
}

/// §13.3: a session that worked on its own before anybody told whose it is stands where its parent
/// does afterwards, and what it held is free. Told the other way round, nothing changes.
#[test]
fn a_session_is_adopted_late() {
    let world = World::new();
    let engine = world.engine();
    let [main, sub] = ["main", "sub"].map(|id| SessionId::new(id).unwrap());
    for (intent, session) in [("INT-001", "main"), ("INT-002", "sub")] {
        let receipt = engine.execute(&in_session(select(intent), session));
        assert_eq!(receipt.outcome, Outcome::Completed, "{receipt:?}");
    }
    engine.adopt(&sub, &main).unwrap();
    engine.adopt(&main, &sub).unwrap();
    let known = |id: &SessionId| engine.session(id).unwrap().session;
    assert_eq!(known(&main).parent, None);
    assert_eq!(known(&sub).parent, Some(main.clone()));
    assert_eq!(known(&sub).active_intent(), known(&main).active_intent());
    let told = world.events();
    let told = told.iter().filter_map(|event| event.body.data.as_ref());
    let told: Vec<_> = told.filter(|data| data.get("child").is_some()).collect();
    assert_eq!(told.len(), 1);
    assert_eq!(told[0]["dropped"], "INT-002");
    let wider = engine.execute(&in_session(select("INT-002"), "sub"));
    assert_eq!(wider.refusal.unwrap().code, Code::IntentMismatch);
    let free = engine.execute(&in_session(select("INT-002"), "third"));
    assert_eq!(free.outcome, Outcome::Completed, "{free:?}");
}
