//! A change set staged into a call's transaction, path by path exactly as the command left it.

use std::fs::File;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use tagout_sandbox::layer::{self, ChangeSet, Entry, Kind};
use tagout_workspace::{Attributes, Error, FileTime, RelPath, Thing, Transaction};

/// Stages every entry. What is gone goes first, so that nothing stands in the way.
pub(crate) fn stage(
    transaction: &mut Transaction<'_>,
    upper: &Path,
    set: &ChangeSet,
) -> Result<(), Error> {
    let gone = |entry: &&Entry| entry.kind == Kind::Deleted;
    for entry in set.entries.iter().filter(gone) {
        match transaction.remove_tree(&RelPath::new(&entry.path)?) {
            Ok(()) | Err(Error::Missing { .. } | Error::WrongKind { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    for entry in set.entries.iter().filter(|entry| !gone(entry)) {
        place(transaction, upper, entry)?;
    }
    Ok(())
}

fn attributes(of: &layer::Attributes) -> Attributes {
    Attributes {
        mode: of.mode,
        owner: (of.uid, of.gid),
        mtime: FileTime {
            seconds: of.mtime.seconds,
            nanos: of.mtime.nanos,
        },
        xattrs: of.xattrs.clone(),
    }
}

fn place(transaction: &mut Transaction<'_>, upper: &Path, entry: &Entry) -> Result<(), Error> {
    let path = RelPath::new(&entry.path)?;
    let attributes = attributes(&entry.attributes);
    match &entry.kind {
        Kind::Deleted => Ok(()),
        Kind::File { .. } => {
            let from = upper.join(std::ffi::OsStr::from_bytes(&entry.path));
            let file = File::open(&from).map_err(|source| Error::Io {
                doing: "open",
                path: path.to_string(),
                source,
            })?;
            transaction.place(&path, Thing::File(&file), &attributes)
        }
        Kind::Folder { .. } => transaction.place(&path, Thing::Folder, &attributes),
        Kind::Symlink { target } => transaction.place(&path, Thing::Symlink(target), &attributes),
        Kind::Link { to } => {
            transaction.place(&path, Thing::Link(&RelPath::new(to)?), &attributes)
        }
        Kind::Pipe => transaction.place(&path, Thing::Pipe, &attributes),
        Kind::Socket => transaction.place(&path, Thing::Socket, &attributes),
        Kind::Device => Err(Error::Special {
            path: path.to_string(),
            kind: "device",
        }),
    }
}
