//! The terminal: its session, the same for every command that is typed there, its width, and what
//! fits into that.

use std::fs;
use std::io;

use crate::failure::Failure;

/// A name for the terminal's session: its leader's process id and start, which no other has.
pub(crate) fn session() -> Result<String, Failure> {
    let failed = |error: std::io::Error| {
        Failure::failed(format!("the terminal's session can't be told: {error}"))
            .hint("name one with `--session S`")
    };
    let own = fs::read_to_string("/proc/self/stat").map_err(failed)?;
    let leader = field(&own, 3).unwrap_or("0").to_owned();
    let stat = fs::read_to_string(format!("/proc/{leader}/stat")).unwrap_or_default();
    let started = field(&stat, 19).unwrap_or("0").to_owned();
    Ok(format!("terminal-{leader}-{started}"))
}

/// The columns of the terminal that data is printed to. Nothing where it goes elsewhere, or where
/// the terminal does not tell.
pub(crate) fn columns() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    (size.ws_col > 0).then_some(usize::from(size.ws_col))
}

/// The words that fit a line, and the rest; a word that is longer than a line is broken.
pub(crate) fn split(text: &str, columns: usize) -> (&str, &str) {
    let Some((end, _)) = text.char_indices().nth(columns.max(1)) else {
        return (text, "");
    };
    let (line, rest) = text.split_at_checked(end).unwrap_or((text, ""));
    let at = match line.rfind(' ') {
        Some(at) if at > 0 && !rest.starts_with(' ') => at,
        Some(_) | None => end,
    };
    let (line, rest) = text.split_at_checked(at).unwrap_or((text, ""));
    (line.trim_end(), rest.trim_start())
}

/// A field after the program's name, which may itself hold blanks and brackets.
fn field(stat: &str, index: usize) -> Option<&str> {
    stat.rsplit_once(')')?.1.split_whitespace().nth(index)
}
