//! Taking back while others work: a plan holds only as long as everything is as it was looked at.

use std::os::unix::fs::{PermissionsExt as _, symlink};

use tagout_gate::{Engine, GateError, Outcome, UndoTarget};
use tagout_vocab::{Code, SessionId};
use tagout_workspace::RelPath;

use crate::support::*;

fn session() -> UndoTarget {
    UndoTarget::Session(SessionId::new("s-1").unwrap())
}

/// A call that leaves a link, a file and a folder with a file.
fn worked(world: &World) -> Engine {
    let several = tool("write_to_file", |_, context| {
        let path = |text: &str| RelPath::new(text.as_bytes()).unwrap();
        let transaction = context.transaction();
        transaction.write(&path("src/a.txt"), b"new\n")?;
        transaction.symlink(&path("src/link"), b"a.txt")?;
        said("written")
    });
    let engine = in_action(world, vec![several]);
    let receipt = engine.execute(&write("src/a.txt", "new\n"));
    assert_eq!(receipt.outcome, Outcome::Completed, "{receipt:?}");
    engine
}

/// B4: a link that someone sets anew, permissions that someone gives, and a file that someone
/// writes with the same bytes while a person reads the plan are theirs; nothing is written.
#[test]
fn what_changes_after_the_plan_is_a_conflict() {
    type Work = fn(&World);
    let cases: [(&str, Work); 4] = [
        ("link", |world| {
            let link = world.root.join("src/link");
            std::fs::remove_file(&link).unwrap();
            symlink("elsewhere", &link).unwrap();
        }),
        ("mode", |world| {
            let mode = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(world.root.join("src/a.txt"), mode).unwrap();
        }),
        ("bytes", |world| world.write("src/a.txt", "by hand\n")),
        ("gone", |world| {
            std::fs::remove_file(world.root.join("src/link")).unwrap();
        }),
    ];
    for (name, work) in cases {
        let world = World::new();
        let engine = worked(&world);
        let planned = engine.plan_undo(&session()).unwrap();
        assert_eq!(planned.plan().edits.len(), 2, "{name}");
        work(&world);
        let look = || {
            let file = world.root.join("src/a.txt");
            let mode = file.metadata().map(|found| found.permissions().mode());
            let link = std::fs::read_link(world.root.join("src/link"));
            (world.read("src/a.txt"), mode.ok(), link.ok())
        };
        let there = look();
        let error = engine.undo(&planned, "ann").unwrap_err();
        assert!(
            matches!(error, GateError::NotApplied { code, .. } if code == Code::Conflict),
            "{name}: {error:?}"
        );
        assert_eq!(look(), there, "{name}");
        assert!(
            world
                .events()
                .iter()
                .all(|event| event.body.kind != tagout_ledger::Kind::Undo),
            "{name}"
        );
    }
}

/// Design §13.8: a path that a call holds is not written to by an undo, and the other way round.
#[test]
fn a_call_that_is_under_way_keeps_its_paths() {
    let world = World::new();
    let (open, wait) = latch();
    let (told, inside) = std::sync::mpsc::channel();
    let first = std::sync::atomic::AtomicBool::new(true);
    let slow = tool("write_to_file", move |_, context| {
        let path = RelPath::new(b"src/a.txt").unwrap();
        if first.swap(false, std::sync::atomic::Ordering::SeqCst) {
            context.transaction().write(&path, b"one\n")?;
        } else {
            told.send(()).unwrap();
            wait();
        }
        said("written")
    });
    let engine = in_action(&world, vec![slow]);
    let receipt = engine.execute(&write("src/a.txt", "one\n"));
    assert_eq!(receipt.outcome, Outcome::Completed, "{receipt:?}");
    std::thread::scope(|scope| {
        let running = scope.spawn(|| engine.execute(&write("src/a.txt", "two\n")));
        inside.recv().unwrap();
        let planned = engine.plan_undo(&session()).unwrap();
        let refused = engine.undo(&planned, "ann");
        open.send(()).unwrap();
        assert!(
            matches!(&refused, Err(GateError::NotApplied { code, .. }) if *code == Code::PathBusy),
            "{refused:?}"
        );
        assert_eq!(running.join().unwrap().outcome, Outcome::Completed);
    });
    assert_eq!(world.read("src/a.txt").as_deref(), Some("one\n"));
    let planned = engine.plan_undo(&session()).unwrap();
    drop(engine.undo(&planned, "ann").unwrap());
    assert_eq!(world.read("src/a.txt"), None);
}
