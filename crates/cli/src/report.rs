//! The only place that prints: data on stdout, everything else on stderr.

use std::io::{self, IsTerminal as _, Write as _};

use serde::Serialize;
use serde_json::Value;
use tagout_vocab::Code;

use crate::exit::Exit;
use crate::failure::Failure;

/// Prints data. A reader that went away is the reader's choice, not an error.
pub(crate) fn data(text: &str) -> Result<(), Failure> {
    stream(text).map(|_| ())
}

/// Prints data, and says whether anybody still reads.
pub(crate) fn stream(text: &str) -> Result<bool, Failure> {
    let mut out = io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(Failure::failed(format!(
            "standard output can't be written: {error}"
        ))),
        Ok(()) => Ok(true),
    }
}

/// Prints one line of data.
pub(crate) fn line(text: &str) -> Result<(), Failure> {
    data(&format!("{text}\n"))
}

/// Prints a value as one line of JSON.
pub(crate) fn json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string(value).map_err(|error| {
        Failure::failed(format!("the answer can't be written as JSON: {error}"))
    })?;
    line(&text)
}

/// Says something beside the data.
pub(crate) fn note(text: &str) {
    // Nothing is left to say it to when standard error is closed.
    writeln!(io::stderr(), "{text}").unwrap_or_default();
}

/// Says what was done: in words, or as an object for a program.
pub(crate) fn done(json: bool, words: &str, value: &Value) -> Result<Exit, Failure> {
    if json {
        self::json(value)?;
    } else {
        line(words)?;
    }
    Ok(Exit::Done)
}

/// Says what went wrong, and gives the exit code. A program that asked for JSON gets the one form
/// of a refusal on standard output; a person gets a line.
pub(crate) fn failure(failure: &Failure, json: bool) -> Exit {
    if json && self::json(&failure.refusal().to_json()).is_ok() {
        return failure.exit;
    }
    // A person who says no has made no mistake.
    let is_choice = failure.code == Code::ApprovalRejected;
    let mark = paint("error", "31", io::stderr().is_terminal());
    let mark = if is_choice {
        String::new()
    } else {
        format!("{mark}: ")
    };
    note(&format!("{mark}{}", failure.message));
    if let Some(hint) = &failure.hint {
        note(&format!("\nhint: {hint}"));
    }
    failure.exit
}

/// Rows whose columns stand beneath one another; the last one is as wide as it is.
pub(crate) fn table(rows: &[Vec<String>]) -> String {
    let mut widths: Vec<usize> = Vec::new();
    for row in rows {
        for (at, cell) in row.iter().enumerate() {
            let width = cell.chars().count();
            match widths.get_mut(at) {
                Some(known) => *known = width.max(*known),
                None => widths.push(width),
            }
        }
    }
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths);
        let cells: Vec<String> = cells
            .map(|(cell, width)| format!("{cell:<width$}"))
            .collect();
        format!("{}\n", cells.join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}

/// Text from elsewhere on one line: what would move the cursor or turn the writing direction is
/// shown as a code, so that nobody's file name can forge a line.
pub(crate) fn plain(text: &str) -> String {
    let hides = |c: char| {
        c.is_control()
            || ('\u{2028}'..='\u{202e}').contains(&c)
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2066}'..='\u{2069}')
    };
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if hides(c) {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    out
}

/// The same on as many lines as it has; those after the first are indented, so that none of them
/// can pass for one of ours.
pub(crate) fn lines(text: &str) -> String {
    let lines: Vec<String> = text.trim_end().lines().map(plain).collect();
    lines.join("\n    ")
}

/// A word in colour where a person looks at a terminal; the word itself carries the meaning.
pub(crate) fn painted(word: &str, colour: &str) -> String {
    paint(word, colour, io::stdout().is_terminal())
}

fn paint(word: &str, colour: &str, terminal: bool) -> String {
    if terminal && crate::args::colours() {
        format!("\u{1b}[{colour}m{word}\u{1b}[0m")
    } else {
        word.to_owned()
    }
}
