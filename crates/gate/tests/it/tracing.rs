//! The trace's database when it is new, damaged or somebody else's.

use std::sync::Barrier;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use tagout_gate::{Outcome, TraceQuery};
use tagout_vocab::WorkspacePath;

use crate::support::{World, in_action, read, write};

fn database(world: &World) -> std::path::PathBuf {
    world.site().state().join("trace/trace.db")
}

/// Several who begin the trace at once all find it.
#[test]
fn many_begin_the_trace_at_once() {
    let world = World::new();
    let engine = in_action(&world, Vec::new());
    let receipt = engine.execute(&write("src/a.rs", "fn a() {}\n"));
    assert_eq!(receipt.outcome, Outcome::Completed, "{receipt:?}");
    for _ in 0..5 {
        std::fs::remove_dir_all(world.site().state().join("trace")).unwrap();
        let barrier = Barrier::new(6);
        std::thread::scope(|scope| {
            for _ in 0..6 {
                let (engine, barrier) = (engine.clone(), &barrier);
                scope.spawn(move || {
                    barrier.wait();
                    let found = engine.trace_query(&TraceQuery::default()).unwrap();
                    assert_eq!(found.len(), 1);
                    let path = WorkspacePath::new("src/a.rs").unwrap();
                    assert_eq!(engine.blame(&path).unwrap().blame.origins.len(), 1);
                });
            }
        });
    }
}

/// A damaged database stops no call and is told by name; once it is removed, everything is there
/// again.
#[test]
fn a_damaged_trace_stops_no_call() {
    let world = World::new();
    let engine = in_action(&world, Vec::new());
    drop(engine.execute(&write("src/a.rs", "fn a() {}\n")));
    for damage in [b"not a database at all".repeat(500), Vec::new()] {
        let is_empty = damage.is_empty();
        for name in ["trace.db-wal", "trace.db-shm"] {
            std::fs::remove_file(database(&world).with_file_name(name)).unwrap_or_default();
        }
        std::fs::write(database(&world), damage).unwrap();
        drop(engine.execute(&read("src/a.rs")));
        let receipt = engine.execute(&write("src/a.rs", &format!("fn b_{is_empty}() {{}}\n")));
        assert_eq!(receipt.outcome, Outcome::Completed, "{receipt:?}");
        // An empty file is a new database: the ledger fills it.
        assert_eq!(
            receipt.warnings.is_empty(),
            is_empty,
            "{:?}",
            receipt.warnings
        );
        if !is_empty {
            let error = engine
                .trace_query(&TraceQuery::default())
                .unwrap_err()
                .to_string();
            assert!(
                error.contains("trace.db") && error.contains("can be removed"),
                "{error}"
            );
        }
    }
    std::fs::remove_dir_all(world.site().state().join("trace")).unwrap();
    assert_eq!(engine.trace_query(&TraceQuery::default()).unwrap().len(), 3);
}

/// Somebody who reads the database for long keeps nobody from writing, and whoever looks while
/// somebody writes sees what was there before.
#[test]
fn readers_and_writers_do_not_wait_for_each_other() {
    let world = World::new();
    let engine = in_action(&world, Vec::new());
    drop(engine.execute(&write("src/a.rs", "fn a() {}\n")));
    let mut records = engine.trace_records().unwrap();
    let reader = Connection::open(database(&world)).unwrap();
    reader
        .execute_batch("BEGIN; SELECT count(*) FROM records;")
        .unwrap();
    let start = Instant::now();
    drop(engine.execute(&read("src/a.rs")));
    let receipt = engine.execute(&write("src/a.rs", "fn b() {}\n"));
    assert_eq!(receipt.warnings, Vec::<String>::new());
    assert!(
        start.elapsed() < Duration::from_secs(15),
        "{:?}",
        start.elapsed()
    );
    assert!(records.next().unwrap().is_ok());
    assert!(
        records.next().is_none(),
        "what came later is not part of it"
    );
    assert_eq!(engine.trace_records().unwrap().count(), 2);
}

/// H11: what could not be written to the list is written by the next call.
#[test]
fn records_that_could_not_be_shown_are_shown_later() {
    let world = World::new();
    let engine = in_action(&world, Vec::new());
    let list = world.root.join(".orchestration/agent_trace.jsonl");
    // Leads to a folder that is not there, so that nothing can be written.
    std::os::unix::fs::symlink("nowhere/at/all", &list).unwrap();
    let receipt = engine.execute(&write("src/a.rs", "fn a() {}\n"));
    assert_eq!(receipt.outcome, Outcome::Completed, "{receipt:?}");
    assert!(!receipt.warnings.is_empty());
    std::fs::remove_file(&list).unwrap();
    let receipt = engine.execute(&write("src/b.rs", "fn b() {}\n"));
    assert_eq!(receipt.warnings, Vec::<String>::new());
    let listed = world.read(".orchestration/agent_trace.jsonl").unwrap();
    assert_eq!(listed.lines().count(), 2, "{listed}");
    assert!(listed.contains("src/a.rs") && listed.contains("src/b.rs"));
}
