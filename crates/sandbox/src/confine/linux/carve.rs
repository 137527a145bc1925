//! The whole tree without some paths, said as a list of what is left.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Paths that together are everything below the root but the hidden ones.
///
/// Landlock can only grant. So every folder on the way to a hidden path is opened up, and its
/// entries are granted one by one. What appears in such a folder later is not granted.
pub(super) fn all_but(hidden: &[PathBuf]) -> Vec<PathBuf> {
    let mut away = BTreeSet::new();
    for path in hidden {
        away.insert(path.clone());
        // A link leads to the same bytes under another name.
        if let Some(real) = real(path) {
            away.insert(real);
        }
    }
    away.retain(|path| fs::symlink_metadata(path).is_ok() && path.parent().is_some());
    let mut granted = Vec::new();
    let mut open = vec![PathBuf::from("/")];
    while let Some(folder) = open.pop() {
        if !away.iter().any(|path| path.starts_with(&folder)) {
            granted.push(folder);
            continue;
        }
        let Ok(entries) = fs::read_dir(&folder) else {
            continue;
        };
        for entry in entries.flatten() {
            let path = entry.path();
            // A link is no way around: what counts is where it leads.
            let link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
            if !away.contains(&path) && !link {
                open.push(path);
            }
        }
    }
    granted
}

#[expect(
    clippy::disallowed_methods,
    reason = "the real place of a hidden path outside of any workspace is what is asked for"
)]
fn real(path: &Path) -> Option<PathBuf> {
    fs::canonicalize(path).ok()
}
