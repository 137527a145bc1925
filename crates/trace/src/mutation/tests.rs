//! Labelled pairs, and changes of several files.

use proptest::prelude::*;
use tagout_vocab::MutationClass;

use super::{Reason, Sides, classify, classify_all};

/// A labelled pair.
struct Pair {
    path: &'static str,
    class: MutationClass,
    is_mean: bool,
    name: String,
    reason: String,
    before: String,
    after: String,
}

/// Written before the classifier.
const FIRST: [(&str, &str); 5] = [
    ("a.rs", include_str!("../../tests/pairs/rust.txt")),
    ("a.py", include_str!("../../tests/pairs/python.txt")),
    ("a.ts", include_str!("../../tests/pairs/typescript.txt")),
    ("a.go", include_str!("../../tests/pairs/go.txt")),
    ("A.java", include_str!("../../tests/pairs/java.txt")),
];

/// Written after it, and labelled before it was asked.
const SECOND: [(&str, &str); 6] = [
    ("a.rs", include_str!("../../tests/pairs/second.rs.txt")),
    ("a.py", include_str!("../../tests/pairs/second.py.txt")),
    ("a.js", include_str!("../../tests/pairs/javascript.txt")),
    ("a.go", include_str!("../../tests/pairs/second.go.txt")),
    ("A.java", include_str!("../../tests/pairs/second.java.txt")),
    ("a.c", include_str!("../../tests/pairs/c.txt")),
];

fn pairs(files: &[(&'static str, &str)]) -> Vec<Pair> {
    let mut found = Vec::new();
    for &(path, text) in files {
        for case in text.split("@@@ ").skip(1) {
            let (head, texts) = case.split_once('\n').unwrap();
            let (before, after) = texts.split_once("@@@@\n").unwrap();
            let words: Vec<&str> = head.split(" | ").collect();
            let (class, rest) = words.split_first().unwrap();
            let is_mean = rest.first() == Some(&"mean");
            let rest = &rest[usize::from(is_mean)..];
            assert_eq!(rest.len(), 2, "{head}");
            found.push(Pair {
                path,
                class: MutationClass::parse(class).unwrap(),
                is_mean,
                name: rest[0].to_owned(),
                reason: rest[1].to_owned(),
                before: before.to_owned(),
                after: after.to_owned(),
            });
        }
    }
    found
}

fn judge(path: &str, before: &str, after: &str) -> super::Computed {
    classify(Sides {
        path,
        moved_from: None,
        before: Some(before.as_bytes()),
        after: Some(after.as_bytes()),
    })
}

/// Judges pairs; gives how many there are, how many mean ones, and the misses.
fn judge_all(files: &[(&'static str, &str)]) -> (usize, usize, Vec<String>) {
    let pairs = pairs(files);
    let mean = pairs.iter().filter(|pair| pair.is_mean).count();
    let mut misses = Vec::new();
    for pair in &pairs {
        assert!(!pair.reason.is_empty(), "{}: {}", pair.path, pair.name);
        let computed = judge(pair.path, &pair.before, &pair.after);
        let is_read = computed.reason != Reason::NoParse;
        assert!(is_read, "{}: {}", pair.path, pair.name);
        if computed.class != pair.class {
            misses.push(format!(
                "{} · {} · wanted {} ({}), got: {}",
                pair.path,
                pair.name,
                pair.class.as_str(),
                pair.reason,
                computed.reason
            ));
        }
    }
    println!(
        "{} of {} right, {mean} of them mean\n{}",
        pairs.len() - misses.len(),
        pairs.len(),
        misses.join("\n")
    );
    (pairs.len(), mean, misses)
}

/// H10 The class computed from the trees is the one that a reviewer gave, in at least 95 of 100
/// pairs of five languages.
#[test]
fn labelled_pairs_get_their_class() {
    let (count, mean, misses) = judge_all(&FIRST);
    assert!(count >= 100 && mean >= 30, "{count} {mean}");
    for file in &FIRST {
        assert!(pairs(&[*file]).len() >= 15, "{}", file.0);
    }
    assert!(misses.len() * 100 <= count * 5, "{misses:#?}");
}

/// H10
#[test]
fn a_second_set_of_pairs_gets_its_class() {
    let (count, _, misses) = judge_all(&SECOND);
    assert!(misses.len() * 100 <= count * 5, "{misses:#?}");
}

fn sides<'a>(path: &'a str, before: Option<&'a str>, after: Option<&'a str>) -> Sides<'a> {
    Sides {
        path,
        moved_from: None,
        before: before.map(str::as_bytes),
        after: after.map(str::as_bytes),
    }
}

#[test]
fn what_moves_between_files_is_a_refactoring() {
    let f = "pub fn f() -> u8 {\n    1\n}\n";
    let g = "fn g(x: u8) -> u8 {\n    x\n}\n";
    let both = format!("{f}{g}");
    let moved = format!("use crate::b::g;\n\nmod b;\n{f}");
    let open = g.replace("fn g", "pub(crate) fn g");
    let change = [
        sides("a.rs", Some(&both), Some(&moved)),
        sides("b.rs", None, Some(&open)),
    ];
    assert_eq!(classify_all(&change).reason, Reason::Moved);
    let other = open.replace("    x\n", "    x + 1\n");
    let change = [
        sides("a.rs", Some(&both), Some(&moved)),
        sides("b.rs", None, Some(&other)),
    ];
    assert_eq!(classify_all(&change).class, MutationClass::IntentEvolution);
}

#[test]
fn what_cannot_be_shown_is_new_behaviour() {
    let reason = |path, before, after| classify(sides(path, before, after)).reason;
    assert_eq!(reason("a.md", Some("a"), Some("b")), Reason::NoGrammar);
    assert_eq!(
        reason("a.rs", Some("fn f("), Some("fn f() {}")),
        Reason::NoParse
    );
    assert_eq!(reason("a.rs", None, Some("fn f() {}")), Reason::Created);
    assert_eq!(reason("a.rs", Some("fn f() {}"), None), Reason::Deleted);
    assert_eq!(reason("a.md", Some("a"), Some("a")), Reason::Unchanged);
    let large = " ".repeat(tagout_vocab::limits::SYNTAX_BYTES_MAX + 1);
    assert_eq!(
        reason("a.rs", Some(&large), Some("fn f() {}")),
        Reason::TooLarge
    );
}

#[test]
fn reasons_can_be_read() {
    let told = |before: &str, after: &str| judge("a.py", before, after).reason.to_string();
    let f = "def f():\n    return _g()\n\ndef _g():\n    return 1\n";
    assert_eq!(
        told(f, &f.replace("_g", "_h")),
        "private names changed everywhere and alike: `_g` to `_h`"
    );
    assert_eq!(
        told(f, &f.replace("return 1", "return 2")),
        "words that carry behaviour changed in `_g`"
    );
    assert_eq!(
        told(f, &f.replace("def f", "def k")),
        "other names can be seen: `k` instead of `f`"
    );
    assert_eq!(
        told(f, &f.replace("  ", " ")),
        "only layout or comments changed"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// No two texts break the comparison, and a text is always a refactoring of itself.
    #[test]
    fn any_bytes_can_be_compared(
        before in proptest::collection::vec(any::<u8>(), 0..150),
        after in proptest::collection::vec(any::<u8>(), 0..150),
        path in "a\\.(rs|py|ts|tsx|js|go|java|c|cpp|sh)",
    ) {
        let sides = |before, after| Sides { path: &path, moved_from: None, before, after };
        classify_all(&[sides(Some(&before), Some(&after)), sides(None, Some(&before))]);
        let own = classify(sides(Some(&before), Some(&before)));
        prop_assert_eq!(own.class, MutationClass::AstRefactor);
    }

    /// Pieces of real code in any mixture: no panic, and the same answer each time.
    #[test]
    fn pieces_of_code_can_be_compared(
        picks in proptest::collection::vec((0_usize..128, any::<bool>(), 0_usize..30), 1..6),
    ) {
        let pairs = pairs(&FIRST);
        let mut texts = [String::new(), String::new()];
        let path = pairs[picks[0].0].path;
        for (at, side, line) in picks {
            let pair = &pairs[at];
            let text = if side { &pair.before } else { &pair.after };
            let lines: Vec<&str> = text.lines().collect();
            for (which, kept) in texts.iter_mut().enumerate() {
                let from = (line + which) % lines.len().max(1);
                kept.push_str(&lines[from..].join("\n"));
                kept.push('\n');
            }
        }
        let first = judge(path, &texts[0], &texts[1]);
        prop_assert_eq!(first, judge(path, &texts[0], &texts[1]));
    }
}
