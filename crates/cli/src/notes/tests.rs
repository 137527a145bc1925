//! What goes when notes are tidied.

use serde_json::Map;
use tagout_agents::PairingKey;
use tagout_vocab::limits::{PERMIT_OPEN_MS_MAX, TIDY_INTERVAL_MS};
use tagout_vocab::{SessionId, Timestamp};

use super::{Admitted, Comes, Notes, Open, Sent, line_digest};
use crate::clock;

/// A call that nobody reported on goes, with its note for `exec`, only once it is told: what could
/// not be recorded is tried again.
#[test]
fn an_old_call_stays_until_it_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let notes = Notes::of(dir.path());
    let (session, now) = (SessionId::new("s").unwrap(), clock::now());
    let sent = Sent {
        session: session.clone(),
        client: "c".to_owned(),
        lines: vec![line_digest("ls")],
        at: now,
        comes: Comes::Named,
    };
    notes.send("e-1", &sent).unwrap();
    let open = Open {
        key: PairingKey::new(session.clone(), None, "t", &Map::new()),
        rewritten: None,
        lines: None,
        what: Admitted::Exec("e-1".to_owned()),
        call: None,
        asked: None,
    };
    notes.open(&open, now, "o-1").unwrap();
    let tidied = |tidying: i64, is_told: bool| {
        let later_ms = PERMIT_OPEN_MS_MAX + tidying * (TIDY_INTERVAL_MS + 60_000);
        let mut asked = 0;
        notes.tidy(Timestamp::from_millis(now.as_millis() + later_ms), |_| {
            asked += 1;
            is_told
        });
        let left = (notes.opened(&session).len(), notes.unused("e-1").is_some());
        (asked, left)
    };
    assert_eq!(tidied(1, false), (1, (1, true)));
    // The mark of a tidying has the time of the machine.
    std::fs::remove_file(dir.path().join("hook/tidied")).unwrap();
    assert_eq!(tidied(2, true), (1, (0, false)));
}
