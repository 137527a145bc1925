//! Taking back what was done in place, by the snapshot that was taken before it.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::sync::Arc;

use tagout_vocab::{CallId, Timestamp};

use crate::commit::{Change, changes};
use crate::effects::Stood;
use crate::error::{Clash, ConflictPath, Error, at};
use crate::journal::frame::Frame;
use crate::journal::record::Unit;
use crate::look;
use crate::make::Blobs;
use crate::mark::Mark;
use crate::node::{Identity, Item, Node, Place, Tree};
use crate::relpath::RelPath;
use crate::sys;
use crate::transaction::Transaction;
use crate::workspace::Workspace;

/// What was found under the paths of a snapshot and taken back.
#[derive(Debug, Default)]
pub struct TakenBack {
    /// What had changed since the snapshot.
    pub changes: Vec<Change>,
    /// Where someone else's work was found. It was left alone.
    pub conflicts: Vec<ConflictPath>,
    /// Whether `changes` has all of it. What was too much to be kept is gone.
    pub whole: bool,
    /// Before and after, for staging it again.
    units: Vec<Unit>,
}

impl TakenBack {
    /// Whether the command had left a folder at a path.
    pub fn is_folder(&self, path: &RelPath) -> bool {
        self.units.iter().any(|unit| {
            let sub = path.beneath(&unit.path);
            let pair = sub.and_then(|sub| unit.pairs().get(&sub).copied());
            let after = pair.and_then(|(_, after)| after);
            after.is_some_and(|item| item.node.is_dir())
        })
    }
}

/// A path with what stands there and what shall.
type Step = (RelPath, Option<Item>, Option<Item>);

impl Workspace {
    /// Makes everything that was written to the state until now last through a power loss, a
    /// snapshot among it.
    pub fn secure(&self) -> Result<(), Error> {
        sys::sync_system(&self.state.handle).map_err(at("sync", "the state"))
    }

    /// Puts everything under the paths of a snapshot back to what it was, in one transaction of
    /// the name `restoring`, and says what it had become. It can be staged again with
    /// [`Transaction::stage_taken`].
    ///
    /// With a mark, what changed since then is someone else's work and left alone.
    pub fn take_back(
        &self,
        execution: &CallId,
        restoring: &CallId,
        (now, until): (Timestamp, Option<Mark>),
    ) -> Result<TakenBack, Error> {
        let frame = self.snapshot_of(execution)?;
        let mut units = Vec::new();
        let mut whole = true;
        for unit in &frame.record.units {
            let before = self.at_hand(&frame, &unit.before)?;
            let after = match self.now(&unit.path) {
                Err(Error::TooMany { .. } | Error::TooLarge { .. }) => {
                    whole = false;
                    self.clear_excess(unit, until.as_ref())?;
                    self.now(&unit.path)?
                }
                found => found?,
            };
            units.push(Unit {
                path: unit.path.clone(),
                before,
                after,
                in_place: false,
            });
        }
        let mut steps: Vec<Step> = units.iter().flat_map(steps_back).collect();
        let others = self.committed_since(frame.record.at_ms, [execution, restoring])?;
        let conflicts = leave_foreign(&mut steps, (until.as_ref(), &others));
        if !steps.is_empty() {
            let mut transaction = self.begin(restoring)?;
            for (path, _, shall) in &steps {
                if shall.as_ref().is_some_and(|item| item.node.is_dir()) {
                    transaction.timed.insert(path.clone());
                }
            }
            transaction.put_all(steps)?;
            transaction.commit(now, b"")?.confirm();
        }
        let mut found = changes(&units);
        found.retain(|change| change.before != change.after || change.before.is_none());
        let changed: BTreeSet<RelPath> = units.iter().flat_map(changed_paths).collect();
        found.retain(|change| changed.contains(&change.path));
        Ok(TakenBack {
            changes: found,
            conflicts,
            whole,
            units,
        })
    }

    /// Hands out what was found and taken back, path by path from the top: what the command left
    /// there, or nothing.
    pub fn each_taken<E: From<Error>>(
        &self,
        taken: &TakenBack,
        mut each: impl FnMut(&RelPath, Option<Stood>) -> Result<(), E>,
    ) -> Result<(), E> {
        for unit in &taken.units {
            let pairs = unit.pairs();
            for path in changed_paths(unit) {
                let sub = path.beneath(&unit.path);
                let pair = sub.and_then(|sub| pairs.get(&sub).copied());
                let after = pair.and_then(|(_, after)| after);
                each(&path, after.map(|item| self.stood(item)))?;
            }
        }
        Ok(())
    }

    /// What other calls committed since a snapshot was taken: that is not taken back.
    fn committed_since(&self, at_ms: i64, own: [&CallId; 2]) -> Result<Vec<RelPath>, Error> {
        let mut found = Vec::new();
        for number in self.state.journal.numbers()? {
            let frames = self.state.journal.kept(number)?.into_iter();
            let others = frames.filter(|frame| {
                let record = &frame.record;
                !frame.aborted && record.at_ms >= at_ms && !own.contains(&&record.execution)
            });
            found.extend(
                others
                    .flat_map(|frame| frame.record.units)
                    .map(|unit| unit.path),
            );
        }
        Ok(found)
    }

    fn now(&self, path: &RelPath) -> Result<Tree, Error> {
        match self.root.parent(path) {
            Ok((folder, name)) => look::tree(&folder, name, path, self.keep()),
            Err(Error::Missing { .. } | Error::Conflict { .. }) => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// Removes what is too much to be kept: whatever the snapshot does not know, and files that
    /// grew too large. What the snapshot knows is put back afterwards.
    fn clear_excess(&self, unit: &Unit, until: Option<&Mark>) -> Result<(), Error> {
        let shown = || unit.path.to_string();
        let known: BTreeMap<RelPath, bool> = unit
            .before
            .iter()
            .map(|item| (unit.path.join(&item.sub), item.node.is_dir()))
            .collect();
        let mut open = vec![unit.path.clone()];
        while let Some(path) = open.pop() {
            let stat = match sys::stat_at(self.root.handle(), path.as_bytes()) {
                Ok(stat) => stat,
                Err(error) if sys::is_missing(&error) => continue,
                Err(error) => return Err(Error::io("look at", shown(), error)),
            };
            let folder = stat.kind == sys::Kind::Dir;
            let is_foreign = until.is_some_and(|mark| mark.may_have_changed(&Identity::of(&stat)));
            let fits = stat.size <= self.options.image_bytes_max;
            match known.get(&path) {
                Some(true) if folder => {
                    let handle = sys::open_dir(self.root.handle(), path.as_bytes());
                    let names = handle.and_then(|handle| sys::names(&handle));
                    let names = names.map_err(at("list", shown()))?;
                    open.extend(names.iter().map(|name| path.with(name)));
                }
                Some(false) if !folder && fits => {}
                Some(_) | None if is_foreign => {}
                Some(_) | None => {
                    let place = self.root().join(OsStr::from_bytes(path.as_bytes()));
                    let removed = if folder {
                        std::fs::remove_dir_all(place)
                    } else {
                        std::fs::remove_file(place)
                    };
                    removed.map_err(at("remove", shown()))?;
                }
            }
        }
        Ok(())
    }

    /// A tree of a record with the small contents in memory, so that it outlives the record.
    fn at_hand(&self, frame: &Frame, tree: &[Item]) -> Result<Tree, Error> {
        let blobs = Blobs {
            inline: &frame.inline,
            images: &self.state.images,
        };
        let mut found = tree.to_vec();
        for item in &mut found {
            if let Node::File {
                digest,
                size,
                place,
            } = &mut item.node
                && matches!(place, Place::Inline { .. })
            {
                *place = Place::Memory(Arc::from(blobs.read(digest, *size, place)?));
            }
        }
        Ok(found)
    }
}

/// What has to be done to put a unit back.
fn steps_back(unit: &Unit) -> Vec<Step> {
    let pairs = unit.pairs().into_iter();
    let differing = pairs.filter(|(_, (before, after))| differs(*before, *after));
    let step = |(sub, (before, after)): (&RelPath, (Option<&Item>, Option<&Item>))| {
        (unit.path.join(sub), after.cloned(), before.cloned())
    };
    differing.map(step).collect()
}

/// Whether there is anything to put back, the time of change among it.
fn differs(before: Option<&Item>, after: Option<&Item>) -> bool {
    match (before, after) {
        (Some(before), Some(after)) => {
            is_changed(before, after) || before.meta.mtime != after.meta.mtime
        }
        (None, None) => false,
        (Some(_), None) | (None, Some(_)) => true,
    }
}

fn is_changed(before: &Item, after: &Item) -> bool {
    let link = matches!(before.node, Node::Symlink { .. });
    !before.node.same(&after.node) || !(link || before.meta.satisfied_by(&after.meta))
}

/// The paths of a unit that changed. The time of a folder alone follows from what is in it.
fn changed_paths(unit: &Unit) -> Vec<RelPath> {
    let is_changed = |before: Option<&Item>, after: Option<&Item>| match (before, after) {
        (Some(one), Some(other)) if one.node.is_dir() => is_changed(one, other),
        (before, after) => differs(before, after),
    };
    let pairs = unit.pairs().into_iter();
    let changed = pairs.filter(|(_, (before, after))| is_changed(*before, *after));
    changed.map(|(sub, _)| unit.path.join(sub)).collect()
}

/// Takes out of the steps what changed since the mark or by other calls, and the removal of folders
/// around it.
fn leave_foreign(
    steps: &mut Vec<Step>,
    (until, others): (Option<&Mark>, &[RelPath]),
) -> Vec<ConflictPath> {
    let foreign = |(path, is, shall): &&Step| {
        let later = |item: &Item| until.is_some_and(|mark| mark.is_foreign(item));
        // A folder on both sides differs only by what is in it.
        let folder = |item: &Option<Item>| item.as_ref().is_some_and(|item| item.node.is_dir());
        let work = !(folder(is) && folder(shall));
        let file = is.as_ref().filter(|item| !item.node.is_dir());
        file.is_some_and(later) || (work && others.iter().any(|other| path.is_beneath(other)))
    };
    let left: Vec<RelPath> = steps
        .iter()
        .filter(foreign)
        .map(|step| step.0.clone())
        .collect();
    steps.retain(|(path, _, _)| !left.iter().any(|one| one.is_beneath(path)));
    left.iter().map(clash).collect()
}

fn clash(path: &RelPath) -> ConflictPath {
    ConflictPath {
        path: path.to_string(),
        found: Clash::Changed,
        kept: None,
    }
}

impl Transaction<'_> {
    /// Stages what was taken back, so that it can be judged and committed like anything else. What
    /// is not any more as it was put back is a conflict.
    pub fn stage_taken(&mut self, taken: &TakenBack) -> Result<(), Error> {
        let (mut steps, mut times) = (Vec::new(), BTreeMap::new());
        let mut clashes = Vec::new();
        for unit in &taken.units {
            let pairs = unit.pairs();
            for path in changed_paths(unit) {
                let Some(sub) = path.beneath(&unit.path) else {
                    continue;
                };
                let (before, after) = pairs.get(&sub).copied().unwrap_or_default();
                if !self.still(&path, before)? {
                    clashes.push(clash(&path));
                }
                times
                    .entry(path.parent().unwrap_or_default())
                    .or_insert(None);
                steps.push((path, before.cloned(), after.cloned()));
            }
            // The time of a folder is that of the command, whatever putting things there makes of
            // it.
            for (sub, (_, after)) in &pairs {
                let folder = after.filter(|item| item.node.is_dir());
                if let Some(time) = folder.and_then(|item| item.meta.mtime) {
                    times.insert(unit.path.join(sub), Some(time));
                }
            }
        }
        if !clashes.is_empty() {
            return Err(Error::Conflict { paths: clashes });
        }
        if steps.is_empty() {
            return Ok(());
        }
        self.put_all(steps)?;
        for (folder, time) in times {
            self.place_time(&folder, time)?;
        }
        Ok(())
    }

    /// Whether a path is as the snapshot has it.
    fn still(&self, path: &RelPath, before: Option<&Item>) -> Result<bool, Error> {
        let found = match self.peek(path) {
            Err(Error::WrongKind { .. }) => None,
            other => other?,
        };
        Ok(match (before, &found) {
            (None, None) => true,
            (Some(before), Some(found)) => {
                before.node.same(&found.node) && before.meta.satisfied_by(&found.meta)
            }
            (Some(_), None) | (None, Some(_)) => false,
        })
    }

    /// Removals from the bottom, then everything else from the top.
    fn put_all(&mut self, mut steps: Vec<Step>) -> Result<(), Error> {
        steps.sort_by(|one, other| one.0.cmp(&other.0));
        for (path, _, _) in steps.iter().rev().filter(|step| step.2.is_none()) {
            self.want(path, None)?;
        }
        for (path, _, shall) in steps {
            if let Some(item) = shall {
                let sub = RelPath::root();
                self.want(&path, Some(Item { sub, ..item }))?;
            }
        }
        Ok(())
    }
}
