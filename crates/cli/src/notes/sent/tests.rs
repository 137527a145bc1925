//! A note between the process that uses it up and the one that asks whether anybody did.

use std::thread;

use tagout_vocab::{SessionId, Timestamp};

use super::{Comes, Notes, Sent, line_digest, marks};

/// Whoever has seen the mark of a line never hears that the line was not run, although the note is
/// being taken away with its marks.
#[test]
fn a_used_note_is_never_called_unused() {
    let dir = tempfile::tempdir().unwrap();
    let notes = Notes::of(dir.path());
    let now = Timestamp::from_millis(1_000_000);
    let sent = Sent {
        session: SessionId::new("s").unwrap(),
        client: "c".to_owned(),
        lines: vec![line_digest("ls")],
        at: now,
        comes: Comes::Named,
    };
    for round in 0..2_000 {
        let id = format!("e-{round}");
        notes.send(&id, &sent).unwrap();
        let path = notes.sent_path(&id);
        assert!(notes.unused(&id).is_some());
        thread::scope(|scope| {
            scope.spawn(|| {
                while !marks(&path, &sent)[0].exists() && path.exists() {}
                assert!(notes.unused(&id).is_none(), "{round}");
            });
            scope.spawn(|| assert!(notes.take_sent(Some(&id), "ls", now).unwrap().is_some()));
        });
    }
}
