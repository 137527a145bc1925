//! Changed ranges: a real diff by lines, with the hashes of what changed.

use std::ops::Range;

use imara_diff::{Algorithm, Diff, InternedInput};
use tagout_vocab::limits::{TRACE_DIFF_BYTES_MAX, TRACE_DIFF_LINES_MAX};

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
        return vec![hull(&old, &new)];
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

/// From the first to the last line that differs.
fn hull(old: &[&[u8]], new: &[&[u8]]) -> Hunk {
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
