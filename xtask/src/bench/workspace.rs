//! Transactions of one and of twenty files against one bare write and sync of the same bytes.

use std::path::Path;

use super::example::{Wanted, lines, told};
use super::{Budget, Line};
use crate::error::XtaskError;

/// Each figure with its budget.
const WANTED: &[Wanted] = &[
    Wanted {
        of: ("figure", "one_file lease"),
        figure: "ratio",
        what: "one file / bare write and sync",
        unit: "×",
        budget: Budget::AtMost(4.0),
    },
    Wanted {
        of: ("figure", "twenty_files lease"),
        figure: "ratio",
        what: "twenty files / bare write and sync",
        unit: "×",
        budget: Budget::AtMost(10.0),
    },
    Wanted {
        of: ("figure", "one_file processes"),
        figure: "ratio",
        what: "one file, without leases",
        unit: "×",
        budget: Budget::Shown,
    },
    Wanted {
        of: ("figure", "twenty_files processes"),
        figure: "ratio",
        what: "twenty files, without leases",
        unit: "×",
        budget: Budget::Shown,
    },
    Wanted {
        of: ("case", "twenty_files"),
        figure: "ms",
        what: "open and recover",
        unit: "ms",
        budget: Budget::Shown,
    },
];

/// Runs the example in a throw-away folder. It is the gate's, because the kernel's lease that a
/// real commit asks for is in the sandbox's hands, and only the gate knows both.
pub(super) fn run(rounds: usize) -> Result<Vec<Line>, XtaskError> {
    let folder = tempfile::tempdir_in("/var/tmp")
        .map_err(XtaskError::file("create", Path::new("/var/tmp")))?;
    let (place, rounds) = (folder.path().display().to_string(), rounds.to_string());
    let all = told("tagout-gate", "bench_transactions", &[&place, &rounds])?;
    Ok(lines("workspace", &all, WANTED))
}
