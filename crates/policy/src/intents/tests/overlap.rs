//! Overlap: never «no» where a path proves a common owner.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use proptest::prelude::*;
use tagout_vocab::limits::{PATTERN_BYTES_MAX, SCOPE_PATTERNS_MAX};
use tagout_vocab::{Intent, IntentStatus};

use super::super::{IntentSet, find_overlaps, overlaps};
use super::{at, id, intent, texts};

fn meet(left: &[&str], right: &[&str]) -> bool {
    let (left, right) = (texts(left), texts(right));
    let there = overlaps(&left, &right).is_some();
    assert_eq!(
        there,
        overlaps(&right, &left).is_some(),
        "{left:?} {right:?}"
    );
    there
}

/// H17: scopes that can own a common path, and scopes that can't.
#[test]
fn overlap_is_found_and_only_where_it_can_be() {
    for (left, right) in [
        (&["src/**"][..], &["src/auth/login.rs"][..]),
        (&["src/auth"], &["src/auth/**"]),
        (&["src/"], &["src"]),
        (&["src/*.rs"], &["src/main.*"]),
        (&["**/*.rs"], &["tests/**"]),
        (&["**"], &["a"]),
        (&["."], &["a/b"]),
        (&["a/**/z"], &["a/b/**"]),
        (&["a/?x"], &["a/*x"]),
        (&["Src/**"], &["src/a"]),
        (&["./src//a"], &["src/a"]),
        (&["e\u{301}/a"], &["\u{e9}/a"]),
        (&["stra\u{df}e"], &["STRASSE"]),
        (&["app/[id]/**"], &["app/x/y"]),
        (&["src/{a,b}/**"], &["src/b/c"]),
        (&["src/**.rs"], &["src/a/b.rs"]),
        (&["src/**", "!src/gen/x/**"], &["src/gen/**"]),
        (&["src/**", "!src/gen/*.rs"], &["src/gen/**"]),
        (&["!src/gen/**", "src/**"], &["src/gen/**"]),
        (&["src/**", "!SRC/gen/**"], &["src/gen/**"]),
        (&["src/**", "!src/gen/**"], &["src/gen"]),
    ] {
        assert!(meet(left, right), "{left:?} {right:?}");
    }
    for (left, right) in [
        (&["src/**"][..], &["tests/**"][..]),
        (&["src/auth/**"], &["src/authority/**"]),
        (&["src/*.rs"], &["src/*.md"]),
        (&["src/*.rs"], &["src/a/b.rs"]),
        (&["*"], &["src/a"]),
        (&["**/*.rs"], &["docs/*.md"]),
        (&["a/**/z"], &["b/**/z"]),
        (&["src/**", "!src/gen/**"], &["src/gen/**"]),
        (&["src/**", "!src/gen"], &["src/gen/x.rs"]),
        (&["src/**", "!src/gen/"], &["src/gen/**"]),
        (&["src/**", "!**/*.lock"], &["src/*.lock"]),
        (&["src/**"], &["src/gen/**", "!src/**"]),
        (&[], &["**"]),
        (&["!a"], &["**"]),
    ] {
        assert!(!meet(left, right), "{left:?} {right:?}");
    }
    assert_eq!(
        overlaps(&texts(&["docs/**", "src/**"]), &texts(&["src/a/**"])),
        Some(("src/**".to_owned(), "src/a/**".to_owned()))
    );
}

/// H17: only intents that could be worked on now count, and a person can allow the overlap in
/// either.
#[test]
fn only_open_intents_overlap_unless_a_person_allows_it() {
    let own = intent("A", &["src/**"]);
    let with = |change: fn(&mut Intent)| {
        let mut other = intent("B", &["docs/**", "src/auth/**"]);
        change(&mut other);
        let set = IntentSet::new(vec![own.clone(), other, intent("C", &["tests/**"])]).unwrap();
        let mut found = find_overlaps(&set, &id("A"), at(1_000));
        let other_way = find_overlaps(&set, &id("B"), at(1_000));
        assert!(found.len() <= 1);
        assert!(found.is_empty() || other_way.len() == 1, "{other_way:?}");
        found.pop()
    };
    let found = with(|_| {}).unwrap();
    assert_eq!(
        (
            found.with.as_str(),
            found.own.as_str(),
            found.other.as_str()
        ),
        ("B", "src/**", "src/auth/**")
    );
    assert!(with(|other| other.status = IntentStatus::InProgress).is_some());
    assert!(with(|other| other.expires_at = Some(at(1_001))).is_some());
    assert!(with(|other| other.shares_with = vec![id("C")]).is_some());
    assert_eq!(with(|other| other.status = IntentStatus::Completed), None);
    assert_eq!(with(|other| other.status = IntentStatus::Blocked), None);
    assert_eq!(with(|other| other.status = IntentStatus::Draft), None);
    assert_eq!(with(|other| other.expires_at = Some(at(1_000))), None);
    assert_eq!(with(|other| other.shares_with = vec![id("A")]), None);
    assert_eq!(with(|other| other.owned_scope.clear()), None);
    let set = IntentSet::new(vec![own]).unwrap();
    assert_eq!(find_overlaps(&set, &id("Z"), at(0)), vec![]);
}

/// H17: ten thousand neighbours in one folder are told apart within the bound.
#[test]
fn many_intents_are_compared_without_running_out_of_steps() {
    let mut many: Vec<Intent> = (0..10_000)
        .map(|n| {
            let own = format!("src/part{n}/**");
            let test = format!("tests/part{n}/*.rs");
            intent(&format!("INT-{n}"), &[&own, &test])
        })
        .collect();
    many.push(intent("LAST", &["src/part77/deep/x.rs"]));
    let set = IntentSet::new(many).unwrap();
    assert_eq!(find_overlaps(&set, &id("INT-5"), at(0)), vec![]);
    let found = find_overlaps(&set, &id("LAST"), at(0));
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].with, id("INT-77"));
}

/// Hostile patterns run out of steps, which counts as overlap. Without the bound this would take
/// hours.
#[test]
fn hostile_patterns_are_bounded() {
    let starry = "*a".repeat(PATTERN_BYTES_MAX / 2);
    let segments = "**/a/".repeat(PATTERN_BYTES_MAX / 5);
    let left = vec![format!("b/{}", &starry[..1000]); SCOPE_PATTERNS_MAX];
    let right = vec![format!("*/{}b", &starry[..1000]); SCOPE_PATTERNS_MAX];
    assert!(overlaps(&left, &right).is_some());
    let left = vec![segments.clone(); SCOPE_PATTERNS_MAX / 10];
    let mut right = vec!["zzz/*".to_owned(); SCOPE_PATTERNS_MAX / 2];
    right.extend(vec![format!("!{segments}"); SCOPE_PATTERNS_MAX / 2]);
    assert!(overlaps(&left, &right).is_some());
}

/// A scope as the design words it, written down a second time with another matcher.
struct Reference(Vec<(bool, GlobSet)>);

impl Reference {
    fn new(scope: &[String]) -> Self {
        let pattern = |pattern: &String| {
            let body = pattern.trim_start_matches('!');
            let folder = body.trim_end_matches('/');
            let name = folder.rsplit('/').next().unwrap();
            let plain = body.ends_with('/') || !name.contains(['*', '?', '[', '{']);
            let glob = |text: &str| {
                let mut builder = GlobBuilder::new(text);
                builder.literal_separator(true).build().unwrap()
            };
            let mut set = GlobSetBuilder::new();
            set.add(glob(folder));
            if plain {
                set.add(glob(&format!("{folder}/**")));
            }
            (pattern.starts_with('!'), set.build().unwrap())
        };
        Self(scope.iter().map(pattern).collect())
    }

    fn owns(&self, path: &str, last_wins: bool) -> bool {
        let mut hits = self.0.iter().filter(|(_, set)| set.is_match(path));
        if last_wins {
            hits.next_back().is_some_and(|(exclude, _)| !exclude)
        } else {
            let hits: Vec<bool> = hits.map(|(exclude, _)| *exclude).collect();
            !hits.is_empty() && !hits.contains(&true)
        }
    }
}

fn any_glob() -> impl Strategy<Value = String> {
    let segment = prop_oneof![
        4 => prop::sample::select(&["a", "b", "ab", "c.x"][..]).prop_map(str::to_owned),
        2 => "[ab*?]{1,3}".prop_filter("crosses", |s| !s.contains("**")),
        2 => Just("**".to_owned()),
        1 => prop::sample::select(&["[ab]", "{a,b}", "*.x", "a[!b]"][..]).prop_map(str::to_owned),
    ];
    (
        prop::collection::vec(segment, 1..5),
        prop::bool::weighted(0.25),
        prop::bool::weighted(0.15),
    )
        .prop_map(|(segments, exclude, slash)| {
            let exclude = if exclude { "!" } else { "" };
            let slash = if slash { "/" } else { "" };
            format!("{exclude}{}{slash}", segments.join("/"))
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// H17: whenever a path is owned by both, the overlap is found, whichever way excludes work.
    #[test]
    fn no_overlap_is_missed(
        left in prop::collection::vec(any_glob(), 1..4),
        right in prop::collection::vec(any_glob(), 1..4),
        paths in prop::collection::vec("(a|b|ab|c\\.x|ba)(/(a|b|ab|c\\.x|aa)){0,3}", 1..20),
    ) {
        let references = (Reference::new(&left), Reference::new(&right));
        for path in paths {
            for last_wins in [false, true] {
                let (left_owns, right_owns) = (
                    references.0.owns(&path, last_wins),
                    references.1.owns(&path, last_wins),
                );
                if left_owns && right_owns {
                    prop_assert!(
                        overlaps(&left, &right).is_some(),
                        "{path} is owned by {left:?} and {right:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn arbitrary_patterns_are_compared(left in any::<String>(), right in any::<String>()) {
        let forth = overlaps(std::slice::from_ref(&left), std::slice::from_ref(&right));
        let back = overlaps(&[right], &[left]);
        prop_assert_eq!(forth.is_some(), back.is_some());
    }
}
