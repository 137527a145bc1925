//! What the database keeps, and what it lets go.

use std::path::PathBuf;

use rusqlite::Connection;
use tagout_vocab::Timestamp;

use super::{Book, set_up};

fn book() -> Book {
    let connection = Connection::open_in_memory().unwrap();
    set_up(&connection).unwrap();
    let path = PathBuf::from("trace.db");
    Book { path, connection }
}

/// Design §7: images go when they are old, and the oldest when there are too many bytes of them.
#[test]
fn images_are_bounded_by_time_and_by_bytes() {
    let mut book = book();
    let pages = book.begin().unwrap();
    let at = Timestamp::from_millis;
    for (digest, time) in [("a", 1), ("b", 2), ("c", 3), ("d", 4)] {
        pages.keep_image(digest, at(time), &[0; 10]).unwrap();
    }
    // One that is wanted again is as young as what wants it, and counts once.
    pages.keep_image("b", at(5), &[0; 10]).unwrap();
    let left = |expected: &str| {
        let has = |digest: &&str| pages.image(digest).unwrap().is_some();
        let found: String = ["a", "b", "c", "d"].into_iter().filter(has).collect();
        assert_eq!(found, expected);
        let bytes = i64::try_from(expected.len() * 10).unwrap();
        assert_eq!(pages.image_bytes().unwrap(), bytes);
    };
    pages.drop_images(at(0), 40).unwrap();
    left("abcd");
    pages.drop_images(at(2), 40).unwrap();
    left("bcd");
    pages.drop_images(at(0), 29).unwrap();
    left("bd");
    pages.drop_images(at(0), 0).unwrap();
    left("");
}

/// What an earlier version kept is taken over, and a call's second step finds room.
#[test]
fn steps_of_an_earlier_version_are_taken_over() {
    let connection = Connection::open_in_memory().unwrap();
    let before = "CREATE TABLE steps (
            seq INTEGER PRIMARY KEY, execution TEXT NOT NULL UNIQUE, session TEXT, intent TEXT,
            undoes TEXT NOT NULL, effects TEXT
        ) STRICT;
        CREATE INDEX by_session ON steps (session, seq) WHERE session IS NOT NULL;
        CREATE INDEX by_intent ON steps (intent, seq) WHERE intent IS NOT NULL;
        INSERT INTO steps VALUES (7, 'c-1', 's-1', 'INT-001', '', 'kept');
        PRAGMA user_version = 4;";
    connection.execute_batch(before).unwrap();
    set_up(&connection).unwrap();
    set_up(&connection).unwrap();
    let again = "INSERT INTO steps VALUES (9, 'c-1', 's-1', 'INT-001', '', NULL);";
    connection.execute_batch(again).unwrap();
    let path = PathBuf::from("trace.db");
    let mut book = Book { path, connection };
    let steps = book.look().unwrap().steps_from(0).unwrap();
    let kept: Vec<_> = steps.into_iter().map(|step| step.effects).collect();
    assert_eq!(kept, [Some("kept".to_owned()), None]);
}
