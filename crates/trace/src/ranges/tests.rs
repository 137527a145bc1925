//! Hunks rebuild the new text, and stay within their bounds.

use proptest::prelude::*;
use tagout_vocab::Digest;
use tagout_vocab::limits::{TRACE_DIFF_LINES_MAX, TRACE_RANGES_MAX};

use super::{Hunk, LineRange, Lines, diff, lines, segments};

/// The new text, made from the old one, the hunks and the new lines in them alone.
fn rebuilt(before: &[u8], after: &[u8], hunks: &[Hunk]) -> Vec<u8> {
    let (old, new) = (Lines::of(before), Lines::of(after));
    let mut text = Vec::new();
    let mut at = 0;
    for hunk in hunks {
        text.extend_from_slice(old.slice(&(at..hunk.before.start)));
        text.extend_from_slice(new.slice(&hunk.after));
        at = hunk.before.end;
    }
    text.extend_from_slice(old.slice(&(at..old.count())));
    text
}

fn check(before: &[u8], after: &[u8]) {
    let hunks = diff(before, after);
    assert_eq!(rebuilt(before, after, &hunks), after);
    assert_eq!(hunks.is_empty(), before == after);
    for hunk in &hunks {
        assert!(!(hunk.before.is_empty() && hunk.after.is_empty()));
    }
    for pair in hunks.windows(2) {
        assert!(pair[0].before.end < pair[1].before.start, "{hunks:?}");
        assert!(pair[0].after.end < pair[1].after.start, "{hunks:?}");
    }
    let ranges = segments(before, after);
    assert_eq!(ranges.len(), hunks.len().min(TRACE_RANGES_MAX));
}

/// Few different lines, so that there are many ways to match them.
fn texts() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![
        Just("a\n"),
        Just("b\n"),
        Just("    b\n"),
        Just("\n"),
        Just("}\n"),
        Just("b\r\n"),
    ];
    let end = prop_oneof![Just(""), Just("a"), Just("}")];
    (proptest::collection::vec(line, 0..40), end)
        .prop_map(|(lines, end)| (lines.concat() + end).into_bytes())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    /// H11 The ranges hold the whole change.
    #[test]
    fn hunks_rebuild_the_new_text(before in texts(), after in texts()) {
        check(&before, &after);
    }

    #[test]
    fn any_bytes_have_hunks(
        before in proptest::collection::vec(any::<u8>(), 0..300),
        after in proptest::collection::vec(any::<u8>(), 0..300),
    ) {
        check(&before, &after);
    }
}

#[test]
fn separate_changes_are_separate_hunks() {
    let before = b"one\ntwo\nthree\nfour\nfive\n";
    let after = b"one\n2\nthree\nfour\n5\nsix\n";
    let found = segments(before, after);
    let places: Vec<(LineRange, LineRange)> = found.iter().map(|one| (one.old, one.new)).collect();
    let range = |start_line, end_line| LineRange {
        start_line,
        end_line,
    };
    assert_eq!(
        places,
        [(range(2, 2), range(2, 2)), (range(5, 5), range(5, 6))]
    );
    assert_eq!(found[0].new_hash, Some(Digest::of(b"2\n")));
    assert_eq!(found[1].old_hash, Some(Digest::of(b"five\n")));
}

#[test]
fn nothing_is_a_range_that_ends_before_it_starts() {
    let found = segments(b"", b"a\nb\n");
    assert_eq!((found[0].old.start_line, found[0].old.end_line), (1, 0));
    assert_eq!(found[0].old_hash, None);
    let found = segments(b"a\nb\nc\n", b"a\nc\n");
    assert_eq!((found[0].new.start_line, found[0].new.end_line), (2, 1));
    assert!(found[0].new.is_empty());
    assert_eq!(found[0].new.indices(), 1..1);
}

#[test]
fn line_ends_count() {
    assert_eq!(diff(b"a\n", b"a").len(), 1);
    assert_eq!(diff(b"a\n", b"a\r\n").len(), 1);
    assert_eq!(lines(b"a\n\nb"), [b"a\n".as_slice(), b"\n", b"b"]);
}

#[test]
fn very_long_texts_get_one_range() {
    let before = "a\n".repeat(TRACE_DIFF_LINES_MAX + 1);
    let mut after = before.clone();
    after.insert_str(2, "b\n");
    after.push_str("c\n");
    let found = diff(before.as_bytes(), after.as_bytes());
    assert_eq!(found.len(), 1);
    assert_eq!(
        rebuilt(before.as_bytes(), after.as_bytes(), &found),
        after.as_bytes()
    );
}

#[test]
fn texts_that_share_nothing_end_soon() {
    let text = |word: &str| -> String {
        (0..30_000)
            .map(|n| format!("{word} {}\n", n % 700))
            .collect()
    };
    check(text("a").as_bytes(), text("b").as_bytes());
    let forth: String = (0..20_000)
        .map(|n| format!("{}\n", n * 7919 % 1_009))
        .collect();
    let back: String = (0..20_000)
        .map(|n| format!("{}\n", n * 104_729 % 1_009))
        .collect();
    check(forth.as_bytes(), back.as_bytes());
}
