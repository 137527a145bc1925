//! What patterns mean, and that hostile ones are cheap.

use proptest::prelude::*;

use super::{CommandLine, CommandPattern, Hit, NameGlob, PatternError, Regex, wildcard};

#[test]
fn a_path_pattern_is_a_scopes_without_exclusion() {
    assert_eq!(super::path("src/**").unwrap().as_str(), "src/**");
    assert_eq!(super::path("!a"), Err(PatternError::Exclusion));
    let climbing = crate::scope::PatternError::Climbs;
    assert_eq!(super::path("a/../b"), Err(PatternError::Path(climbing)));
}

#[test]
fn a_whole_expression_cannot_be_opened_up() {
    let cat = Regex::whole("cat").unwrap();
    assert_eq!(cat.matches("cat"), Hit::Yes);
    assert_eq!(cat.matches("cat x"), Hit::No);
    assert_eq!(cat.matches("cat\nrm"), Hit::No);
    assert_eq!(
        Regex::whole("(?m)^cat$").unwrap().matches("cat\nrm"),
        Hit::No
    );
    assert_eq!(Regex::whole("a|b").unwrap().matches("ax"), Hit::No);
    for open in ["cat)|(.*", "cat(", "(?x)cat # "] {
        assert!(Regex::whole(open).is_err(), "{open}");
    }
    assert!(
        Regex::anywhere(&"(a{50}){50}{50}".repeat(20)).is_err(),
        "too large a program"
    );
    assert!(Regex::anywhere(&"(".repeat(500)).is_err());
}

/// Hostile patterns and texts take bounded time: with a matcher that backtracks over each wildcard
/// these would not end, and the test runner would say so.
#[test]
fn hostile_patterns_are_cheap() {
    let stars = "*a".repeat(500);
    assert!(!wildcard(&stars, &"a".repeat(4000).replace("aaaa", "aaab")));
    let regex = Regex::anywhere("(a*)*(a|aa)+b").unwrap();
    assert_eq!(regex.matches(&"a".repeat(20_000)), Hit::No);
    let words = CommandPattern::words(&"a ".repeat(500)).unwrap();
    assert_eq!(words.forbids(&CommandLine::raw(&"a ".repeat(499))), Hit::No);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// The iterative wildcard agrees with the obvious recursive one.
    #[test]
    fn wildcards_match_like_their_definition(pattern in "[ab*?]{0,8}", text in "[ab]{0,8}") {
        fn slow(pattern: &[u8], text: &[u8]) -> bool {
            match (pattern.split_first(), text.split_first()) {
                (None, None) => true,
                (Some((b'*', rest)), _) => {
                    let mut later = text.split_first().into_iter();
                    slow(rest, text) || later.any(|(_, text)| slow(pattern, text))
                }
                (Some((wanted, rest)), Some((found, text))) => {
                    (*wanted == b'?' || wanted == found) && slow(rest, text)
                }
                (Some(_) | None, _) => false,
            }
        }
        let expected = slow(pattern.as_bytes(), text.as_bytes());
        prop_assert_eq!(wildcard(&pattern, &text), expected);
    }

    /// What permits also forbids: the narrow reading lies inside the wide one.
    #[test]
    fn permitting_is_narrower_than_forbidding(
        words in "[ab]( [ab]){0,2}",
        line in "[ab]( [ab;|$]){0,5}",
    ) {
        let pattern = CommandPattern::words(&words).unwrap();
        let line = CommandLine::raw(&line);
        prop_assert!(!pattern.permits(&line) || pattern.forbids(&line) == Hit::Yes);
    }

    #[test]
    fn names_never_panic(pattern in ".{0,40}", text in ".{0,40}") {
        if let Ok(glob) = NameGlob::parse(&pattern) {
            glob.matches(&text);
        }
    }
}
