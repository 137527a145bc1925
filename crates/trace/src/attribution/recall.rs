//! Lines that were known before, gone for a while, and are there again.

use super::moves::{Source, Spots, found_again};
use super::{Author, Draft, Sheet, Version};

/// Where an earlier version comes from.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Reach {
    /// The same path: another branch, a revert, a merge.
    SamePath,
    /// Another path: text that was cut there and pasted here.
    Elsewhere,
}

/// Looks for the authors of open lines in earlier versions. What is found is only likely: the same
/// text may have been written again.
///
/// Text that someone outside put back into its own file counts when it is two lines or a long one;
/// anything else must be a whole block, because short pieces of code are alike everywhere.
pub(crate) fn recall(draft: &mut Draft, new: &Sheet, by: Author, known: &[(Reach, &Version)]) {
    if !draft.credits.contains(&None) {
        return;
    }
    let sources: Vec<Source<'_>> = known
        .iter()
        .enumerate()
        .map(|(file, (_, version))| Source { file, version })
        .collect();
    let free = |_: &Source<'_>, _: usize| true;
    let mut blocks = Spots::new(&sources, free).blocks(0, new, draft, free);
    blocks.sort_by_key(|block| (std::cmp::Reverse(block.weight), block.source, block.new));
    for block in blocks {
        let Some((reach, version)) = known.get(block.source) else {
            continue;
        };
        let open: Vec<usize> = (0..block.len)
            .filter(|step| draft.is_open(block.at(*step).1))
            .collect();
        let weight: u32 = open.iter().map(|step| new.weight(block.at(*step).1)).sum();
        let is_outside = matches!(by, Author::Human | Author::Unknown);
        let is_enough = match reach {
            Reach::SamePath if is_outside => block.telling >= 2 && weight >= 16 || weight >= 24,
            Reach::SamePath | Reach::Elsewhere => block.telling >= 3 && weight >= 40,
        };
        if !is_enough {
            continue;
        }
        for step in open {
            let (from, to) = block.at(step);
            draft.set(to, found_again(version.credit(from), by));
        }
    }
}
