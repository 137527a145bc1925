//! A row of the log for a terminal that is too narrow for all of its columns.

use std::fmt::Write as _;

use super::{COLUMNS, GAP, NOTHING};
use crate::terminal;

/// How far the lines beneath the first stand in.
const INDENT: &str = "    ";

/// Lines for what a call was about; what is longer is cut.
const LINES_MAX: usize = 2;

/// What came of which call on one line, and beneath it the call's id and what it was about. The
/// session is left out: it is the longest, and the same for most rows.
pub(super) fn row(row: &[String; COLUMNS], columns: usize) -> String {
    let [time, seq, kind, tool, outcome, intent, _, call, what] = row;
    let is_told = |cell: &&String| *cell != NOTHING;
    let name = if is_told(&tool) { tool } else { kind };
    let joined = |cells: &[&String]| {
        let cells = cells.iter().copied().filter(is_told);
        cells.map(String::as_str).collect::<Vec<&str>>().join(GAP)
    };
    let mut out = fitted(&joined(&[time, seq, name, outcome, intent]), columns);
    out.push('\n');
    let inner = columns.saturating_sub(INDENT.len());
    for line in wrapped(&joined(&[call, what]), inner) {
        // Writing into a `String` cannot fail.
        writeln!(out, "{INDENT}{line}").unwrap_or_default();
    }
    out
}

/// Lines of whole words, no more than a few.
fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        if lines.len().saturating_add(1) == LINES_MAX {
            lines.push(fitted(rest, columns));
            break;
        }
        let (line, more) = terminal::split(rest, columns);
        lines.push(line.to_owned());
        rest = more;
    }
    lines
}

fn fitted(line: &str, columns: usize) -> String {
    if line.chars().count() <= columns {
        return line.to_owned();
    }
    let kept = line.chars().take(columns.saturating_sub(1));
    kept.chain(['…']).collect()
}
