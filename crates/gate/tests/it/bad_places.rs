//! Bad places as the whole line sees them: one clear error each, workspace and ledger whole.

use serde_json::json;
use tagout_gate::{Engine, FailureKind, GateError, Outcome, Registry, Site};
use tagout_ledger::{VerifyOptions, verify};
use tagout_vocab::{Call, Origin};

use crate::support::*;

fn whole(world: &World) {
    let options = VerifyOptions {
        keys: vec![seal_key(world)],
        ..VerifyOptions::default()
    };
    let report = verify(&world.site().ledger(), &options).unwrap();
    assert!(report.ok, "{report:?}");
}

/// L9 Bad place: a file of 1 GB is refused by its size, rolled back and recorded.
#[test]
fn a_file_of_a_gigabyte() {
    let world = World::new();
    world.write("src/large", "");
    let file = std::fs::OpenOptions::new()
        .write(true)
        .open(world.root.join("src/large"))
        .unwrap();
    file.set_len(1 << 30).unwrap();
    let mut writer = tool("write_to_file", |_, context| {
        let path = tagout_workspace::RelPath::new(b"src/large").unwrap();
        context.transaction().append(&path, b"x")?;
        said("added")
    });
    writer.declaration.idempotent = false;
    let engine = in_action(&world, vec![writer]);
    let receipt = engine.execute(&write("src/other", "x"));
    assert_eq!(receipt.outcome, Outcome::RolledBack, "{receipt:?}");
    assert_eq!(code(&receipt), "LIMIT_EXCEEDED");
    assert_eq!(receipt.failure, Some(FailureKind::Resource));
    assert_eq!(file.metadata().unwrap().len(), 1 << 30);
    whole(&world);
}

/// S3 Bad place: a path of 4,096 bytes is refused before anything runs.
#[test]
fn a_path_of_4096_bytes() {
    let world = World::new();
    let engine = in_action(&world, vec![]);
    let long = format!("src/{}", "d/".repeat(2_045));
    for path in [format!("{long}ab"), format!("src/{}", "n".repeat(256))] {
        let receipt = engine.execute(&write(&path, "x"));
        assert_eq!(code(&receipt), "SCHEMA_INVALID", "{receipt:?}");
        assert_eq!(receipt.outcome, Outcome::Failed);
        assert_eq!(receipt.failure, Some(FailureKind::Validation));
        assert!(receipt.execution.is_none(), "{receipt:?}");
        let reason = receipt.refusal.unwrap().reason;
        assert!(
            reason.contains("/path") && reason.contains("bytes"),
            "{reason}"
        );
    }
    // What is as long as it may be gets as far as the workspace.
    let longest = format!("src/{}", "n".repeat(255));
    assert_eq!(code(&engine.execute(&write(&longest, "x"))), "ALLOWED");
    std::fs::remove_file(world.root.join(longest)).unwrap();
    assert_eq!(
        std::fs::read_dir(world.root.join("src")).unwrap().count(),
        0
    );
    whole(&world);
}

/// H17, L10 Bad place: a clock that goes back by a day. Calls go on, the ledger says that it went
/// back, and nothing that was used up comes back.
#[test]
fn a_clock_that_goes_back() {
    let world = World::with_policy("version: 1\nprofile: strict\n");
    let engine = in_action(&world, vec![]);
    let asked = engine.execute(&write("src/a.txt", "one")).approval.unwrap();
    engine.approve(&asked, "ann").unwrap();
    let done = engine.execute(&write("src/a.txt", "one"));
    assert_eq!(done.outcome, Outcome::Completed, "{done:?}");
    world.time.pass(-24 * 60 * 60 * 1000);
    let again = engine.execute(&write("src/a.txt", "one"));
    assert_eq!(again.outcome, Outcome::Pending, "the yes was used");
    let other = in_session(select("INT-001"), "s-2");
    assert_eq!(code(&engine.execute(&other)), "LEASED");
    let back = |event: &tagout_ledger::Event| event.body.clock_back_ms;
    assert!(world.events().iter().any(|event| back(event).is_some()));
    whole(&world);
}

/// Bad place: a file that became a folder since the session read it.
#[test]
fn a_file_that_became_a_folder() {
    let world = World::new();
    world.write("src/a.txt", "one");
    let engine = in_action(&world, vec![]);
    drop(engine.execute(&read("src/a.txt")));
    std::fs::remove_file(world.root.join("src/a.txt")).unwrap();
    world.write("src/a.txt/inside", "theirs");
    let receipt = engine.execute(&write("src/a.txt", "two"));
    assert_ne!(receipt.outcome, Outcome::Completed, "{receipt:?}");
    assert_eq!(world.read("src/a.txt/inside").as_deref(), Some("theirs"));
    whole(&world);
}

/// Bad place: a state of a newer version, or one that is gone: no engine, so nothing runs.
#[test]
fn a_state_that_is_newer_or_gone() {
    let world = World::new();
    drop(world.engine());
    let opened = || {
        let site = Site::open(&world.places)?;
        let shelf = site.shelve(catalogue().clone(), None, &world.sources())?;
        let registry = Registry::new(catalogue().clone());
        Engine::open(site, shelf, registry, world.time.clockwork()).map(drop)
    };
    let format = world.site().ledger().join("format");
    let ours = std::fs::read_to_string(&format).unwrap();
    let newer = ours.replace("\"writer_min\":1", "\"writer_min\":2");
    assert_ne!(ours, newer);
    std::fs::write(&format, newer).unwrap();
    let refused = opened().unwrap_err();
    assert!(matches!(refused, GateError::Ledger { .. }), "{refused}");
    std::fs::write(&format, ours).unwrap();
    opened().unwrap();
    let state = world.site().state().to_owned();
    std::fs::rename(&state, state.with_extension("away")).unwrap();
    let refused = opened().unwrap_err();
    assert!(matches!(refused, GateError::StateLost { .. }), "{refused}");
    std::fs::rename(state.with_extension("away"), &state).unwrap();
    opened().unwrap();
}

const CUSTOM: &str = "version: 1
declare:
  - name: stamp
    about: stamps a file
    class: DESTRUCTIVE
    kind: edit
    level: workspace_write
    capabilities: [filesystem.read, filesystem.write]
    arguments:
      path: { type: string, required: true, access: write, about: the file }
rules:
  - {id: stamps, action: allow, match: {tool: [stamp]}, reason: they are harmless}
";

/// H2: a custom tool stands behind the same boundary as a native one: judged before, in a
/// transaction, judged after, recorded alike.
#[test]
fn a_custom_tool_has_the_same_boundary() {
    let world = World::with_policy(CUSTOM);
    let mut stamp = writer();
    stamp.declaration.id = "stamp".to_owned();
    stamp.declaration.input_schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object", "description": "A file.", "required": ["path"],
        "additionalProperties": false,
        "properties": {"path": {"type": "string", "description": "The file."}}
    });
    stamp.declaration.required_capabilities =
        vec!["filesystem.read".to_owned(), "filesystem.write".to_owned()];
    let engine = world.engine_with(vec![stamp]);
    let call = |path: &str| Call {
        origin: Origin::Custom,
        ..call("stamp", json!({ "path": path }))
    };
    assert_eq!(code(&engine.execute(&call("src/a.txt"))), "STATE_VIOLATION");
    drop(engine.execute(&select("INT-001")));
    assert_eq!(
        code(&engine.execute(&call("docs/a.txt"))),
        "SCOPE_VIOLATION"
    );
    let wrong = Call {
        origin: Origin::Custom,
        ..crate::support::call("stamp", json!({ "path": "src/a.txt", "more": 1 }))
    };
    assert_eq!(code(&engine.execute(&wrong)), "SCHEMA_INVALID");
    let receipt = engine.execute(&call("src/a.txt"));
    assert_eq!(receipt.outcome, Outcome::Completed, "{receipt:?}");
    assert_eq!(world.read("src/a.txt").as_deref(), Some(""));
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
}

/// L11: what a tool used is in its closing event: processor time, bytes read, staged and returned.
#[test]
fn use_is_measured() {
    let world = World::new();
    world.write("src/in.txt", &"x".repeat(10_000));
    let root = world.root.clone();
    let busy = tool("write_to_file", move |_, context| {
        let read = std::fs::read(root.join("src/in.txt")).unwrap();
        let mut sum = 0_u64;
        for round in 0..20_000_000_u64 {
            sum = std::hint::black_box(sum.wrapping_add(round));
        }
        let path = tagout_workspace::RelPath::new(b"src/out.txt").unwrap();
        context.transaction().write(&path, &read[..500])?;
        said(&sum.to_string())
    });
    let engine = in_action(&world, vec![busy]);
    let receipt = engine.execute(&write("src/out.txt", "x"));
    assert_eq!(receipt.outcome, Outcome::Completed, "{receipt:?}");
    let events = world.events();
    let usage = events.iter().rev().find_map(|event| event.body.usage);
    let usage = usage.unwrap();
    assert_eq!(usage.written_bytes, 500);
    assert!(usage.memory_bytes > 500 && usage.cpu_ms > 0, "{usage:?}");
    assert!(usage.read_bytes >= 10_000, "{usage:?}");
}
