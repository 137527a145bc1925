//! Laws of the merge, and its agreement with another one.

use proptest::prelude::*;

use super::{Merge, merge3};

fn merged(base: &str, ours: &str, theirs: &str) -> Option<String> {
    match merge3(base.as_bytes(), ours.as_bytes(), theirs.as_bytes()) {
        Merge::Merged(bytes) => Some(String::from_utf8(bytes).unwrap()),
        Merge::Conflict(hunks) => {
            assert!(!hunks.is_empty());
            None
        }
    }
}

#[test]
fn separate_changes_meet() {
    let base = "a\nb\nc\nd\ne\n";
    assert_eq!(
        merged(base, "A\nb\nc\nd\ne\n", "a\nb\nc\nd\nE\nf\n").as_deref(),
        Some("A\nb\nc\nd\nE\nf\n")
    );
    assert_eq!(merged(base, "a\nB\nc\nd\ne\n", "a\nX\nc\nd\ne\n"), None);
    assert_eq!(
        merged(base, "a\nB\nc\nd\ne\n", "a\nb\nC\nd\ne\n"),
        None,
        "adjacent lines"
    );
    assert_eq!(
        merged(base, "a\nB\nc\nd\ne\n", "a\nB\nc\nd\nE\n").as_deref(),
        Some("a\nB\nc\nd\nE\n"),
        "the same change on both sides is one change"
    );
    assert_eq!(
        merged("a\nb", "A\nb", "a\nb\n"),
        None,
        "an ending is part of its line"
    );
    assert_eq!(
        merged("a\nx\nb", "A\nx\nb", "a\nx\nb\n").as_deref(),
        Some("A\nx\nb\n")
    );
}

#[test]
fn what_can_be_read_in_two_ways_is_a_conflict() {
    // Whose `x` is gone: the one before or the one behind the new line?
    assert_eq!(merged("x\nx\n", "x\ny\nx\n", "x\n"), None);
    // Both took one of two equal lines away: one gone or both?
    assert_eq!(
        merged("k\nx\nx\nz\nq\n", "k\nx\nz\nQ\n", "K\nk\nx\nz\nq\n"),
        None
    );
    // Both put the same line there: once or twice?
    assert_eq!(
        merged("a\nb\nc\nd\n", "a\nn\nb\nc\nD\n", "A\na\nn\nb\nc\nd\n"),
        None
    );
}

#[test]
fn a_conflict_shows_all_sides_and_where() {
    let Merge::Conflict(hunks) = merge3(b"a\nb\nc\n", b"a\nB\nc\n", b"a\nX\nY\nc\n") else {
        panic!("overlapping changes");
    };
    let [hunk] = hunks.as_slice() else {
        panic!("one place")
    };
    assert_eq!(
        (hunk.base.start_line, hunk.base.text.as_slice()),
        (2, &b"b\n"[..])
    );
    assert_eq!(
        (hunk.ours.start_line, hunk.ours.text.as_slice()),
        (2, &b"B\n"[..])
    );
    assert_eq!(hunk.theirs.text, b"X\nY\n");
}

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(0_u8..12, 0..24).prop_map(|lines| {
        lines
            .iter()
            .map(|line| format!("line {line}\n"))
            .collect::<Vec<_>>()
            .concat()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// B4 A side that changed nothing yields to the other, both sides alike are one, and the sides
    /// may be swapped.
    #[test]
    fn laws(base in text(), ours in text(), theirs in text()) {
        prop_assert_eq!(merged(&base, &base, &theirs), Some(theirs.clone()));
        prop_assert_eq!(merged(&base, &ours, &base), Some(ours.clone()));
        prop_assert_eq!(merged(&base, &ours, &ours), Some(ours.clone()));
        prop_assert_eq!(merged(&base, &ours, &theirs), merged(&base, &theirs, &ours));
    }

    /// B4 Nothing is lost: every line of the result comes from a side, and a line that one side
    /// added and the other never touched is there.
    #[test]
    fn no_line_is_lost(base in prop::collection::vec(0_u16..400, 1..30), at in any::<[u8; 2]>()) {
        let text = |lines: &[u16]| lines.iter().map(|l| format!("{l}\n")).collect::<Vec<_>>().concat();
        let put = |at: u8, line: u16| {
            let mut lines = base.clone();
            lines.insert(usize::from(at) % (base.len() + 1), line);
            lines
        };
        let (ours, theirs) = (put(at[0], 1_000), put(at[1], 2_000));
        if let Some(result) = merged(&text(&base), &text(&ours), &text(&theirs)) {
            let lines: Vec<u16> = result.lines().map(|l| l.parse().unwrap()).collect();
            let without = |gone: u16| -> Vec<u16> {
                lines.iter().copied().filter(|l| *l != gone).collect()
            };
            prop_assert_eq!(without(1_000), theirs);
            prop_assert_eq!(without(2_000), ours);
        } else {
            let place = |index: usize| usize::from(at[index]) % (base.len() + 1);
            prop_assert_eq!(place(0), place(1));
        }
    }
}
