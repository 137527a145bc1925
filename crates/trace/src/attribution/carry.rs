//! From one version of some files to the next: which lines keep their authors.

use std::collections::HashSet;
use std::rc::Rc;

use super::rename::Renames;
use super::{
    Author, Certainty, Credit, Handling, Sheet, TELLING_WEIGHT, Version, certain, moves, reformat,
    rename,
};
use crate::align::{By, Hunk, hunks, kept};

/// One file in a set of changes that were made together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step<'a> {
    /// What was there; `None` for a new file.
    pub(crate) old: Option<&'a Version>,
    /// What is there now; `None` for a removed file.
    pub(crate) new: Option<&'a Sheet>,
}

/// What is known of one file's new lines, and which old ones are gone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Draft {
    /// One for each new line; `None` for a line that came from nowhere known.
    pub(crate) credits: Vec<Option<Credit>>,
    /// One for each old line: whether it has no place in the new text.
    pub(crate) gone: Vec<bool>,
    /// Lines that someone else is known to have written elsewhere, by their tokens.
    pub(crate) others: HashSet<u64>,
    /// The same for what this step took away from any file: one set for all of them.
    taken: Rc<HashSet<u64>>,
    /// New lines that may be an old one beside them.
    pub(crate) doubted: HashSet<usize>,
}

impl Draft {
    /// Gives what came from nowhere to the one who made the change: for certain, unless someone
    /// else wrote the same line, or it is a bracket beside such a line.
    pub(crate) fn finish(self, sheet: &Sheet, by: Author) -> Vec<Credit> {
        let mut credits: Vec<Credit> = Vec::with_capacity(self.credits.len());
        let mut is_fresh = Vec::with_capacity(self.credits.len());
        for (at, (line, credit)) in sheet.lines.iter().zip(&self.credits).enumerate() {
            is_fresh.push(credit.is_none());
            credits.push(credit.unwrap_or_else(|| {
                let fresh = Credit::fresh(by);
                let is_known = self.others.contains(&line.soft) || self.taken.contains(&line.soft);
                if is_known || self.doubted.contains(&at) {
                    fresh.likely()
                } else {
                    fresh
                }
            }));
        }
        let forwards: Vec<usize> = (0..credits.len()).collect();
        let backwards: Vec<usize> = forwards.iter().rev().copied().collect();
        for order in [forwards, backwards] {
            let mut is_doubtful = false;
            for at in order {
                let (Some(credit), Some(fresh)) = (credits.get_mut(at), is_fresh.get(at)) else {
                    continue;
                };
                if *fresh && is_doubtful && sheet.weight(at) < TELLING_WEIGHT {
                    *credit = credit.likely();
                }
                let is_moved_now = credit.handled == Some((Handling::Moved, by));
                is_doubtful = is_moved_now || *fresh && credit.certainty == Certainty::Likely;
            }
        }
        credits
    }

    pub(super) fn set(&mut self, line: usize, credit: Credit) {
        if let Some(place) = self.credits.get_mut(line) {
            *place = Some(credit);
        }
    }

    pub(super) fn is_open(&self, line: usize) -> bool {
        matches!(self.credits.get(line), Some(None))
    }

    pub(super) fn is_gone(&self, line: usize) -> bool {
        self.gone.get(line).copied().unwrap_or(false)
    }

    pub(super) fn take(&mut self, line: usize) {
        if let Some(place) = self.gone.get_mut(line) {
            *place = false;
        }
    }
}

/// Follows the lines of files that one step changed together.
pub(crate) fn evolve(steps: &[Step<'_>], by: Author) -> Vec<Draft> {
    let mut drafts = Vec::with_capacity(steps.len());
    let mut changed = Vec::with_capacity(steps.len());
    let mut renames = Renames::new();
    for step in steps {
        let (mut draft, hunks) = stay(step, by);
        if let (Some(old), Some(new)) = (step.old, step.new) {
            let found = rename::find(&old.sheet, new, &hunks);
            renames.extend(found.renames);
            draft.doubted.extend(found.alike);
        }
        drafts.push(draft);
        changed.push(hunks);
    }
    for ((step, draft), hunks) in steps.iter().zip(&mut drafts).zip(&changed) {
        if let (Some(old), Some(new)) = (step.old, step.new) {
            for hunk in hunks {
                reformat::follow(&reformat::Pair { old, new, by }, hunk, &renames, draft);
            }
        }
    }
    moves::follow(steps, &mut drafts, by);
    let taken = Rc::new(gone(steps, &drafts, by));
    for draft in &mut drafts {
        draft.taken = Rc::clone(&taken);
    }
    drafts
}

/// Lines of others that this step took away.
fn gone(steps: &[Step<'_>], drafts: &[Draft], by: Author) -> HashSet<u64> {
    let mut others = HashSet::new();
    for (step, draft) in steps.iter().zip(drafts) {
        let Some(old) = step.old else { continue };
        for (at, line) in old.sheet.lines.iter().enumerate() {
            if draft.is_gone(at) && old.credit(at).author != by {
                others.insert(line.soft);
            }
        }
    }
    others
}

/// Lines that stayed as they are.
fn stay(step: &Step<'_>, by: Author) -> (Draft, Vec<Hunk>) {
    let old_len = step.old.map_or(0, |old| old.sheet.lines.len());
    let mut draft = Draft {
        credits: vec![None; step.new.map_or(0, |new| new.lines.len())],
        gone: vec![true; old_len],
        ..Draft::default()
    };
    let (Some(old), Some(new)) = (step.old, step.new) else {
        return (draft, Vec::new());
    };
    let hunks = hunks(&old.sheet.hashes(), &new.hashes(), By::Lines);
    let runs = kept(&hunks, old_len);
    for run in &runs {
        for at in 0..run.len {
            let (from, to) = (run.old.saturating_add(at), run.new.saturating_add(at));
            draft.set(to, old.credit(from));
            draft.take(from);
        }
    }
    if !hunks.is_empty() {
        for line in certain::doubtful(old, new, &runs, by) {
            match draft.credits.get_mut(line) {
                Some(Some(credit)) => *credit = credit.likely(),
                Some(None) => {
                    draft.doubted.insert(line);
                }
                None => {}
            }
        }
    }
    (draft, hunks)
}
