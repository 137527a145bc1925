//! What dead processes left in the state: layers that nobody runs or keeps, old sessions' caches,
//! old outputs. Their control groups are no part of it: the sandbox's helpers remove those.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use tagout_sandbox::layer;
use tagout_vocab::limits::SESSION_LAYERS_MAX;

use super::folders::Folders;
use super::{long, stored};
use crate::engine::Inner;
use crate::error::GateError;

/// The layers in a folder whose names begin like this.
pub(super) fn named(layers: &[PathBuf], prefix: &str) -> Vec<PathBuf> {
    let wanted = |path: &&PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.starts_with(prefix))
    };
    layers.iter().filter(wanted).cloned().collect()
}

fn listed(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

/// Removes what is of no use any more. What can't be removed now stays until the next time.
pub(crate) fn clean(inner: &Inner) -> Result<(), GateError> {
    let folders = Folders::of(&inner.site.state);
    let layers = listed(&folders.layers());
    long::settle(inner, &layers)?;
    let left = named(&layers, "x-");
    if left.is_empty() {
        return Ok(());
    }
    let mut used: BTreeSet<PathBuf> = BTreeSet::new();
    // In this order: what is parked may be taken up meanwhile, and lives then.
    for parked in inner.site.store.parked()? {
        used.insert(folders.execution(&parked.execution));
    }
    for ticket in inner.site.store.living()? {
        used.insert(folders.execution(&ticket.execution));
        used.insert(folders.session(&ticket.session));
    }
    for path in left.iter().filter(|path| !used.contains(*path)) {
        drop(layer::remove(path));
    }
    let unused = |path: &PathBuf| !used.contains(path);
    sessions(named(&layers, "s-").into_iter().filter(unused));
    stored::prune(&inner.site.state);
    Ok(())
}

/// Beyond a bound, the sessions that were quiet for longest lose their caches, unless something of
/// them runs.
fn sessions(layers: impl Iterator<Item = PathBuf>) {
    let changed = |path: &Path| fs::metadata(path).and_then(|found| found.modified()).ok();
    // One that built nothing yet is as old as its folder.
    let dated = |path: PathBuf| (changed(&path.join("private")).max(changed(&path)), path);
    let mut found: Vec<_> = layers.map(dated).collect();
    found.sort();
    let old = found.len().saturating_sub(SESSION_LAYERS_MAX);
    for (_, path) in found.into_iter().take(old) {
        // Held until it is gone: a command of this session would begin meanwhile.
        let Ok(file) = File::open(&path) else {
            continue;
        };
        if file.try_lock().is_ok() && !long::goes_on(&path) {
            drop(layer::remove(&path));
        }
    }
}
