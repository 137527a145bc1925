//! Appending, rotation, torn tails, versions.

use std::fs::OpenOptions;
use std::io::Write as _;

use tagout_ledger::{
    Event, Index, Kind, Ledger, LedgerError, NewEvent, Options, Query, Reader, SealPolicy, Sealing,
};
use tagout_vocab::{Digest, Timestamp};

use crate::support::{check, event, fill, filled, place, quiet, read, segment, stamp, time, write};

fn events(dir: &std::path::Path) -> Vec<Event> {
    let reader = Reader::open(dir).unwrap();
    reader.events_from(0).unwrap().map(Result::unwrap).collect()
}

/// L10: the twelve fields of RFC-0001 are in the line, with number and link first.
#[test]
fn a_line_is_the_event_and_its_link() {
    let place = place();
    let ledger = Ledger::open(&place.dir, quiet()).unwrap();
    ledger.append(&[event(3)]).unwrap();
    let text = String::from_utf8(read(&segment(&place.dir))).unwrap();
    insta::assert_snapshot!(text.replace(",\"", ",\n\""), @r#"
    {"seq":0,
    "prev":"729c890a5841f9162d903462ff45e01f178a553fd008069cffe73436e946f3f7",
    "v":1,
    "kind":"lifecycle",
    "timestamp":1780000000030,
    "eventId":"ev-000003",
    "toolId":"write_to_file",
    "toolVersion":"1.0.0",
    "executionId":"ex-000000",
    "state":"COMPLETED",
    "capabilities":["filesystem.write"],
    "duration":3,
    "inputHash":"sha256:ee569d8fcca7b903cef07a5177bd5ca5493595c4fbff7874a4e166ce6063dcab",
    "outputHash":"sha256:03face11a34a5bc821a734c37ba703d0dbeb59aeeba0b901d47b00c01500f3eb",
    "intent":"INT-001",
    "agent":"test-client",
    "model":"test-model",
    "session":"s-1",
    "verdictCode":"ALLOWED",
    "rule":"built-in: balanced",
    "paths":[{"path":"src/file3.rs",
    "before":"sha256:d5688a52d55a02ec4aea5ec1eadfffe1c9e0ee6a4ddbe2377f98326d42dfc975",
    "after":"sha256:8005f02d43fa06e7d0585fb64c961d57e318b27a145c857bcd3a6bdb413ff7fc"}],
    "undoableUntil":1780000010030,
    "usage":{"cpuMs":1,
    "memoryBytes":3,
    "readBytes":10,
    "writtenBytes":20}}
    "#);
}

/// C3: the grants of a decision stand behind the one who agreed; an event without any says nothing
/// of them, so that its line is what it was before there were grants.
#[test]
fn a_line_names_the_grants_of_its_decision() {
    let place = place();
    let ledger = Ledger::open(&place.dir, quiet()).unwrap();
    let mut granted = event(3);
    granted.approver = Some("ann".to_owned());
    granted.grants = ["g-1", "g-2"]
        .map(|id| tagout_vocab::GrantId::new(id).unwrap())
        .to_vec();
    ledger.append(&[granted.clone(), event(4)]).unwrap();
    let text = String::from_utf8(read(&segment(&place.dir))).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let order = r#""approver":"ann","grants":["g-1","g-2"],"paths":["#;
    assert!(lines[0].contains(order), "{}", lines[0]);
    assert!(!lines[1].contains("grants"), "{}", lines[1]);
    let back = tagout_ledger::Reader::open(&place.dir).unwrap();
    assert_eq!(back.event(0).unwrap().body.grants, granted.grants);
    assert!(check(&place.dir).ok);
}

/// L10: what was appended is read back, in order, and each event links to the one before.
#[test]
fn appended_events_are_read_back() {
    let place = place();
    let ledger = Ledger::open(&place.dir, quiet()).unwrap();
    let step = [event(0), event(1)];
    let first = ledger.append(&step).unwrap();
    let second = ledger.append(&[event(2)]).unwrap();
    assert_eq!(first.seqs, 0..2);
    assert_eq!(second.seqs, 2..3);
    assert_eq!(second.token.first_seq(), 2);
    assert_eq!(first.token.hash_of(1), Some(first.hashes[1]));
    assert_eq!(first.token.hash_of(2), None);
    let found = events(&place.dir);
    let bodies: Vec<NewEvent> = found.iter().map(|event| event.body.clone()).collect();
    assert_eq!(bodies, [event(0), event(1), event(2)]);
    assert_eq!(found[2].prev, found[1].hash);
    assert_eq!(found[1].hash, first.hashes[1]);
}

/// L10: an event that lacks what RFC-0001 requires does not get in, nor does a forged seal.
#[test]
fn incomplete_and_reserved_events_are_refused() {
    let place = place();
    let ledger = Ledger::open(&place.dir, quiet()).unwrap();
    let mut without_hash = event(0);
    without_hash.input_hash = None;
    let seal = NewEvent::new(stamp(0), Kind::Seal);
    let nameless = NewEvent {
        event_id: String::new(),
        ..event(0)
    };
    for wrong in [without_hash, seal, nameless] {
        let refused = ledger.append(&[wrong]).unwrap_err();
        assert!(
            matches!(refused, LedgerError::EventInvalid { .. }),
            "{refused}"
        );
    }
    assert!(matches!(
        ledger.append(&[]).unwrap_err(),
        LedgerError::StepSize { count: 0 }
    ));
    let mut huge = event(0);
    huge.rule = Some("word ".repeat(1_000_000));
    assert!(matches!(
        ledger.append(&[huge]).unwrap_err(),
        LedgerError::EventTooLarge { .. }
    ));
    assert_eq!(Reader::open(&place.dir).unwrap().size().unwrap(), 0);
}

/// L10: segments are closed by size, and the chain goes through them.
#[test]
fn segments_rotate() {
    let options = Options {
        segment_bytes_max: 4_000,
        ..quiet()
    };
    let place = filled(100, options.clone());
    assert!(place.dir.join("00000010.jsonl").exists());
    let report = check(&place.dir);
    assert!(report.ok, "{report:?}");
    assert_eq!(report.events, 101);
    let reader = Reader::open(&place.dir).unwrap();
    for seq in [0, 1, 50, 99, 100] {
        assert_eq!(reader.event(seq).unwrap().seq, seq);
    }
    assert!(matches!(
        reader.event(101).unwrap_err(),
        LedgerError::NoSuchEvent { present: 101, .. }
    ));
    // Two processes that both have the old segment open go on in the new one.
    let (one, two) = (
        Ledger::open(&place.dir, options.clone()).unwrap(),
        Ledger::open(&place.dir, options).unwrap(),
    );
    for n in 0..20 {
        one.append(&[event(n)]).unwrap();
        two.append(&[event(n)]).unwrap();
    }
    assert!(check(&place.dir).ok);
}

/// L10: every event can be found by its number without an index, also among very unequal lines.
#[test]
fn events_are_found_by_number() {
    let place = place();
    let ledger = Ledger::open(&place.dir, quiet()).unwrap();
    for n in 0..120 {
        let mut one = event(n);
        if n % 10 == 0 {
            one.rule = Some("long word ".repeat(usize::try_from(n).unwrap() * 60));
        }
        ledger.append(&[one]).unwrap();
    }
    let reader = Reader::open(&place.dir).unwrap();
    for seq in 0..120 {
        assert_eq!(
            reader.event(seq).unwrap().body.event_id,
            format!("ev-{seq:06}")
        );
    }
}

/// L10: what a killed writer left is dropped, and the ledger says so.
#[test]
fn a_torn_tail_is_repaired_and_recorded() {
    let place = filled(5, quiet());
    let torn = b"{\"seq\":6,\"prev\":\"0000";
    let mut file = OpenOptions::new()
        .append(true)
        .open(segment(&place.dir))
        .unwrap();
    file.write_all(torn).unwrap();

    let before = check(&place.dir);
    assert!(before.ok);
    assert_eq!(before.torn_bytes, torn.len() as u64);
    assert_eq!(
        read(&segment(&place.dir)).len() as u64,
        file.metadata().unwrap().len()
    );

    let ledger = Ledger::open(&place.dir, quiet()).unwrap();
    let appended = ledger.append(&[event(6)]).unwrap();
    let repair = appended.repair.unwrap();
    assert_eq!((repair.seq, repair.dropped_bytes), (6, 21));
    assert_eq!(repair.dropped, Digest::of(torn));
    assert_eq!(appended.seqs, 7..8);
    let recorded = Reader::open(&place.dir).unwrap().event(6).unwrap();
    assert_eq!(recorded.body.kind, Kind::Repair);
    let data = recorded.body.data.unwrap();
    assert_eq!(data["droppedBytes"], 21);
    assert_eq!(data["dropped"], Digest::of(torn).to_string());
    let after = check(&place.dir);
    assert!(
        after.ok && after.torn_bytes == 0 && after.events == 8,
        "{after:?}"
    );
}

/// L10: a torn tail longer than what replaces it is cut as a whole.
#[test]
fn a_long_torn_tail_is_cut() {
    let place = filled(3, quiet());
    let mut file = OpenOptions::new()
        .append(true)
        .open(segment(&place.dir))
        .unwrap();
    file.write_all(&vec![b'x'; 300_000]).unwrap();
    let ledger = Ledger::open(&place.dir, quiet()).unwrap();
    assert_eq!(
        ledger
            .append(&[event(9)])
            .unwrap()
            .repair
            .unwrap()
            .dropped_bytes,
        300_000
    );
    let report = check(&place.dir);
    assert!(report.ok && report.torn_bytes == 0, "{report:?}");
}

/// L10: zeros where a page never reached the disk are a torn tail too, with all that follows them.
#[test]
fn zeros_after_a_power_loss_are_a_torn_tail() {
    let place = filled(6, quiet());
    let ledger = Ledger::open(&place.dir, quiet()).unwrap();
    let sealed = read(&segment(&place.dir)).len();
    ledger.append(&[event(7), event(8), event(9)]).unwrap();
    let mut bytes = read(&segment(&place.dir));
    bytes[sealed + 100..sealed + 200].fill(0);
    write(&segment(&place.dir), &bytes);

    let ledger = Ledger::open(&place.dir, quiet()).unwrap();
    let repair = ledger.append(&[event(10)]).unwrap().repair.unwrap();
    assert_eq!(repair.dropped_bytes, (bytes.len() - sealed) as u64);
    assert!(check(&place.dir).ok);
}

/// L10: a loss that reaches into what a seal vouches for is not repaired: everything is refused.
#[test]
fn sealed_events_are_never_repaired_away() {
    let place = filled(5, quiet());
    let bytes = read(&segment(&place.dir));
    write(&segment(&place.dir), &bytes[..bytes.len() - 10]);
    let ledger = Ledger::open(&place.dir, quiet()).unwrap();
    let refused = ledger.append(&[event(9)]).unwrap_err();
    assert!(
        matches!(
            refused,
            LedgerError::SealedEventsMissing {
                sealed: 6,
                present: 5,
                ..
            }
        ),
        "{refused}"
    );
    assert_eq!(read(&segment(&place.dir)), bytes[..bytes.len() - 10]);
    std::fs::remove_file(segment(&place.dir)).unwrap();
    let ledger = Ledger::open(&place.dir, quiet()).unwrap();
    let refused = ledger.append(&[event(9)]).unwrap_err();
    assert!(matches!(
        refused,
        LedgerError::SealedEventsMissing { present: 0, .. }
    ));
}

/// L10: a complete line that is no event can't come from a crash: nothing is built on it.
#[test]
fn a_damaged_last_line_is_refused() {
    let place = place();
    let ledger = Ledger::open(&place.dir, quiet()).unwrap();
    fill(&ledger, 0..3);
    let mut file = OpenOptions::new()
        .append(true)
        .open(segment(&place.dir))
        .unwrap();
    file.write_all(b"{\"hello\":1}\n").unwrap();
    for ledger in [ledger, Ledger::open(&place.dir, quiet()).unwrap()] {
        let refused = ledger.append(&[event(4)]).unwrap_err();
        assert!(matches!(refused, LedgerError::Damaged { .. }), "{refused}");
    }
}

/// Two binaries of different format versions on one state: the older denies, also when it was
/// already running.
#[test]
fn a_newer_format_is_refused() {
    let place = filled(3, quiet());
    let running = Ledger::open(&place.dir, quiet()).unwrap();
    running.append(&[event(4)]).unwrap();
    let before = read(&segment(&place.dir));
    let format = place.dir.join("format");
    let with = |reader: u32, writer: u32| {
        format!(
            "{{\"format\":{writer},\"reader_min\":{reader},\"writer_min\":{writer},\
             \"origin\":\"tagout.test/ledger\",\"new\":true}}"
        )
    };
    write(&format, with(1, 2).as_bytes());
    let newer = |error: LedgerError| matches!(error, LedgerError::NewerFormat { needs: 2, .. });
    assert!(newer(running.append(&[event(5)]).unwrap_err()));
    assert!(newer(Ledger::open(&place.dir, quiet()).unwrap_err()));
    assert!(Reader::open(&place.dir).is_ok());
    write(&format, with(2, 2).as_bytes());
    assert!(newer(Reader::open(&place.dir).unwrap_err()));
    assert_eq!(read(&segment(&place.dir)), before);
}

/// L10: a clock that goes back is recorded as it is; the order of events is their number.
#[test]
fn a_clock_that_goes_back_is_recorded() {
    let place = place();
    let ledger = Ledger::open(&place.dir, quiet()).unwrap();
    let mut late = event(0);
    late.timestamp = Timestamp::from_millis(5_000);
    let mut early = event(1);
    early.timestamp = Timestamp::from_millis(-4_000);
    let mut after = event(2);
    after.timestamp = Timestamp::from_millis(-3_000);
    ledger.append(&[late]).unwrap();
    Ledger::open(&place.dir, quiet())
        .unwrap()
        .append(&[early, after])
        .unwrap();
    let found = events(&place.dir);
    let times: Vec<_> = found
        .iter()
        .map(|one| one.body.timestamp.as_millis())
        .collect();
    let back: Vec<_> = found.iter().map(|one| one.body.clock_back_ms).collect();
    assert_eq!(times, [5_000, -4_000, -3_000]);
    assert_eq!(back, [None, Some(9_000), None]);
    let index = Index::open(&place.dir).unwrap();
    let query = Query {
        since: Some(Timestamp::from_millis(0)),
        ..Query::default()
    };
    assert_eq!(index.query(&query).unwrap().len(), 1);
    assert!(check(&place.dir).ok);
}

/// L10: the append that crosses a bound seals, by count and by time, and when the clock went back.
#[test]
fn appends_seal_when_a_bound_is_crossed() {
    let place = place();
    let options = Options {
        seal: Some(SealPolicy {
            events_max: 10,
            ms_max: 1_000,
        }),
        ..quiet()
    };
    let ledger = Ledger::open(&place.dir, options.clone()).unwrap();
    let at = |n, millis| {
        let mut one = event(n);
        one.timestamp = time(0).plus_millis(millis);
        ledger.append(&[one]).unwrap().sealing
    };
    assert!(matches!(at(0, 0), Sealing::Sealed(_)), "the first event");
    for n in 1..10 {
        assert!(matches!(at(n, 1), Sealing::NotDue), "{n}");
    }
    assert!(matches!(at(10, 1), Sealing::Sealed(_)), "by count");
    assert!(matches!(at(11, 500), Sealing::NotDue));
    assert!(matches!(at(12, 1_001), Sealing::Sealed(_)), "by time");
    assert!(
        matches!(at(13, -7_000), Sealing::Sealed(_)),
        "the clock went back"
    );
    assert!(matches!(at(14, -6_500), Sealing::NotDue));
    let other = Ledger::open(&place.dir, options).unwrap();
    let mut late = event(15);
    late.timestamp = time(0).plus_millis(100_000);
    assert!(matches!(
        other.append(&[late]).unwrap().sealing,
        Sealing::Sealed(_)
    ));
    let report = check(&place.dir);
    assert!(report.ok && report.sealed == report.events, "{report:?}");
}

/// L10: a later process can make sure that an event is durable, and only one that is there.
#[test]
fn an_event_can_be_confirmed_later() {
    let place = place();
    let ledger = Ledger::open(&place.dir, quiet()).unwrap();
    let hashes = ledger.append(&[event(0), event(1)]).unwrap().hashes;
    let later = Ledger::open(&place.dir, quiet()).unwrap();
    let (found, token) = later.confirm(1).unwrap();
    assert_eq!(found.body, event(1));
    assert_eq!(token.hash_of(1), Some(hashes[1]));
    assert!(matches!(
        later.confirm(2).unwrap_err(),
        LedgerError::NoSuchEvent { .. }
    ));
}

/// L10: threads of one process share a ledger without breaking the chain.
#[test]
fn threads_share_a_ledger() {
    let place = place();
    let ledger = Ledger::open(&place.dir, quiet()).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let ledger = &ledger;
            scope.spawn(move || {
                for n in 0..50 {
                    ledger.append(&[event(thread * 1_000 + n)]).unwrap();
                }
            });
        }
    });
    let report = check(&place.dir);
    assert!(report.ok && report.events == 200, "{report:?}");
}

/// Design §10: opening does not depend on how long the ledger is.
#[test]
fn opening_reads_the_same_at_any_length() {
    let read_bytes = || -> u64 {
        let text = std::fs::read_to_string("/proc/thread-self/io").unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix("rchar: "));
        line.unwrap().parse().unwrap()
    };
    let cost = |count: u64| {
        let place = filled(count, quiet());
        let before = read_bytes();
        let ledger = Ledger::open(&place.dir, quiet()).unwrap();
        ledger.append(&[event(count)]).unwrap();
        read_bytes() - before
    };
    let (short, long) = (cost(300), cost(6_000));
    assert!(long < short + 4_096, "{short} and {long} bytes");
}
