//! Reading how many tests ran from what the runners say at their end.

use super::Tally;

/// The count in nextest's summary line, if there is one.
pub(super) fn nextest(text: &str) -> Option<Tally> {
    let summary = text
        .lines()
        .rev()
        .find(|line| line.contains("Summary [") && line.contains(" run: "))?;
    let (_, counts) = summary.split_once(" run: ")?;
    Some(sum(counts.split([',', '(', ')'])))
}

/// The sum of the counts that rustdoc's test runner prints, one a crate.
pub(super) fn doctests(text: &str) -> Tally {
    sum(text
        .lines()
        .filter_map(|line| line.trim().strip_prefix("test result: "))
        .flat_map(|line| line.split(['.', ';'])))
}

fn sum<'a>(pieces: impl Iterator<Item = &'a str>) -> Tally {
    let mut tally = Tally::default();
    for piece in pieces {
        let Some((count, what)) = piece.trim().split_once(' ') else {
            continue;
        };
        let Ok(count) = count.parse::<usize>() else {
            continue;
        };
        match what {
            "passed" => tally.passed += count,
            "failed" | "timed out" | "exec failed" => tally.failed += count,
            "skipped" | "ignored" => tally.skipped += count,
            _ => {}
        }
    }
    tally
}
