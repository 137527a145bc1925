//! A change set staged into a call's transaction.

use std::fs::File;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use tagout_sandbox::layer::{ChangeSet, Entry, Extent, Kind};
use tagout_workspace::{Error, RelPath, Transaction};

/// Stages every entry.
pub(crate) fn stage(
    transaction: &mut Transaction<'_>,
    upper: &Path,
    set: &ChangeSet,
) -> Result<(), Error> {
    for entry in &set.entries {
        if entry.extent == Extent::FolderTime || entry.path.is_empty() {
            continue;
        }
        one(transaction, upper, entry)?;
    }
    Ok(())
}

fn one(transaction: &mut Transaction<'_>, upper: &Path, entry: &Entry) -> Result<(), Error> {
    let path = RelPath::new(&entry.path)?;
    let from = upper.join(std::ffi::OsStr::from_bytes(&entry.path));
    match &entry.kind {
        Kind::Deleted => match transaction.remove_tree(&path) {
            Err(Error::Missing { .. }) => Ok(()),
            other => other,
        },
        Kind::File { .. } | Kind::Link { .. } => {
            let file = File::open(&from).map_err(|_| Error::Missing {
                path: path.to_string(),
            })?;
            transaction.write_from(&path, &file)
        }
        Kind::Folder { .. } => transaction.mkdir(&path),
        Kind::Symlink { target } => transaction.symlink(&path, target),
        Kind::Pipe | Kind::Socket | Kind::Device => Err(Error::Special {
            path: path.to_string(),
            kind: "special file",
        }),
    }
}
