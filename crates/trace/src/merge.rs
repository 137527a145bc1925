//! Three-way merge by lines: exact, and a conflict wherever two readings of the change are
//! possible.
//!
//! The merge is stricter than the usual one. A change that could as well have been made one line
//! further up or down (repeated lines) claims all those places; two sides that add the same lines
//! at the same place are a conflict, because nobody can tell whether they are wanted once or twice;
//! and the result must be the same when all three texts are read backwards. So a merge that
//! succeeds does not depend on how the texts were aligned.

use std::collections::HashMap;
use std::ops::Range;

use tagout_vocab::limits::MERGE_BYTES_MAX;

use crate::align::{By, Hunk, hunks, kept, slack};

#[cfg(test)]
mod tests;

/// What became of a three-way merge.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Merge {
    /// Both sides' changes in one text.
    Merged(Vec<u8>),
    /// At least one place that both sides changed; nothing is merged.
    Conflict(Vec<ConflictHunk>),
}

/// A place that both sides changed, with all three readings of it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ConflictHunk {
    /// The text that both sides started from.
    pub base: Side,
    /// The one side.
    pub ours: Side,
    /// The other side.
    pub theirs: Side,
}

/// Some lines of one of the three texts.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Side {
    /// The number of the first line, counted from one; where there is none, of the line after.
    pub start_line: usize,
    /// The lines with their endings.
    pub text: Vec<u8>,
}

/// Merges two texts that started from the same base.
pub fn merge3(base: &[u8], ours: &[u8], theirs: &[u8]) -> Merge {
    if ours == theirs || base == theirs {
        return Merge::Merged(ours.to_vec());
    }
    if base == ours {
        return Merge::Merged(theirs.to_vec());
    }
    let texts = Texts::new([base, ours, theirs]);
    if [base, ours, theirs]
        .iter()
        .any(|text| text.len() > MERGE_BYTES_MAX)
    {
        return Merge::Conflict(vec![texts.conflict(&texts.whole())]);
    }
    let forwards = combine(&texts.ids);
    let merged = match forwards {
        Combined::Clean(lines) => lines,
        Combined::Conflicts(regions) => {
            return Merge::Conflict(
                regions
                    .iter()
                    .map(|region| texts.conflict(region))
                    .collect(),
            );
        }
    };
    let backwards = texts.ids.clone().map(|mut ids| {
        ids.reverse();
        ids
    });
    let is_same = match combine(&backwards) {
        Combined::Clean(mut lines) => {
            lines.reverse();
            lines == merged
        }
        Combined::Conflicts(_) => false,
    };
    if is_same {
        Merge::Merged(texts.bytes(&merged))
    } else {
        Merge::Conflict(vec![texts.conflict(&texts.changed())])
    }
}

/// Three ranges: base, ours, theirs.
type Region = [Range<usize>; 3];

enum Combined {
    Clean(Vec<u32>),
    Conflicts(Vec<Region>),
}

/// The three texts as lines, each distinct line a number.
struct Texts<'a> {
    table: Vec<&'a [u8]>,
    ids: [Vec<u32>; 3],
}

impl<'a> Texts<'a> {
    fn new(texts: [&'a [u8]; 3]) -> Self {
        let mut table = Vec::new();
        let mut known: HashMap<&'a [u8], u32> = HashMap::new();
        let ids = texts.map(|text| {
            text.split_inclusive(|byte| *byte == b'\n')
                .map(|line| {
                    *known.entry(line).or_insert_with(|| {
                        table.push(line);
                        u32::try_from(table.len().saturating_sub(1)).unwrap_or(u32::MAX)
                    })
                })
                .collect()
        });
        Self { table, ids }
    }

    fn bytes(&self, ids: &[u32]) -> Vec<u8> {
        let lines: Vec<&[u8]> = ids
            .iter()
            .filter_map(|id| self.table.get(*id as usize).copied())
            .collect();
        lines.concat()
    }

    fn conflict(&self, region: &Region) -> ConflictHunk {
        let [base, ours, theirs] = &self.ids;
        let [at_base, at_ours, at_theirs] = region;
        let side = |ids: &[u32], range: &Range<usize>| Side {
            start_line: range.start.saturating_add(1),
            text: self.bytes(ids.get(range.clone()).unwrap_or_default()),
        };
        ConflictHunk {
            base: side(base, at_base),
            ours: side(ours, at_ours),
            theirs: side(theirs, at_theirs),
        }
    }

    fn whole(&self) -> Region {
        self.ids.each_ref().map(|ids| 0..ids.len())
    }

    /// From the first line that any side changed to the last.
    fn changed(&self) -> Region {
        let [base, ours, theirs] = &self.ids;
        let same = |a: &[u32], b: &[u32]| a.iter().zip(b).take_while(|(x, y)| x == y).count();
        let same_end = |a: &[u32], b: &[u32]| {
            let ends = a.iter().rev().zip(b.iter().rev());
            ends.take_while(|(x, y)| x == y).count()
        };
        let start = same(base, ours).min(same(base, theirs));
        let shortest = base.len().min(ours.len()).min(theirs.len());
        let end = same_end(base, ours)
            .min(same_end(base, theirs))
            .min(shortest.saturating_sub(start));
        self.ids
            .each_ref()
            .map(|ids| start..ids.len().saturating_sub(end))
    }
}

/// A hunk with the lines of the base that it may claim.
struct Claim {
    hunk: Hunk,
    /// First and last position in the base, both belonging to it.
    reach: [usize; 2],
    can_slide: bool,
}

fn claims(base: &[u32], side: &[u32]) -> Vec<Claim> {
    let hunks = hunks(base, side, By::Lines);
    let runs = kept(&hunks, base.len());
    let around = runs.iter().zip(runs.iter().skip(1));
    hunks
        .iter()
        .zip(around)
        .map(|(hunk, (before, after))| {
            let [up, down] = slack(hunk, base, side, [before.len, after.len]);
            Claim {
                hunk: hunk.clone(),
                reach: [
                    hunk.old.start.saturating_sub(up),
                    hunk.old.end.saturating_add(down),
                ],
                can_slide: up > 0 || down > 0,
            }
        })
        .collect()
}

fn combine([base, ours, theirs]: &[Vec<u32>; 3]) -> Combined {
    let sides = [claims(base, ours), claims(base, theirs)];
    let mut walk = Walk {
        base,
        texts: [ours, theirs],
        at: [0, 0],
        base_at: 0,
        out: Vec::new(),
        conflicts: Vec::new(),
    };
    let [mut left, mut right] = sides.each_ref().map(|side| side.iter().peekable());
    loop {
        let next = [&mut left, &mut right].map(|side| side.peek().map(|claim| claim.reach[0]));
        let first = match next {
            [None, None] => break,
            [Some(one), None] | [None, Some(one)] => one,
            [Some(one), Some(other)] => one.min(other),
        };
        let mut group: [Vec<&Claim>; 2] = [Vec::new(), Vec::new()];
        let mut end = first;
        loop {
            let reach = |claim: &&Claim| claim.reach[0] <= end;
            let (one, other) = (left.next_if(reach), right.next_if(reach));
            if one.is_none() && other.is_none() {
                break;
            }
            for (side, claim) in group.iter_mut().zip([one, other]) {
                if let Some(claim) = claim {
                    end = end.max(claim.reach[1]);
                    side.push(claim);
                }
            }
        }
        walk.apply(&group);
    }
    walk.copy_to(base.len());
    if walk.conflicts.is_empty() {
        Combined::Clean(walk.out)
    } else {
        Combined::Conflicts(walk.conflicts)
    }
}

/// The way through all three texts at once.
struct Walk<'a> {
    base: &'a [u32],
    texts: [&'a Vec<u32>; 2],
    /// Where each side is.
    at: [usize; 2],
    base_at: usize,
    out: Vec<u32>,
    conflicts: Vec<Region>,
}

impl Walk<'_> {
    /// Takes over lines of the base that nobody changed.
    fn copy_to(&mut self, end: usize) {
        let len = end.saturating_sub(self.base_at);
        let lines = self.base.get(self.base_at..end).unwrap_or_default();
        self.out.extend_from_slice(lines);
        self.base_at = self.base_at.max(end);
        self.at = self.at.map(|at| at.saturating_add(len));
    }

    fn apply(&mut self, group: &[Vec<&Claim>; 2]) {
        let hunks = group.iter().flatten().map(|claim| &claim.hunk.old);
        let start = hunks
            .clone()
            .map(|old| old.start)
            .min()
            .unwrap_or(self.base_at);
        let end = hunks.map(|old| old.end).max().unwrap_or(start);
        self.copy_to(start);
        let mut region: Region = [start..end, 0..0, 0..0];
        for ((range, claims), at) in region.iter_mut().skip(1).zip(group).zip(&mut self.at) {
            let added: usize = claims.iter().map(|claim| claim.hunk.new.len()).sum();
            let removed: usize = claims.iter().map(|claim| claim.hunk.old.len()).sum();
            let len = end
                .saturating_sub(start)
                .saturating_add(added)
                .saturating_sub(removed);
            *range = *at..at.saturating_add(len);
            *at = range.end;
        }
        self.base_at = end;
        let [_, at_ours, at_theirs] = &region;
        let [ours, theirs] = [
            self.texts[0].get(at_ours.clone()).unwrap_or_default(),
            self.texts[1].get(at_theirs.clone()).unwrap_or_default(),
        ];
        let chosen = match group {
            [left, right] if right.is_empty() && !left.is_empty() => Some(ours),
            [left, right] if left.is_empty() && !right.is_empty() => Some(theirs),
            [left, right] => {
                let plain = left
                    .iter()
                    .chain(right)
                    .all(|claim| !claim.can_slide && !claim.hunk.old.is_empty());
                (plain && ours == theirs).then_some(ours)
            }
        };
        match chosen {
            Some(lines) => self.out.extend_from_slice(lines),
            None => self.conflicts.push(region),
        }
    }
}
