//! The suites, in the order in which they run: what fails fastest comes first.

use std::process::Command;

use super::{Depth, Suite, Tally, count, tools};
use crate::error::XtaskError;
use crate::process::{cargo_command, described, stream};
use crate::{bench, clients, docs, process, tidy};

/// Every suite.
pub(super) const SUITES: &[Suite] = &[
    suite("tools", Depth::Quick, tools::install),
    suite("fmt", Depth::Quick, fmt),
    suite("clippy", Depth::Quick, clippy),
    suite("tidy", Depth::Quick, tidy_rules),
    suite("tests", Depth::Quick, tests),
    suite("deny", Depth::Default, deny),
    suite("doctests", Depth::Default, doctests),
    suite("docs", Depth::Default, docs_commands),
    suite("demo", Depth::Default, demo),
    suite("clients", Depth::Default, real_clients),
    suite("bench", Depth::All, benchmarks),
];

const fn suite(
    name: &'static str,
    from: Depth,
    run: fn(Depth) -> Result<Tally, XtaskError>,
) -> Suite {
    Suite { name, from, run }
}

/// Property tests run this many cases in the long soak, where a test does not fix its own count.
const SOAK_CASES: &str = "20000";

/// Tests that have a short and a long form take the long one when this is set.
const LONG_FORMS: &str = "TAGOUT_TEST_ALL";

fn checked(command: &mut Command) -> Result<Tally, XtaskError> {
    println!("$ {}", described(command));
    Ok(Tally::one(stream(command)?.ok))
}

fn fmt(_: Depth) -> Result<Tally, XtaskError> {
    checked(&mut cargo_command(&["fmt", "--all", "--check"]))
}

fn clippy(_: Depth) -> Result<Tally, XtaskError> {
    checked(&mut cargo_command(&[
        "clippy",
        "--workspace",
        "--all-targets",
        "--quiet",
        "--",
        "-D",
        "warnings",
    ]))
}

fn tidy_rules(_: Depth) -> Result<Tally, XtaskError> {
    let findings = tidy::check(&process::root())?;
    for finding in &findings {
        eprintln!("{finding}");
    }
    Ok(Tally::one(findings.is_empty()))
}

fn deny(_: Depth) -> Result<Tally, XtaskError> {
    println!("advisories are not checked here: their database lives on the network;");
    println!("`cargo deny check advisories` checks them where there is one");
    checked(&mut cargo_command(&[
        "deny",
        "--log-level",
        "error",
        "check",
        "licenses",
        "bans",
        "sources",
    ]))
}

fn tests(depth: Depth) -> Result<Tally, XtaskError> {
    let profile = match depth {
        Depth::Quick => "quick",
        Depth::Default => "ci",
        Depth::All => "all",
    };
    let mut command = cargo_command(&[
        "nextest",
        "run",
        "--workspace",
        "--no-fail-fast",
        "--color",
        "never",
        "--profile",
        profile,
    ]);
    // A run that checks must not rewrite what it checks against.
    command.env("INSTA_UPDATE", "no");
    if depth == Depth::All {
        command.env("PROPTEST_CASES", SOAK_CASES);
        command.env(LONG_FORMS, "1");
    }
    println!("$ {}", described(&command));
    let ran = stream(&mut command)?;
    Ok(tallied(
        ran.ok,
        count::nextest(&ran.stdout).unwrap_or_default(),
    ))
}

fn doctests(_: Depth) -> Result<Tally, XtaskError> {
    let mut command = cargo_command(&["test", "--doc", "--workspace", "--no-fail-fast"]);
    command.env("CARGO_TERM_COLOR", "never");
    println!("$ {}", described(&command));
    let ran = stream(&mut command)?;
    Ok(tallied(ran.ok, count::doctests(&ran.stdout)))
}

/// A runner that failed without a failed test, such as one that did not compile, is a failure.
pub(super) fn tallied(ok: bool, mut tally: Tally) -> Tally {
    if !ok && tally.failed == 0 {
        tally.failed = 1;
    }
    tally
}

fn docs_commands(_: Depth) -> Result<Tally, XtaskError> {
    docs::check(&[])
}

fn demo(_: Depth) -> Result<Tally, XtaskError> {
    checked(&mut cargo_command(&["run", "--release", "--", "demo"]))
}

fn real_clients(depth: Depth) -> Result<Tally, XtaskError> {
    clients::suite::run(depth == Depth::All)
}

fn benchmarks(_: Depth) -> Result<Tally, XtaskError> {
    let lines = bench::measure(&[], bench::ROUNDS_MIN)?;
    print!("{}", bench::table(&lines));
    let failed = lines.iter().filter(|line| !line.holds()).count();
    Ok(Tally {
        passed: lines.len() - failed,
        failed,
        skipped: 0,
    })
}
