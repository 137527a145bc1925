//! What is kept comes back, and damage is told.

use proptest::prelude::*;
use tagout_vocab::{Digest, Timestamp};

use super::{
    Addition, HistoryError, Key, MemoryStore, Posting, Postings, States, Store as _, Topic, add,
    find,
};
use crate::attribution::{Author, Credit, Line, OriginNo, Sheet, Version};

fn version(text: &str, author: u32) -> Version {
    let sheet = Sheet::of(text.as_bytes());
    let credits = (0..sheet.lines.len())
        .map(|line| match line % 3 {
            0 => Credit::fresh(Author::Agent(OriginNo(author))),
            1 => Credit::fresh(Author::Human).likely(),
            _ => Credit::fresh(Author::Unknown),
        })
        .collect();
    Version { sheet, credits }
}

/// What a version's lines are, wherever their tokens lie.
fn facts(version: &Version) -> Vec<(u64, u64, u32, Vec<u64>)> {
    let sheet = &version.sheet;
    let line = |(at, line): (usize, &Line)| {
        (
            line.hash,
            line.soft,
            line.weight,
            sheet.tokens_of(at).to_vec(),
        )
    };
    sheet.lines.iter().enumerate().map(line).collect()
}

fn put(store: &mut MemoryStore, path: &Digest, text: &str, author: u32) {
    let addition = Addition {
        path,
        content: &Digest::of(text.as_bytes()),
        version: &version(text, author),
        same_as: None,
        at_hand: None,
    };
    add(store, &addition).unwrap();
}

fn text(lines: &[u8]) -> String {
    let lines = lines.iter();
    let lines = lines.map(|line| format!("    let word_{line} = call({line});\n"));
    lines.collect::<Vec<_>>().concat()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// B3 Every version comes back as it was put, whole or as a difference.
    #[test]
    fn versions_come_back(
        texts in prop::collection::vec(prop::collection::vec(0_u8..30, 0..20), 1..40),
    ) {
        let mut store = MemoryStore::default();
        let path = Digest::of(b"path");
        for (author, lines) in (0..).zip(&texts) {
            put(&mut store, &path, &text(lines), author);
        }
        let found = States(&store).recent(&path, texts.len()).unwrap();
        prop_assert_eq!(found.len(), texts.len());
        for ((author, lines), found) in (0..).zip(&texts).zip(found) {
            let expected = version(&text(lines), author);
            prop_assert_eq!(facts(&found.version), facts(&expected));
            prop_assert_eq!(&found.version.credits, &expected.credits);
            prop_assert_eq!(found.content, Digest::of(text(lines).as_bytes()));
        }
    }

    /// B3 Bytes that nobody wrote are an error or another version, never a panic.
    #[test]
    fn damage_is_told(
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
        cut in any::<bool>(),
    ) {
        let mut store = MemoryStore::default();
        let path = Digest::of(b"path");
        for author in 0..4 {
            put(&mut store, &path, &text(&[1, 2, 3, u8::try_from(author).unwrap()]), author);
        }
        let key = Key::piece(&path, 0);
        let mut bytes = store.get(&key).unwrap().unwrap();
        let at = at.index(bytes.len());
        if cut {
            bytes.truncate(at);
        } else {
            bytes[at] = byte;
        }
        store.put(&key, &bytes).unwrap();
        let found = States(&store).recent(&path, 4);
        prop_assert!(found.is_err() || found.is_ok_and(|found| found.len() <= 4));
    }
}

#[test]
fn a_later_format_is_refused() {
    let mut store = MemoryStore::default();
    let path = Digest::of(b"path");
    put(&mut store, &path, "one\n", 0);
    let key = Key::piece(&path, 0);
    let mut bytes = store.get(&key).unwrap().unwrap();
    bytes[1] = 99;
    store.put(&key, &bytes).unwrap();
    let error = States(&store).recent(&path, 1).unwrap_err();
    assert!(
        matches!(error, HistoryError::Later { found: 99, .. }),
        "{error}"
    );
}

#[test]
fn a_version_of_another_path_is_kept_once() {
    let mut store = MemoryStore::default();
    let (one, other) = (Digest::of(b"one"), Digest::of(b"other"));
    let long = text(&[1, 2, 3, 4, 5, 6, 7, 8, 9]);
    put(&mut store, &one, &long, 7);
    let before = store.size().1;
    let place = States(&store).recent(&one, 1).unwrap().pop().unwrap().place;
    let addition = Addition {
        path: &other,
        content: &Digest::of(long.as_bytes()),
        version: &version(&long, 7),
        same_as: Some(place),
        at_hand: None,
    };
    add(&mut store, &addition).unwrap();
    assert!(store.size().1 - before < 200, "a link, not a copy");
    let found = States(&store).recent(&other, 1).unwrap().pop().unwrap();
    assert_eq!(found.version.credits, version(&long, 7).credits);
    let mut changed = long;
    changed.push_str("more();\n");
    put(&mut store, &other, &changed, 8);
    let found = States(&store).recent(&other, 1).unwrap().pop().unwrap();
    assert_eq!(facts(&found.version), facts(&version(&changed, 8)));
}

#[test]
fn records_are_found_by_topic_newest_first() {
    let mut store = MemoryStore::default();
    for number in 0..1_000_u32 {
        let posting = Posting {
            at: Timestamp::from_millis(i64::from(number)),
            record: format!("record-{number}"),
        };
        let name = if number % 10 == 0 { "INT-1" } else { "INT-2" };
        Postings(&mut store)
            .add(Topic::Intent, name, &posting)
            .unwrap();
    }
    let all = |name, since, max| {
        find(
            &store,
            (Topic::Intent, name),
            Timestamp::from_millis(since),
            max,
        )
        .unwrap()
    };
    assert_eq!(all("INT-1", 0, 1_000).len(), 100);
    assert_eq!(all("INT-2", 0, 1_000).len(), 900);
    assert_eq!(all("INT-1", 950, 1_000).len(), 5);
    let two = all("INT-2", 0, 2);
    assert_eq!(
        two.iter().map(|p| p.record.as_str()).collect::<Vec<_>>(),
        ["record-999", "record-998"]
    );
    assert_eq!(all("INT-3", 0, 10), []);
}
