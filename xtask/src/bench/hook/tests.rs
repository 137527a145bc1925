//! The figures find their budgets, and the counters are read right.

use std::process::Command;

use super::meter::{Meter, perf_count, valgrind_count};
use super::{Budget, line, time};

#[test]
fn a_figure_finds_its_budget() {
    let ratio = line("hook / empty C program", 2.0, "×");
    assert_eq!(ratio.budget, Budget::AtMost(2.5));
    assert_eq!(line("Node hook", 1.0, "µs").budget, Budget::Shown);
}

#[test]
fn counters_are_read_and_none_is_none() {
    let told = "12345,,instructions:u,1000,100.00,,\n";
    assert!((perf_count(told).unwrap() - 12345.0).abs() < 0.5);
    assert_eq!(
        perf_count("<not supported>,,instructions:u,0,100.00,,\n"),
        None
    );
    let told = "==1== Events    : Ir\n==1== Collected : 1931732\n";
    assert!((valgrind_count(told).unwrap() - 1_931_732.0).abs() < 0.5);
    assert_eq!(valgrind_count("==1== nothing\n"), None);
}

#[test]
fn a_program_is_metered_and_a_failing_one_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let meter = Meter::build(folder.path()).unwrap();
    let kilobytes = meter.resident(&Command::new("true"), b"").unwrap();
    assert!(kilobytes > 100.0 && kilobytes < 100_000.0, "{kilobytes}");
    assert!(meter.resident(&Command::new("false"), b"").is_err());
    assert!(meter.instructions(&Command::new("true"), b"").unwrap() > 1000.0);
    assert!(time(&mut Command::new("cat"), b"{}").is_ok());
    assert!(time(&mut Command::new("false"), b"{}").is_err());
}
