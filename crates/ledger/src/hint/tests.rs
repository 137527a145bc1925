//! A note is believed only while it is true.

#![expect(
    clippy::disallowed_methods,
    reason = "tests tamper with files on purpose"
)]

use std::fs::{self, File, OpenOptions};
use std::path::Path;

use tagout_vocab::Timestamp;

use super::{Hint, note, read};
use crate::seal::{self, Mark};

const HINT: Hint = Hint {
    number: 3,
    sealed: Mark {
        size: 42,
        time: Some(Timestamp::from_millis(1_700_000_000_123)),
    },
};

fn lock_in(dir: &Path) -> File {
    let mut options = OpenOptions::new();
    let options = options.read(true).write(true).create(true).truncate(false);
    options.open(dir.join("lock")).unwrap()
}

#[test]
fn what_was_noted_is_read_until_the_checkpoint_is_another() {
    let dir = tempfile::tempdir().unwrap();
    let (dir, lock) = (dir.path(), lock_in(dir.path()));
    // Nothing is sealed yet, so nothing tells when a note is out of date.
    note(&lock, dir, HINT);
    assert_eq!(read(&lock, dir), None);
    let checkpoint = seal::checkpoint_path(dir);
    fs::write(&checkpoint, "one").unwrap();
    note(&lock, dir, HINT);
    assert_eq!(read(&lock, dir), Some(HINT));
    let other = dir.join("other");
    fs::write(&other, "two").unwrap();
    fs::rename(&other, &checkpoint).unwrap();
    assert_eq!(read(&lock, dir), None);
    fs::remove_file(&checkpoint).unwrap();
    assert_eq!(read(&lock, dir), None);
}

#[test]
fn no_torn_or_changed_note_is_believed() {
    let dir = tempfile::tempdir().unwrap();
    let (dir, lock) = (dir.path(), lock_in(dir.path()));
    fs::write(seal::checkpoint_path(dir), "one").unwrap();
    note(&lock, dir, HINT);
    let path = dir.join("lock");
    let whole = fs::read(&path).unwrap();
    for place in 0..whole.len() {
        let mut changed = whole.clone();
        changed[place] ^= 4;
        fs::write(&path, &changed).unwrap();
        assert_eq!(read(&lock, dir), None, "{place}");
        fs::write(&path, &whole[..place]).unwrap();
        assert_eq!(read(&lock, dir), None, "{place}");
    }
    fs::write(&path, &whole).unwrap();
    assert_eq!(read(&lock, dir), Some(HINT));
}
