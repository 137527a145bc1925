//! The stored outputs of commands: read in parts, the oldest removed.

use std::fs::{self, File};
use std::io::{Read as _, Seek as _, SeekFrom};
use std::ops::Range;
use std::path::Path;

use tagout_vocab::limits::{ARTIFACT_READ_BYTES_MAX, ARTIFACTS_MAX};
use tagout_workspace::files;

use super::folders::Folders;
use crate::tool::ToolError;

/// A part of a stored output.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct StoredOutput {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Where they begin.
    pub offset: u64,
    /// How long the whole is.
    pub total: u64,
}

/// Reads a part of an output that a command of this workspace printed, bounded.
pub(crate) fn stored(state: &Path, id: &str, part: Range<u64>) -> Result<StoredOutput, ToolError> {
    let missing = || ToolError::Invalid {
        message: format!(
            "there is no stored output `{id}`; a command that stores its output answers with an id \
             to read it by, and the oldest are removed in time"
        ),
    };
    let path = Folders::of(state).artifact(id).ok_or_else(missing)?;
    let is_file = fs::symlink_metadata(&path).is_ok_and(|found| found.is_file());
    if !is_file {
        return Err(missing());
    }
    let failed = |source: std::io::Error| ToolError::Failed {
        message: format!("the stored output `{id}` can't be read"),
        source: Some(Box::new(source)),
    };
    let mut file = File::open(&path).map_err(failed)?;
    let total = file.metadata().map_err(failed)?.len();
    let offset = part.start.min(total);
    let wanted = part.end.saturating_sub(part.start);
    file.seek(SeekFrom::Start(offset)).map_err(failed)?;
    let mut bytes = Vec::new();
    file.take(wanted.min(ARTIFACT_READ_BYTES_MAX as u64))
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    Ok(StoredOutput {
        bytes,
        offset,
        total,
    })
}

/// Removes the oldest outputs beyond the bound. What can't be removed now is tried again later.
pub(crate) fn prune(state: &Path) {
    let Ok(entries) = fs::read_dir(Folders::of(state).artifacts()) else {
        return;
    };
    let dated = |entry: fs::DirEntry| Some((entry.metadata().ok()?.modified().ok()?, entry.path()));
    let mut found: Vec<_> = entries.flatten().filter_map(dated).collect();
    found.sort();
    let old = found.len().saturating_sub(ARTIFACTS_MAX);
    for (_, path) in found.into_iter().take(old) {
        drop(files::remove(&path));
    }
}
