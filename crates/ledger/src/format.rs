//! The file that says who may read and write this ledger.

use std::fs;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{At as _, LedgerError};
use crate::merkle::Hash;
use crate::place;

/// The format that this program writes, and the newest that it reads.
pub const FORMAT_VERSION: u32 = 1;

const FORMAT_BYTES_MAX: u64 = 4096;

/// What the `format` file says.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub(crate) struct Format {
    /// The format of the newest lines.
    #[serde(rename = "format")]
    pub(crate) version: u32,
    /// The lowest program that may read.
    pub(crate) reader_min: u32,
    /// The lowest program that may write.
    pub(crate) writer_min: u32,
    /// The name of this ledger, first line of its checkpoints.
    pub(crate) origin: String,
}

/// What the opener wants to do.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Access {
    /// Look.
    Read,
    /// Append.
    Write,
}

fn path(dir: &Path) -> PathBuf {
    dir.join("format")
}

/// Reads the file and refuses what a newer program has reserved.
pub(crate) fn load(dir: &Path, access: Access) -> Result<Format, LedgerError> {
    let path = path(dir);
    let file = match fs::File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(missing(dir, &path));
        }
        Err(error) => return Err(LedgerError::io("open", &path, error)),
    };
    let mut text = Vec::with_capacity(place::SMALL_FILE_BYTES);
    file.take(FORMAT_BYTES_MAX)
        .read_to_end(&mut text)
        .at("read", &path)?;
    let format: Format =
        serde_json::from_slice(&text).map_err(|error| LedgerError::NotALedger {
            path: path.clone(),
            detail: error.to_string(),
        })?;
    let needs = match access {
        Access::Read => format.reader_min,
        Access::Write => format.writer_min.max(format.reader_min),
    };
    if needs > FORMAT_VERSION {
        return Err(LedgerError::NewerFormat {
            path: dir.to_owned(),
            needs,
            known: FORMAT_VERSION,
        });
    }
    Ok(format)
}

/// Which file was read, so that a later look need not read it again.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Identity {
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Identity {
    /// The file as it is now; `None` if it can't be looked at.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let found = fs::metadata(path).ok()?;
        Some(Self {
            inode: found.ino(),
            size: found.len(),
            modified: (found.mtime(), found.mtime_nsec()),
            changed: (found.ctime(), found.ctime_nsec()),
        })
    }

    /// All that it consists of.
    pub(crate) const fn numbers(self) -> [u64; 6] {
        let Self {
            inode,
            size,
            modified,
            changed,
        } = self;
        [
            inode,
            size,
            modified.0.cast_unsigned(),
            modified.1.cast_unsigned(),
            changed.0.cast_unsigned(),
            changed.1.cast_unsigned(),
        ]
    }
}

/// The `format` file as it is now; `None` if it can't be looked at.
pub(crate) fn identity(dir: &Path) -> Option<Identity> {
    Identity::of(&path(dir))
}

fn missing(dir: &Path, path: &Path) -> LedgerError {
    if dir.is_dir() {
        return LedgerError::NotALedger {
            path: path.to_owned(),
            detail: "the file is missing".to_owned(),
        };
    }
    LedgerError::MissingFolder {
        path: dir.to_owned(),
    }
}

/// Writes the file of a new ledger.
pub(crate) fn create(dir: &Path, origin: &str) -> Result<(), LedgerError> {
    let format = Format {
        version: FORMAT_VERSION,
        reader_min: FORMAT_VERSION,
        writer_min: FORMAT_VERSION,
        origin: origin.to_owned(),
    };
    let mut text =
        serde_json::to_vec(&format).map_err(|source| LedgerError::Json { seq: 0, source })?;
    text.push(b'\n');
    place::replace(&path(dir), &text, place::Sync::Yes)
}

/// The link of the first event. It names the ledger, so that none can be passed for another.
pub(crate) fn genesis(origin: &str) -> Hash {
    use sha2::{Digest as _, Sha256};
    Sha256::new()
        .chain_update(b"tagout ledger v1\n")
        .chain_update(origin.as_bytes())
        .chain_update(b"\n")
        .finalize()
        .into()
}
