//! Which lines that stayed did so for certain, and which only by one reading of the change.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::{Author, HELD_WEIGHT_MIN, Version};
use crate::align::Kept;
use crate::attribution::Sheet;

/// The new lines whose author depends on how the two texts were laid beside each other.
///
/// Lines that occur once on each side tie the texts together. Between two such ties, where
/// something changed, a repeated line may have come from any of its equals, or be new if there are
/// more of them now. Where all those readings name the same author there is no doubt. A few letters
/// that stayed while everything around them changed may as well have been written again.
pub(super) fn doubtful(old: &Version, new: &Sheet, kept: &[Kept], by: Author) -> Vec<usize> {
    let mut counts: HashMap<u64, [u32; 2]> = HashMap::new();
    for (side, sheet) in [&old.sheet, new].into_iter().enumerate() {
        for line in &sheet.lines {
            if let Some(count) = counts.entry(line.hash).or_default().get_mut(side) {
                *count = count.saturating_add(1);
            }
        }
    }
    let mut zone = Zone {
        old,
        new,
        by,
        from: [0, 0],
        pairs: Vec::new(),
        found: Vec::new(),
    };
    let last = kept.len().saturating_sub(1);
    for (place, run) in kept.iter().enumerate() {
        let weight: u32 = (0..run.len)
            .map(|step| new.weight(run.new.saturating_add(step)))
            .sum();
        let is_island = place > 0 && place < last && weight < HELD_WEIGHT_MIN;
        for step in 0..run.len {
            let pair = [run.old.saturating_add(step), run.new.saturating_add(step)];
            let hash = old.sheet.lines.get(pair[0]).map(|line| line.hash);
            if is_island && old.credit(pair[0]).author != by {
                zone.found.push(pair[1]);
                zone.pairs.push(pair);
            } else if hash.and_then(|hash| counts.get(&hash)) == Some(&[1, 1]) {
                zone.close(pair);
            } else {
                zone.pairs.push(pair);
            }
        }
    }
    zone.close([old.sheet.lines.len(), new.lines.len()]);
    zone.found
}

/// The lines between two ties.
struct Zone<'a> {
    old: &'a Version,
    new: &'a Sheet,
    by: Author,
    from: [usize; 2],
    pairs: Vec<[usize; 2]>,
    found: Vec<usize>,
}

impl Zone<'_> {
    fn close(&mut self, to: [usize; 2]) {
        let olds = self.from[0]..to[0];
        let news = self.from[1]..to[1];
        let is_changed = self.pairs.len() < olds.len().max(news.len());
        if is_changed {
            self.judge(&olds, &news);
        }
        self.pairs.clear();
        self.from = to.map(|at| at.saturating_add(1));
    }

    fn judge(&mut self, olds: &Range<usize>, news: &Range<usize>) {
        let mut authors: HashMap<u64, Vec<Author>> = HashMap::new();
        for at in olds.clone() {
            if let Some(line) = self.old.sheet.lines.get(at) {
                let author = self.old.credit(at).author;
                authors.entry(line.hash).or_default().push(author);
            }
        }
        let mut counts: HashMap<u64, usize> = HashMap::new();
        for line in self.new.lines.get(news.clone()).unwrap_or_default() {
            let count = counts.entry(line.hash).or_default();
            *count = count.saturating_add(1);
        }
        let from_start =
            |[old, new]: [usize; 2]| [old.wrapping_sub(olds.start), new.wrapping_sub(news.start)];
        let from_end =
            |[old, new]: [usize; 2]| [olds.end.wrapping_sub(old), news.end.wrapping_sub(new)];
        let tied_first = tied(self.pairs.iter().map(|pair| from_start(*pair)), 0);
        let tied_last = tied(self.pairs.iter().rev().map(|pair| from_end(*pair)), 1);
        let last = self.pairs.len().saturating_sub(tied_last);
        for (place, pair) in self.pairs.iter().enumerate() {
            let Some(line) = self.new.lines.get(pair[1]) else {
                continue;
            };
            let author = self.old.credit(pair[0]).author;
            let equals = authors.get(&line.hash).map_or(&[][..], Vec::as_slice);
            let is_more = counts.get(&line.hash).copied().unwrap_or(0) > equals.len();
            let agree =
                equals.iter().all(|other| *other == author) && (!is_more || author == self.by);
            let is_tied = place < tied_first || place >= last;
            let stands = is_tied || author == self.by;
            if !(agree && stands) {
                self.found.push(pair[1]);
            }
        }
        // What is new beside an equal line of someone else may be that line.
        let stayed: HashSet<usize> = self.pairs.iter().map(|pair| pair[1]).collect();
        for at in news.clone().filter(|at| !stayed.contains(at)) {
            let hash = self.new.lines.get(at).map(|line| line.hash);
            let equals = hash.and_then(|hash| authors.get(&hash));
            if equals.is_some_and(|equals| equals.iter().any(|author| *author != self.by)) {
                self.found.push(at);
            }
        }
    }
}

/// How many pairs follow each other without a gap, counted from an end of the zone.
fn tied(distances: impl Iterator<Item = [usize; 2]>, first: usize) -> usize {
    distances
        .zip(first..)
        .take_while(|(distance, expected)| *distance == [*expected, *expected])
        .count()
}
