//! L14: the threats of RFC-0001 §2 that end at the gate, attacked.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};
use tagout_gate::{Admission, Outcome};
use tagout_ledger::{VerifyOptions, verify};
use tagout_workspace::RelPath;

use crate::support::*;

fn verified(world: &World) -> tagout_ledger::Report {
    let options = VerifyOptions {
        keys: vec![seal_key(world)],
        ..VerifyOptions::default()
    };
    verify(&world.site().ledger(), &options).unwrap()
}

/// L14: T-001, malformed input: no tool ever sees it, and each refusal says where it is wrong.
#[test]
fn threat_t001_malformed_input() {
    let world = World::new();
    let count = Arc::new(AtomicU32::new(0));
    let inside = count.clone();
    let counting = tool("write_to_file", move |_, _| {
        inside.fetch_add(1, Ordering::SeqCst);
        said("ran")
    });
    let engine = in_action(&world, vec![counting]);
    let deep = (0..200).fold(json!("x"), |inner, _| json!([inner]));
    let malformed: Vec<Value> = vec![
        json!({}),
        json!({ "path": "src/a.txt" }),
        json!({ "path": 7, "content": "x" }),
        json!({ "path": "src/a.txt", "content": { "nested": [1, 2] } }),
        json!({ "path": "src/\u{0}a.txt", "content": "x" }),
        json!({ "path": "src/a\n.txt", "content": "x" }),
        json!({ "path": "src/a.txt", "content": "x", "surprise": true }),
        json!({ "path": "src/a.txt", "file_path": "src/b.txt", "content": "x" }),
        json!({ "path": "a".repeat(5000), "content": "x" }),
        json!({ "path": "src/a.txt", "content": deep }),
        json!({ "path": null, "content": null }),
    ];
    for mut arguments in malformed {
        arguments["intent_id"] = json!("INT-001");
        arguments["mutation_class"] = json!("INTENT_EVOLUTION");
        let shown = arguments.to_string().chars().take(80).collect::<String>();
        let receipt = engine.execute(&call("write_to_file", arguments));
        assert_eq!(receipt.outcome, Outcome::Failed, "{shown}: {receipt:?}");
        assert_eq!(code(&receipt), "SCHEMA_INVALID", "{shown}");
    }
    assert_eq!(count.load(Ordering::SeqCst), 0);
    // Each of them is in the ledger as FAILED, and none as VALIDATED.
    let events = world.events();
    let of = |state: tagout_ledger::LifecycleState| {
        let same = |event: &&tagout_ledger::Event| {
            event.body.state == Some(state)
                && event.body.tool_id.as_deref() == Some("write_to_file")
        };
        events.iter().filter(same).count()
    };
    assert_eq!(of(tagout_ledger::LifecycleState::Failed), 11);
    assert_eq!(of(tagout_ledger::LifecycleState::Validated), 0);
    // Traversal is no malformed input but no way out either.
    for path in [
        "../out.txt",
        "src/../../out.txt",
        "/etc/out",
        "~/out",
        "src/../docs/out.txt",
    ] {
        let receipt = engine.execute(&write(path, "x"));
        assert_eq!(receipt.outcome, Outcome::Denied, "{path}");
    }
    assert_eq!(count.load(Ordering::SeqCst), 0);
}

/// L14: T-003, partial execution: a tool that stops after any number of its writes leaves nothing.
#[test]
fn threat_t003_partial_execution() {
    for writes in 0..6_usize {
        let world = World::new();
        world.write("src/0.txt", "before");
        let stops = tool("write_to_file", move |_, context| {
            for number in 0..writes {
                let path = RelPath::new(format!("src/{number}.txt").as_bytes()).unwrap();
                context.transaction().write(&path, b"after")?;
            }
            assert!(writes % 2 == 1, "the tool breaks down");
            Err(tagout_gate::ToolError::failed("gave up"))
        });
        let engine = in_action(&world, vec![stops]);
        let receipt = engine.execute(&write("src/new.txt", "x"));
        assert_eq!(receipt.outcome, Outcome::RolledBack);
        assert_eq!(world.read("src/0.txt").as_deref(), Some("before"));
        let names = std::fs::read_dir(world.root.join("src")).unwrap().count();
        assert_eq!(names, 1, "after {writes} writes");
    }
}

/// L14: T-003: a file that someone else changes while the tool runs is not overwritten.
#[test]
fn threat_t003_a_foreign_edit_meanwhile_is_kept() {
    let world = World::new();
    world.write("src/a.txt", "before");
    let root = world.root.clone();
    let meddled = tool("write_to_file", move |_, context| {
        let path = RelPath::new(b"src/a.txt").unwrap();
        context.transaction().write(&path, b"mine")?;
        std::fs::write(root.join("src/a.txt"), "theirs, longer").unwrap();
        said("written")
    });
    let engine = in_action(&world, vec![meddled]);
    drop(engine.execute(&read("src/a.txt")));
    let receipt = engine.execute(&write("src/a.txt", "mine"));
    assert_eq!(receipt.outcome, Outcome::RolledBack, "{receipt:?}");
    assert_eq!(code(&receipt), "CONFLICT");
    assert_eq!(world.read("src/a.txt").as_deref(), Some("theirs, longer"));
}

/// L14: T-005, non-determinism: the ledger shows a tool that is declared deterministic and is not,
/// because the same input gives another output and another change.
#[test]
fn threat_t005_non_determinism() {
    let world = World::new();
    let count = Arc::new(AtomicU32::new(0));
    let inside = count.clone();
    let liar = tool("list_files", move |_, _| {
        said(&format!("answer {}", inside.fetch_add(1, Ordering::SeqCst)))
    });
    assert!(liar.declaration.deterministic);
    let engine = world.engine_with(vec![liar]);
    let list = call("list_files", json!({ "path": "src" }));
    let outputs: Vec<Value> = (0..2)
        .map(|_| engine.execute(&list).output.unwrap())
        .collect();
    assert_ne!(outputs[0], outputs[1]);
    // From the ledger alone: the texts of the two executions open their commitments.
    let reader = tagout_ledger::Reader::open(&world.site().ledger()).unwrap();
    let mut inputs = vec![];
    let mut results = vec![];
    for event in world.events() {
        if event.body.tool_id.as_deref() != Some("list_files") {
            continue;
        }
        if let Some(texts) = reader.texts(event.seq).unwrap() {
            inputs.extend(texts.input);
            results.extend(texts.output);
        }
    }
    assert_eq!(inputs[0], inputs[1]);
    assert_ne!(results[0], results[1]);
}

/// L14: T-006, tampering with the audit trail: edited, removed and cut events are found, and the
/// gate builds on none of it.
#[test]
fn threat_t006_audit_tampering() {
    let world = World::new();
    let engine = in_action(&world, vec![]);
    drop(engine.execute(&write("src/a.txt", "one")));
    engine
        .ledger()
        .seal(tagout_vocab::Timestamp::from_millis(1_780_000_000_001))
        .unwrap();
    drop(engine);
    assert!(verified(&world).ok, "{:?}", verified(&world));
    let file = ledger_file(&world);
    let whole = std::fs::read_to_string(&file).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    let edited = whole.replacen("INT-001", "INT-002", 1);
    let mut removed = lines.clone();
    removed.remove(3);
    let cut = &lines[..lines.len() - 4];
    for tampered in [edited, removed.join("\n") + "\n", cut.join("\n") + "\n"] {
        std::fs::write(&file, tampered).unwrap();
        let report = verified(&world);
        assert!(!report.ok && !report.problems.is_empty(), "{report:?}");
    }
    // Cut below its seal, it is built on no further: everything is denied.
    let engine = world.engine();
    let receipt = engine.execute(&read("src/a.txt"));
    assert_eq!(code(&receipt), "LEDGER_UNAVAILABLE");
    std::fs::write(&file, whole).unwrap();
    assert!(verified(&world).ok);
}

/// L14: T-002, what a person's git would obey: edits, too, make no folder that it takes for a
/// repository, whichever file comes last, and change nothing that it obeys in one.
#[test]
fn threat_t002_edits_make_no_repository() {
    let parts = ["HEAD", "objects/keep", "refs/keep", "config"];
    for last in 0..parts.len() {
        let world = World::new();
        let engine = in_action(&world, vec![]);
        let path = |part: &str| format!("src/planted/{part}");
        for (index, part) in parts.iter().enumerate().filter(|(index, _)| *index != last) {
            let receipt = engine.execute(&write(&path(part), "x"));
            assert_eq!(receipt.outcome, Outcome::Completed, "{index}: {receipt:?}");
        }
        let end = path(parts[last]);
        let receipt = engine.execute(&write(&end, "x"));
        assert_eq!(code(&receipt), "AUTHORITY_FILE", "{end}");
        assert_eq!(world.read(&end), None);
        let admission = engine.admit(&write(&end, "y"));
        let Admission::Deny(refusal) = admission else {
            panic!("{end}: {admission:?}");
        };
        assert_eq!(refusal.code.as_str(), "AUTHORITY_FILE");
        assert_eq!(refusal.paths, std::slice::from_ref(&end));
        // Beside it, the names mean nothing.
        let receipt = engine.execute(&write("src/other/config", "x"));
        assert_eq!(receipt.outcome, Outcome::Completed, "{receipt:?}");
    }
}
