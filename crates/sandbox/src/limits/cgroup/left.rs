//! Groups that outlive the process that made them by a moment.
//!
//! A group can go only after its last process, and that one is still dying when its run is over.
//! Nobody should wait for it, so the helper removes what its caller has left.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How often and how long after one another it is tried: the processes of a group are being killed.
const TRIES: u32 = 100;
const PAUSE: Duration = Duration::from_millis(2);

/// Groups to be removed once their caller is gone.
#[derive(Debug, Default)]
pub(crate) struct Left(Vec<PathBuf>);

impl Left {
    /// Takes note of groups. Those that are gone by now are forgotten.
    pub(crate) fn add(&mut self, paths: impl Iterator<Item = PathBuf>) {
        self.0.retain(|path| path.exists());
        self.0.extend(paths);
    }

    /// Removes them, and what crashed callers have left beside them. A group whose processes go on,
    /// as a session's server does, stays for who comes later.
    pub(crate) fn remove(mut self) {
        let mut places: Vec<PathBuf> = self
            .0
            .iter()
            .filter_map(|path| path.parent().map(Path::to_owned))
            .collect();
        places.sort_unstable();
        places.dedup();
        for _ in 0..TRIES {
            self.0.retain(|path| !is_gone(path));
            if self.0.is_empty() {
                break;
            }
            std::thread::sleep(PAUSE);
        }
        for place in &places {
            super::sweep(place);
        }
    }
}

/// Removes a group; says whether it is gone.
pub(super) fn is_gone(path: &Path) -> bool {
    match fs::remove_dir(path) {
        Ok(()) => true,
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}
