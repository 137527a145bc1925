//! A command's change set on its way into the workspace's journal.

pub mod back;
pub mod git;
pub(crate) mod index;

use std::collections::BTreeSet;
use std::path::Path;

use tagout_sandbox::layer::{self, ChangeSet, Entry, Extent, Kind, LayerError, Upper};
use tagout_workspace::{Attributes, Error, FileTime, Mark, RelPath, Thing, Transaction};
use thiserror::Error;

use self::git::GitPath;

/// Why a change set could not be staged.
#[derive(Debug, Error)]
pub enum StageError {
    /// The layer can't be read.
    #[error(transparent)]
    Layer(#[from] LayerError),
    /// The workspace refused, or someone else's work is in the way.
    #[error(transparent)]
    Workspace(#[from] Error),
    /// The command left a device, which can't be taken over.
    #[error("`{path}` is a device; the command has to leave files, folders, links or pipes")]
    Device {
        /// Where.
        path: String,
    },
}

/// Stages everything that a command changed, with all that belongs to it.
///
/// `mark` was set before the command began: at commit, what is to be changed and is younger than it
/// is someone else's work and a conflict. In git's object store things are only ever added.
pub fn stage(
    set: &ChangeSet,
    upper: &Path,
    transaction: &mut Transaction<'_>,
    mark: &Mark,
) -> Result<(), StageError> {
    let upper = Upper::open(upper)?;
    transaction.since(*mark);
    // Away first and innermost first, so that a file can take the place of a folder.
    for entry in set.entries.iter().rev() {
        if entry.kind == Kind::Deleted && git::what(&entry.path) != GitPath::Object {
            remove(&RelPath::new(&entry.path)?, entry, transaction)?;
        }
    }
    for entry in &set.entries {
        put(entry, &upper, transaction)?;
    }
    keep_times(set, transaction)
}

/// A file that a command wrote in place is put in place by a rename, which its folder must not
/// show.
fn keep_times(set: &ChangeSet, transaction: &mut Transaction<'_>) -> Result<(), StageError> {
    let listed: BTreeSet<&[u8]> = set
        .entries
        .iter()
        .map(|entry| entry.path.as_slice())
        .collect();
    let mut done = BTreeSet::new();
    for entry in set.judged() {
        let folder = RelPath::new(&entry.path)?.parent().unwrap_or_default();
        if !listed.contains(folder.as_bytes()) && done.insert(folder.clone()) {
            transaction.place_time(&folder, None)?;
        }
    }
    Ok(())
}

fn remove(
    path: &RelPath,
    entry: &Entry,
    transaction: &mut Transaction<'_>,
) -> Result<(), StageError> {
    let removed = match entry.was {
        layer::Was::Folder => transaction.rmdir(path),
        layer::Was::File | layer::Was::Symlink | layer::Was::Special | layer::Was::Nothing => {
            transaction.delete(path)
        }
    };
    match removed {
        // Someone else removed it as well.
        Ok(()) | Err(Error::Missing { .. }) => Ok(()),
        // Something else came there since the layer was read.
        Err(Error::NotEmpty { path } | Error::WrongKind { path, .. }) => {
            Err(StageError::Workspace(Error::Conflict {
                paths: vec![tagout_workspace::ConflictPath {
                    path,
                    found: tagout_workspace::Clash::FolderGrew,
                    kept: None,
                }],
            }))
        }
        Err(error) => Err(error.into()),
    }
}

fn put(entry: &Entry, upper: &Upper, transaction: &mut Transaction<'_>) -> Result<(), StageError> {
    let path = RelPath::new(&entry.path)?;
    let mtime = FileTime {
        seconds: entry.attributes.mtime.seconds,
        nanos: entry.attributes.mtime.nanos,
    };
    if git::what(&entry.path) == GitPath::Object && transaction.exists(&path)? {
        // It is there already, and what is there is never written again.
        return Ok(());
    }
    if entry.extent == Extent::FolderTime {
        return Ok(transaction.place_time(&path, Some(mtime))?);
    }
    let attributes = Attributes {
        mode: entry.attributes.mode,
        owner: (entry.attributes.uid, entry.attributes.gid),
        mtime,
        xattrs: entry.attributes.xattrs.clone(),
    };
    let (file, other);
    let thing = match &entry.kind {
        Kind::Deleted => return Ok(()),
        Kind::File { .. } => {
            file = upper.file(&entry.path)?;
            Thing::File(&file)
        }
        Kind::Link { to } => {
            file = upper.file(&entry.path)?;
            other = RelPath::new(to)?;
            Thing::Link(&other, &file)
        }
        Kind::Folder { .. } => Thing::Folder,
        Kind::Symlink { target } => Thing::Symlink(target),
        Kind::Pipe => Thing::Pipe,
        Kind::Socket => Thing::Socket,
        Kind::Device => {
            return Err(StageError::Device {
                path: path.to_string(),
            });
        }
    };
    Ok(transaction.place(&path, thing, &attributes)?)
}
