//! Lines that were known before, gone for a while, and are there again.

use std::collections::HashSet;

use super::moves::{Source, Spots, found_again};
use super::{Author, Draft, Sheet, TELLING_WEIGHT, Version};

/// Where an earlier version comes from.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Reach {
    /// The same path: another branch, a revert, a merge.
    SamePath,
    /// Another path: text that was cut there and pasted here.
    Elsewhere,
}

/// An earlier version.
#[derive(Clone, Debug)]
pub(crate) struct Earlier {
    /// Where it comes from.
    pub(crate) reach: Reach,
    /// Whether its path has no later one: its lines are still there.
    pub(crate) is_latest: bool,
    /// The version.
    pub(crate) version: Version,
}

/// Looks for the authors of open lines in earlier versions. What is found is only likely: the same
/// text may have been written again.
///
/// Text that is no longer where it was counts when it is a long line or more; so does text that
/// someone outside put back into its own file. A copy of text that is still there must be a whole
/// block, because short pieces of code are alike everywhere.
pub(crate) fn recall(draft: &mut Draft, new: &Sheet, by: Author, known: &[Earlier]) {
    if !draft.credits.contains(&None) {
        return;
    }
    let latest = known.iter().filter(|earlier| earlier.is_latest);
    let live: HashSet<u64> = latest
        .flat_map(|earlier| earlier.version.sheet.lines.iter().map(|line| line.soft))
        .collect();
    let sources: Vec<Source<'_>> = known
        .iter()
        .enumerate()
        .map(|(file, earlier)| Source {
            file,
            version: &earlier.version,
        })
        .collect();
    let free = |_: &Source<'_>, _: usize| true;
    let mut blocks = Spots::new(&sources, SPOTS_MAX, free).blocks(0, new, draft, free);
    blocks.sort_by_key(|block| (std::cmp::Reverse((block.weight, block.source)), block.new));
    for block in blocks {
        let Some(earlier) = known.get(block.source) else {
            continue;
        };
        let open: Vec<usize> = (0..block.len)
            .filter(|step| draft.is_open(block.at(*step).1))
            .collect();
        let weigh = |steps: &mut dyn Iterator<Item = &usize>| -> u32 {
            steps.map(|step| new.weight(block.at(*step).1)).sum()
        };
        let weight = weigh(&mut open.iter());
        let departed = weigh(&mut open.iter().filter(|step| {
            let soft = new.soft(block.at(**step).1);
            soft.is_some_and(|soft| !live.contains(&soft))
        }));
        let is_outside = matches!(by, Author::Human | Author::Unknown);
        let is_back = is_outside && earlier.reach == Reach::SamePath;
        let is_enough = departed >= DEPARTED_WEIGHT_MIN
            || is_back && block.telling >= 2 && departed >= BACK_WEIGHT_MIN
            || block.telling >= 2 && weight >= COPY_WEIGHT_MIN;
        if !is_enough {
            continue;
        }
        for step in open {
            let (from, to) = block.at(step);
            draft.set(to, found_again(earlier.version.credit(from), by));
        }
    }
    for earlier in known {
        for (at, line) in earlier.version.sheet.lines.iter().enumerate() {
            if line.weight >= TELLING_WEIGHT && earlier.version.credit(at).author != by {
                draft.others.insert(line.soft);
            }
        }
    }
}

/// Places of a line in all earlier versions together: each path is there with several of them.
const SPOTS_MAX: usize = 48;

/// Letters of a block that is gone from where it was.
const DEPARTED_WEIGHT_MIN: u32 = 20;

/// Letters of two lines that are back in their own file.
const BACK_WEIGHT_MIN: u32 = 12;

/// Letters of a block that is still where it was.
const COPY_WEIGHT_MIN: u32 = 40;
