//! Which elements of two sequences stayed, by a bounded diff: what merging and attribution share.

use std::hash::Hash;
use std::ops::Range;

use imara_diff::{Algorithm, Diff, InternedInput};

/// A place where one run of elements gave way to another; either may be empty, never both.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Hunk {
    /// Elements of the old sequence that are gone.
    pub(crate) old: Range<usize>,
    /// Elements of the new sequence that are new.
    pub(crate) new: Range<usize>,
}

/// A run of elements that stayed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Kept {
    /// Where it starts in the old sequence.
    pub(crate) old: usize,
    /// Where it starts in the new sequence.
    pub(crate) new: usize,
    /// How long it is; may be zero between a hunk and an end.
    pub(crate) len: usize,
}

/// How sequences are compared.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum By {
    /// Lines: rare ones first, as people read a difference.
    Lines,
    /// Tokens, of which there are few kinds.
    Tokens,
}

/// The hunks between two sequences, in order, none touching the next.
pub(crate) fn hunks<T: Eq + Hash + Copy + Default>(old: &[T], new: &[T], by: By) -> Vec<Hunk> {
    if old == new {
        return Vec::new();
    }
    let mut input = InternedInput::default();
    input.update_before(old.iter().copied());
    input.update_after(new.iter().copied());
    let algorithm = match by {
        By::Lines => Algorithm::Histogram,
        By::Tokens => Algorithm::Myers,
    };
    let mut diff = Diff::compute(algorithm, &input);
    diff.postprocess_no_heuristic(&input);
    diff.hunks()
        .map(|hunk| Hunk {
            old: wide(&hunk.before),
            new: wide(&hunk.after),
        })
        .collect()
}

/// The runs around and between hunks: always one more than there are hunks.
pub(crate) fn kept(hunks: &[Hunk], old_len: usize) -> Vec<Kept> {
    let mut runs = Vec::with_capacity(hunks.len().saturating_add(1));
    let (mut old, mut new) = (0, 0);
    for hunk in hunks {
        runs.push(Kept {
            old,
            new,
            len: hunk.old.start.saturating_sub(old),
        });
        (old, new) = (hunk.old.end, hunk.new.end);
    }
    runs.push(Kept {
        old,
        new,
        len: old_len.saturating_sub(old),
    });
    runs
}

fn wide(range: &Range<u32>) -> Range<usize> {
    range.start as usize..range.end as usize
}

/// How far a hunk that only adds or only removes can be moved without changing the result: towards
/// the start and towards the end, within the runs beside it.
pub(crate) fn slack<T: Eq>(hunk: &Hunk, old: &[T], new: &[T], room: [usize; 2]) -> [usize; 2] {
    let (sequence, range) = match (hunk.old.is_empty(), hunk.new.is_empty()) {
        (true, false) => (new, &hunk.new),
        (false, true) => (old, &hunk.old),
        (true, true) | (false, false) => return [0, 0],
    };
    let same = |a: usize, b: usize| sequence.get(a).is_some_and(|x| sequence.get(b) == Some(x));
    let up = (1..=room[0])
        .take_while(|step| {
            let Some(before) = range.start.checked_sub(*step) else {
                return false;
            };
            range
                .end
                .checked_sub(*step)
                .is_some_and(|last| same(before, last))
        })
        .count();
    let down = (0..room[1])
        .take_while(|step| {
            same(
                range.start.saturating_add(*step),
                range.end.saturating_add(*step),
            )
        })
        .count();
    [up, down]
}
