//! Blocks of lines that left one place and came to another, within a file or between files.

use std::collections::HashMap;

use super::{
    Author, Credit, Draft, HELD_WEIGHT_MIN, Handling, Sheet, Step, TELLING_WEIGHT, Version,
};

/// A block this heavy is not there twice by chance.
const BLOCK_WEIGHT_MIN: u32 = 20;

/// A lighter block counts when its heaviest line left once and came once.
const RARE_WEIGHT_MIN: u32 = 6;

/// A line that left more places than this says nothing about where it went.
const SPOTS_MAX: usize = 16;

/// Follows what was moved by one step.
pub(super) fn follow(steps: &[Step<'_>], drafts: &mut [Draft], by: Author) {
    let sources: Vec<Source<'_>> = steps
        .iter()
        .zip(drafts.iter())
        .enumerate()
        .filter_map(|(file, (step, draft))| {
            let version = step.old?;
            draft
                .gone
                .contains(&true)
                .then_some(Source { file, version })
        })
        .collect();
    let mut blocks = Vec::new();
    {
        let free = |source: &Source<'_>, line: usize| {
            drafts
                .get(source.file)
                .is_some_and(|draft| draft.is_gone(line))
        };
        let spots = Spots::new(&sources, SPOTS_MAX, free);
        for (file, (step, draft)) in steps.iter().zip(drafts.iter()).enumerate() {
            if let Some(new) = step.new {
                blocks.extend(spots.blocks(file, new, draft, free));
            }
        }
    }
    blocks.sort_by_key(|block| (std::cmp::Reverse(block.weight), block.file, block.new));
    for block in blocks {
        place(&block, &sources, steps, drafts, by);
    }
}

fn place(
    block: &Block,
    sources: &[Source<'_>],
    steps: &[Step<'_>],
    drafts: &mut [Draft],
    by: Author,
) {
    let Some(source) = sources.get(block.source) else {
        return;
    };
    let Some(new) = steps.get(block.file).and_then(|step| step.new) else {
        return;
    };
    let is_free = |drafts: &[Draft], step: usize| {
        let (from, to) = block.at(step);
        let weak = source.version.sheet.weight(from) < TELLING_WEIGHT;
        drafts
            .get(block.file)
            .is_some_and(|draft| draft.is_open(to))
            && (weak
                || drafts
                    .get(source.file)
                    .is_some_and(|draft| draft.is_gone(from)))
    };
    let open: Vec<usize> = (0..block.len)
        .filter(|step| is_free(drafts, *step))
        .collect();
    let weight: u32 = open.iter().map(|step| new.weight(block.at(*step).1)).sum();
    let is_heavy = weight >= BLOCK_WEIGHT_MIN;
    let is_enough = is_heavy || block.is_rare && weight >= RARE_WEIGHT_MIN;
    if !is_enough {
        return;
    }
    for step in open {
        let (from, to) = block.at(step);
        let was_gone = drafts
            .get(source.file)
            .is_some_and(|draft| draft.is_gone(from));
        let credit = source.version.credit(from).handled(Handling::Moved, by);
        let is_held = new.weight(to) >= HELD_WEIGHT_MIN || credit.author == by;
        let credit = if block.is_rare && is_heavy && is_held && was_gone {
            credit
        } else {
            credit.likely()
        };
        if let Some(draft) = drafts.get_mut(block.file) {
            draft.set(to, credit);
        }
        if let Some(draft) = drafts.get_mut(source.file) {
            draft.take(from);
        }
    }
}

/// A version that lines may have come from.
pub(super) struct Source<'a> {
    /// The caller's number for it.
    pub(super) file: usize,
    pub(super) version: &'a Version,
}

/// A run of lines that is the same in a source and in a new text.
#[derive(Clone, Debug)]
pub(super) struct Block {
    /// Which source.
    pub(super) source: usize,
    /// Which new text.
    pub(super) file: usize,
    pub(super) old: usize,
    pub(super) new: usize,
    pub(super) len: usize,
    pub(super) weight: u32,
    /// How many of its lines say something by themselves.
    pub(super) telling: usize,
    /// Whether at least one of its lines has only one possible source.
    pub(super) is_rare: bool,
}

impl Block {
    /// The old and the new line of one of its pairs.
    pub(super) const fn at(&self, step: usize) -> (usize, usize) {
        (self.old.saturating_add(step), self.new.saturating_add(step))
    }
}

/// Where lines can have come from, by their tokens.
pub(super) struct Spots<'a> {
    sources: &'a [Source<'a>],
    places: HashMap<u64, Vec<(usize, usize)>>,
    /// A line in more places than this says nothing about where it came from.
    max: usize,
}

impl<'a> Spots<'a> {
    pub(super) fn new(
        sources: &'a [Source<'a>],
        max: usize,
        free: impl Fn(&Source<'a>, usize) -> bool,
    ) -> Self {
        let mut places: HashMap<u64, Vec<(usize, usize)>> = HashMap::new();
        for (number, source) in sources.iter().enumerate() {
            for (at, line) in source.version.sheet.lines.iter().enumerate() {
                if line.weight >= TELLING_WEIGHT && free(source, at) {
                    places.entry(line.soft).or_default().push((number, at));
                }
            }
        }
        Self {
            sources,
            places,
            max,
        }
    }

    /// All longest blocks between the open lines of a new text and the free lines of the sources.
    pub(super) fn blocks(
        &self,
        file: usize,
        new: &Sheet,
        draft: &Draft,
        free: impl Fn(&Source<'a>, usize) -> bool,
    ) -> Vec<Block> {
        let mut wanted: HashMap<u64, usize> = HashMap::new();
        let open = |line: usize| draft.is_open(line);
        for (at, line) in new.lines.iter().enumerate() {
            if open(at) {
                let count = wanted.entry(line.soft).or_default();
                *count = count.saturating_add(1);
            }
        }
        let mut blocks = Vec::new();
        let mut ends: HashMap<(usize, usize), usize> = HashMap::new();
        for (at, line) in new.lines.iter().enumerate() {
            if line.weight < TELLING_WEIGHT || !open(at) {
                continue;
            }
            let places = self.places.get(&line.soft).map_or(&[][..], Vec::as_slice);
            if places.len() > self.max {
                continue;
            }
            for (number, from) in places {
                let Some(source) = self.sources.get(*number) else {
                    continue;
                };
                // A line within a block that was found already finds the same block.
                let diagonal = (*number, from.wrapping_sub(at));
                if ends.get(&diagonal).is_some_and(|end| at < *end) {
                    continue;
                }
                let same = |old: Option<usize>, line: Option<usize>| {
                    let (Some(old), Some(line)) = (old, line) else {
                        return false;
                    };
                    let sheet = &source.version.sheet;
                    let usable = sheet.weight(old) < TELLING_WEIGHT || free(source, old);
                    let soft = sheet.soft(old);
                    open(line) && usable && soft.is_some() && soft == new.soft(line)
                };
                let lead = (1..=at)
                    .take_while(|step| same(from.checked_sub(*step), at.checked_sub(*step)))
                    .count();
                let len = (0..new.lines.len())
                    .take_while(|step| same(from.checked_add(*step), at.checked_add(*step)))
                    .count();
                ends.insert(diagonal, at.saturating_add(len));
                let len = len.saturating_add(lead);
                let mut block = Block {
                    source: *number,
                    file,
                    old: from.saturating_sub(lead),
                    new: at.saturating_sub(lead),
                    len,
                    weight: 0,
                    telling: 0,
                    is_rare: false,
                };
                self.weigh(&mut block, new, &wanted);
                blocks.push(block);
            }
        }
        blocks
    }

    fn weigh(&self, block: &mut Block, new: &Sheet, wanted: &HashMap<u64, usize>) {
        for step in 0..block.len {
            let Some(line) = new.lines.get(block.at(step).1) else {
                continue;
            };
            block.weight = block.weight.saturating_add(line.weight);
            if line.weight < TELLING_WEIGHT {
                continue;
            }
            block.telling = block.telling.saturating_add(1);
            let sources = self.places.get(&line.soft).map_or(0, Vec::len);
            block.is_rare |= line.weight >= RARE_WEIGHT_MIN
                && sources == 1
                && wanted.get(&line.soft) == Some(&1);
        }
    }
}

/// The credit of a line that was found again.
pub(super) const fn found_again(credit: Credit, by: Author) -> Credit {
    credit.handled(Handling::Moved, by).likely()
}
