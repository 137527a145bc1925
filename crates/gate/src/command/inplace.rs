//! The snapshot lane: what a command may write in place is kept before it runs, and taken back
//! when it is over, so that what it did is judged before it is in the workspace for good.
//!
//! A note in the state says that a run is open. Whoever finds the note of a process that is gone
//! takes back what its command did.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tagout_sandbox::layer::{self, Put};
use tagout_sandbox::{Ended, Running, SandboxError};
use tagout_vocab::CallId;
use tagout_vocab::limits::{SNAPSHOT_NOTE_MS, SNAPSHOT_TRIES_MAX};
use tagout_workspace::{Mark, RelPath, StoodKind, TakenBack, files};

use super::folders::made;
use super::run::{Room, of_state};
use super::writable::{self, Keeping};
use crate::engine::Inner;
use crate::error::GateError;
use crate::store::{Locked, Store};
use crate::tool::ToolError;

/// How much later than the last note a command can still have written, in seconds.
const SLACK_S: i64 = 2;

/// What the state says of an open run.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Note {
    execution: CallId,
    /// When the run was last known to go on.
    alive: Mark,
}

/// One open run in the snapshot lane. Dropping it takes back what its command did.
#[derive(Debug)]
pub(crate) struct InPlace<'a> {
    inner: &'a Inner,
    note: PathBuf,
    execution: CallId,
    paths: Vec<RelPath>,
    is_settled: bool,
    /// One run at a time: two that write in place could not be told apart.
    #[expect(dead_code, reason = "held for the lock")]
    locked: Locked,
}

fn folder(state: &Path) -> PathBuf {
    state.join("gate").join("in-place")
}

impl<'a> InPlace<'a> {
    /// Keeps everything that the command may write.
    pub(crate) fn begin(room: &Room<'a>) -> Result<Self, ToolError> {
        let inner = room.inner;
        let state = |error: GateError| of_state(&error);
        let folder = made(folder(&inner.site.state)).map_err(state)?;
        let locked = inner.site.store.lock(&folder).map_err(state)?;
        take_back_all(inner, &folder).map_err(state)?;
        let execution = room.ticket.execution.clone();
        let paths = writable::paths(inner, room.ticket.intent.as_ref(), Keeping::Everything)?;
        let workspace = &inner.workspace;
        workspace.snapshot(&execution, &paths, inner.clockwork.now())?;
        workspace.secure()?;
        let note = folder.join(Store::name_of(execution.as_str()));
        let open = Self {
            inner,
            note,
            execution,
            paths,
            is_settled: false,
            locked,
        };
        open.write_note().map_err(state)?;
        Ok(open)
    }

    /// What the command may write.
    pub(crate) fn writable(&self) -> Vec<PathBuf> {
        let root = self.inner.workspace.root();
        let full = |path: &RelPath| root.join(path.to_string());
        self.paths.iter().map(full).collect()
    }

    fn write_note(&self) -> Result<(), GateError> {
        let note = Note {
            execution: self.execution.clone(),
            alive: self.inner.workspace.mark()?,
        };
        Store::write(&self.note, &note)
    }

    /// Waits for the command, noting now and then that it goes on.
    pub(crate) fn wait(&self, running: Running) -> Result<Ended, SandboxError> {
        let (over, is_over) = mpsc::channel::<()>();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                let pause = Duration::from_millis(SNAPSHOT_NOTE_MS);
                while is_over.recv_timeout(pause) == Err(mpsc::RecvTimeoutError::Timeout) {
                    // A note that is missing makes more of what is found someone else's work.
                    drop(self.write_note());
                }
            });
            let ended = running.wait();
            drop(over);
            ended
        })
    }

    /// Puts everything back, and says what the command had made of it.
    pub(crate) fn settle(&mut self) -> Result<TakenBack, GateError> {
        let taken = take_back(self.inner, &self.execution, None)?;
        self.is_settled = true;
        close(self.inner, &self.execution, &self.note)?;
        Ok(taken)
    }
}

impl Drop for InPlace<'_> {
    fn drop(&mut self) {
        if !self.is_settled {
            // The note stays if this fails, and the next process tries again.
            drop(self.settle());
        }
    }
}

fn take_back(
    inner: &Inner,
    execution: &CallId,
    until: Option<Mark>,
) -> Result<TakenBack, GateError> {
    let text = format!("{execution}-restored");
    let restoring = CallId::new(&text).map_err(|source| GateError::Id { text, source })?;
    let now = inner.clockwork.now();
    let taken = inner
        .workspace
        .take_back(execution, &restoring, (now, until))?;
    Ok(taken)
}

/// Nothing is left to take back.
fn close(inner: &Inner, execution: &CallId, note: &Path) -> Result<(), GateError> {
    files::remove(note)?;
    Ok(inner.workspace.drop_snapshot(execution)?)
}

/// Takes back what the commands of dead processes did in place. Gives back where someone else's
/// work was found.
pub(crate) fn recover(inner: &Inner) -> Result<Vec<String>, GateError> {
    let folder = folder(&inner.site.state);
    let Ok(lock) = File::open(&folder) else {
        return Ok(Vec::new());
    };
    if lock.try_lock().is_err() {
        // A run goes on; it took back what was left before it began.
        return Ok(Vec::new());
    }
    take_back_all(inner, &folder)
}

fn take_back_all(inner: &Inner, folder: &Path) -> Result<Vec<String>, GateError> {
    let mut conflicts = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let Some(note) = Store::read::<Note>(&path)? else {
            continue;
        };
        conflicts.extend(take_back_dead(inner, &note)?);
        close(inner, &note.execution, &path)?;
    }
    Ok(conflicts)
}

/// A command ends with its process, but not in the same instant: it is looked at again until
/// nothing changes any more.
fn take_back_dead(inner: &Inner, note: &Note) -> Result<Vec<String>, GateError> {
    let seconds = i64::try_from(SNAPSHOT_NOTE_MS / 1000).unwrap_or(i64::MAX);
    let until = note.alive.later(seconds.saturating_add(SLACK_S));
    let mut taken = take_back(inner, &note.execution, Some(until))?;
    for _ in 0..SNAPSHOT_TRIES_MAX {
        std::thread::sleep(Duration::from_millis(20));
        taken = take_back(inner, &note.execution, Some(until))?;
        if taken.changes.len() <= taken.conflicts.len() {
            break;
        }
    }
    let mut told = Vec::new();
    for mut conflict in taken.conflicts {
        conflict.kept = kept(inner, &note.execution, &conflict.path)?;
        told.push(conflict.to_string());
    }
    Ok(told)
}

/// Keeps a file as it was before the command, beside someone else's that stays in its place.
fn kept(inner: &Inner, execution: &CallId, path: &str) -> Result<Option<String>, GateError> {
    let relative = RelPath::new(path.as_bytes())?;
    let Some(bytes) = inner.workspace.snapshot_bytes(execution, &relative)? else {
        return Ok(None);
    };
    let folder = inner.site.state.join("kept");
    let folder = made(folder.join(Store::name_of(execution.as_str())))?;
    let place = folder.join(Store::name_of(path));
    files::write_atomic(&place, &bytes, Some(0o600))?;
    Ok(Some(place.display().to_string()))
}

/// Puts what was taken back into a layer, from the top.
pub(super) fn lay(inner: &Inner, taken: &TakenBack, upper: &Path) -> Result<(), GateError> {
    let root = inner.workspace.root();
    let mut closed: Option<RelPath> = None;
    inner.workspace.each_taken(taken, |path, left| {
        if closed.as_ref().is_some_and(|above| path.is_beneath(above)) {
            return Ok(());
        }
        let is_folder = left
            .as_ref()
            .is_some_and(|one| one.kind == StoodKind::Folder);
        if !is_folder {
            closed = Some(path.clone());
        }
        let lost = || tagout_workspace::Error::Missing {
            path: path.to_string(),
        };
        let what = match &left {
            None => Put::Gone,
            Some(one) => match (one.kind, &one.bytes) {
                (StoodKind::Folder, _) => Put::Folder(one.mode),
                (StoodKind::File, Some(bytes)) => Put::File(bytes, one.mode),
                (StoodKind::Symlink, Some(target)) => Put::Symlink(target),
                (StoodKind::Pipe | StoodKind::Socket, _) => return Ok(()),
                (StoodKind::File | StoodKind::Symlink, None) => return Err(lost().into()),
            },
        };
        Ok(layer::put((root, path.as_bytes()), upper, what)?)
    })
}
