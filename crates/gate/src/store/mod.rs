//! Small records in the state folder: one file each, replaced as a whole, guarded by folder locks.

mod approvals;
mod grants;
mod intents;
mod questions;
mod running;
mod sessions;
mod tickets;
mod tidy;

pub use approvals::{Answer, ApprovalRequest};
pub use questions::{Proposal, ProposalState, Question};
pub use sessions::SessionRecord;

pub(crate) use approvals::{Binding, canonical};
pub(crate) use grants::OWNER;
pub(crate) use intents::Done;
pub(crate) use running::Running;

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tagout_vocab::Digest;
use tagout_vocab::limits::{LOCK_WAIT_MS_MAX, RECORD_BYTES_MAX};
use tagout_workspace::files;

use crate::error::GateError;

/// The records of one workspace.
#[derive(Clone, Debug)]
pub(crate) struct Store {
    dir: PathBuf,
}

/// A held lock; dropping it lets go.
#[derive(Debug)]
#[must_use = "the lock is let go when this is dropped"]
pub(crate) struct Locked(
    #[expect(
        dead_code,
        reason = "held for its file, whose closing releases the lock"
    )]
    File,
);

const FOLDERS: [&str; 8] = [
    "approvals",
    "grants",
    "intents",
    "law",
    "permits",
    "questions",
    "running",
    "sessions",
];

impl Store {
    /// Makes the folders; what is there stays.
    pub(crate) fn create(dir: &Path) -> Result<(), GateError> {
        for folder in FOLDERS {
            files::ensure_dir_private(&dir.join(folder))?;
        }
        Ok(())
    }

    pub(crate) const fn at(dir: PathBuf) -> Self {
        Self { dir }
    }

    pub(crate) fn path(&self, folder: &str, name: &str) -> PathBuf {
        self.dir.join(folder).join(name)
    }

    /// A file name for an id, which may hold what a file name may not.
    pub(crate) fn name_of(id: &str) -> String {
        Digest::of(id.as_bytes()).short_hex(40)
    }

    pub(crate) fn read<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, GateError> {
        let bytes = files::read(path, RECORD_BYTES_MAX)?;
        bytes.map(|bytes| Self::parsed(path, &bytes)).transpose()
    }

    fn parsed<T: DeserializeOwned>(path: &Path, bytes: &[u8]) -> Result<T, GateError> {
        serde_json::from_slice(bytes).map_err(|source| GateError::Damaged {
            path: path.to_owned(),
            source,
        })
    }

    /// A record that was written without waiting for the disk. One that is empty or
    /// cut off, by a power failure or because it is being written, is none. What never reached the
    /// disk may read as zeros.
    pub(crate) fn read_note<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, GateError> {
        let Some(bytes) = files::read(path, RECORD_BYTES_MAX)? else {
            return Ok(None);
        };
        let end = bytes.iter().rposition(|byte| *byte != 0);
        let written = bytes
            .get(..=end.unwrap_or_default())
            .filter(|_| end.is_some());
        match Self::parsed(path, written.unwrap_or_default()) {
            Ok(note) => Ok(Some(note)),
            Err(GateError::Damaged { source, .. }) if source.is_eof() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Replaces a record durably.
    pub(crate) fn write<T: Serialize>(path: &Path, value: &T) -> Result<(), GateError> {
        let bytes = Self::bytes(path, value)?;
        Ok(files::write_atomic(path, &bytes, Some(0o600))?)
    }

    pub(crate) fn bytes<T: Serialize>(path: &Path, value: &T) -> Result<Vec<u8>, GateError> {
        let mut bytes = serde_json::to_vec(value).map_err(|source| GateError::Damaged {
            path: path.to_owned(),
            source,
        })?;
        bytes.push(b'\n');
        Ok(bytes)
    }

    /// Every record of a folder, oldest name first.
    pub(crate) fn all<T: DeserializeOwned>(&self, folder: &str) -> Result<Vec<T>, GateError> {
        let mut found = Vec::new();
        for path in self.list(folder)? {
            found.extend(Self::read(&path)?);
        }
        Ok(found)
    }

    pub(crate) fn list(&self, folder: &str) -> Result<Vec<PathBuf>, GateError> {
        let path = self.dir.join(folder);
        let failed = |source| GateError::Io {
            doing: "list",
            path: path.clone(),
            source,
        };
        let mut names = Vec::new();
        for entry in std::fs::read_dir(&path).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            // Names that begin with a dot are files on their way to their place.
            if !entry.file_name().as_encoded_bytes().starts_with(b".") {
                names.push(entry.path());
            }
        }
        names.sort();
        Ok(names)
    }

    /// Locks a folder against other processes and threads, for a bounded time.
    pub(crate) fn lock(&self, folder: &Path) -> Result<Locked, GateError> {
        let path = self.dir.join(folder);
        let failed = |source| GateError::Io {
            doing: "lock",
            path: path.clone(),
            source,
        };
        let file = File::open(&path).map_err(failed)?;
        let mut waited = Duration::ZERO;
        let mut pause = Duration::from_micros(50);
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Locked(file)),
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(source)) => return Err(failed(source)),
            }
            if waited > Duration::from_millis(LOCK_WAIT_MS_MAX) {
                return Err(GateError::Locked {
                    path,
                    waited_ms: LOCK_WAIT_MS_MAX,
                });
            }
            std::thread::sleep(pause);
            waited += pause;
            pause = (pause * 2).min(Duration::from_millis(2));
        }
    }
}
