//! The ledger: append against a bare write and sync, eight writers, verifying, opening, memory.

use super::example::{Wanted, lines, told};
use super::{Budget, Line};
use crate::error::XtaskError;

const PACKAGE: &str = "tagout-ledger";

/// Each figure with its budget.
const WANTED: &[Wanted] = &[
    Wanted {
        of: ("bench", "append"),
        figure: "ratio_p50",
        what: "append / bare write and sync",
        unit: "×",
        budget: Budget::AtMost(1.2),
    },
    Wanted {
        of: ("bench", "append"),
        figure: "append_p50_us",
        what: "append",
        unit: "µs",
        budget: Budget::Shown,
    },
    Wanted {
        of: ("mode", "bare"),
        figure: "p99_us",
        what: "eight bare writers, p99",
        unit: "µs",
        budget: Budget::Shown,
    },
    Wanted {
        of: ("mode", "ledger"),
        figure: "p99_us",
        what: "eight writers, p99",
        unit: "µs",
        budget: Budget::Shown,
    },
    Wanted {
        of: ("bench", "writers"),
        figure: "ok",
        what: "eight writers: the chain is whole",
        unit: "of 1",
        budget: Budget::AtLeast(1.0),
    },
    Wanted {
        of: ("bench", "verify"),
        figure: "share_of_bulk",
        what: "verify / SHA-256 of all cores",
        unit: "×",
        budget: Budget::AtLeast(0.8),
    },
    Wanted {
        of: ("bench", "verify"),
        figure: "ok",
        what: "verify: each round finds it whole",
        unit: "of 1",
        budget: Budget::AtLeast(1.0),
    },
    Wanted {
        of: ("bench", "verify"),
        figure: "cpu_share_of_bulk",
        what: "the same by processor time",
        unit: "×",
        budget: Budget::Shown,
    },
    Wanted {
        of: ("bench", "verify"),
        figure: "share_of_lines",
        what: "verify / SHA-256 line by line",
        unit: "×",
        budget: Budget::Shown,
    },
    Wanted {
        of: ("bench", "open"),
        figure: "open_append_1k_p50_us",
        what: "open and append at 1,000 events",
        unit: "µs",
        budget: Budget::Shown,
    },
    // Flat in the length of the ledger: a thousand times the events, about the same time.
    Wanted {
        of: ("bench", "open"),
        figure: "ratio",
        what: "open at 1,000,000 / at 1,000 events",
        unit: "×",
        budget: Budget::AtMost(1.5),
    },
    Wanted {
        of: ("bench", "open"),
        figure: "peak_mb",
        what: "memory with 1,000,000 events",
        unit: "MB",
        budget: Budget::Shown,
    },
];

/// Runs the ledger's examples. They keep their own rounds, more than the least that are asked for.
pub(super) fn run(_rounds: usize) -> Result<Vec<Line>, XtaskError> {
    let mut all = Vec::new();
    for example in [
        "bench_append",
        "bench_writers",
        "bench_verify",
        "bench_open",
    ] {
        all.extend(told(PACKAGE, example, &[])?);
    }
    Ok(lines("ledger", &all, WANTED))
}
