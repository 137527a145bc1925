//! Patterns that try to take for ever, measured in steps.

use tagout_vocab::limits::MATCH_STEPS_MAX;

use super::super::glob::Steps;
use super::super::{Answer, CaseRule, Owned, Pattern, Reading, Subject};
use super::{path, scope};

fn hostile() -> Vec<(String, String)> {
    let deep = "a/".repeat(2000);
    let long = "a".repeat(4000);
    vec![
        ("**/a**/b**/".repeat(90) + "x", deep.clone()),
        ("**/a/".repeat(200) + "b", deep.clone()),
        ("*a".repeat(500) + "b", long.clone()),
        ("{a,{b,".repeat(120) + "c" + &"}}".repeat(120), long.clone()),
        ("{a,b}".repeat(200), long.clone()),
        ("{,a}".repeat(250) + "b", long.clone()),
        ("{".repeat(500) + "a" + &"}".repeat(500), long.clone()),
        (format!("*[{}]x", "a".repeat(1000)), long),
        ("**/".repeat(340) + "b", deep),
    ]
}

/// H7 Time is bounded whatever the pattern is, and doubt refuses on either side.
#[test]
fn no_pattern_takes_more_than_its_steps() {
    let mut too_hard = 0;
    for (text, subject) in hostile() {
        let pattern = Pattern::parse(&text).unwrap();
        let subject = path(&subject);
        for case in [CaseRule::Sensitive, CaseRule::Insensitive] {
            let subject = Subject::new(&subject, case);
            let mut steps = Steps::new();
            let walked = pattern.walk(&subject, Reading::Granting, &mut steps);
            assert!(steps.spent() <= MATCH_STEPS_MAX, "{}", steps.spent());
            if walked.is_err() {
                too_hard += 1;
                assert_eq!(pattern.answer(&subject, Reading::Granting), Answer::TooHard);
                assert!(!pattern.grants_subject(&subject));
                assert!(pattern.denies_subject(&subject));
            }
        }
    }
    assert!(too_hard >= 8, "only {too_hard} of the samples were hard");
}

/// H7 An exclusion that can't be decided excludes.
#[test]
fn an_undecidable_exclusion_excludes() {
    let exclusion = format!("!{}", "{a,b}".repeat(200));
    let owner = scope(&["**", &exclusion]);
    let answer = owner.owns(&path(&"a".repeat(4000)), CaseRule::Sensitive);
    assert!(matches!(answer, Owned::Excluded(_)), "{answer:?}");
}

/// Everyday patterns stay far below the bound.
#[test]
fn everyday_patterns_are_cheap() {
    let subject = path("crates/policy/src/scope/pattern.rs");
    let subject = Subject::new(&subject, CaseRule::Sensitive);
    for text in [
        "crates/policy/",
        "crates/**",
        "**/*.rs",
        "crates/*/src/**/*.{rs,toml}",
    ] {
        let mut steps = Steps::new();
        let walked = Pattern::parse(text)
            .unwrap()
            .walk(&subject, Reading::Granting, &mut steps);
        assert_eq!(walked, Ok(true));
        assert!(steps.spent() < 150, "`{text}` took {}", steps.spent());
    }
}
