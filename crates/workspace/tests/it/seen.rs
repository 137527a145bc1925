//! H13: what a session saw, across processes, without trusting clocks.

use std::fs;

use tagout_vocab::{Digest, SessionId};
use tagout_workspace::Freshness;

use crate::support::{NOW, Place, call, rel};

fn session(name: &str) -> SessionId {
    SessionId::new(name).unwrap()
}

/// H13: never seen, fresh, changed with expected and actual digest and the difference; per session.
#[test]
fn a_change_since_the_last_look_is_found() {
    let place = Place::new();
    place.put("a", "one\ntwo\nthree\n");
    let workspace = place.open();
    let seen = workspace.seen(&session("s1")).unwrap();
    assert_eq!(seen.check(&rel("a")).unwrap(), Freshness::NeverSeen);
    seen.note(&rel("a")).unwrap();
    assert_eq!(seen.check(&rel("a")).unwrap(), Freshness::Fresh);

    let elsewhere = place.open();
    let same = elsewhere.seen(&session("s1")).unwrap();
    assert_eq!(
        same.check(&rel("a")).unwrap(),
        Freshness::Fresh,
        "another process, the same session"
    );
    let other = elsewhere.seen(&session("s2")).unwrap();
    assert_eq!(
        other.check(&rel("a")).unwrap(),
        Freshness::NeverSeen,
        "another session"
    );

    place.put("a", "one\n2\nthree\n");
    let expected = Freshness::Changed {
        expected: Some(Digest::of(b"one\ntwo\nthree\n")),
        actual: Some(Digest::of(b"one\n2\nthree\n")),
        difference: Some("@@ -2,1 +2,1 @@\n-two\n+2\n".to_owned()),
    };
    assert_eq!(seen.check(&rel("a")).unwrap(), expected);
    seen.forget(&rel("a")).unwrap();
    assert_eq!(seen.check(&rel("a")).unwrap(), Freshness::NeverSeen);
}

/// H13: a file that was missing and is there now has changed, and the other way round.
#[test]
fn absence_is_seen_too() {
    let place = Place::new();
    let workspace = place.open();
    let seen = workspace.seen(&session("s")).unwrap();
    seen.note(&rel("dir/a")).unwrap();
    assert_eq!(seen.check(&rel("dir/a")).unwrap(), Freshness::Fresh);
    place.put("dir/a", "new");
    assert!(matches!(
        seen.check(&rel("dir/a")).unwrap(),
        Freshness::Changed {
            expected: None,
            actual: Some(_),
            ..
        }
    ));
    seen.note(&rel("dir/a")).unwrap();
    fs::remove_file(place.root().join("dir/a")).unwrap();
    assert!(matches!(
        seen.check(&rel("dir/a")).unwrap(),
        Freshness::Changed {
            expected: Some(_),
            actual: None,
            ..
        }
    ));
}

/// H13: same size, same time set back by hand, at once after the look: found all the same.
#[test]
fn a_change_that_hides_its_time_is_found() {
    let place = Place::new();
    let path = place.root().join("a");
    let workspace = place.open();
    let seen = workspace.seen(&session("s")).unwrap();
    for round in 0..200 {
        place.put("a", "AAAA");
        let stat = rustix::fs::stat(&path).unwrap();
        seen.note(&rel("a")).unwrap();
        let mut file = fs::OpenOptions::new().write(true).open(&path).unwrap();
        std::io::Write::write_all(&mut file, b"BBBB").unwrap();
        let time = rustix::fs::Timespec {
            tv_sec: stat.st_mtime,
            tv_nsec: i64::try_from(stat.st_mtime_nsec).unwrap(),
        };
        let times = rustix::fs::Timestamps {
            last_access: time,
            last_modification: time,
        };
        rustix::fs::futimens(&file, &times).unwrap();
        let found = seen.check(&rel("a")).unwrap();
        assert!(
            matches!(found, Freshness::Changed { .. }),
            "round {round}: {found:?}"
        );
    }
}

/// H13: a file from the future, as after a clock that went backwards, is compared by its bytes.
#[test]
fn a_clock_that_went_backwards_changes_nothing() {
    let place = Place::new();
    place.put("a", "AAAA");
    let workspace = place.open();
    let seen = workspace.seen(&session("s")).unwrap();
    let future = rustix::fs::Timespec {
        tv_sec: 4_000_000_000,
        tv_nsec: 0,
    };
    let times = rustix::fs::Timestamps {
        last_access: future,
        last_modification: future,
    };
    let set = || {
        rustix::fs::utimensat(
            rustix::fs::CWD,
            place.root().join("a"),
            &times,
            rustix::fs::AtFlags::empty(),
        )
        .unwrap();
    };
    set();
    seen.note(&rel("a")).unwrap();
    assert_eq!(seen.check(&rel("a")).unwrap(), Freshness::Fresh);
    place.put("a", "BBBB");
    set();
    assert!(matches!(
        seen.check(&rel("a")).unwrap(),
        Freshness::Changed { .. }
    ));
}

/// H13: a session knows what it wrote itself.
#[test]
fn a_commit_is_seen_by_its_session() {
    let place = Place::new();
    place.put("a", "one");
    let workspace = place.open();
    let seen = workspace.seen(&session("s")).unwrap();
    seen.note(&rel("a")).unwrap();
    let mut transaction = workspace.begin(&call("1")).unwrap();
    transaction.write(&rel("a"), b"two").unwrap();
    transaction.write(&rel("b"), b"two").unwrap();
    let committed = transaction.commit(NOW, b"").unwrap();
    seen.note_committed(&committed).unwrap();
    committed.confirm();
    assert_eq!(seen.check(&rel("a")).unwrap(), Freshness::Fresh);
    assert_eq!(seen.check(&rel("b")).unwrap(), Freshness::Fresh);
}

/// H13: a torn note is no note.
#[test]
fn a_torn_note_is_not_believed() {
    let place = Place::new();
    place.put("a", "one");
    let workspace = place.open();
    let seen = workspace.seen(&session("s")).unwrap();
    seen.note(&rel("a")).unwrap();
    let sessions = fs::read_dir(place.state().join("sessions")).unwrap();
    let folder = sessions.flatten().next().unwrap().path().join("seen");
    let note = fs::read_dir(folder)
        .unwrap()
        .flatten()
        .next()
        .unwrap()
        .path();
    let bytes = fs::read(&note).unwrap();
    fs::write(&note, &bytes[..bytes.len() - 1]).unwrap();
    assert_eq!(seen.check(&rel("a")).unwrap(), Freshness::NeverSeen);
}
