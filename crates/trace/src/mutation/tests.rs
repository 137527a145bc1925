//! Labelled pairs, and changes of several files.

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

const FILES: [(&str, &str); 5] = [
    ("a.rs", include_str!("../../tests/pairs/rust.txt")),
    ("a.py", include_str!("../../tests/pairs/python.txt")),
    ("a.ts", include_str!("../../tests/pairs/typescript.txt")),
    ("a.go", include_str!("../../tests/pairs/go.txt")),
    ("A.java", include_str!("../../tests/pairs/java.txt")),
];

fn pairs() -> Vec<Pair> {
    let mut found = Vec::new();
    for (path, text) in FILES {
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

/// H10 The class computed from the trees is the one that a reviewer gave, in at least 95 of 100
/// pairs of five languages.
#[test]
fn labelled_pairs_get_their_class() {
    let pairs = pairs();
    let mean = pairs.iter().filter(|pair| pair.is_mean).count();
    assert!(pairs.len() >= 100 && mean >= 30, "{} {mean}", pairs.len());
    let mut misses = Vec::new();
    for pair in &pairs {
        let computed = judge(pair.path, &pair.before, &pair.after);
        assert_ne!(
            computed.reason,
            Reason::NoParse,
            "{}: {}",
            pair.path,
            pair.name
        );
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
    let right = pairs.len() - misses.len();
    let report = format!(
        "{right} of {} right, {mean} of them mean\n{}",
        pairs.len(),
        misses.join("\n")
    );
    #[expect(clippy::print_stdout, reason = "the misses are the test's result")]
    {
        println!("{report}");
    }
    assert!(right * 100 >= pairs.len() * 95, "{report}");
}
