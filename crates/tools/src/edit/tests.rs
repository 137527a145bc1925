//! Edits: where a text stands, and what is kept around it.

use proptest::prelude::*;

use super::{Occurrences, replace};
use crate::fault::Fault;
use crate::text::Text;

fn check(before: &[u8], old: &str, new: &str, wanted: Occurrences) -> Result<Vec<u8>, Fault> {
    let text = Text::decode(before)?;
    replace(&text, old, new, wanted)?.text.encode()
}

type Case = (
    &'static [u8],
    &'static str,
    &'static str,
    Occurrences,
    &'static [u8],
);

#[test]
fn golden_before_and_after() {
    let one = Occurrences::Exactly(1);
    let cases: [Case; 8] = [
        (b"a\nb\nc\n", "b", "x", one, b"a\nx\nc\n"),
        (b"a\r\nb\r\nc", "a\nb", "x\ny\nz", one, b"x\r\ny\r\nz\r\nc"),
        (b"a\nb", "b", "x", one, b"a\nx"),
        (b"\xEF\xBB\xBFa\n", "a", "b", one, b"\xEF\xBB\xBFb\n"),
        (
            b"caf\xE9 \xE9t\xE9\n",
            "café",
            "thé",
            one,
            b"th\xE9 \xE9t\xE9\n",
        ),
        (b"x x x\n", "x", "y", Occurrences::All, b"y y y\n"),
        (b"x x\n", "x", "y", Occurrences::Exactly(2), b"y y\n"),
        (b"a\r\nb\n", "a\r\nb", "c\r\nd", one, b"c\r\nd\n"),
    ];
    for (before, old, new, wanted, after) in cases {
        let got = check(before, old, new, wanted).unwrap();
        assert_eq!(got, after, "{old}");
    }
}

#[test]
fn a_text_that_is_not_there_shows_the_nearest_lines() {
    let error = check(
        b"fn main() {\n    println!(\"hello\");\n}\n",
        "    println!(\"hallo\");",
        "x",
        Occurrences::Exactly(1),
    );
    let Err(Fault::NoMatch { candidates, .. }) = error else {
        panic!("{error:?}");
    };
    assert_eq!(candidates[0].line, 2);
    assert_eq!(candidates[0].text, "    println!(\"hello\");");
}

#[test]
fn a_text_that_is_there_twice_shows_both_places() {
    let error = check(b"a\nx\nb\nx\n", "x", "y", Occurrences::Exactly(1));
    let Err(Fault::Ambiguous {
        candidates,
        message,
    }) = error
    else {
        panic!("{error:?}");
    };
    let lines: Vec<usize> = candidates.iter().map(|place| place.line).collect();
    assert_eq!(lines, [2, 4]);
    assert!(message.contains("2 times"), "{message}");
}

#[test]
fn overlapping_places_are_two_places() {
    let error = check(b"aaa\n", "aa", "b", Occurrences::Exactly(1));
    assert!(matches!(error, Err(Fault::Ambiguous { .. })), "{error:?}");
}

#[test]
fn a_wrong_number_is_refused() {
    let error = check(b"x x x\n", "x", "y", Occurrences::Exactly(2));
    assert!(matches!(error, Err(Fault::Ambiguous { .. })), "{error:?}");
}

#[test]
fn empty_and_equal_texts_are_refused() {
    for (old, new) in [("", "x"), ("a", "a"), ("\r\n", "\n")] {
        let error = check(b"a\r\n", old, new, Occurrences::All);
        assert!(matches!(error, Err(Fault::Invalid { .. })), "{old:?}");
    }
}

#[test]
fn hostile_sizes_are_refused_at_once() {
    let file = vec![b'a'; 4 * 1024 * 1024];
    let text = Text::decode(&file).unwrap();
    for new in ["b".to_owned(), "b".repeat(1024 * 1024)] {
        let error = replace(&text, "a", &new, Occurrences::All).unwrap_err();
        assert!(matches!(error, Fault::TooLarge { .. }), "{error}");
    }
    let error = replace(&text, "a", "b", Occurrences::Exactly(1)).unwrap_err();
    assert!(matches!(error, Fault::Ambiguous { .. }), "{error}");
}

#[test]
fn lines_are_counted_in_the_old_text() {
    let text = Text::decode(b"x\ny\nx x\n").unwrap();
    let replaced = replace(&text, "x", "z\nz", Occurrences::All).unwrap();
    assert_eq!((replaced.lines, replaced.count), (vec![1, 3, 3], 3));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// What stands around the one occurrence keeps every byte, and replacing back gives the file
    /// that was there before.
    #[test]
    fn an_edit_and_its_inverse_are_nothing(
        before in "([a-c]{0,3}(\r\n|\n)){0,5}",
        old in "[m-o]{1,3}(\n[m-o]{0,3}){0,3}",
        new in "[x-z]{1,3}(\n[x-z]{0,3}){0,3}",
        after in "((\r\n|\n)[a-c]{0,3}){0,5}",
        crlf in any::<bool>(),
    ) {
        let spelled = if crlf { old.replace('\n', "\r\n") } else { old.clone() };
        let file = format!("{before}{spelled}{after}").into_bytes();
        let one = Occurrences::Exactly(1);
        if let Ok(changed) = check(&file, &old, &new, one) {
            prop_assert!(changed.starts_with(before.as_bytes()));
            prop_assert!(changed.ends_with(after.as_bytes()));
            if old.matches('\n').count() <= new.matches('\n').count()
                && let Ok(back) = check(&changed, &new, &old, one)
            {
                prop_assert_eq!(back, file);
            }
        }
    }
}
