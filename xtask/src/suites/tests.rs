//! What the closing says, and how the runners' own counts are read.

use std::time::Duration;

use super::{Report, Tally, closing, count, list};

const fn tally(passed: usize, failed: usize, skipped: usize) -> Tally {
    Tally {
        passed,
        failed,
        skipped,
    }
}

#[test]
fn nextest_summaries_are_counted() {
    let cases = [
        (
            "     Summary [   0.1s] 12 tests run: 12 passed, 0 skipped",
            tally(12, 0, 0),
        ),
        (
            "     Summary [   0.1s] 1 test run: 1 passed, 3 skipped",
            tally(1, 0, 3),
        ),
        (
            "Summary [ 61.0s] 6 tests run: 3 passed (1 slow, 1 leaky), 1 failed, 2 timed out, 0 skipped",
            tally(3, 3, 0),
        ),
        (
            "Summary [ 1.0s] 3/5 tests run: 2 passed, 1 exec failed, 4 skipped\n FAIL x",
            tally(2, 1, 4),
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(count::nextest(text), Some(expected), "{text}");
    }
    assert_eq!(count::nextest("error: could not compile"), None);
}

#[test]
fn doctests_of_all_crates_are_summed() {
    let text = "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out\n\
                test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; finished in 0.1s";
    assert_eq!(count::doctests(text), tally(4, 2, 1));
}

#[test]
fn a_runner_that_failed_without_a_failed_test_is_a_failure() {
    assert_eq!(list::tallied(false, Tally::default()), tally(0, 1, 0));
    assert_eq!(list::tallied(false, tally(3, 2, 0)), tally(3, 2, 0));
    assert_eq!(list::tallied(true, tally(3, 0, 0)), tally(3, 0, 0));
}

#[test]
fn the_closing_ends_with_the_count_alone_on_its_line() {
    let report = |name, tally, seconds| Report {
        name,
        tally,
        took: Duration::from_secs(seconds),
    };
    let green = closing(&[
        report("fmt", tally(1, 0, 0), 6),
        report("tests", tally(9, 0, 0), 120),
    ]);
    assert_eq!(green.lines().last(), Some("10 passed, 0 failed"));
    assert!(green.contains("tests              2.00        9        0        0"));
    let red = closing(&[report("tests", tally(9, 2, 4), 120)]);
    assert_eq!(red.lines().last(), Some("9 passed, 2 failed, 4 skipped"));
}

#[test]
fn every_suite_has_its_own_name() {
    let mut names: Vec<&str> = list::SUITES.iter().map(|suite| suite.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), list::SUITES.len());
}
