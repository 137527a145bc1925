//! What can go wrong with the ledger: what happened, where, what to do.

use std::io;
use std::path::{Path, PathBuf};

use tagout_vocab::limits::{LEDGER_EVENT_BYTES_MAX, LEDGER_STEP_EVENTS_MAX};
use thiserror::Error;

use crate::note::NoteError;
use crate::proof::ProofError;

/// Why the ledger could not do what it was asked. On the way to a verdict each one is a denial.
#[derive(Debug, Error)]
pub enum LedgerError {
    /// The folder is not there.
    #[error("the ledger folder `{path}` does not exist: restore the state, or start a new epoch")]
    MissingFolder {
        /// The folder.
        path: PathBuf,
    },
    /// Something is there, but it is no ledger.
    #[error("`{path}` is not a ledger: {detail}; restore it, or start a new epoch")]
    NotALedger {
        /// The folder or file.
        path: PathBuf,
        /// What is wrong with it.
        detail: String,
    },
    /// Others can enter the folder.
    #[error("others can enter the ledger folder `{path}`: run `chmod 700` on it")]
    Exposed {
        /// The folder.
        path: PathBuf,
    },
    /// A ledger is already there.
    #[error("`{path}` already holds a ledger: open it instead of creating one")]
    AlreadyThere {
        /// The folder.
        path: PathBuf,
    },
    /// A newer Tagout has written here.
    #[error(
        "the ledger in `{path}` needs format {needs} and this program knows {known}: \
         use the newer program"
    )]
    NewerFormat {
        /// The folder.
        path: PathBuf,
        /// The format that is needed.
        needs: u32,
        /// The newest format that this program knows.
        known: u32,
    },
    /// Locks and syncs can't be trusted there.
    #[error(
        "`{path}` lies on a network file system ({name}): move the state folder to a local disk"
    )]
    NetworkFileSystem {
        /// The folder.
        path: PathBuf,
        /// The file system's name.
        name: String,
    },
    /// The file system takes no writes.
    #[error("`{path}` lies on a read-only file system: remount it writable or move the state")]
    ReadOnly {
        /// What was to be written.
        path: PathBuf,
        /// The system's word.
        source: io::Error,
    },
    /// No room left.
    #[error("no room left to write `{path}`: free some disk space and try again")]
    FullDisk {
        /// What was to be written.
        path: PathBuf,
        /// The system's word.
        source: io::Error,
    },
    /// The user may not.
    #[error("no permission for `{path}`: it must belong to the user who runs this program")]
    NoPermission {
        /// What was to be opened.
        path: PathBuf,
        /// The system's word.
        source: io::Error,
    },
    /// Any other refusal of the system.
    #[error("could not {action} `{path}`: {source}")]
    Io {
        /// What was attempted.
        action: &'static str,
        /// Where.
        path: PathBuf,
        /// The system's word.
        source: io::Error,
    },
    /// Another process holds the lock for too long.
    #[error("`{path}` was locked by another process for {waited_ms} ms: end it and try again")]
    Busy {
        /// The lock file.
        path: PathBuf,
        /// How long this process waited.
        waited_ms: u64,
    },
    /// A sync failed earlier: what is on the disk is unknown.
    #[error(
        "an earlier sync of `{path}` failed and what reached the disk is unknown: check the disk, \
         run `tagout verify`, then start again"
    )]
    Poisoned {
        /// The folder.
        path: PathBuf,
    },
    /// A file that is given to be read holds more than is read.
    #[error(
        "`{path}` has more than {max} bytes: keep the newest checkpoints in a file of their own"
    )]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The bound.
        max: usize,
    },
    /// What this process writes to is no longer what others would read.
    #[error(
        "`{path}` was moved, replaced or cut while the ledger was open: nothing more is written; \
         restore it, run `tagout verify`, then start again"
    )]
    Moved {
        /// The file.
        path: PathBuf,
    },
    /// A complete line that no crash can leave behind.
    #[error("`{path}` is damaged at byte {offset}: {detail}; run `tagout verify`")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where.
        offset: u64,
        /// What is wrong.
        detail: String,
    },
    /// Events that a seal vouches for are gone.
    #[error(
        "the ledger in `{path}` holds {present} events and its last seal vouches for {sealed}: \
         events were removed; run `tagout verify`, then start a new epoch"
    )]
    SealedEventsMissing {
        /// The folder.
        path: PathBuf,
        /// How many the seal vouches for.
        sealed: u64,
        /// How many are there.
        present: u64,
    },
    /// The events are not those that were sealed.
    #[error(
        "the ledger in `{path}` does not match its last seal at {sealed} events: nothing was \
         signed; run `tagout verify`"
    )]
    SealMismatch {
        /// The folder.
        path: PathBuf,
        /// The sealed size.
        sealed: u64,
    },
    /// An event lacks what its kind needs.
    #[error("a {kind} event needs a valid `{field}`")]
    EventInvalid {
        /// The kind.
        kind: String,
        /// The field.
        field: &'static str,
    },
    /// The event is larger than a line may be.
    #[error("an event of {bytes} bytes is larger than {LEDGER_EVENT_BYTES_MAX}: list fewer paths")]
    EventTooLarge {
        /// Its size.
        bytes: usize,
    },
    /// Nothing, or too much, in one step.
    #[error("a step holds {count} events; it needs 1 to {LEDGER_STEP_EVENTS_MAX}")]
    StepSize {
        /// How many.
        count: usize,
    },
    /// The event could not be written as JSON, or a line not read.
    #[error("event {seq} can't be expressed as JSON")]
    Json {
        /// Which event.
        seq: u64,
        /// The cause.
        source: serde_json::Error,
    },
    /// No such event.
    #[error("the ledger holds no event {seq}: it has {present}, numbered from 0")]
    NoSuchEvent {
        /// The number asked for.
        seq: u64,
        /// How many there are.
        present: u64,
    },
    /// The ledger was opened without a key to seal with.
    #[error("there is no key to seal with: give one when opening the ledger")]
    NoKey,
    /// A key file that others can read, or that is no key.
    #[error("the key file `{path}` can't be used: {detail}")]
    KeyFile {
        /// The file.
        path: PathBuf,
        /// Why.
        detail: String,
    },
    /// A checkpoint that can't be understood or believed.
    #[error("the checkpoint `{path}` can't be used: {source}; run `tagout verify`")]
    Note {
        /// The file.
        path: PathBuf,
        /// Why.
        source: NoteError,
    },
    /// An event that no seal covers yet.
    #[error("event {seq} is not covered by a seal yet: run `tagout seal` first")]
    NotSealed {
        /// The event.
        seq: u64,
    },
    /// A proof that does not hold.
    #[error("the proof does not hold: {source}")]
    Proof {
        /// Why.
        #[from]
        source: ProofError,
    },
    /// The derived index failed even after it was rebuilt.
    #[error("the query index `{path}` failed: {source}; delete it, it is rebuilt by itself")]
    Index {
        /// The database.
        path: PathBuf,
        /// The cause.
        source: rusqlite::Error,
    },
}

impl LedgerError {
    /// Sorts a refusal of the system into the variants that people can act on.
    pub(crate) fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        let kind = source.kind();
        if kind == io::ErrorKind::ReadOnlyFilesystem {
            Self::ReadOnly { path, source }
        } else if kind == io::ErrorKind::PermissionDenied {
            Self::NoPermission { path, source }
        } else if matches!(
            kind,
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
        ) {
            Self::FullDisk { path, source }
        } else {
            Self::Io {
                action,
                path,
                source,
            }
        }
    }
}

/// Attaches the place to a system error.
pub(crate) trait At<T> {
    /// The same result with what was attempted and where.
    fn at(self, action: &'static str, path: &Path) -> Result<T, LedgerError>;
}

impl<T> At<T> for io::Result<T> {
    fn at(self, action: &'static str, path: &Path) -> Result<T, LedgerError> {
        self.map_err(|source| LedgerError::io(action, path, source))
    }
}

impl<T> At<T> for Result<T, rustix::io::Errno> {
    fn at(self, action: &'static str, path: &Path) -> Result<T, LedgerError> {
        self.map_err(|errno| LedgerError::io(action, path, errno.into()))
    }
}
