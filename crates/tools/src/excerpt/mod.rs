//! The part of a file that a reading shows.

mod large;

pub use large::{Scanned, scan};

use tagout_vocab::limits::{READ_BYTES_MAX, READ_LINE_BYTES_MAX, READ_LINES_MAX};

use crate::fault::Fault;
use crate::near::cut;

/// A part of a file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Excerpt {
    /// Its lines, with `\n` between them.
    pub content: String,
    /// First line shown, counted from one; zero when none is.
    pub start_line: usize,
    /// Last line shown; zero when none is.
    pub end_line: usize,
    /// Something that was asked for is not shown: lines after the last one, or the rest of a line.
    pub truncated: bool,
}

/// How a block is chosen by indentation.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Indentation {
    /// The line around which the block is taken, counted from one.
    pub anchor_line: usize,
    /// Levels of indentation to go up; none means as far as there are any.
    pub max_levels: Option<usize>,
    /// Whether blocks beside it on the outermost level are included.
    pub include_siblings: bool,
    /// Whether the lines at the head of the file are included.
    pub include_header: bool,
    /// Lines at most.
    pub max_lines: Option<usize>,
}

/// Lines from `offset` on, counted from one, at most `limit` of them.
pub fn slice(text: &str, offset: usize, limit: Option<usize>) -> Result<Excerpt, Fault> {
    let lines: Vec<&str> = text.lines().collect();
    begins(offset, lines.len())?;
    let wanted = limit.unwrap_or(usize::MAX);
    let last = (offset - 1).saturating_add(wanted).min(lines.len());
    Ok(shown(&lines, offset - 1, last))
}

/// Whether a reading of a file can begin at a line.
fn begins(offset: usize, lines: usize) -> Result<(), Fault> {
    if offset == 0 {
        return Err(Fault::invalid("lines are counted from 1; `offset` is 0"));
    }
    if offset > lines && !(lines == 0 && offset == 1) {
        return Err(Fault::invalid(format!(
            "the file has {lines} lines; `offset` {offset} lies behind its end"
        )));
    }
    Ok(())
}

/// The block of lines around an anchor that is indented at least as far as its head.
pub fn block(text: &str, choice: Indentation) -> Result<Excerpt, Fault> {
    let lines: Vec<&str> = text.lines().collect();
    let anchor = choice.anchor_line.checked_sub(1);
    let Some((anchor, line)) = anchor.and_then(|index| Some((index, *lines.get(index)?))) else {
        return Err(Fault::invalid(format!(
            "the file has {} lines; `anchor_line` {} is none of them",
            lines.len(),
            choice.anchor_line
        )));
    };
    let (mut first, mut last) = (anchor, anchor);
    let mut width = depth(line).unwrap_or_else(|| {
        let near = lines.iter().take(anchor).rev().find_map(|line| depth(line));
        near.unwrap_or(0)
    });
    let levels = choice.max_levels.filter(|levels| *levels > 0);
    for _ in 0..levels.unwrap_or(usize::MAX) {
        (first, last) = level(&lines, first, last, width);
        // The line above a block is its head, one level up.
        let Some(head) = first.checked_sub(1).filter(|_| width > 0) else {
            break;
        };
        width = lines.get(head).and_then(|line| depth(line)).unwrap_or(0);
        first = head;
        last = with_foot(&lines, last, width);
    }
    if choice.include_siblings {
        (first, last) = level(&lines, first, last, width);
    }
    if choice.include_header {
        first = 0;
    }
    let end = first.saturating_add(choice.max_lines.unwrap_or(usize::MAX));
    Ok(shown(&lines, first, end.min(last + 1)))
}

/// The indentation of a line; none for a blank one.
fn depth(line: &str) -> Option<usize> {
    let rest = line.trim_start();
    (!rest.is_empty()).then(|| line.len() - rest.len())
}

/// Grows a range while its neighbours are blank or indented at least this far.
fn level(lines: &[&str], first: usize, last: usize, width: usize) -> (usize, usize) {
    let fits = |line: &&&str| depth(line).is_none_or(|depth| depth >= width);
    let above = lines.iter().take(first).rev().take_while(fits).count();
    let below = lines.iter().skip(last + 1).take_while(fits).count();
    (first - above, last + below)
}

/// A closing line as far out as the head belongs to the block.
fn with_foot(lines: &[&str], last: usize, width: usize) -> usize {
    let foot = lines.get(last + 1).copied().unwrap_or_default();
    let closes = foot.trim_start().starts_with(['}', ')', ']']) && depth(foot) == Some(width);
    if closes { last + 1 } else { last }
}

/// Lines `first..end`, as far as one reading goes.
fn shown(lines: &[&str], first: usize, end: usize) -> Excerpt {
    let mut content = String::new();
    let mut truncated = false;
    let mut last = first;
    for line in lines.iter().take(end).skip(first) {
        let text = cut(line, READ_LINE_BYTES_MAX);
        let full = last - first >= READ_LINES_MAX || content.len() + text.len() > READ_BYTES_MAX;
        if full {
            break;
        }
        truncated |= text.len() != line.len();
        if last > first {
            content.push('\n');
        }
        content.push_str(&text);
        last += 1;
    }
    let none = last == first;
    Excerpt {
        content,
        start_line: if none { 0 } else { first + 1 },
        end_line: if none { 0 } else { last },
        truncated: truncated || last < end,
    }
}

#[cfg(test)]
mod tests;
