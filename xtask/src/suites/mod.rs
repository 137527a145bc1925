//! `cargo xtask test`: every suite, timed and counted; a failure stops no other suite.

mod count;
mod list;
mod tools;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use crate::error::XtaskError;

/// How much to test.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Ord, PartialOrd)]
pub(crate) enum Depth {
    /// The inner loop: under three minutes when warm.
    Quick,
    /// Everything that a change must pass: under sixty minutes.
    Default,
    /// The long soaks as well.
    All,
}

/// How many tests did what.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Tally {
    /// Did what they should.
    pub(crate) passed: usize,
    /// Did not.
    pub(crate) failed: usize,
    /// Were left out, visibly.
    pub(crate) skipped: usize,
}

impl Tally {
    /// One check that either holds or does not.
    pub(crate) const fn one(ok: bool) -> Self {
        Self {
            passed: ok as usize,
            failed: !ok as usize,
            skipped: 0,
        }
    }

    const fn plus(self, other: Self) -> Self {
        Self {
            passed: self.passed + other.passed,
            failed: self.failed + other.failed,
            skipped: self.skipped + other.skipped,
        }
    }
}

/// One suite.
#[derive(Debug)]
struct Suite {
    name: &'static str,
    /// The least depth at which it runs.
    from: Depth,
    run: fn(Depth) -> Result<Tally, XtaskError>,
}

/// Whether there is a suite of this name; `all` is the whole run.
pub(crate) fn has(name: &str) -> bool {
    name == "all" || list::SUITES.iter().any(|suite| suite.name == name)
}

/// What became of one suite.
#[derive(Debug)]
struct Report {
    name: &'static str,
    tally: Tally,
    took: Duration,
}

/// Runs every suite of this depth and closes with the table and the count.
pub(crate) fn run(depth: Depth) -> ExitCode {
    let mut reports = Vec::new();
    for suite in list::SUITES.iter().filter(|suite| suite.from <= depth) {
        println!("\n=== {} ===", suite.name);
        let start = Instant::now();
        let tally = (suite.run)(depth).unwrap_or_else(|error| {
            eprintln!("{}: {error}", suite.name);
            Tally::one(false)
        });
        if tally.failed > 0 {
            eprintln!("suite {} failed", suite.name);
        }
        reports.push(Report {
            name: suite.name,
            tally,
            took: start.elapsed(),
        });
    }
    print!("\n{}", closing(&reports));
    let failed = reports.iter().any(|report| report.tally.failed > 0);
    ExitCode::from(u8::from(failed))
}

/// The table of minutes and the line that counts.
fn closing(reports: &[Report]) -> String {
    let mut lines = vec![format!(
        "{:<14}{:>9}{:>9}{:>9}{:>9}",
        "suite", "minutes", "passed", "failed", "skipped"
    )];
    lines.extend(reports.iter().map(row));
    let all = reports
        .iter()
        .fold(Tally::default(), |sum, report| sum.plus(report.tally));
    lines.push(row(&Report {
        name: "all",
        tally: all,
        took: reports.iter().map(|report| report.took).sum(),
    }));
    let skipped = match all.skipped {
        0 => String::new(),
        count => format!(", {count} skipped"),
    };
    lines.push(String::new());
    lines.push(format!(
        "{} passed, {} failed{skipped}\n",
        all.passed, all.failed
    ));
    lines.join("\n")
}

fn row(report: &Report) -> String {
    let Tally {
        passed,
        failed,
        skipped,
    } = report.tally;
    let minutes = report.took.as_secs_f64() / 60.0;
    format!(
        "{:<14}{minutes:>9.2}{passed:>9}{failed:>9}{skipped:>9}",
        report.name
    )
}

#[cfg(test)]
mod tests;
