//! Guard: admitted in one process, settled in another, never rolled back.

use serde_json::json;
use tagout_gate::trace::attribution::Author;
use tagout_gate::trace::record::Entity;
use tagout_gate::trace::undo::Loss;
use tagout_gate::{
    Admission, Engine, GateError, Outcome, Permit, Promise, Report, Reported, TraceQuery,
    UndoTarget, Undone,
};
use tagout_policy::session::PromptSource;
use tagout_vocab::limits::PERMIT_REPEAT_MS_MAX;
use tagout_vocab::{Call, CallId, State, Timestamp, WorkspacePath};

use crate::support::*;

fn admitted(engine: &Engine, call: &Call) -> Permit {
    match engine.admit(call) {
        Admission::Permit(permit) => *permit,
        other => panic!("{other:?}"),
    }
}

fn denied(engine: &Engine, call: &Call) -> &'static str {
    match engine.admit(call) {
        Admission::Deny(refusal) => refusal.code.as_str(),
        other => panic!("{other:?}"),
    }
}

fn named(mut call: Call, id: &str) -> Call {
    call.id = Some(CallId::new(id).unwrap());
    call
}

const DONE: Report = Report {
    ended: Reported::Succeeded,
    output: None,
    arguments: None,
};

/// §13.3: the hook that sees the selection performs it.
#[test]
fn admitting_the_selection_selects() {
    let world = World::new();
    let engine = world.engine();
    let permit = admitted(&engine, &select("INT-001"));
    assert_eq!(
        engine.session(permit.session()).unwrap().session.state,
        State::Action
    );
    assert_eq!(engine.settle(permit, &DONE).outcome, Outcome::Completed);
}

/// H7: a client writes under all names of a file at once, so it may write to none of them.
#[cfg(unix)]
#[test]
fn a_file_with_other_names_is_left_to_tagout() {
    let world = World::new();
    world.write("docs/b.txt", "b");
    let engine = in_action(&world, vec![]);
    std::fs::hard_link(world.root.join("docs/b.txt"), world.root.join("src/l")).unwrap();
    drop(engine.execute(&read("src/l")));
    assert_eq!(denied(&engine, &write("src/l", "x")), "SCOPE_VIOLATION");
    assert_eq!(code(&engine.execute(&write("src/l", "x"))), "ALLOWED");
    assert_eq!(world.read("docs/b.txt").as_deref(), Some("b"));
    drop(admitted(&engine, &write("src/l", "y")));
}

/// Invariant 2: a permit comes back in a later process only if the ledger confirms it.
#[test]
fn a_permit_is_resumed_and_settled_by_another_process() {
    let world = World::new();
    world.write("src/a.txt", "old");
    let engine = in_action(&world, vec![]);
    drop(engine.execute(&read("src/a.txt")));
    let permit = admitted(&engine, &named(write("src/a.txt", "new"), "c-1"));
    let seq = permit.seq();
    drop(permit);
    drop(engine);
    world.write("src/a.txt", "new");
    let engine = world.engine();
    let id = CallId::new("c-1").unwrap();
    let permit = engine.resume(&id).unwrap();
    assert_eq!(permit.seq(), seq);
    let receipt = engine.settle(permit, &DONE);
    assert_eq!(
        (receipt.outcome, receipt.promise),
        (Outcome::Completed, Promise::Guard)
    );
    assert_eq!(receipt.changes[0].path, "src/a.txt");
    assert_eq!(
        receipt.changes[0].after,
        Some(tagout_vocab::Digest::of(b"new"))
    );
    assert!(matches!(
        engine.resume(&id),
        Err(GateError::NoPermit { .. })
    ));
    // What it wrote, the session has seen.
    assert_eq!(
        engine.execute(&write("src/a.txt", "newer")).outcome,
        Outcome::Completed
    );
}

/// Invariant 2: a permit file that names another event permits nothing.
#[test]
fn a_forged_permit_file_is_refused() {
    let world = World::new();
    let engine = in_action(&world, vec![]);
    let permit = admitted(&engine, &named(write("src/a.txt", "new"), "c-1"));
    drop(permit);
    let folder = world.site().state().join("gate/permits");
    let file = std::fs::read_dir(folder)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let honest: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    let other = tagout_vocab::Digest::of(b"other arguments");
    // Behind the event that authorised it, for a call that was never made, for another session, for
    // other arguments.
    for (key, value) in [
        ("seq", json!(honest["seq"].as_u64().unwrap() + 100)),
        ("execution", json!("c-2")),
        ("session", json!("s-2")),
        ("input_hash", json!(other)),
    ] {
        let mut ticket = honest.clone();
        assert_ne!(ticket[key], value);
        ticket[key] = value;
        std::fs::write(&file, ticket.to_string()).unwrap();
        let resumed = engine.resume(&CallId::new("c-1").unwrap());
        assert!(
            matches!(resumed, Err(GateError::NoPermit { .. })),
            "{key}: {resumed:?}"
        );
    }
    std::fs::write(&file, honest.to_string()).unwrap();
    assert!(engine.resume(&CallId::new("c-1").unwrap()).is_ok());
}

/// §13.7: the same call seen twice is judged once.
#[test]
fn the_same_call_twice_is_one_execution() {
    let world = World::new();
    let engine = in_action(&world, vec![]);
    let call = named(write("src/a.txt", "new"), "c-1");
    let first = admitted(&engine, &call).seq();
    assert_eq!(admitted(&engine, &call).seq(), first);
}

/// §13.7: an open permit is no pass for what would be refused now: under another law, after the
/// session left its intent, or when much time has passed, the same call is judged anew.
#[test]
fn the_same_call_is_judged_anew_when_what_it_rests_on_is_gone() {
    let call = || named(write("src/a.txt", "new"), "c-1");
    let mut world = World::new();
    drop(admitted(&in_action(&world, vec![]), &call()));
    world.policy = "version: 1\nrules:\n  - {id: no, action: deny, match: {tool: \
                    [write_to_file]}, reason: not today}\n"
        .to_owned();
    world.engine().accept(&world.sources(), "ann").unwrap();
    let Admission::Deny(refusal) = world.engine().admit(&call()) else {
        panic!("a call that the law forbids was let through");
    };
    assert!(refusal.reason.contains("not today"), "{refusal:?}");

    let world = World::new();
    let engine = in_action(&world, vec![]);
    let permit = admitted(&engine, &call());
    let prompted = engine.prompted(permit.session(), PromptSource::Person, false);
    assert_eq!(prompted.unwrap().state, State::Reasoning);
    assert_eq!(denied(&engine, &call()), "STATE_VIOLATION");
    let ended = world.states_of("c-1");
    assert_eq!(ended.last(), Some(&"DENIED"), "{ended:?}");
    assert!(
        ended.contains(&"ROLLED_BACK"),
        "the first one ended: {ended:?}"
    );

    let world = World::new();
    let engine = in_action(&world, vec![]);
    let first = admitted(&engine, &call()).seq();
    world.time.pass(PERMIT_REPEAT_MS_MAX);
    assert_eq!(admitted(&engine, &call()).seq(), first);
    world.time.pass(1);
    let second = admitted(&engine, &call());
    assert_ne!(second.seq(), first);
    assert_eq!(engine.settle(second, &DONE).outcome, Outcome::Completed);
}

/// §13.7: a selection that is seen twice is one selection, although it moved the session.
#[test]
fn a_selection_seen_twice_is_one() {
    let world = World::new();
    let engine = world.engine();
    let call = named(select("INT-001"), "c-1");
    let first = admitted(&engine, &call).seq();
    assert_eq!(admitted(&engine, &call).seq(), first);
}

/// §13.8: one open permit per path, across engines, until it is settled.
#[test]
fn two_engines_on_one_path() {
    let world = World::new();
    let one = in_action(&world, vec![]);
    let permit = admitted(&one, &named(write("src/a.txt", "mine"), "c-1"));
    let two = world.engine();
    assert_eq!(
        denied(&two, &named(write("src/a.txt", "other"), "c-2")),
        "PATH_BUSY"
    );
    assert_eq!(
        code(&two.execute(&write("src/a.txt", "other"))),
        "PATH_BUSY"
    );
    assert_eq!(code(&two.execute(&write("src/b.txt", "other"))), "ALLOWED");
    drop(one.settle(permit, &DONE));
    drop(admitted(&two, &named(write("src/a.txt", "other"), "c-3")));
}

/// §13.8: a missing report is settled by what the arguments predict, and never guessed.
#[test]
fn a_missing_report_is_settled_by_prediction_or_not_at_all() {
    let world = World::new();
    let engine = in_action(&world, vec![]);
    for (id, path, content) in [
        ("c-1", "src/a.txt", Some("as said")),
        ("c-2", "src/b.txt", Some("something else")),
        ("c-3", "src/c.txt", None),
    ] {
        drop(admitted(&engine, &named(write(path, "as said"), id)));
        if let Some(content) = content {
            world.write(path, content);
        }
    }
    world.time.pass(1);
    let session = select("x").session.unwrap();
    let now = Timestamp::from_millis(i64::MAX);
    let receipts = engine.settle_missing(&session, now).unwrap();
    let outcomes: Vec<Outcome> = receipts.iter().map(|receipt| receipt.outcome).collect();
    assert_eq!(
        outcomes,
        [Outcome::Completed, Outcome::RolledBack, Outcome::RolledBack]
    );
    // Nothing is rolled back by itself; what stays is named.
    assert_eq!(receipts[1].left, ["src/b.txt"]);
    assert_eq!(world.read("src/b.txt").as_deref(), Some("something else"));
    assert!(receipts[2].left.is_empty());
    assert_eq!(
        world.states(&receipts[1]),
        [
            "DECLARED",
            "VALIDATED",
            "AUTHORIZED",
            "EXECUTING",
            "ABORTED",
            "ROLLED_BACK"
        ]
    );
    // Settled means free.
    drop(admitted(&engine, &named(write("src/c.txt", "x"), "c-4")));
}

/// A permit is settled once, whoever holds it, and also when a crash left it behind.
#[test]
fn a_permit_is_settled_once() {
    let world = World::new();
    let engine = in_action(&world, vec![]);
    let id = CallId::new("c-1").unwrap();
    let first = admitted(&engine, &named(write("src/a.txt", "new"), "c-1"));
    let second = world.engine().resume(&id).unwrap();
    let third = engine.resume(&id).unwrap();
    let folder = world.site().state().join("gate/permits");
    let file = std::fs::read_dir(&folder).unwrap().next().unwrap();
    let file = file.unwrap().path();
    let kept = std::fs::read(&file).unwrap();
    assert_eq!(engine.settle(first, &DONE).outcome, Outcome::Completed);
    let states = world.states_of("c-1");
    let again = engine.settle(second, &DONE);
    assert_eq!((again.outcome, code(&again)), (Outcome::Denied, "CONFLICT"));
    // As if the process had died before it could drop the permit.
    std::fs::write(&file, kept).unwrap();
    let again = engine.settle(third, &DONE);
    assert_eq!((again.outcome, code(&again)), (Outcome::Denied, "CONFLICT"));
    assert_eq!(world.states_of("c-1"), states);
    assert!(!file.exists());
}

/// Two reports at once: one of them settles.
#[test]
fn two_reports_at_once_settle_once() {
    let world = World::new();
    let engine = in_action(&world, vec![]);
    let id = CallId::new("c-1").unwrap();
    drop(admitted(&engine, &named(write("src/a.txt", "new"), "c-1")));
    let permits: Vec<Permit> = (0..8).map(|_| engine.resume(&id).unwrap()).collect();
    let outcomes: Vec<Outcome> = std::thread::scope(|scope| {
        let settling: Vec<_> = permits
            .into_iter()
            .map(|permit| scope.spawn(|| engine.settle(permit, &DONE).outcome))
            .collect();
        settling
            .into_iter()
            .map(|one| one.join().unwrap())
            .collect()
    });
    let completed = |outcome: &&Outcome| **outcome == Outcome::Completed;
    assert_eq!(outcomes.iter().filter(completed).count(), 1);
    let ends = world.states_of("c-1");
    assert_eq!(
        ends.iter().filter(|state| **state == "COMPLETED").count(),
        1
    );
}

/// §13.6: arguments that another hook changed after they were permitted are reported and recorded,
/// and the session has not seen what they made the client read.
#[test]
fn changed_arguments_are_reported() {
    let world = World::new();
    world.write("src/a.txt", "old");
    let engine = in_action(&world, vec![]);
    let report = |arguments: serde_json::Value| Report {
        arguments: arguments.as_object().cloned(),
        ..DONE
    };
    let permit = admitted(&engine, &named(read("src/a.txt"), "c-1"));
    let receipt = engine.settle(permit, &report(json!({ "path": "src/b.txt" })));
    assert!(receipt.altered);
    assert!(
        receipt.warnings[0].contains("c-1"),
        "{:?}",
        receipt.warnings
    );
    let events = world.events();
    let last = events
        .iter()
        .rev()
        .find(|event| event.body.execution_id.is_some());
    assert_eq!(
        last.unwrap().body.data,
        Some(json!({ "argumentsChanged": true }))
    );
    assert_eq!(
        code(&engine.execute(&write("src/a.txt", "new"))),
        "STALE_FILE"
    );
    // The same in another order are the same.
    let mut call = named(write("src/c.txt", "new"), "c-2");
    let permit = admitted(&engine, &call);
    call.arguments = call.arguments.into_iter().rev().collect();
    let receipt = engine.settle(permit, &report(json!(call.arguments)));
    assert!(
        !receipt.altered && receipt.warnings.is_empty(),
        "{receipt:?}"
    );
}

/// The event of a call's end.
fn end_of(world: &World, id: &str) -> serde_json::Value {
    let events = world.events();
    let last = events
        .iter()
        .rev()
        .find(|event| event.body.execution_id.as_deref() == Some(id));
    last.unwrap().body.data.clone().unwrap_or_default()
}

/// §13.8: what a client made of a file is held against what its arguments say, also when it reports
/// success: another content is recorded, and no failure.
#[test]
fn an_end_says_whether_the_files_are_as_predicted() {
    let world = World::new();
    let engine = in_action(&world, vec![]);
    let cases = [
        ("c-1", Some("new"), json!(true)),
        ("c-2", Some("FORMATTED"), json!(false)),
        // It says that it wrote, and there is nothing.
        ("c-3", None, json!(false)),
    ];
    for (id, written, said) in cases {
        let path = format!("src/{id}.txt");
        let permit = admitted(&engine, &named(write(&path, "new"), id));
        if let Some(text) = written {
            world.write(&path, text);
        }
        let receipt = engine.settle(permit, &DONE);
        assert_eq!(receipt.outcome, Outcome::Completed, "{id}");
        assert_eq!(end_of(&world, id)["asPredicted"], said, "{id}");
    }
    // What changes no file says nothing about it.
    world.write("src/read.txt", "x");
    let permit = admitted(&engine, &named(read("src/read.txt"), "c-4"));
    drop(engine.settle(permit, &DONE));
    assert_eq!(end_of(&world, "c-4"), json!(null));
}

/// What nobody can predict is unknown, and not taken for predicted.
#[test]
fn an_end_that_nobody_can_predict_is_unknown() {
    let world = World::new();
    world.write("src/a.txt", "old");
    let engine = in_action(&world, vec![]);
    drop(engine.execute(&read("src/a.txt")));
    let call = named(write("src/a.txt", "new"), "c-1");
    let permit = admitted(&engine, &call);
    drop(permit);
    // As it is for tools whose arguments do not tell what comes of them.
    let folder = world.site().state().join("gate/permits");
    let kept = std::fs::read_dir(&folder).unwrap().next().unwrap().unwrap();
    let text = std::fs::read_to_string(kept.path()).unwrap();
    let mut ticket: serde_json::Value = serde_json::from_str(&text).unwrap();
    ticket["predicted"] = json!({});
    std::fs::write(kept.path(), ticket.to_string()).unwrap();
    world.write("src/a.txt", "new");
    let permit = engine.resume(call.id.as_ref().unwrap()).unwrap();
    let receipt = engine.settle(permit, &DONE);
    assert_eq!(receipt.outcome, Outcome::Completed);
    assert_eq!(end_of(&world, "c-1")["asPredicted"], "unknown");
}

/// What a client says was changed is somebody's call, or it is recorded and told.
#[test]
fn changes_that_no_call_accounts_for_are_recorded() {
    let world = World::new();
    let engine = in_action(&world, vec![]);
    let call = write("src/ours.txt", "new");
    assert_eq!(engine.execute(&call).outcome, Outcome::Completed);
    drop(admitted(&engine, &named(write("src/open.txt", "x"), "c-1")));
    world.write("src/other.txt", "x");
    world.write("docs/far.txt", "x");
    let root = world.root.to_str().unwrap().to_owned();
    let given = |paths: &[&str]| -> Vec<String> {
        let whole = |path: &&str| {
            if path.starts_with('/') {
                return (*path).to_owned();
            }
            format!("{root}/{path}")
        };
        paths.iter().map(whole).collect()
    };
    let before = world.events().len();
    let ours = given(&["src/ours.txt", "src/open.txt"]);
    assert_eq!(engine.strayed(&call, None, &ours).unwrap(), [""; 0]);
    assert_eq!(world.events().len(), before, "nothing to record");
    let all = given(&["src/ours.txt", "src/other.txt", "docs/far.txt", "/etc/x"]);
    let told = engine.strayed(&call, None, &all).unwrap().join("\n");
    let body = world.events().pop().unwrap().body;
    let data = body.data.unwrap();
    assert_eq!(
        data["unexpected"],
        json!([
            { "path": "src/other.txt", "why": "in scope, by nobody's call" },
            { "path": "docs/far.txt", "why": "outside the scope of INT-001" },
            { "path": "/etc/x", "why": "outside of the workspace" },
        ])
    );
    assert!(told.contains("src/other.txt") && told.contains("docs/far.txt"));
    // What was a call's and holds something else since is nobody's.
    world.write("src/ours.txt", "changed");
    let told = engine.strayed(&call, None, &given(&["src/ours.txt"]));
    assert_eq!(told.unwrap().len(), 1);
}

/// §13.7: the permit of one call does not cover another one under the same id.
#[test]
fn an_open_id_is_no_pass_for_another_call() {
    let world = World::new();
    let engine = in_action(&world, vec![]);
    drop(admitted(&engine, &named(write("src/a.txt", "new"), "c-1")));
    for other in [
        write("docs/b.txt", "new"),
        write("src/a.txt", "other"),
        read("src/a.txt"),
        in_session(write("src/a.txt", "new"), "s-2"),
    ] {
        assert_eq!(denied(&engine, &named(other, "c-1")), "CONFLICT");
    }
}

fn failed() -> Report {
    Report {
        ended: Reported::Failed {
            message: "it says that it failed".to_owned(),
        },
        output: None,
        arguments: None,
    }
}

fn blamed(engine: &Engine, path: &str) -> Vec<Author> {
    let path = WorkspacePath::new(path).unwrap();
    let found = engine.blame(&path).unwrap();
    found.blame.lines.iter().map(|line| line.author).collect()
}

fn undone(engine: &Engine, target: &UndoTarget) -> Undone {
    let planned = engine.plan_undo(target).unwrap();
    engine.undo(&planned, "person").unwrap()
}

/// H11, §13.8: what a call left although it failed is a record and can be taken back; nobody says
/// for certain who wrote it, unless it is what the arguments said.
#[test]
fn a_failed_call_that_left_changes_is_traced() {
    let world = World::new();
    let engine = in_action(&world, vec![]);
    let cases = [
        ("c-1", "src/a.txt", Some("half of wha"), failed()),
        ("c-2", "src/b.txt", Some("what was asked for\n"), failed()),
        (
            "c-3",
            "src/c.txt",
            Some("something else"),
            Report::default(),
        ),
        ("c-4", "src/d.txt", None, failed()),
    ];
    for (id, path, left, report) in &cases {
        let permit = admitted(&engine, &named(write(path, "what was asked for\n"), id));
        if let Some(left) = left {
            world.write(path, left);
        }
        let receipt = engine.settle(permit, report);
        assert_eq!(receipt.outcome, Outcome::RolledBack, "{id}");
        assert!(receipt.warnings.is_empty(), "{:?}", receipt.warnings);
        assert_eq!(receipt.left.len(), usize::from(left.is_some()), "{id}");
    }
    let records = engine.trace_query(&TraceQuery::default()).unwrap();
    let told = |call: &str| {
        let found = records
            .iter()
            .find(|one| one.call_id.as_deref() == Some(call));
        found.map(|one| {
            let kind = one.contributor.as_ref().map(|one| one.kind);
            let range = &one.modified_ranges[0];
            (one.agent_action.clone().unwrap(), kind, range.after_hash)
        })
    };
    let unknown = |text: &str| {
        let hash = Some(tagout_vocab::Digest::of(text.as_bytes()));
        Some(("FAILED".to_owned(), Some(Entity::Unknown), hash))
    };
    assert_eq!(told("c-1"), unknown("half of wha"));
    assert_eq!(told("c-3"), unknown("something else"));
    assert_eq!(told("c-2").unwrap().1, Some(Entity::Ai));
    assert_eq!(told("c-4"), None);
    assert_eq!(blamed(&engine, "src/a.txt"), [Author::Unknown]);
    assert_eq!(blamed(&engine, "src/c.txt"), [Author::Unknown]);
    assert!(matches!(
        blamed(&engine, "src/b.txt")[..],
        [Author::Agent(_)]
    ));
    let one = undone(&engine, &UndoTarget::Call(CallId::new("c-1").unwrap()));
    assert_eq!(
        (one.paths, world.read("src/a.txt")),
        (vec!["src/a.txt".to_owned()], None)
    );
    let session = select("x").session.unwrap();
    let all = undone(&engine, &UndoTarget::Session(session));
    assert_eq!(all.paths, ["src/b.txt", "src/c.txt"]);
    assert_eq!(
        (world.read("src/b.txt"), world.read("src/c.txt")),
        (None, None)
    );
}

/// B4: what a client wrote is taken back from what was kept of it, and done again.
#[test]
fn a_clients_edit_is_taken_back_and_done_again() {
    let world = World::new();
    world.write("src/a.txt", "one\ntwo\nthree\n");
    let engine = in_action(&world, vec![]);
    drop(engine.execute(&read("src/a.txt")));
    let new = "one\nTWO\nthree\n";
    let permit = admitted(&engine, &named(write("src/a.txt", new), "c-1"));
    world.write("src/a.txt", new);
    assert_eq!(engine.settle(permit, &DONE).outcome, Outcome::Completed);
    world.write("src/a.txt", "one\nTWO\nthree\nby hand\n");
    let call = UndoTarget::Call(CallId::new("c-1").unwrap());
    let back = undone(&engine, &call);
    assert_eq!(
        world.read("src/a.txt").as_deref(),
        Some("one\ntwo\nthree\nby hand\n")
    );
    // Another process knows as much.
    drop(engine);
    let engine = world.engine();
    let again = undone(&engine, &UndoTarget::Call(back.execution));
    assert_eq!(
        world.read("src/a.txt").as_deref(),
        Some("one\nTWO\nthree\nby hand\n")
    );
    drop(undone(&engine, &UndoTarget::Call(again.execution)));
    assert_eq!(
        world.read("src/a.txt").as_deref(),
        Some("one\ntwo\nthree\nby hand\n")
    );
    // What is taken back twice is taken back once.
    assert!(engine.plan_undo(&call).unwrap().plan().edits.is_empty());
}

/// B4: what is no longer kept is listed, and nothing is written.
#[test]
fn a_clients_edit_past_the_horizon_is_listed() {
    let world = World::new();
    let engine = in_action(&world, vec![]);
    for (id, path) in [("c-1", "src/a.txt"), ("c-2", "src/b.txt")] {
        world.write(path, &format!("the old text of {id}\n"));
        drop(engine.execute(&read(path)));
        let new = format!("the new text of {id}\n");
        let permit = admitted(&engine, &named(write(path, &new), id));
        world.write(path, &new);
        assert_eq!(engine.settle(permit, &DONE).outcome, Outcome::Completed);
        world.time.pass(tagout_vocab::limits::UNDO_HORIZON_MS + 1);
        drop(engine.reset(&select("x").session.unwrap()));
        drop(engine.execute(&select("INT-001")));
    }
    let call = UndoTarget::Call(CallId::new("c-1").unwrap());
    let planned = engine.plan_undo(&call).unwrap();
    assert!(planned.plan().edits.is_empty(), "{:?}", planned.plan());
    assert_eq!(planned.plan().impossible[0].why, Loss::PastHorizon);
    assert_eq!(
        world.read("src/a.txt").as_deref(),
        Some("the new text of c-1\n")
    );
}

/// B4, H11: a client may use an id twice in a conversation; each call is a record, and each can be
/// taken back.
#[test]
fn an_id_that_is_used_twice_loses_no_change() {
    let world = World::new();
    let engine = in_action(&world, vec![]);
    let again = |path: &str| {
        let permit = admitted(&engine, &named(write(path, "new\n"), "c-1"));
        world.write(path, "new\n");
        assert_eq!(engine.settle(permit, &DONE).outcome, Outcome::Completed);
    };
    again("src/a.txt");
    again("src/b.txt");
    // The trace has what is needed to take them back.
    let kept = std::fs::read_dir(world.site().state().join("snapshots")).unwrap();
    assert_eq!(kept.count(), 0);
    let records = engine.trace_query(&TraceQuery::default()).unwrap();
    let mut files: Vec<&str> = records
        .iter()
        .flat_map(|record| &record.modified_ranges)
        .map(|range| range.file.as_str())
        .collect();
    files.sort_unstable();
    assert_eq!(files, ["src/a.txt", "src/b.txt"]);
    let listed = world.read(".orchestration/agent_trace.jsonl").unwrap();
    assert_eq!(listed.lines().count(), 2, "{listed}");
    let call = UndoTarget::Call(CallId::new("c-1").unwrap());
    let back = undone(&engine, &call);
    assert_eq!(back.paths, ["src/a.txt", "src/b.txt"]);
    assert_eq!(
        (world.read("src/a.txt"), world.read("src/b.txt")),
        (None, None)
    );
    // What comes under the same id after the undo was not taken back by it.
    again("src/c.txt");
    assert_eq!(undone(&engine, &call).paths, ["src/c.txt"]);
}

/// L4: a look that fails is no look that found nothing: it is told, in the ledger too, and what is
/// kept from before stays.
#[test]
fn a_look_that_fails_is_told() {
    let world = World::new();
    world.write("src/a.txt", "old");
    let engine = in_action(&world, vec![]);
    drop(engine.execute(&read("src/a.txt")));
    let permit = admitted(&engine, &named(write("src/a.txt", "new"), "c-1"));
    world.write("src/a.txt", "new");
    let folder = world.site().state().join("snapshots");
    let names: Vec<_> = std::fs::read_dir(&folder).unwrap().flatten().collect();
    assert_eq!(names.len(), 1);
    std::fs::write(names[0].path(), "damaged").unwrap();
    let receipt = engine.settle(permit, &DONE);
    let warned = receipt.warnings.join("\n");
    assert!(
        warned.contains("what call c-1 changed is not known"),
        "{receipt:?}"
    );
    let events = world.events();
    let last = events
        .iter()
        .rev()
        .find(|event| event.body.execution_id.as_deref() == Some("c-1"))
        .unwrap();
    let data = last.body.data.clone().unwrap_or_default();
    assert_eq!(data["changesUnknown"], true, "{data}");
    assert!(names[0].path().exists());
    // The path is free again.
    drop(admitted(&engine, &named(write("src/b.txt", "x"), "c-2")));
    drop(engine.execute(&read("src/a.txt")));
    let more = engine.execute(&write("src/a.txt", "newer"));
    assert_eq!(more.outcome, Outcome::Completed, "{more:?}");
}
