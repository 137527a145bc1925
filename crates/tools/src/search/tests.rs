//! Searching line by line.

use super::{Pattern, search};

fn lines(pattern: &str, text: &str, max: usize) -> (Vec<(u64, bool, String)>, bool) {
    let (found, cut) = search(&Pattern::new(pattern).unwrap(), text, max);
    let found = found
        .into_iter()
        .map(|one| (one.line, one.matches, one.text))
        .collect();
    (found, cut)
}

#[test]
fn matches_come_with_the_lines_beside_them() {
    let (found, cut) = lines("b+", "a\nbb\nc\nd\ne\n", 10);
    let expected = [(1, false, "a"), (2, true, "bb"), (3, false, "c")];
    let expected: Vec<_> = expected
        .map(|(line, hit, text)| (line, hit, text.to_owned()))
        .into();
    assert_eq!((found, cut), (expected, false));
}

#[test]
fn a_search_is_bounded() {
    let (found, cut) = lines("x", &"x\n".repeat(1_000), 3);
    assert_eq!(found.iter().filter(|(_, hit, _)| *hit).count(), 3);
    assert!(cut);
    let (found, _) = lines("x", &"x".repeat(10_000), 3);
    assert!(found[0].2.len() < 600);
}

#[test]
fn anchors_and_cases_work_by_line() {
    assert_eq!(lines("^b$", "a\nb\n", 9).0.len(), 2);
    assert_eq!(lines("(?i)B", "b\n", 9).0.len(), 1);
    assert!(lines("a\\nb", "a\nb\n", 9).0.is_empty());
}

#[test]
fn wrong_and_hostile_expressions_are_refused() {
    for pattern in ["", "(", "a{1000}{1000}{1000}", "(?<x", &"a".repeat(5_000)] {
        assert!(Pattern::new(pattern).is_err(), "{pattern}");
    }
    // Linear time, whatever the expression.
    let pattern = Pattern::new("(a*)*b").unwrap();
    assert!(search(&pattern, &"a".repeat(100_000), 1).0.is_empty());
}
