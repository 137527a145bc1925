//! Authorship of a workspace: settled changes in, the author of every line out.

mod nearest;
mod render;

use std::collections::{BTreeMap, HashSet};

use tagout_vocab::limits::ATTRIBUTION_SOURCES_MAX;
use tagout_vocab::{Digest, WorkspacePath};

use crate::attribution::{
    Author, Certainty, Credit, Draft, Earlier, Origin, OriginNo, Reach, Sheet, Step, SymbolCredit,
    TELLING_WEIGHT, Version, evolve, recall, symbols,
};
use crate::history::{
    Addition, HistoryError, Origins, Place, States, Store, Tie, add, assign, path_key, prints,
};
use crate::nodes::Definition;
use nearest::Base;

pub use render::{Commits, json, porcelain, terminal};

#[cfg(test)]
mod tests;

/// One file that an execution changed.
#[derive(Clone, Copy, Debug)]
pub struct FileChange<'a> {
    /// Where the file is now, or was before it was removed.
    pub path: &'a WorkspacePath,
    /// Where it was before, when it was moved.
    pub moved_from: Option<&'a WorkspacePath>,
    /// What was there; `None` for a new file.
    pub before: Option<&'a [u8]>,
    /// What is there now; `None` for a removed file.
    pub after: Option<&'a [u8]>,
}

/// Who is behind lines that no settled execution wrote.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Outside {
    /// Every call that could have touched the file is settled: it was someone outside.
    #[default]
    Human,
    /// A call may still be under way, or its end was never seen: nobody can tell.
    Unknown,
}

/// How the author of each line was found.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Basis {
    /// This very content is known at this path.
    Exact,
    /// This very content is known at another path.
    Elsewhere,
    /// A version close to it is known; what differs came from outside.
    Nearest,
    /// Nothing of the file is known.
    Unseen,
}

/// The author of every line of a file.
#[derive(Clone, Debug)]
pub struct Blame {
    /// One for each line.
    pub lines: Vec<Credit>,
    /// The executions that the lines name.
    pub origins: BTreeMap<OriginNo, Origin>,
    /// How they were found.
    pub basis: Basis,
    telling: Vec<bool>,
}

impl Blame {
    /// Who made each of the file's definitions.
    pub fn symbols(&self, definitions: &[Definition]) -> Vec<SymbolCredit> {
        symbols(definitions, &self.lines, |line| {
            self.telling.get(line).copied().unwrap_or(false)
        })
    }
}

/// One file of a commit.
#[derive(Clone, Copy, Debug)]
pub struct CommitFile<'a> {
    /// Where it is.
    pub path: &'a WorkspacePath,
    /// Its content in the commit.
    pub content: &'a [u8],
    /// Its content in the commit's first parent, if it was there.
    pub parent: Option<&'a [u8]>,
}

/// The authorship of one workspace, over a store of its versions.
#[derive(Debug)]
pub struct Authorship<S> {
    store: S,
}

impl<S: Store> Authorship<S> {
    /// Over a store.
    pub const fn new(store: S) -> Self {
        Self { store }
    }

    /// The store, for the lists of records beside it.
    pub const fn store(&self) -> &S {
        &self.store
    }

    /// The store, to be added to.
    pub const fn store_mut(&mut self) -> &mut S {
        &mut self.store
    }

    /// Takes in what an execution changed: its lines become the execution's, all others keep their
    /// authors. What differs between the files' last known versions and `before` came from outside.
    pub fn settle(
        &mut self,
        origin: &Origin,
        changes: &[FileChange<'_>],
        outside: Outside,
    ) -> Result<OriginNo, HistoryError> {
        let number = assign(&mut self.store, origin)?;
        let by = Author::Agent(number);
        let mut olds = Vec::with_capacity(changes.len());
        for change in changes {
            let from = change.moved_from.unwrap_or(change.path);
            olds.push(match change.before {
                Some(bytes) => Some(self.see(from, bytes, outside)?),
                None => None,
            });
        }
        let news: Vec<Option<Sheet>> = changes
            .iter()
            .zip(&olds)
            .map(|(change, old)| match (change.after, old) {
                (Some(after), Some((known, _))) if change.before == Some(after) => {
                    Some(known.sheet.clone())
                }
                (Some(after), _) => Some(Sheet::of(after)),
                (None, _) => None,
            })
            .collect();
        let steps: Vec<Step<'_>> = olds
            .iter()
            .zip(&news)
            .map(|(old, new)| Step {
                old: old.as_ref().map(|(version, _)| version),
                new: new.as_ref(),
            })
            .collect();
        let drafts = evolve(&steps, by);
        drop(steps);
        self.clear(changes)?;
        for (((change, old), new), mut draft) in changes.iter().zip(&olds).zip(news).zip(drafts) {
            let (Some(sheet), Some(after)) = (new, change.after) else {
                continue;
            };
            let path = path_key(change.path);
            self.recall(&path, &sheet, by, &mut draft)?;
            self.revert(&path, after, &mut draft)?;
            let version = Version {
                credits: draft.finish(&sheet, by),
                sheet,
            };
            let same_as = match old {
                Some((_, place)) if change.before == Some(after) => Some(*place),
                _ => None,
            };
            let at_hand = old.as_ref().map(|(version, place)| (*place, version));
            self.keep(&path, after, &version, (same_as, at_hand))?;
        }
        Ok(number)
    }

    /// Notes that nothing is left where files were removed or moved away, so that their lines are
    /// not taken for copies when they turn up elsewhere.
    fn clear(&mut self, changes: &[FileChange<'_>]) -> Result<(), HistoryError> {
        let nothing = Version {
            sheet: Sheet::default(),
            credits: Vec::new(),
        };
        for change in changes {
            let left = match (change.after, change.moved_from) {
                (None, None) => change.path,
                (_, Some(from)) => from,
                (Some(_), None) => continue,
            };
            self.keep(&path_key(left), &[], &nothing, (None, None))?;
        }
        Ok(())
    }

    /// Takes in what a file looks like, changed by nobody who is governed. Called when a file is
    /// first seen, its lines can be told from those that come later.
    pub fn observe(
        &mut self,
        path: &WorkspacePath,
        bytes: &[u8],
        outside: Outside,
    ) -> Result<(), HistoryError> {
        self.see(path, bytes, outside).map(|_| ())
    }

    /// The author of every line of a file as it is. Keeps nothing.
    pub fn blame(
        &self,
        path: &WorkspacePath,
        bytes: &[u8],
        outside: Outside,
    ) -> Result<Blame, HistoryError> {
        let (base, version) = self.resolve(path, bytes, outside)?;
        let mut origins = BTreeMap::new();
        for credit in &version.credits {
            let handler = credit.handled.map(|(_, by)| by);
            for author in [Some(credit.author), handler].into_iter().flatten() {
                if let Author::Agent(number) = author
                    && !origins.contains_key(&number)
                    && let Some(origin) = Origins(&self.store).find(number)?
                {
                    origins.insert(number, origin);
                }
            }
        }
        let is_telling = |line: &crate::attribution::Line| line.weight >= TELLING_WEIGHT;
        Ok(Blame {
            telling: version.sheet.lines.iter().map(is_telling).collect(),
            lines: version.credits,
            origins,
            basis: base.basis,
        })
    }

    /// The calls whose lines a file of a commit brings, found by content: it does not matter how
    /// often the commit was rewritten before. Keeps nothing.
    pub fn ties(&self, file: &CommitFile<'_>) -> Result<Vec<Tie>, HistoryError> {
        let (_, version) = self.resolve(file.path, file.content, Outside::Human)?;
        let mut known = BTreeMap::new();
        let shares_now = shares(&version.credits);
        if let Some(parent) = file.parent.filter(|_| !shares_now.is_empty()) {
            let (_, before) = self.resolve(file.path, parent, Outside::Human)?;
            known = shares(&before.credits);
        }
        let mut ties = Vec::new();
        for (number, (lines_count, is_certain)) in shares_now {
            let were = known.remove(&number).map_or(0, |(count, _)| count);
            if were >= lines_count {
                continue;
            }
            if let Some(origin) = Origins(&self.store).find(number)? {
                ties.push(Tie {
                    execution: origin.execution,
                    path: file.path.clone(),
                    lines_count,
                    is_certain,
                });
            }
        }
        Ok(ties)
    }

    /// The version of a file as it is, kept if it was not known.
    fn see(
        &mut self,
        path: &WorkspacePath,
        bytes: &[u8],
        outside: Outside,
    ) -> Result<(Version, Place), HistoryError> {
        let (base, version) = self.resolve(path, bytes, outside)?;
        let path = path_key(path);
        match (base.basis, base.place) {
            // The latest version is the one that the next difference is written against.
            (Basis::Exact, Some(place)) if self.is_latest(&place)? => Ok((version, place)),
            (Basis::Exact | Basis::Elsewhere, same_as) => {
                let place = self.keep(&path, bytes, &version, (same_as, None))?;
                Ok((version, place))
            }
            (Basis::Nearest | Basis::Unseen, _) => {
                let place = self.keep(&path, bytes, &version, (None, None))?;
                Ok((version, place))
            }
        }
    }

    fn is_latest(&self, place: &Place) -> Result<bool, HistoryError> {
        let count = States(&self.store).count(&place.path)?;
        Ok(count == place.number.saturating_add(1))
    }

    fn keep(
        &mut self,
        path: &Digest,
        bytes: &[u8],
        version: &Version,
        (same_as, at_hand): (Option<Place>, Option<(Place, &Version)>),
    ) -> Result<Place, HistoryError> {
        let content = Digest::of(bytes);
        let addition = Addition {
            path,
            content: &content,
            version,
            same_as,
            at_hand,
        };
        add(&mut self.store, &addition)
    }

    /// The authors of a file's lines from what is known.
    fn resolve(
        &self,
        path: &WorkspacePath,
        bytes: &[u8],
        outside: Outside,
    ) -> Result<(Base, Version), HistoryError> {
        let key = path_key(path);
        if let Some((base, version)) = self.with_content(&key, &Digest::of(bytes))? {
            return Ok((base, version));
        }
        let sheet = Sheet::of(bytes);
        let found = self.nearest(&key, &sheet)?;
        let outside = match outside {
            Outside::Human => Author::Human,
            Outside::Unknown => Author::Unknown,
        };
        let (basis, by) = match &found {
            Some(_) => (Basis::Nearest, outside),
            None => (Basis::Unseen, Author::Unknown),
        };
        let step = Step {
            old: found.as_ref(),
            new: Some(&sheet),
        };
        let mut draft = evolve(&[step], by).pop().unwrap_or_default();
        self.recall(&key, &sheet, by, &mut draft)?;
        let credits = draft.finish(&sheet, by);
        let base = Base { basis, place: None };
        Ok((base, Version { sheet, credits }))
    }

    /// A file that is again what it was: what came back is likely to be what it was.
    fn revert(&self, path: &Digest, after: &[u8], draft: &mut Draft) -> Result<(), HistoryError> {
        if !draft.credits.contains(&None) {
            return Ok(());
        }
        let found = self.with_content(path, &Digest::of(after))?;
        if let Some((base, version)) = found
            && base.basis == Basis::Exact
        {
            for (open, known) in draft.credits.iter_mut().zip(&version.credits) {
                open.get_or_insert(known.likely());
            }
        }
        Ok(())
    }

    /// Looks through earlier versions for the lines that came from nowhere.
    fn recall(
        &self,
        path: &Digest,
        sheet: &Sheet,
        by: Author,
        draft: &mut Draft,
    ) -> Result<(), HistoryError> {
        let known = self.sources(path, sheet, draft)?;
        recall(draft, sheet, by, &known);
        Ok(())
    }

    fn sources(
        &self,
        path: &Digest,
        sheet: &Sheet,
        draft: &mut Draft,
    ) -> Result<Vec<Earlier>, HistoryError> {
        let states = States(&self.store);
        let marks = prints(sheet);
        let open = sheet.lines.iter().zip(&draft.credits);
        let open = open.filter(|(line, credit)| credit.is_none() && marks.contains(&line.soft));
        let mut votes: BTreeMap<Digest, (usize, u32)> = BTreeMap::new();
        let mut is_known = HashSet::new();
        for (at, (line, _)) in open.enumerate() {
            // Beyond the bound nothing is looked up, and nothing is said for certain.
            if at >= LOOKUPS_MAX {
                is_known.insert(line.soft);
                continue;
            }
            for place in states.with_line(line.soft)? {
                is_known.insert(line.soft);
                let (count, latest) = votes.entry(place.path).or_default();
                *count = count.saturating_add(1);
                *latest = place.number.max(*latest);
            }
        }
        draft.others.extend(is_known);
        let mut votes: Vec<(Digest, (usize, u32))> = votes.into_iter().collect();
        votes.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
        let mut sources = Vec::new();
        for (from, (_, latest)) in votes.into_iter().take(SOURCE_PATHS_MAX) {
            let reach = if from == *path {
                Reach::SamePath
            } else {
                Reach::Elsewhere
            };
            // The version in which the last of the lines appeared, and the latest ones: a block
            // that was cut out just now is whole in them.
            let mut found = states.recent(&from, ATTRIBUTION_SOURCES_MAX / SOURCE_PATHS_MAX)?;
            if found.iter().all(|found| found.place.number != latest) {
                let place = Place {
                    path: from,
                    number: latest,
                };
                found.extend(states.version(&place)?);
            }
            let last = found.iter().map(|found| found.place.number).max();
            sources.extend(found.into_iter().map(|found| Earlier {
                reach,
                is_latest: Some(found.place.number) == last,
                version: found.version,
            }));
        }
        Ok(sources)
    }
}

/// Paths that the new lines of one file may have come from.
const SOURCE_PATHS_MAX: usize = 4;

/// Lines of a file that are looked up in the index at most.
const LOOKUPS_MAX: usize = 4_000;

/// How many lines each execution has, and whether all of them are certain.
fn shares(credits: &[Credit]) -> BTreeMap<OriginNo, (usize, bool)> {
    let mut shares = BTreeMap::new();
    for credit in credits {
        if let Author::Agent(number) = credit.author {
            let (count, is_certain) = shares.entry(number).or_insert((0_usize, true));
            *count = count.saturating_add(1);
            *is_certain &= credit.certainty == Certainty::Certain;
        }
    }
    shares
}
