//! The happy path, and the order of the handshake.

use serde_json::json;
use tagout_gate::{Deprecation, Outcome};
use tagout_vocab::State;
use tagout_workspace::RelPath;

use crate::support::*;

/// L1, H2, H3: refused before the handshake, selected, written, told in the ledger.
#[test]
fn blocked_then_handshake_then_written() {
    let world = World::new();
    let engine = world.engine();
    let blocked = engine.execute(&write("src/a.txt", "one"));
    assert_eq!(blocked.outcome, Outcome::Denied);
    assert_eq!(code(&blocked), "STATE_VIOLATION");
    assert_eq!(world.read("src/a.txt"), None);

    assert_eq!(
        engine.execute(&select("INT-001")).outcome,
        Outcome::Completed
    );
    let receipt = engine.execute(&write("src/a.txt", "one"));
    assert_eq!(receipt.outcome, Outcome::Completed, "{receipt:?}");
    assert_eq!(world.read("src/a.txt").as_deref(), Some("one"));
    let states = world.states(&receipt);
    assert_eq!(
        states,
        [
            "DECLARED",
            "VALIDATED",
            "AUTHORIZED",
            "EXECUTING",
            "COMPLETED"
        ]
    );
    let path = receipt
        .changes
        .iter()
        .find(|one| one.path == "src/a.txt")
        .unwrap();
    assert_eq!(path.after, Some(tagout_vocab::Digest::of(b"one")));
    assert!(receipt.undoable_until.is_some());
}

/// G3: completing gives the intent up, and the next write is refused again.
#[test]
fn completion_ends_the_handshake() {
    let world = World::new();
    let engine = in_action(&world, vec![]);
    let done = engine.execute(&call("attempt_completion", json!({ "result": "done" })));
    assert_eq!(done.outcome, Outcome::Completed);
    let session = engine.session(&select("x").session.unwrap()).unwrap();
    assert_eq!(session.session.state, State::Request);
    assert_eq!(
        code(&engine.execute(&write("src/a.txt", "one"))),
        "STATE_VIOLATION"
    );
}

/// H7: what the intent does not own is refused, also behind a link.
#[cfg(unix)]
#[test]
fn out_of_scope_is_refused_also_behind_a_link() {
    let world = World::new();
    world.write("docs/b.txt", "b");
    let engine = in_action(&world, vec![]);
    assert_eq!(
        code(&engine.execute(&write("docs/c.txt", "x"))),
        "SCOPE_VIOLATION"
    );
    std::os::unix::fs::symlink("../docs", world.root.join("src/link")).unwrap();
    let linked = engine.execute(&write("src/link/c.txt", "x"));
    assert_eq!(code(&linked), "SCOPE_VIOLATION");
    assert_eq!(world.read("docs/c.txt"), None);
    // To who reads the text it lies beneath `src`, to the system beside it.
    let climbed = engine.execute(&write("src/link/../docs/c.txt", "x"));
    assert_eq!(code(&climbed), "SCOPE_VIOLATION");
    let whole = world.root.join("src/link/../docs/c.txt");
    let climbed = engine.execute(&write(whole.to_str().unwrap(), "x"));
    assert_eq!(code(&climbed), "SCOPE_VIOLATION");
    world.write("src/sub/e.txt", "e");
    let plain = engine.execute(&write("src/sub/../d.txt", "x"));
    assert_eq!(code(&plain), "ALLOWED");
    assert_eq!(world.read("src/d.txt").as_deref(), Some("x"));
}

/// H13: never seen, then read, then written, then changed by someone else.
#[test]
fn stale_files_are_refused() {
    let world = World::new();
    world.write("src/a.txt", "old");
    let engine = in_action(&world, vec![]);
    assert_eq!(
        code(&engine.execute(&write("src/a.txt", "mine"))),
        "STALE_FILE"
    );
    assert_eq!(
        engine.execute(&read("src/a.txt")).outcome,
        Outcome::Completed
    );
    assert_eq!(
        code(&engine.execute(&write("src/a.txt", "mine"))),
        "ALLOWED"
    );
    // What it wrote, it has seen.
    assert_eq!(
        code(&engine.execute(&write("src/a.txt", "mine two"))),
        "ALLOWED"
    );
    world.write("src/a.txt", "theirs");
    let stale = engine.execute(&write("src/a.txt", "mine three"));
    assert_eq!(code(&stale), "STALE_FILE");
    let reason = &stale.refusal.unwrap().reason;
    assert!(
        reason.contains("-mine two") && reason.contains("+theirs"),
        "{reason}"
    );
    assert_eq!(world.read("src/a.txt").as_deref(), Some("theirs"));
}

/// H13, §13.9: an edit of a file that the session never saw is let through if its old text is there
/// exactly once.
#[test]
fn an_unseen_file_can_be_edited_where_its_old_text_is_unique() {
    let world = World::new();
    world.write("src/a.txt", "one two two");
    let edit = tool("edit", |_, _| said("edited"));
    let engine = in_action(&world, vec![edit]);
    let edit = |old: &str| {
        call(
            "edit",
            json!({
                "file_path": "src/a.txt", "old_string": old, "new_string": "x",
                "intent_id": "INT-001", "mutation_class": "AST_REFACTOR",
            }),
        )
    };
    assert_eq!(code(&engine.execute(&edit("one"))), "ALLOWED");
    assert_eq!(code(&engine.execute(&edit("two"))), "STALE_FILE");
    assert_eq!(code(&engine.execute(&edit("three"))), "STALE_FILE");
}

/// L13: a deprecated version warns, names its successor and still runs.
#[test]
fn a_deprecated_tool_warns_and_runs() {
    let world = World::new();
    let mut old = writer();
    old.deprecation = Some(Deprecation {
        since: "0.9.0".to_owned(),
        successor: "edit".to_owned(),
        guidance: "send only what changes".to_owned(),
    });
    let engine = in_action(&world, vec![old]);
    let receipt = engine.execute(&write("src/a.txt", "one"));
    assert_eq!(receipt.outcome, Outcome::Completed);
    assert!(
        receipt.warnings.iter().any(|text| text.contains("`edit`")),
        "{receipt:?}"
    );
}

/// A7: reading calls of several threads go through one engine at once.
#[test]
fn readers_run_concurrently() {
    let world = World::new();
    world.write("src/a.txt", "one");
    let barrier = std::sync::Arc::new(std::sync::Barrier::new(4));
    let inside = barrier.clone();
    let slow = tool("list_files", move |_, _| {
        // Nobody gets on before all four are inside.
        inside.wait();
        said("listed")
    });
    let engine = world.engine_with(vec![slow]);
    std::thread::scope(|scope| {
        for number in 0..4 {
            let engine = &engine;
            scope.spawn(move || {
                let call = call("list_files", json!({ "path": "src" }));
                let receipt = engine.execute(&in_session(call, &format!("s-{number}")));
                assert_eq!(receipt.outcome, Outcome::Completed, "{receipt:?}");
            });
        }
    });
}

/// A deprecated alias and foreign drafts aside: draft-07 schemas of others compile too.
#[test]
fn draft_07_is_accepted_for_foreign_tools() {
    let schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "definitions": {"n": {"type": "integer"}},
        "properties": {"n": {"$ref": "#/definitions/n"}},
        "required": ["n"]
    });
    let validator = tagout_gate::compile(&schema).unwrap();
    assert!(tagout_gate::violations(&validator, &json!({"n": 1})).is_empty());
    assert_eq!(
        tagout_gate::violations(&validator, &json!({"n": "x"})).len(),
        1
    );
}

/// H13: a person may save after a call was judged and before its tool looks; that is not lost.
#[test]
fn a_save_after_the_verdict_is_not_overwritten() {
    let world = World::new();
    world.write("src/old.txt", "old");
    let root = world.root.clone();
    let late = tool("write_to_file", move |input, context| {
        let name = input.get("path").and_then(|path| path.as_str()).unwrap();
        std::fs::write(root.join(name), "theirs").unwrap();
        let path = RelPath::from(&context.resolve(name)?);
        context.transaction().write(&path, b"mine")?;
        said("written")
    });
    let engine = in_action(&world, vec![late]);
    assert_eq!(code(&engine.execute(&read("src/old.txt"))), "ALLOWED");
    for path in ["src/old.txt", "src/new.txt"] {
        let receipt = engine.execute(&write(path, "mine"));
        assert_eq!(code(&receipt), "STALE_FILE", "{path}: {receipt:?}");
        assert_eq!(receipt.outcome, Outcome::RolledBack, "{path}");
        assert_eq!(world.read(path).as_deref(), Some("theirs"), "{path}");
    }
}
