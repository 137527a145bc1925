//! Tests of the logs of living processes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use tagout_vocab::{Agent, CallId, Class, Digest, SessionId, Timestamp};

use super::super::Store;
use super::LOG_BYTES_MAX;
use crate::permit::Ticket;

/// An execution of a call, with a word that may be long.
fn ticket(execution: &str, rule: &str) -> Ticket {
    Ticket {
        execution: CallId::new(execution).unwrap(),
        seq: 0,
        tool: "tool".to_owned(),
        version: "1".to_owned(),
        session: SessionId::new("s-1").unwrap(),
        intent: None,
        agent: Agent::default(),
        class: Class::Safe,
        input_hash: Digest::from_bytes([0; 32]),
        capabilities: Vec::new(),
        code: String::new(),
        rule: rule.to_owned(),
        approver: None,
        grants: BTreeSet::new(),
        admitted_at: Timestamp::from_millis(0),
        law: None,
        mutated: Vec::new(),
        absent: Vec::new(),
        reads: Vec::new(),
        predicted: BTreeMap::new(),
        selects: None,
        role: None,
        declared: None,
        given: None,
    }
}

fn store(folder: &Path) -> Store {
    Store::create(folder).unwrap();
    Store::at(folder.to_owned())
}

fn ids(tickets: &[Ticket]) -> Vec<&str> {
    tickets
        .iter()
        .map(|ticket| ticket.execution.as_str())
        .collect()
}

/// What is taken from the dead.
fn taken(store: &Store) -> Vec<String> {
    let mut all = Vec::new();
    let take = |tickets: Vec<Ticket>| {
        all.extend(ids(&tickets).into_iter().map(str::to_owned));
        Ok(())
    };
    store.orphans(take).unwrap();
    all
}

fn left(folder: &Path) -> usize {
    fs::read_dir(folder.join("running")).unwrap().count()
}

/// B6: a log whose process lives is nobody else's; once that is gone, what it began is taken up,
/// once, and the log goes.
#[test]
fn the_living_are_left_alone_and_the_dead_taken_up() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    let running = store.begin_running("r1").unwrap();
    for execution in ["e-1", "e-2"] {
        running.began(&ticket(execution, "")).unwrap();
    }
    running.ended(&CallId::new("e-1").unwrap());
    assert_eq!(taken(&store), Vec::<String>::new());
    assert_eq!(ids(&store.living().unwrap()), ["e-2"]);
    assert_eq!(left(folder.path()), 1);
    drop(running);
    assert_eq!(left(folder.path()), 1, "it was not done");
    assert_eq!(taken(&store), ["e-2"]);
    assert_eq!(left(folder.path()), 0);
    assert_eq!(taken(&store), Vec::<String>::new());
}

/// B6: what can't be taken up now is still there the next time.
#[test]
fn what_is_not_taken_up_stays() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    let running = store.begin_running("r1").unwrap();
    running.began(&ticket("e-1", "")).unwrap();
    drop(running);
    let failing = store.orphans(|_| {
        Err(crate::error::GateError::NoPermit {
            id: "e-1".to_owned(),
            why: "it fails here",
        })
    });
    assert!(failing.is_err());
    assert_eq!(taken(&store), ["e-1"]);
}

/// B6: of an older build the file beside the log says whether it lives.
#[test]
fn an_older_build_lives_by_the_file_beside() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    let running = store.begin_running("r1").unwrap();
    running.began(&ticket("e-1", "")).unwrap();
    drop(running);
    let beside = folder.path().join("running/r1.alive");
    let alive = File::create(&beside).unwrap();
    alive.lock().unwrap();
    assert_eq!(taken(&store), Vec::<String>::new());
    assert_eq!(ids(&store.living().unwrap()), ["e-1"]);
    drop(alive);
    assert_eq!(taken(&store), ["e-1"]);
    assert_eq!(left(folder.path()), 0);
}

/// B6: a log in which something is always going on does not grow for ever, says at any time what
/// is going on, and is never taken for a dead one.
#[test]
fn a_log_that_is_never_idle_is_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    let running = store.begin_running("r1").unwrap();
    running.began(&ticket("e-first", "")).unwrap();
    let log = folder.path().join("running/r1");
    let filler = "x".repeat(100_000);
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                assert_eq!(taken(&store), Vec::<String>::new());
                assert!(ids(&store.living().unwrap()).contains(&"e-first"));
            }
        });
        let mut longest = 0;
        for number in 0..60 {
            let one = ticket(&format!("e-{number}"), &filler);
            running.began(&one).unwrap();
            running.ended(&one.execution);
            longest = longest.max(fs::metadata(&log).unwrap().len());
        }
        over.store(true, Ordering::Relaxed);
        assert!(longest <= LOG_BYTES_MAX, "{longest}");
    });
    assert_eq!(left(folder.path()), 1);
    drop(running);
    assert_eq!(taken(&store), ["e-first"]);
    assert_eq!(left(folder.path()), 0);
}

/// B6: a process that begins while others clean up is neither refused nor taken for a dead one.
#[test]
fn a_log_is_begun_while_others_clean_up() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    store.orphans(|_| Ok(())).unwrap();
                }
            });
        }
        let begun: Vec<_> = (0..400)
            .map(|number| {
                let running = store.begin_running(&format!("r{number}"));
                let alive = folder.path().join(format!("running/r{number}"));
                running.map(|running| (alive.exists(), running))
            })
            .collect();
        over.store(true, Ordering::Relaxed);
        for (number, one) in begun.into_iter().enumerate() {
            assert!(one.unwrap().0, "{number} lost the file that says it lives");
        }
    });
}
