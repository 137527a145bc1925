//! The derived index: questions, figures, and all the ways it can be lost.

use tagout_ledger::{
    Index, Kind, Ledger, LedgerError, LifecycleState, NewEvent, Options, PathChange, Query, Stats,
};
use tagout_vocab::{IntentId, SessionId};

use crate::support::{event, fill, filled, place, quiet, read, segment, stamp, time, write};

fn ids(index: &Index, query: &Query) -> Vec<u64> {
    index
        .query(query)
        .unwrap()
        .iter()
        .map(|one| one.seq)
        .collect()
}

/// L10: events are found by intent, file, folder, session, time, tool, state and number.
#[test]
fn questions_are_answered_from_the_ledger() {
    let place = place();
    let ledger = Ledger::open(&place.dir, quiet()).unwrap();
    fill(&ledger, 0..20);
    let mut other = NewEvent::new(stamp(20), Kind::Intent);
    other.intent = Some(IntentId::new("INT-002").unwrap());
    other.session = Some(SessionId::new("s-2").unwrap());
    other.paths = vec![PathChange {
        path: "src-old/a.rs".to_owned(),
        before: None,
        after: None,
    }];
    ledger.append(&[other]).unwrap();
    let index = Index::open(&place.dir).unwrap();
    let all = Query::default();
    assert_eq!(ids(&index, &all), (0..21).collect::<Vec<_>>());
    let ask = |change: &dyn Fn(&mut Query)| {
        let mut query = all.clone();
        change(&mut query);
        ids(&index, &query)
    };
    assert_eq!(ask(&|q| q.intent = IntentId::new("INT-002").ok()), [20]);
    assert_eq!(ask(&|q| q.session = SessionId::new("s-2").ok()), [20]);
    assert_eq!(ask(&|q| q.path = Some("src/file3.rs".to_owned())), [3]);
    assert_eq!(
        ask(&|q| q.path = Some("src/".to_owned())),
        [3, 7, 11, 15, 19]
    );
    assert_eq!(ask(&|q| q.path = Some("src/file".to_owned())), [0; 0]);
    assert_eq!(ask(&|q| q.since = Some(time(18))), [18, 19, 20]);
    assert_eq!(
        ask(&|q| q.state = Some(LifecycleState::Declared)),
        [0, 4, 8, 12, 16]
    );
    assert_eq!(ask(&|q| q.kind = Some(Kind::Intent)), [20]);
    assert_eq!(
        ask(&|q| q.execution = Some("ex-000001".to_owned())),
        [4, 5, 6, 7]
    );
    assert_eq!(ask(&|q| q.tool = Some("nothing".to_owned())), [0; 0]);
    assert_eq!(ask(&|q| q.limit = Some(2)), [19, 20]);
    assert_eq!(ask(&|q| q.after_seq = Some(18)), [19, 20]);
}

/// L10: the index follows the ledger, from several readers at once and through segments.
#[test]
fn the_index_follows() {
    let options = Options {
        segment_bytes_max: 4_000,
        ..quiet()
    };
    let place = place();
    let ledger = Ledger::open(&place.dir, options).unwrap();
    let mut index = Index::open(&place.dir).unwrap();
    assert!(ids(&index, &Query::default()).is_empty());
    for n in 0..30 {
        fill(&ledger, n..n + 1);
        index.refresh().unwrap();
        assert_eq!(ids(&index, &Query::default()).len() as u64, n + 1);
    }
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let index = Index::open(&place.dir).unwrap();
                assert!(ids(&index, &Query::default()).len() >= 30);
            });
        }
        fill(&ledger, 30..60);
    });
    let index = Index::open(&place.dir).unwrap();
    assert_eq!(ids(&index, &Query::default()).len(), 60);
}

/// Design §6: an index that is missing, foreign, damaged or unwritable costs nothing but time.
#[test]
fn the_index_is_rebuilt() {
    let place = filled(30, quiet());
    let path = place.dir.join("index.db");
    let full = || ids(&Index::open(&place.dir).unwrap(), &Query::default());
    let expected: Vec<u64> = (0..31).collect();
    assert_eq!(full(), expected);
    std::fs::remove_file(&path).unwrap();
    assert_eq!(full(), expected, "missing");
    write(&path, b"this is not a database, not even a small one");
    assert_eq!(full(), expected, "no database");
    let mut bytes = read(&path);
    let length = bytes.len();
    bytes.truncate(length / 2);
    write(&path, &bytes);
    assert_eq!(full(), expected, "half");
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    assert_eq!(full(), expected, "a folder in its place");
    std::fs::remove_dir(&path).unwrap();
    assert_eq!(full(), expected);

    // The ledger of another epoch in the same folder: the last indexed line is not there any more.
    let other = filled(12, Options { ..quiet() });
    let mut text = String::from_utf8(read(&segment(&other.dir))).unwrap();
    text = text.replace("INT-001", "INT-009");
    write(&segment(&place.dir), text.as_bytes());
    assert_eq!(full(), (0..13).collect::<Vec<_>>(), "another ledger");
}

/// Invariant 9: what the ledger can't prove is not shown.
#[test]
fn an_edited_event_is_not_shown() {
    let place = filled(10, quiet());
    let index = Index::open(&place.dir).unwrap();
    let text = String::from_utf8(read(&segment(&place.dir))).unwrap();
    let edited = text.replacen("ev-000004", "ev-000005", 1);
    write(&segment(&place.dir), edited.as_bytes());
    let refused = index.query(&Query::default()).unwrap_err();
    assert!(matches!(refused, LedgerError::Damaged { .. }), "{refused}");
}

fn run(ledger: &Ledger, n: u64, tool: &str, states: &[LifecycleState], duration: Option<u64>) {
    for state in states {
        let mut one = event(n * 4);
        one.tool_id = Some(tool.to_owned());
        one.state = Some(*state);
        one.duration = duration.filter(|_| *state == LifecycleState::Completed);
        one.usage = duration
            .filter(|_| *state == LifecycleState::Completed)
            .map(|duration| tagout_ledger::Usage {
                cpu_ms: duration,
                memory_bytes: duration * 100,
                read_bytes: 1,
                written_bytes: 2,
            });
        ledger.append(&[one]).unwrap();
    }
}

/// L11: the figures of RFC-0001 §8.2 under its names.
#[test]
fn figures_come_from_the_ledger() {
    use LifecycleState::{Aborted, Completed, Declared, Denied, Failed, RolledBack};
    let place = place();
    let ledger = Ledger::open(&place.dir, quiet()).unwrap();
    let empty = Index::open(&place.dir)
        .unwrap()
        .stats(&Query::default())
        .unwrap();
    assert_eq!(empty, Stats::default());
    for n in 1..=100 {
        run(&ledger, n, "a", &[Declared, Completed], Some(n));
    }
    run(&ledger, 101, "b", &[Declared, Denied], None);
    run(&ledger, 102, "b", &[Declared, Failed], None);
    run(&ledger, 103, "b", &[Declared, Aborted, RolledBack], None);
    run(&ledger, 104, "b", &[Declared], None);
    let index = Index::open(&place.dir).unwrap();
    let stats = index.stats(&Query::default()).unwrap();
    insta::assert_json_snapshot!(stats, @r#"
    {
      "execution_count": 104,
      "success_rate": 97.0873786407767,
      "failure_rate": 1.941747572815534,
      "execution_duration": {
        "p50": 50,
        "p95": 95,
        "p99": 99
      },
      "resource_usage": {
        "cpu_ms": 5050,
        "memory_bytes_max": 10000,
        "read_bytes": 100,
        "written_bytes": 200
      },
      "capability_denials": 1,
      "rollback_count": 1
    }
    "#);
    let tools = index.stats_by_tool(&Query::default()).unwrap();
    let counts: Vec<_> = tools
        .iter()
        .map(|(tool, of)| (tool.as_str(), of.execution_count))
        .collect();
    assert_eq!(counts, [("a", 100), ("b", 4)]);
    let only_b = Query {
        tool: Some("b".to_owned()),
        ..Query::default()
    };
    assert_eq!(index.stats(&only_b).unwrap().success_rate, Some(0.0));
}
