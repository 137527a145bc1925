//! Taking back what executions changed: planned from what is kept of them, and staged as a
//! transaction of its own.

use std::collections::{BTreeMap, BTreeSet};

use tagout_trace::undo::{
    self, Change, Content, Edit, Entry, EntryKind, FileId, Held, Impossible, Loss, Plan, Step,
};
use tagout_vocab::CallId;
use tagout_vocab::limits::TRACE_EFFECTS_BYTES_MAX;
use tagout_workspace::{
    ChangeKind, Effect, Error, Facts, FileTime, Mark, RelPath, Stood, StoodKind, Transaction,
    Workspace,
};

use super::git::{self, GitPath};
use super::index;
use crate::tracing;

/// What taking back would come to.
#[derive(Clone, Debug)]
pub struct Back {
    /// What would be written, what stands in the way, and what can't be taken back.
    pub plan: Plan<RelPath>,
    /// The times of folders in which nobody else worked since.
    times: Vec<(RelPath, FileTime)>,
    /// Set before anything was looked at: what changed since is not what the plan is about.
    mark: Mark,
}

impl Back {
    /// Plans to take some executions back. `steps` are all that are settled from the first chosen
    /// one on, oldest first.
    pub fn plan(
        workspace: &Workspace,
        steps: &[Step<RelPath>],
        chosen: &BTreeSet<CallId>,
    ) -> Result<Self, Error> {
        let mark = workspace.mark()?;
        let mut plan = undo::plan(steps, chosen, |path| now(workspace, steps, path))?;
        // What git notes for itself goes on; only its index has to fit the tree.
        plan.conflicts.retain(|conflict| {
            let path = &conflict.path;
            git::what(path.as_bytes()) != GitPath::Bookkeeping || is_index(path)
        });
        let given = plan.edits.iter().filter(|edit| is_anothers(edit));
        let given: Vec<Impossible> = given
            .filter_map(|edit| Some((edit, step_of(steps, chosen, &edit.path)?)))
            .map(|(edit, step)| Impossible {
                execution: step.execution.clone(),
                what: format!("the owner of `{}`", edit.path),
                why: Loss::Forbidden,
            })
            .collect();
        plan.impossible.extend(given);
        let taken = steps.iter().filter(|step| {
            chosen.contains(&step.execution) && !plan.already.contains(&step.execution)
        });
        let times = times(workspace, taken)?;
        Ok(Self { plan, times, mark })
    }

    /// The paths that would change.
    pub fn paths(&self) -> Vec<RelPath> {
        let edits = self.plan.edits.iter();
        edits.map(|edit| edit.path.clone()).collect()
    }

    /// Stages the plan: away first and innermost first, then what comes back.
    ///
    /// A place that is no longer as the plan found it is a conflict, here or at the commit.
    pub fn stage(&self, transaction: &mut Transaction<'_>) -> Result<(), Error> {
        transaction.since(self.mark);
        let edits = &self.plan.edits;
        for edit in edits.iter().rev() {
            away(transaction, edit)?;
        }
        for edit in edits {
            if let Some(stood) = edit.result.as_ref().and_then(stood) {
                transaction.put_back(&edit.path, &stood)?;
            }
        }
        for (folder, time) in &self.times {
            transaction.place_time(folder, Some(*time))?;
        }
        match stale(edits, &transaction.staged()?) {
            Some(edit) => Err(Error::Conflict {
                paths: vec![tagout_workspace::ConflictPath {
                    path: edit.path.to_string(),
                    found: tagout_workspace::Clash::Changed,
                    kept: None,
                }],
            }),
            None => Ok(()),
        }
    }
}

/// What the files of an execution come to. Objects of git stay, because later work may stand on
/// them.
pub fn changes(effects: Vec<Effect>) -> Vec<Change<RelPath>> {
    let moves = tracing::moves(&effects);
    let gone: BTreeSet<&RelPath> = moves.values().collect();
    let mut befores: BTreeMap<RelPath, Option<Stood>> = BTreeMap::new();
    for effect in effects.iter().filter(|one| gone.contains(&one.path)) {
        befores.insert(effect.path.clone(), effect.before.clone());
    }
    let stays = |effect: &Effect| git::what(effect.path.as_bytes()) == GitPath::Object;
    let own = effects
        .into_iter()
        .filter(|one| !stays(one) && !gone.contains(&one.path));
    own.map(|effect| {
        let from = moves.get(&effect.path);
        let before = match from {
            Some(from) => befores.get(from).cloned().flatten(),
            None => effect.before,
        };
        Change {
            path: effect.path,
            moved_from: from.cloned(),
            before: before.map(entry),
            after: effect.after.map(entry),
        }
    })
    .collect()
}

fn entry(stood: Stood) -> Entry {
    let facts = stood.facts;
    Entry {
        kind: match stood.kind {
            StoodKind::File => EntryKind::File,
            StoodKind::Symlink => EntryKind::Symlink,
            StoodKind::Folder => EntryKind::Folder,
            StoodKind::Pipe => EntryKind::Pipe,
            StoodKind::Socket => EntryKind::Socket,
        },
        mode: stood.mode,
        digest: stood.digest,
        content: match stood.bytes {
            Some(bytes) => Content::Kept(bytes.into()),
            None => Content::Lost(Loss::PastHorizon),
        },
        held: Held {
            owner: facts.owner,
            attributes: facts.attributes.map(|all| all.into_iter().collect()),
            time: facts.mtime.map(|time| (time.seconds, time.nanos)),
            file: facts.file.map(|(device, number, names)| FileId {
                device,
                number,
                names,
            }),
        },
    }
}

/// What is to stand somewhere; `None` if it can't be written, which no plan asks for.
fn stood(entry: &Entry) -> Option<Stood> {
    let Content::Kept(bytes) = &entry.content else {
        return None;
    };
    let held = &entry.held;
    let all = held.attributes.as_ref();
    Some(Stood {
        kind: match entry.kind {
            EntryKind::File => StoodKind::File,
            EntryKind::Symlink => StoodKind::Symlink,
            EntryKind::Folder => StoodKind::Folder,
            EntryKind::Pipe => StoodKind::Pipe,
            EntryKind::Socket => StoodKind::Socket,
        },
        mode: entry.mode,
        digest: entry.digest,
        bytes: Some(bytes.to_vec()),
        facts: Facts {
            owner: held.owner,
            attributes: all.map(|all| all.clone().into_iter().collect()),
            mtime: held
                .time
                .map(|(seconds, nanos)| FileTime { seconds, nanos }),
            file: held.file.map(|file| (file.device, file.number, file.names)),
        },
    })
}

fn is_index(path: &RelPath) -> bool {
    path.name() == Some(b"index") && git::what(path.as_bytes()) == GitPath::Bookkeeping
}

/// Whether it belonged to somebody whom this user can't give it back to.
fn is_anothers(edit: &Edit<RelPath>) -> bool {
    let owner = |entry: &Option<Entry>| entry.as_ref().and_then(|one| one.held.owner);
    let (now, then) = (owner(&edit.now), owner(&edit.result));
    let facts = Facts {
        owner: then,
        ..Facts::default()
    };
    now != then && !facts.may_be_owned()
}

/// The last of the chosen steps that is about a path.
fn step_of<'s>(
    steps: &'s [Step<RelPath>],
    chosen: &BTreeSet<CallId>,
    path: &RelPath,
) -> Option<&'s Step<RelPath>> {
    let about =
        |change: &Change<RelPath>| change.path == *path || change.moved_from.as_ref() == Some(path);
    let mut taken = steps.iter().rev();
    taken.find(|step| chosen.contains(&step.execution) && step.changes.iter().any(about))
}

/// What stands at a path. An index that git has only refreshed is as the call left it.
fn now(
    workspace: &Workspace,
    steps: &[Step<RelPath>],
    path: &RelPath,
) -> Result<Option<Entry>, Error> {
    let stood = workspace.stands(path, TRACE_EFFECTS_BYTES_MAX)?;
    if is_index(path)
        && let Some(there) = stood.as_ref().and_then(|one| one.bytes.as_deref())
    {
        let left = steps.iter().rev().find_map(|step| {
            let change = step.changes.iter().find(|change| change.path == *path)?;
            change.after.as_ref()
        });
        if let Some(left) = left
            && let Content::Kept(bytes) = &left.content
            && index::stage_the_same(bytes, there)
        {
            return Ok(Some(left.clone()));
        }
    }
    Ok(stood.map(entry))
}

/// The times of folders as they were, going back over the steps. A folder whose time is not the one
/// that a step left has seen somebody else's work, and keeps it.
fn times<'s>(
    workspace: &Workspace,
    taken: impl DoubleEndedIterator<Item = &'s Step<RelPath>>,
) -> Result<Vec<(RelPath, FileTime)>, Error> {
    let mut found: BTreeMap<RelPath, Option<FileTime>> = BTreeMap::new();
    for step in taken.rev() {
        for (folder, before, after) in workspace.folder_times(&step.execution)? {
            let time = match found.get(&folder) {
                Some(time) => *time,
                None => workspace
                    .stands(&folder, 0)?
                    .and_then(|one| one.facts.mtime),
            };
            let time = if time == Some(after) {
                Some(before)
            } else {
                None
            };
            found.insert(folder, time);
        }
    }
    let known = found.into_iter();
    Ok(known
        .filter_map(|(folder, time)| Some((folder, time?)))
        .collect())
}

fn away(transaction: &mut Transaction<'_>, edit: &Edit<RelPath>) -> Result<(), Error> {
    let kind = |entry: &Option<Entry>| entry.as_ref().map(|one| one.kind);
    let (now, result) = (kind(&edit.now), kind(&edit.result));
    match now {
        _ if now == result => Ok(()),
        None => Ok(()),
        Some(EntryKind::Folder) => match (transaction.rmdir(&edit.path), result) {
            // Somebody else's files are in it.
            (Err(Error::NotEmpty { .. }), None) => Ok(()),
            (other, _) => other,
        },
        Some(EntryKind::File | EntryKind::Symlink | EntryKind::Pipe | EntryKind::Socket) => {
            transaction.delete(&edit.path)
        }
    }
}

/// An edit whose place is not as the plan found it. That a path is empty now, no time tells.
fn stale<'e>(
    edits: &'e [Edit<RelPath>],
    staged: &[tagout_workspace::Change],
) -> Option<&'e Edit<RelPath>> {
    let is_stale = |edit: &&Edit<RelPath>| {
        let path = &edit.path;
        let found = staged.iter().find(|change| change.path == *path);
        let file = edit.now.as_ref();
        let file = file.filter(|one| one.kind == EntryKind::File);
        let expected = file.map(|one| one.digest);
        found.is_some_and(|change| {
            let is_there = change.kind != ChangeKind::Created;
            is_there != edit.now.is_some() || (change.before != expected && !is_index(path))
        })
    };
    edits.iter().find(is_stale)
}
