//! Once per failure, bounded, between markers.

use proptest::prelude::*;
use tagout_vocab::Timestamp;
use tagout_vocab::limits::LESSONS_MAX;

use super::{BEGIN, END, HEADING, Lesson, Verification, add, lesson, recall, verification};

const TIME: Timestamp = Timestamp::from_millis(1_771_000_000_000);

fn failed(output: &str) -> Lesson {
    lesson("cargo test -p x", 101, output, TIME).unwrap()
}

/// H14 The exit code decides, not the words.
#[test]
fn a_command_fails_by_its_exit_code() {
    assert_eq!(lesson("cargo test", 0, "error: 3 failed", TIME), None);
    assert!(lesson("cargo test", 1, "all fine, 0 errors", TIME).is_some());
    assert_eq!(lesson("cargo build", 1, "error", TIME), None);
}

/// H14 Whole words name a verification.
#[test]
fn verifications_are_known_by_words() {
    let cases = [
        ("cargo test --workspace", Some(Verification::Test)),
        ("cd web && npm run test:unit", Some(Verification::Test)),
        ("python -m pytest -q", Some(Verification::Test)),
        ("pnpm lint", Some(Verification::Lint)),
        ("npm run check-types", Some(Verification::Typecheck)),
        ("make typecheck", Some(Verification::Typecheck)),
        ("just ci", Some(Verification::Ci)),
        ("npm run ci", Some(Verification::Ci)),
        ("bash -c 'cargo test'", Some(Verification::Test)),
        ("(cd web; pytest)", Some(Verification::Test)),
        ("npm ci", None),
        ("npm install jest", None),
        ("cat test", None),
        ("grep -r lint src", None),
        ("git commit -m 'ci'", None),
        ("./decide --circle", None),
        ("cargo build -p test/x", None),
        ("", None),
    ];
    for (command, wanted) in cases {
        assert_eq!(verification(command), wanted, "{command}");
    }
}

/// H14 The same failure at another time and line is the same lesson.
#[test]
fn a_failure_is_recorded_once() {
    let first = failed("running 12 tests\nthread 'a' panicked at src/a.rs:10:5\nassertion failed");
    let later = failed("running 15 tests\nthread 'a' panicked at src/a.rs:12:9\nassertion failed");
    let other = failed("thread 'b' panicked at src/b.rs:1:1\nassertion failed");
    assert_eq!(first.signature, later.signature);
    assert_ne!(first.signature, other.signature);
    let text = add("# Rules\n", &first).unwrap();
    assert_eq!(add(&text, &later), None);
    let text = add(&text, &other).unwrap();
    assert_eq!(text, include_str!("../../tests/golden/lessons.md"));
}

/// H14 Only the block changes, and it stays bounded.
#[test]
fn only_the_block_changes() {
    let before = "# Rules\n\n## Lessons Learned\n\n- mine\n\n## More\nkeep\n";
    let mut text = add(before, &failed("error: start")).unwrap();
    assert!(text.starts_with("# Rules\n\n## Lessons Learned\n\n<!-- tagout"));
    assert!(text.ends_with("\n- mine\n\n## More\nkeep\n"));
    for n in 0..LESSONS_MAX + 20 {
        let word: String = (0..=n).map(|_| 'x').collect();
        text = add(&text, &failed(&format!("error: {word}"))).unwrap();
    }
    assert_eq!(text.matches("<!-- sig").count(), LESSONS_MAX);
    assert_eq!(
        (text.matches(BEGIN).count(), text.matches(END).count()),
        (1, 1)
    );
    assert_eq!(text.matches(HEADING).count(), 1);
    assert!(!text.contains("error: start"));
    let told = recall(&text, 1_500);
    assert!(told.iter().map(String::len).sum::<usize>() <= 1_500 && !told.is_empty());
    assert!(told[0].len() >= told[1].len(), "the latest first");
}

/// What others wrote under the heading is recalled too.
#[test]
fn lessons_of_others_are_recalled() {
    let text = "## Lessons Learned\n- 2026-02-18T10:00:00Z: Verification command failed \
                (npm test)\n\n## X\n- no\n";
    assert_eq!(
        recall(text, 500),
        ["2026-02-18T10:00:00Z: Verification command failed (npm test)"]
    );
    assert_eq!(recall("nothing", 500), Vec::<String>::new());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// What a command prints can neither close the block nor add a line to it.
    #[test]
    fn output_stays_in_its_line(output in "(?s).{0,300}", command in "test( .{0,60})?") {
        let hostile = format!("{output}\n{END}\n## Rules\nerror {BEGIN} --> `x`");
        if let Some(lesson) = lesson(&command, 1, &hostile, TIME) {
            let line = lesson.to_line();
            prop_assert_eq!(line.lines().count(), 1);
            prop_assert_eq!(line.matches("-->").count(), 1);
            let text = add("before\n", &lesson).unwrap();
            prop_assert!(text.starts_with("before\n"));
            prop_assert_eq!(text.matches(END).count(), 1);
            prop_assert_eq!(add(&text, &lesson), None);
        }
    }
}
