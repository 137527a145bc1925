//! Backing out executions: a plan of what would be written, or the places where that is not
//! possible.
//!
//! Nothing here writes. The plan is made newest first: each chosen execution's change is taken back
//! from the files as they are, and what others did since stays (three-way merge with the
//! execution's own result as the base). Undoing an undo is the same with the undo as the chosen
//! execution.

mod show;
mod three;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::sync::Arc;

use tagout_vocab::{CallId, Digest, WorkspacePath};

use crate::merge::ConflictHunk;
use three::{Three, three_way};

pub use show::difference;

#[cfg(test)]
mod tests;

/// What stands at a path.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Entry {
    /// Of which kind it is.
    pub kind: EntryKind,
    /// The permission bits.
    pub mode: u32,
    /// The digest of its content: a file's bytes, a link's target, nothing for a folder.
    pub digest: Digest,
    /// The content itself, as far as it is still there.
    pub content: Content,
    /// What else belongs to it.
    pub held: Held,
}

/// What belongs to an entry beside its content and its permissions; `None` for what is not known.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Held {
    /// Owner and group.
    pub owner: Option<(u32, u32)>,
    /// Attributes, by name.
    pub attributes: Option<BTreeMap<Vec<u8>, Vec<u8>>>,
    /// The time of its last change: seconds, and nanoseconds beyond them.
    pub time: Option<(i64, i64)>,
    /// Which file it is.
    pub file: Option<FileId>,
}

/// Which file something is, and how many names that has.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct FileId {
    /// The device it lies on.
    pub device: u64,
    /// Its number there.
    pub number: u64,
    /// How many names it has.
    pub names: u64,
}

impl Held {
    /// Whether both say the same, as far as both are known. Times are nobody's work, and which file
    /// it is shows nobody.
    fn is(&self, other: &Self) -> bool {
        alike(self.owner.as_ref(), other.owner.as_ref())
            && alike(self.attributes.as_ref(), other.attributes.as_ref())
    }
}

fn alike<T: PartialEq>(one: Option<&T>, other: Option<&T>) -> bool {
    one.zip(other).is_none_or(|(one, other)| one == other)
}

/// The kind of what stands at a path.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum EntryKind {
    /// A file.
    File,
    /// A symbolic link; its content is its target.
    Symlink,
    /// A folder; taken away only when nothing is left in it.
    Folder,
    /// A named pipe; it has no content.
    Pipe,
    /// A socket; it has no content.
    Socket,
}

/// A content that is kept, or why it is not.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Content {
    /// The bytes.
    Kept(Arc<[u8]>),
    /// They are no longer there.
    Lost(Loss),
}

/// Why something can't be taken back.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Loss {
    /// The image was dropped because of its age or for lack of room.
    PastHorizon,
    /// The file was too large to be kept.
    TooLarge,
    /// It was never recorded: the change happened where only declared targets are seen.
    NotRecorded,
    /// It left the machine over the network.
    Network,
    /// It is in a commit that others may have.
    Pushed,
    /// It lies outside of the workspace.
    Outside,
    /// Only a privileged user could.
    Forbidden,
}

impl Entry {
    /// A file with its bytes.
    pub fn file(bytes: impl Into<Arc<[u8]>>, mode: u32) -> Self {
        let bytes = bytes.into();
        Self {
            kind: EntryKind::File,
            mode,
            digest: Digest::of(&bytes),
            content: Content::Kept(bytes),
            held: Held::default(),
        }
    }

    /// Whether both are the same, wherever their bytes are kept.
    fn is(&self, other: &Self) -> bool {
        (self.kind, self.mode, &self.digest) == (other.kind, other.mode, &other.digest)
            && self.held.is(&other.held)
    }

    /// Whether there is nothing to be written where this shall become the other.
    fn stays(&self, result: &Self) -> bool {
        let (now, then) = (&self.held, &result.held);
        let number = |file: FileId| (file.device, file.number);
        // A file that was parted from its other names goes back to them.
        let rejoins = then.file.is_some_and(|file| {
            file.names > 1 && now.file.is_none_or(|here| number(here) != number(file))
        });
        self.is(result) && !rejoins && then.time.is_none_or(|time| now.time == Some(time))
    }
}

/// What one execution did to one path.
#[derive(Clone, Debug)]
pub struct Change<P = WorkspacePath> {
    /// Where it is now, or was before it was removed.
    pub path: P,
    /// Where it was before, when it was moved.
    pub moved_from: Option<P>,
    /// What was there.
    pub before: Option<Entry>,
    /// What is there now.
    pub after: Option<Entry>,
}

/// Something an execution did that is not a change of a file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Beyond {
    /// What, in words for a person.
    pub what: String,
    /// Why it can't be taken back.
    pub why: Loss,
}

/// One execution that is settled.
#[derive(Clone, Debug)]
pub struct Step<P = WorkspacePath> {
    /// The call.
    pub execution: CallId,
    /// What it changed.
    pub changes: Vec<Change<P>>,
    /// The executions it took back, if it was an undo.
    pub undoes: Vec<CallId>,
    /// What else it did.
    pub beyond: Vec<Beyond>,
}

/// What taking back would write.
#[derive(Clone, Debug)]
pub struct Plan<P = WorkspacePath> {
    /// What would be written, by path.
    pub edits: Vec<Edit<P>>,
    /// Where later work lies on the same lines; as long as there is one, nothing may be written.
    pub conflicts: Vec<Conflict<P>>,
    /// What can't be taken back, whatever is written.
    pub impossible: Vec<Impossible>,
    /// Chosen executions that are taken back already.
    pub already: Vec<CallId>,
    /// Files that go back from one path to another, each also an edit of both. Recording the undo
    /// with them lets later undos follow.
    pub moves: Vec<(P, P)>,
}

impl<P> Default for Plan<P> {
    fn default() -> Self {
        Self {
            edits: Vec::new(),
            conflicts: Vec::new(),
            impossible: Vec::new(),
            already: Vec::new(),
            moves: Vec::new(),
        }
    }
}

impl<P> Plan<P> {
    /// Whether it may be written.
    pub const fn is_clean(&self) -> bool {
        self.conflicts.is_empty()
    }
}

/// One path to be written.
#[derive(Clone, Debug)]
pub struct Edit<P = WorkspacePath> {
    /// Where.
    pub path: P,
    /// What must be there when it is written; otherwise the plan is stale.
    pub now: Option<Entry>,
    /// What is to be there; `None` for nothing.
    pub result: Option<Entry>,
}

/// A change that can't be taken back without touching later work.
#[derive(Clone, Debug)]
pub struct Conflict<P = WorkspacePath> {
    /// The execution whose change it is.
    pub execution: CallId,
    /// Where.
    pub path: P,
    /// What stands in the way.
    pub clash: Clash,
}

/// What stands in the way of an undo.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Clash {
    /// The same lines were changed since; ours is the file as it is, theirs what it was before.
    Lines(Vec<ConflictHunk>),
    /// A content that can't be merged by lines was changed since.
    Content,
    /// The permissions were changed since.
    Mode,
    /// Its owner or its attributes were changed since.
    Attributes,
    /// A file has become something else since, or the reverse.
    Kind,
    /// The execution made the file, and it was changed since.
    ChangedSinceMade,
    /// Something else stands where the file was.
    PlaceTaken,
    /// An earlier change of the same file can't be taken back because of a later conflict.
    Behind,
}

/// A change that can't be taken back at all.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Impossible {
    /// The execution whose change it is.
    pub execution: CallId,
    /// What, in words for a person.
    pub what: String,
    /// Why.
    pub why: Loss,
}

/// Plans to take some executions back.
///
/// `steps` are all settled executions from the first chosen one on, oldest first, others' included;
/// `now` says what stands at a path.
pub fn plan<P: Clone + Ord + Display, E>(
    steps: &[Step<P>],
    chosen: &BTreeSet<CallId>,
    now: impl FnMut(&P) -> Result<Option<Entry>, E>,
) -> Result<Plan<P>, E> {
    let undone = undone(steps, chosen);
    let mut work = Work {
        now,
        seen: BTreeMap::new(),
        tree: BTreeMap::new(),
        places: BTreeMap::new(),
        blocked: BTreeSet::new(),
        plan: Plan::default(),
    };
    let mut again = BTreeSet::new();
    for (place, step) in steps.iter().enumerate().rev() {
        if !chosen.contains(&step.execution) {
            for change in step.changes.iter().rev() {
                work.pass(change);
            }
            continue;
        }
        if undone.contains(&place) {
            work.plan.already.push(step.execution.clone());
            for change in step.changes.iter().rev() {
                work.pass(change);
            }
            continue;
        }
        again.insert(&step.execution);
        work.plan
            .impossible
            .extend(step.beyond.iter().map(|beyond| Impossible {
                execution: step.execution.clone(),
                what: beyond.what.clone(),
                why: beyond.why,
            }));
        for change in step.changes.iter().rev() {
            work.take_back(&step.execution, change)?;
        }
    }
    // A call whose id was used again after its undo is taken back now.
    work.plan.already.retain(|call| !again.contains(call));
    work.plan.already.dedup();
    Ok(work.finish())
}

/// The places of steps that a later undo in force has taken back; a chosen undo is about to lose
/// its force. What came under the same id after the undo is none of its business.
fn undone<P>(steps: &[Step<P>], chosen: &BTreeSet<CallId>) -> BTreeSet<usize> {
    let (mut taken, mut undone) = (BTreeSet::new(), BTreeSet::new());
    for (place, step) in steps.iter().enumerate().rev() {
        if taken.contains(&step.execution) {
            undone.insert(place);
        } else if !chosen.contains(&step.execution) {
            taken.extend(&step.undoes);
        }
    }
    undone
}

/// The files as they would be, on the way back in time.
struct Work<P, F> {
    now: F,
    /// What stands at the paths that were looked at.
    seen: BTreeMap<P, Option<Entry>>,
    /// What would stand there.
    tree: BTreeMap<P, Option<Entry>>,
    /// Where a path of the time that the walk has reached is today; `None` for nowhere. Paths that
    /// are not here are where they were.
    places: BTreeMap<P, Option<P>>,
    /// Paths on which nothing older can be taken back, and why.
    blocked: BTreeSet<P>,
    plan: Plan<P>,
}

impl<P, E, F> Work<P, F>
where
    P: Clone + Ord + Display,
    F: FnMut(&P) -> Result<Option<Entry>, E>,
{
    /// Goes back over an execution that stays.
    fn pass(&mut self, change: &Change<P>) {
        if let Some(from) = &change.moved_from {
            let place = self.place(&change.path);
            self.places.insert(change.path.clone(), None);
            self.places.insert(from.clone(), place);
        }
    }

    /// Where a path of the walk's time is today.
    fn place(&self, path: &P) -> Option<P> {
        self.places
            .get(path)
            .map_or_else(|| Some(path.clone()), Clone::clone)
    }

    fn look(&mut self, path: &P) -> Result<Option<Entry>, E> {
        if let Some(entry) = self.tree.get(path) {
            return Ok(entry.clone());
        }
        let entry = (self.now)(path)?;
        self.seen.insert(path.clone(), entry.clone());
        self.tree.insert(path.clone(), entry.clone());
        Ok(entry)
    }

    fn take_back(&mut self, execution: &CallId, change: &Change<P>) -> Result<(), E> {
        let from = change.moved_from.as_ref();
        let place = self.place(&change.path);
        if from.is_some() {
            self.places.insert(change.path.clone(), None);
        }
        // The file is nowhere: someone else removed it, and that stays.
        let Some(place) = place else {
            if let Some(from) = from {
                self.places.insert(from.clone(), None);
            }
            return Ok(());
        };
        // A file that someone else moved on since stays where they put it.
        let target = match from {
            Some(from) if place == change.path => from.clone(),
            _ => place.clone(),
        };
        if let Some(from) = from {
            self.places.insert(from.clone(), Some(target.clone()));
        }
        if self.blocked.contains(&place) {
            self.blocked.insert(target.clone());
            self.clash(execution, place, Clash::Behind);
            return Ok(());
        }
        let ours = self.look(&place)?;
        let three = Three {
            base: change.after.as_ref(),
            ours: ours.as_ref(),
            theirs: change.before.as_ref(),
        };
        let result = match three_way(&three) {
            Ok(result) => result,
            Err(three::Failure::Clash(clash)) => {
                self.blocked.extend([place.clone(), target]);
                self.clash(execution, place, clash);
                return Ok(());
            }
            Err(three::Failure::Lost(why)) => {
                self.blocked.extend([place.clone(), target]);
                let what = format!("the change of `{place}`");
                self.plan.impossible.push(Impossible {
                    execution: execution.clone(),
                    what,
                    why,
                });
                return Ok(());
            }
        };
        if target != place && result.is_some() && self.look(&target)?.is_some() {
            self.blocked.extend([place, target.clone()]);
            self.clash(execution, target, Clash::PlaceTaken);
            return Ok(());
        }
        if target != place {
            self.look(&target)?;
            if result.is_some() {
                self.plan.moves.push((place.clone(), target.clone()));
            }
            self.tree.insert(place, None);
        }
        self.tree.insert(target, result);
        Ok(())
    }

    fn clash(&mut self, execution: &CallId, path: P, clash: Clash) {
        self.plan.conflicts.push(Conflict {
            execution: execution.clone(),
            path,
            clash,
        });
    }

    fn finish(mut self) -> Plan<P> {
        for (path, result) in self.tree {
            let now = self.seen.remove(&path).flatten();
            let is_same = match (&now, &result) {
                (None, None) => true,
                (Some(one), Some(other)) => one.stays(other),
                (None, Some(_)) | (Some(_), None) => false,
            };
            if !is_same {
                self.plan.edits.push(Edit { path, now, result });
            }
        }
        // What lies behind something that is lost is lost with it, and is no conflict.
        let known = &self.plan.impossible;
        let mut behind = Vec::new();
        self.plan.conflicts.retain(|conflict| {
            let text = format!("the change of `{}`", conflict.path);
            let loss = known.iter().find(|found| found.what == text);
            match (loss, &conflict.clash) {
                (Some(loss), Clash::Behind) => {
                    behind.push(Impossible {
                        execution: conflict.execution.clone(),
                        what: text,
                        why: loss.why,
                    });
                    false
                }
                _ => true,
            }
        });
        self.plan.impossible.extend(behind);
        self.plan
    }
}
