//! What a command in the snapshot lane may write: what its intent owns and what exists.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use tagout_vocab::limits::{
    IMAGE_BYTES_MAX, SNAPSHOT_BYTES_MAX, SNAPSHOT_LOOKS_MAX, TRANSACTION_PATHS_MAX,
};
use tagout_vocab::{IntentId, WorkspacePath};
use tagout_workspace::RelPath;

use super::run::confinement;
use crate::engine::Inner;
use crate::observed;
use crate::tool::ToolError;

/// A name that no scope means in particular: who owns it in a folder owns whatever is made there.
const ANY: &str = "tagout-any";

const NARROWER: &str = "choose an intent with a narrower scope, use an edit tool, or run it where \
                        `tagout doctor` finds the transaction lane";

/// How much was looked at and how much has to be kept.
#[derive(Debug, Default)]
struct Measured {
    looks: usize,
    paths: usize,
    bytes: u64,
}

impl Measured {
    fn look(&mut self) -> Result<(), ToolError> {
        self.looks += 1;
        if self.looks > SNAPSHOT_LOOKS_MAX {
            let message = format!("the workspace has more than {SNAPSHOT_LOOKS_MAX} paths");
            return Err(confinement(message, NARROWER));
        }
        Ok(())
    }

    fn keep(&mut self, path: &Path, found: &fs::Metadata) -> Result<(), ToolError> {
        if found.is_file() && found.nlink() > 1 {
            let message = format!(
                "`{}` has other names, which would be written to as well",
                path.display()
            );
            return Err(confinement(message, "replace it by a copy of its own"));
        }
        self.paths += 1;
        let bytes = if found.is_file() { found.len() } else { 0 };
        self.bytes = self.bytes.saturating_add(bytes);
        let too_many = self.paths > TRANSACTION_PATHS_MAX || self.bytes > SNAPSHOT_BYTES_MAX;
        if too_many || bytes > IMAGE_BYTES_MAX {
            let message = format!(
                "what the intent owns is too much to be kept before a command: more than \
                 {TRANSACTION_PATHS_MAX} paths, {SNAPSHOT_BYTES_MAX} bytes, or \
                 {IMAGE_BYTES_MAX} bytes in one file"
            );
            return Err(confinement(message, NARROWER));
        }
        Ok(())
    }
}

/// Whether what is found has to be kept before a command may write it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Keeping {
    /// It is written in place, so all of it.
    Everything,
    /// It is written elsewhere.
    Nothing,
}

/// The folders that an intent owns as a whole and the single files that it owns elsewhere.
pub(super) fn paths(
    inner: &Inner,
    intent: Option<&IntentId>,
    keeping: Keeping,
) -> Result<Vec<RelPath>, ToolError> {
    let keeps = keeping == Keeping::Everything;
    let owns = observed::owner(inner, intent);
    let root = inner.workspace.root();
    let mut measured = Measured::default();
    let mut found = Vec::new();
    let mut open = vec![(root.to_owned(), String::new())];
    while let Some((folder, above)) = open.pop() {
        for (path, name) in entries(&folder) {
            measured.look()?;
            let relative = format!("{above}{name}");
            let (Ok(own), Ok(metadata)) =
                (WorkspacePath::new(&relative), fs::symlink_metadata(&path))
            else {
                continue;
            };
            // Git's folder is written by git alone, which this lane can't hold.
            if relative == ".git" {
                continue;
            }
            if metadata.is_dir() {
                let inside = WorkspacePath::new(&format!("{relative}/{ANY}/{ANY}"));
                if inside.is_ok_and(|inside| owns(&inside)) {
                    if keeps {
                        measure(&path, &mut measured)?;
                    }
                    found.push(RelPath::from(&own));
                } else {
                    open.push((path, format!("{relative}/")));
                }
            } else if metadata.is_file() && owns(&own) {
                if keeps {
                    measured.keep(&path, &metadata)?;
                }
                found.push(RelPath::from(&own));
            }
        }
    }
    found.sort();
    Ok(found)
}

/// What is in a folder and has a name that is text. What can't be listed can't be written either.
fn entries(folder: &Path) -> Vec<(PathBuf, String)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let named = |entry: fs::DirEntry| Some((entry.path(), entry.file_name().into_string().ok()?));
    entries.filter_map(named).collect()
}

fn measure(top: &Path, measured: &mut Measured) -> Result<(), ToolError> {
    let mut open = vec![top.to_owned()];
    while let Some(path) = open.pop() {
        let Ok(metadata) = fs::symlink_metadata(&path) else {
            continue;
        };
        measured.keep(&path, &metadata)?;
        if metadata.is_dir() {
            let entries = fs::read_dir(&path).into_iter().flatten().flatten();
            open.extend(entries.map(|entry| entry.path()));
        }
    }
    Ok(())
}
