//! The trace: an edit in a small and in a large file, questions at ten thousand and at a million
//! records, a move of ten thousand files.

use super::example::{Wanted, lines, told};
use super::{Budget, Line};
use crate::error::XtaskError;

/// A figure that is shown beside the others.
const fn shown(
    of: (&'static str, &'static str),
    figure: &'static str,
    what: &'static str,
    unit: &'static str,
) -> Wanted {
    Wanted {
        of,
        figure,
        what,
        unit,
        budget: Budget::Shown,
    }
}

/// A hundred times the records may not take twice the time.
const fn flat(question: &'static str, what: &'static str) -> Wanted {
    Wanted {
        of: ("ask", question),
        figure: "ratio",
        what,
        unit: "×",
        budget: Budget::AtMost(2.0),
    }
}

/// Each figure with its budget.
const WANTED: &[Wanted] = &[
    shown(("edit", "rs 1000"), "edit_ms", "edit in 1,000 lines", "ms"),
    shown(
        ("edit", "rs 10000"),
        "edit_ms",
        "edit in 10,000 lines",
        "ms",
    ),
    shown(
        ("edit", "rs 1000"),
        "edit_to_git",
        "edit / git diff, 1,000 lines",
        "×",
    ),
    shown(
        ("edit", "rs 10000"),
        "edit_to_git",
        "edit / git diff, 10,000 lines",
        "×",
    ),
    shown(
        ("edit", "rs 10000"),
        "ranges_to_bare",
        "ranges / bare diff, 10,000 lines",
        "×",
    ),
    // Ten times the lines: in step with them, with room for what no longer fits into a cache.
    Wanted {
        of: ("growth", "rs"),
        figure: "ratio",
        what: "edit in 10,000 / in 1,000 lines",
        unit: "×",
        budget: Budget::AtMost(15.0),
    },
    shown(
        ("ask", "blame"),
        "many_us",
        "blame at 1,000,000 records",
        "µs",
    ),
    flat("blame", "blame at 1,000,000 / at 10,000"),
    flat("blame after an edit", "blame after an edit, the same"),
    shown(
        ("ask", "intent"),
        "many_us",
        "query at 1,000,000 records",
        "µs",
    ),
    flat("intent", "query by intent, 1,000,000 / 10,000"),
    flat("symbol", "query by symbol, the same"),
    flat("file", "query by file, the same"),
    flat("since", "query by time, the same"),
    shown(
        ("bench", "rename"),
        "whole_s",
        "move of 10,000 files by one call",
        "s",
    ),
    shown(
        ("bench", "rename"),
        "trace_s",
        "the trace's part of it",
        "s",
    ),
    shown(
        ("bench", "rename"),
        "trace_us_each",
        "the trace's part, each file",
        "µs",
    ),
];

/// Runs the examples of the room and of the gate, which holds the database.
pub(super) fn run(rounds: usize) -> Result<Vec<Line>, XtaskError> {
    let rounds = rounds.to_string();
    let mut all = told("tagout-trace", "bench_trace", &[&rounds])?;
    all.extend(told("tagout-gate", "bench_store", &[&rounds])?);
    Ok(lines("trace", &all, WANTED))
}
