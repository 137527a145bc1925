//! What only a failing disk shows.

use std::os::fd::OwnedFd;

use super::*;

fn event(n: u64) -> NewEvent {
    let stamp = Stamp {
        event_id: format!("ev-{n}"),
        timestamp: Timestamp::from_millis(1),
    };
    NewEvent::new(stamp, Kind::Session)
}

/// Design §6: after a failed sync nothing is known, so this process appends, seals and confirms
/// nothing again.
#[test]
fn a_failed_sync_ends_appending() {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().join("ledger");
    Ledger::create(&dir, "test").unwrap();
    let ledger = Ledger::open(&dir, Options::default()).unwrap();
    ledger.append(&[event(0)]).unwrap();
    // A pipe can't be synced: the system refuses it as it would a broken disk.
    let (pipe, _other_end) = std::io::pipe().unwrap();
    let unsyncable = File::from(OwnedFd::from(pipe));
    let written = Written {
        file_id: FileId::of(&unsyncable.metadata().unwrap()),
        file: Arc::new(unsyncable),
        number: 1,
        first: 1,
        hashes: Vec::new(),
    };
    let failed = ledger.make_durable(written).unwrap_err();
    assert!(
        matches!(failed, LedgerError::Io { action: "sync", .. }),
        "{failed}"
    );
    let refused = ledger.append(&[event(1)]).unwrap_err();
    assert!(matches!(refused, LedgerError::Poisoned { .. }), "{refused}");
    let refused = ledger.confirm(0).unwrap_err();
    assert!(matches!(refused, LedgerError::Poisoned { .. }), "{refused}");
    // Another process, which saw no failure, may go on.
    let other = Ledger::open(&dir, Options::default()).unwrap();
    assert_eq!(other.append(&[event(1)]).unwrap().seqs, 1..2);
}
