//! What dead processes left in the state: layers that nobody runs or keeps, old sessions' caches,
//! old outputs.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

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
    for execution in inner.site.store.living()? {
        used.insert(folders.execution(&execution));
    }
    for parked in inner.site.store.parked()? {
        used.insert(folders.execution(&parked.execution));
    }
    for path in left.iter().filter(|path| !used.contains(*path)) {
        drop(layer::remove(path));
    }
    sessions(&layers);
    stored::prune(&inner.site.state);
    Ok(())
}

/// Beyond a bound, the sessions that were quiet for longest lose their caches, unless something of
/// them runs.
fn sessions(layers: &[PathBuf]) {
    let dated = |path: PathBuf| {
        let changed = fs::metadata(path.join("private")).and_then(|found| found.modified());
        (changed.unwrap_or(SystemTime::UNIX_EPOCH), path)
    };
    let mut found: Vec<_> = named(layers, "s-").into_iter().map(dated).collect();
    found.sort();
    let old = found.len().saturating_sub(SESSION_LAYERS_MAX);
    for (_, path) in found.into_iter().take(old) {
        let locked = File::open(&path).is_ok_and(|file| file.try_lock().is_ok());
        if locked && !long::goes_on(&path) {
            drop(layer::remove(&path));
        }
    }
}
