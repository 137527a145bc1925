//! What a process leaves behind when it dies, and what the next one makes of it.

use tagout_gate::Outcome;
use tagout_workspace::{Options, RelPath, Workspace};

use crate::support::*;

/// H13 of the journal: a process that dies between its commit and its report is completed by the
/// next one, and the ledger agrees with the workspace.
#[test]
fn killed_between_commit_and_settle() {
    let world = World::new();
    let engine = in_action(&world, vec![]);
    let receipt = engine.execute(&write("src/a.txt", "one"));
    assert_eq!(receipt.outcome, Outcome::Completed);
    drop(engine);
    // The death: the ledger loses the closing events, the journal its note that they were told.
    forget_closing(&world, 2);
    let id = receipt.execution.clone().unwrap();
    assert_eq!(
        world.states(&receipt),
        ["DECLARED", "VALIDATED", "AUTHORIZED"]
    );
    let (engine, recovered) = world.open(vec![reader(), writer(), selector()]);
    assert_eq!(recovered.completed, [id]);
    assert_eq!(
        world.states(&receipt),
        [
            "DECLARED",
            "VALIDATED",
            "AUTHORIZED",
            "EXECUTING",
            "COMPLETED"
        ]
    );
    assert_eq!(world.read("src/a.txt").as_deref(), Some("one"));
    drop(engine);
    let (_engine, again) = world.open(vec![]);
    assert_eq!(again, tagout_gate::Recovered::default());
}

/// Cuts the last events off the ledger and the confirmations off the journal.
fn forget_closing(world: &World, events: usize) {
    let file = ledger_file(world);
    let text = std::fs::read_to_string(&file).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let kept = &lines[..lines.len() - events];
    std::fs::write(&file, format!("{}\n", kept.join("\n"))).unwrap();
    let journal = world.site().state().join("journal");
    for entry in std::fs::read_dir(journal).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        let Ok(text) = String::from_utf8(bytes) else {
            continue;
        };
        if !text.lines().any(|line| line.starts_with("C ")) {
            continue;
        }
        let kept: Vec<&str> = text
            .lines()
            .filter(|line| !line.starts_with("C "))
            .collect();
        let end = if kept.is_empty() { "" } else { "\n" };
        std::fs::write(&path, format!("{}{end}", kept.join("\n"))).unwrap();
    }
}

/// A process that dies while its tool runs: nothing was committed, and the ledger is told.
#[test]
fn killed_while_running() {
    let world = World::new();
    let engine = in_action(&world, vec![]);
    let receipt = engine.execute(&write("src/a.txt", "one"));
    drop(engine);
    let id = receipt.execution.clone().unwrap();
    // A log whose process is gone, with an execution that the ledger has only authorised.
    forget_closing(&world, 2);
    std::fs::remove_file(world.root.join("src/a.txt")).unwrap();
    let journal = world.site().state().join("journal");
    for entry in std::fs::read_dir(&journal).unwrap() {
        std::fs::remove_file(entry.unwrap().path()).unwrap();
    }
    let events = world.events();
    let authorised = events.iter().rev().find(|event| {
        event.body.execution_id.as_deref() == Some(id.as_str())
            && event.body.state == Some(tagout_ledger::LifecycleState::Authorized)
    });
    let body = &authorised.unwrap().body;
    let ticket = serde_json::json!({
        "execution": id, "seq": authorised.unwrap().seq, "tool": body.tool_id,
        "version": body.tool_version, "session": body.session, "intent": body.intent,
        "agent": {}, "class": "DESTRUCTIVE", "input_hash": body.input_hash,
        "capabilities": [], "code": "ALLOWED", "rule": "", "approver": null,
        "admitted_at": body.timestamp, "mutated": ["src/a.txt"], "reads": [],
        "predicted": {}, "selects": null, "role": null,
    });
    let running = world.site().state().join("gate/running");
    std::fs::write(
        running.join("run-dead"),
        format!("{}\n", serde_json::json!({"began": ticket})),
    )
    .unwrap();
    let (_engine, recovered) = world.open(vec![]);
    assert_eq!(recovered.rolled_back, [id]);
    assert_eq!(
        world.states(&receipt),
        [
            "DECLARED",
            "VALIDATED",
            "AUTHORIZED",
            "EXECUTING",
            "ABORTED",
            "ROLLED_BACK"
        ]
    );
    assert!(!running.join("run-dead").exists());
}

/// A living execution is never recovered by another process.
#[test]
fn a_living_execution_is_left_alone() {
    let world = World::new();
    let (open, wait) = latch();
    let (told, inside) = std::sync::mpsc::channel();
    let slow = tool("write_to_file", move |_, context| {
        let path = RelPath::new(b"src/a.txt").unwrap();
        context.transaction().write(&path, b"one")?;
        told.send(()).unwrap();
        wait();
        said("written")
    });
    let engine = in_action(&world, vec![slow]);
    std::thread::scope(|scope| {
        let running = scope.spawn(|| engine.execute(&write("src/a.txt", "one")));
        inside.recv().unwrap();
        let (second, recovered) = world.open(vec![writer()]);
        assert_eq!(recovered, tagout_gate::Recovered::default());
        assert_eq!(
            code(&second.execute(&write("src/a.txt", "two"))),
            "PATH_BUSY"
        );
        open.send(()).unwrap();
        assert_eq!(running.join().unwrap().outcome, Outcome::Completed);
    });
    assert_eq!(world.read("src/a.txt").as_deref(), Some("one"));
    let site = world.site();
    let workspace = Workspace::open(site.root(), site.state(), Options::default()).unwrap();
    assert!(workspace.recover().unwrap().settled.is_empty());
}
