//! Transactions of one and of twenty files against one bare write and sync of the same bytes.

use std::path::Path;
use std::process::Command;

use super::example::{Wanted, lines, told};
use super::{Budget, Line};
use crate::error::XtaskError;
use crate::process::answer;

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
    // A file system puts new files near their folder. Where it is crowded, the search for a free
    // place is what would be measured; ext4 puts folders beneath a marked one where there is room.
    if let Err(error) = answer(Command::new("chattr").arg("+T").arg(folder.path())) {
        eprintln!("the place on the disk is the file system's choice: {error}");
    }
    let place = folder.path().join("place");
    std::fs::create_dir(&place).map_err(XtaskError::file("create", &place))?;
    let (place, rounds) = (place.display().to_string(), rounds.to_string());
    let all = told("tagout-gate", "bench_transactions", &[&place, &rounds])?;
    Ok(lines("workspace", &all, WANTED))
}
