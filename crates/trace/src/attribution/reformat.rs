//! Lines whose tokens stayed while their spacing, breaks or names changed.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use std::sync::OnceLock;

use tagout_vocab::limits::ATTRIBUTION_TOKENS_MAX;

use super::rename::Renames;
use super::sheet::token;
use super::{Author, Credit, Draft, HELD_WEIGHT_MIN, Handling, Sheet, TELLING_WEIGHT, Version};
use crate::align::{By, Hunk, hunks, kept};

/// The two versions and who made the new one.
pub(super) struct Pair<'a> {
    pub(super) old: &'a Version,
    pub(super) new: &'a Sheet,
    pub(super) by: Author,
}

/// Gives authors to the new lines of a hunk whose tokens were there before, in the same order, as
/// whole lines on both sides.
pub(super) fn follow(pair: &Pair<'_>, hunk: &Hunk, renames: &Renames, draft: &mut Draft) {
    let old = Flat::new(&pair.old.sheet, &hunk.old, renames);
    let new = Flat::new(pair.new, &hunk.new, &Renames::new());
    let size = old.tokens.len().saturating_add(new.tokens.len());
    if size == 0 || size > ATTRIBUTION_TOKENS_MAX {
        return;
    }
    let gaps = hunks(&old.tokens, &new.tokens, By::Tokens);
    for run in kept(&gaps, old.tokens.len()) {
        let is_edge = |step: &usize| {
            old.edges.contains(&run.old.saturating_add(*step))
                && new.edges.contains(&run.new.saturating_add(*step))
        };
        let Some(first) = (0..=run.len).find(is_edge) else {
            continue;
        };
        let last = (first..=run.len).rev().find(is_edge).unwrap_or(first);
        let segment = Segment {
            old: run.old.saturating_add(first)..run.old.saturating_add(last),
            new_start: run.new.saturating_add(first),
        };
        segment.apply(pair, &old, &new, draft);
    }
}

/// The lines of a hunk as one row of tokens.
struct Flat {
    tokens: Vec<u64>,
    /// Whether each token stands for another one by a renaming.
    renamed: Vec<bool>,
    /// Which line each token is on.
    line_of: Vec<usize>,
    /// Which tokens each line has; lines without any are not here.
    lines: BTreeMap<usize, Range<usize>>,
    /// Lines without tokens, by the place between tokens where they stand.
    blanks: HashMap<usize, Vec<usize>>,
    /// Where lines begin or end.
    edges: HashSet<usize>,
}

impl Flat {
    fn new(sheet: &Sheet, lines: &Range<usize>, renames: &Renames) -> Self {
        let all: Vec<(usize, u64)> = lines
            .clone()
            .flat_map(|line| {
                sheet
                    .tokens_of(line)
                    .iter()
                    .map(move |token| (line, *token))
            })
            .collect();
        let mut flat = Self {
            tokens: Vec::with_capacity(all.len()),
            renamed: Vec::with_capacity(all.len()),
            line_of: Vec::with_capacity(all.len()),
            lines: BTreeMap::new(),
            blanks: HashMap::new(),
            edges: HashSet::new(),
        };
        let signs = signs();
        let mut row = all.into_iter().peekable();
        let mut next_line = lines.start;
        while let Some((line, token)) = row.next() {
            flat.blank_until(&mut next_line, line);
            // Formatters put a comma before a closing bracket that moved to its own line.
            let is_trailing = token == signs.comma
                && row
                    .peek()
                    .is_some_and(|(_, next)| signs.closers.contains(next));
            let at = flat.tokens.len();
            let range = flat.lines.entry(line).or_insert(at..at);
            if !is_trailing {
                range.end = at.saturating_add(1);
                let new = renames.get(&token).copied();
                flat.tokens.push(new.unwrap_or(token));
                flat.renamed.push(new.is_some());
                flat.line_of.push(line);
            }
        }
        flat.blank_until(&mut next_line, lines.end);
        let ends = flat
            .lines
            .values()
            .flat_map(|range| [range.start, range.end]);
        flat.edges = ends.collect();
        flat
    }

    /// Notes the lines without tokens that come before a line.
    fn blank_until(&mut self, next: &mut usize, line: usize) {
        if *next > line {
            return;
        }
        let at = self.tokens.len();
        let blanks = *next..line;
        if !blanks.is_empty() {
            self.blanks.entry(at).or_default().extend(blanks);
        }
        *next = line.saturating_add(1);
    }
}

struct Signs {
    comma: u64,
    closers: [u64; 3],
}

fn signs() -> &'static Signs {
    static SIGNS: OnceLock<Signs> = OnceLock::new();
    SIGNS.get_or_init(|| Signs {
        comma: token(","),
        closers: [")", "]", "}"].map(token),
    })
}

/// Tokens that stayed, from a line's edge to a line's edge on both sides.
struct Segment {
    old: Range<usize>,
    new_start: usize,
}

impl Segment {
    fn apply(&self, pair: &Pair<'_>, old: &Flat, new: &Flat, draft: &mut Draft) {
        let news = self.new_start..self.new_start.saturating_add(self.old.len());
        let within = new
            .lines
            .iter()
            .filter(|(_, range)| news.start <= range.start && range.end <= news.end);
        let lines: Vec<(usize, Range<usize>)> =
            within.map(|(line, range)| (*line, range.clone())).collect();
        let weight: u32 = lines.iter().map(|(line, _)| pair.new.weight(*line)).sum();
        let is_all = self.old.len() == old.tokens.len() && self.old.len() == new.tokens.len();
        if weight < TELLING_WEIGHT && !is_all {
            return;
        }
        for (line, range) in lines {
            let before = self.back(range.start)..self.back(range.end);
            if let Some((credit, source)) = settle(pair, old, &before) {
                // A bracket or a word that stands alone on both sides may as well have been written
                // again; a piece of a longer line was not.
                let own = pair.new.weight(line).max(pair.old.sheet.weight(source));
                let needed = if is_all {
                    TELLING_WEIGHT
                } else {
                    HELD_WEIGHT_MIN
                };
                let is_light = weight < HELD_WEIGHT_MIN || own < needed;
                let is_weak = is_light && credit.author != pair.by;
                draft.set(line, if is_weak { credit.likely() } else { credit });
            }
        }
        for (line, range) in &old.lines {
            if self.old.start <= range.start && range.end <= self.old.end {
                draft.take(*line);
            }
        }
        for at in news.start..=news.end {
            let (Some(blanks), Some(were)) = (new.blanks.get(&at), old.blanks.get(&self.back(at)))
            else {
                continue;
            };
            for (line, was) in blanks.iter().zip(were) {
                let credit = pair.old.credit(*was);
                let is_weak = credit.author != pair.by;
                draft.set(*line, if is_weak { credit.likely() } else { credit });
                draft.take(*was);
            }
        }
    }

    /// The place in the old row that a place in the new row came from.
    const fn back(&self, at: usize) -> usize {
        self.old
            .start
            .saturating_add(at.saturating_sub(self.new_start))
    }
}

/// The author of a line from the tokens it is made of: who wrote most of them, and the old line that
/// most of those come from.
fn settle(pair: &Pair<'_>, old: &Flat, tokens: &Range<usize>) -> Option<(Credit, usize)> {
    let mut shares: BTreeMap<usize, usize> = BTreeMap::new();
    for line in old.line_of.get(tokens.clone())? {
        let share = shares.entry(*line).or_default();
        *share = share.saturating_add(1);
    }
    let mut by_author: BTreeMap<Author, usize> = BTreeMap::new();
    for (line, share) in &shares {
        let sum = by_author.entry(pair.old.credit(*line).author).or_default();
        *sum = sum.saturating_add(*share);
    }
    let (author, _) = by_author.iter().max_by_key(|(_, share)| **share)?;
    let (line, _) = shares
        .iter()
        .filter(|(line, _)| pair.old.credit(**line).author == *author)
        .max_by_key(|(_, share)| **share)?;
    let is_renamed = old
        .renamed
        .get(tokens.clone())?
        .iter()
        .any(|renamed| *renamed);
    let how = if is_renamed {
        Handling::Renamed
    } else {
        Handling::Reformatted
    };
    let credit = pair.old.credit(*line).handled(how, pair.by);
    let is_mixed = by_author.len() > 1;
    let is_doubtful = is_mixed || is_renamed && *author != pair.by;
    let credit = if is_doubtful { credit.likely() } else { credit };
    Some((credit, *line))
}
