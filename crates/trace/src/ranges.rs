//! Changed ranges: a real diff by lines, with the hashes of what changed.

use std::ops::Range;

use imara_diff::{Algorithm, Diff, InternedInput};
use serde::{Deserialize, Serialize};
use tagout_vocab::Digest;
use tagout_vocab::limits::{TRACE_DIFF_BYTES_MAX, TRACE_DIFF_LINES_MAX, TRACE_RANGES_MAX};

/// Lines that gave way to other lines: half-open ranges of line indices, counted from zero.
///
/// Either side may be empty, never both. Hunks are in order and do not touch.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Hunk {
    /// The lines of the old text that are gone.
    pub before: Range<u32>,
    /// The lines of the new text that are new.
    pub after: Range<u32>,
}

/// Lines as people count them: from one, both ends included.
///
/// Nothing is a range that ends before it starts: its start is the line that would come next.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Ord, PartialOrd, Hash, Serialize, Deserialize)]
pub struct LineRange {
    /// The first line.
    pub start_line: u32,
    /// The last line.
    pub end_line: u32,
}

impl LineRange {
    /// The range of some line indices.
    pub const fn of(lines: &Range<u32>) -> Self {
        Self {
            start_line: lines.start.saturating_add(1),
            end_line: lines.end,
        }
    }

    /// The line indices of the range; empty if it holds nothing.
    pub fn indices(self) -> Range<u32> {
        let start = self.start_line.saturating_sub(1);
        start..self.end_line.max(start)
    }

    /// Whether it holds no line.
    pub const fn is_empty(self) -> bool {
        self.end_line < self.start_line
    }
}

/// A changed range with the hashes of what it held and holds.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Segment {
    /// Where the old text changed.
    pub old: LineRange,
    /// Where the new text changed.
    pub new: LineRange,
    /// Hash of the old lines; `None` if there were none.
    pub old_hash: Option<Digest>,
    /// Hash of the new lines; `None` if there are none.
    pub new_hash: Option<Digest>,
}

/// The changed ranges of two texts with their hashes, at most [`TRACE_RANGES_MAX`]: the last one
/// reaches to the last change if there were more.
pub fn segments(before: &[u8], after: &[u8]) -> Vec<Segment> {
    let mut hunks = diff(before, after);
    if let Some(last) = hunks.last().cloned()
        && hunks.len() > TRACE_RANGES_MAX
    {
        hunks.truncate(TRACE_RANGES_MAX);
        if let Some(end) = hunks.last_mut() {
            end.before.end = last.before.end;
            end.after.end = last.after.end;
        }
    }
    let (old, new) = (Lines::of(before), Lines::of(after));
    hunks.iter().map(|hunk| segment(&old, &new, hunk)).collect()
}

/// A text with the places where its lines start.
#[derive(Debug)]
pub struct Lines<'t> {
    text: &'t [u8],
    starts: Vec<usize>,
}

impl<'t> Lines<'t> {
    /// The lines of a text.
    pub fn of(text: &'t [u8]) -> Self {
        let mut starts = vec![0];
        let mut at = 0;
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            at += line.len();
            starts.push(at);
        }
        Self { text, starts }
    }

    /// How many lines there are.
    pub fn count(&self) -> u32 {
        index(self.starts.len().saturating_sub(1))
    }

    /// The bytes of some lines, cut to what is there.
    pub fn slice(&self, lines: &Range<u32>) -> &'t [u8] {
        let place = |line: u32| {
            let start = self.starts.get(line as usize).copied();
            start.unwrap_or(self.text.len())
        };
        self.text
            .get(place(lines.start)..place(lines.end))
            .unwrap_or_default()
    }

    /// The hash of some lines; `None` for none.
    pub fn hash(&self, lines: &Range<u32>) -> Option<Digest> {
        (!lines.is_empty()).then(|| Digest::of(self.slice(lines)))
    }
}

/// The lines of a text, each with its ending; a last line may lack it.
pub fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').collect()
}

/// What changed between two texts, by lines that include their endings.
///
/// A text beyond the bounds gives one hunk from the first to the last line that differs: still
/// true, only coarser.
pub fn diff(before: &[u8], after: &[u8]) -> Vec<Hunk> {
    if before == after {
        return Vec::new();
    }
    let (old, new) = (lines(before), lines(after));
    let is_large = before.len().max(after.len()) > TRACE_DIFF_BYTES_MAX
        || old.len().max(new.len()) > TRACE_DIFF_LINES_MAX;
    if is_large {
        return vec![hull_hunk(&old, &new)];
    }
    let mut input = InternedInput::default();
    input.update_before(old.iter().copied());
    input.update_after(new.iter().copied());
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_lines(&input);
    diff.hunks()
        .map(|hunk| Hunk {
            before: hunk.before,
            after: hunk.after,
        })
        .collect()
}

/// One range from the first to the last line that differs.
pub fn hull(before: &[u8], after: &[u8]) -> Segment {
    let hunk = hull_hunk(&lines(before), &lines(after));
    let (old, new) = (Lines::of(before), Lines::of(after));
    segment(&old, &new, &hunk)
}

fn segment(old: &Lines<'_>, new: &Lines<'_>, hunk: &Hunk) -> Segment {
    Segment {
        old: LineRange::of(&hunk.before),
        new: LineRange::of(&hunk.after),
        old_hash: old.hash(&hunk.before),
        new_hash: new.hash(&hunk.after),
    }
}

fn hull_hunk(old: &[&[u8]], new: &[&[u8]]) -> Hunk {
    let prefix = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let shorter = old.len().min(new.len());
    let suffix = old
        .iter()
        .rev()
        .zip(new.iter().rev())
        .take(shorter.saturating_sub(prefix))
        .take_while(|(a, b)| a == b)
        .count();
    let end = |all: usize| index(all.saturating_sub(suffix));
    Hunk {
        before: index(prefix)..end(old.len()),
        after: index(prefix)..end(new.len()),
    }
}

fn index(line: usize) -> u32 {
    u32::try_from(line).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
