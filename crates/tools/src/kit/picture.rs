//! What a folder holds, seen from outside of any transaction.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use tagout_vocab::Digest;

use super::KitError;

/// Every path beneath a folder with what stands there.
pub(super) type Picture = BTreeMap<PathBuf, Seen>;

/// What stands under a path.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Seen {
    Folder,
    File(Digest, u32),
    Link(PathBuf),
    Other,
}

/// Looks at everything beneath a folder; links are not followed.
pub(super) fn picture(folder: &Path) -> Result<Picture, KitError> {
    let mut picture = Picture::new();
    let mut open = vec![folder.to_owned()];
    while let Some(path) = open.pop() {
        let failed = |source| KitError::Look {
            path: path.display().to_string(),
            source,
        };
        let about = fs::symlink_metadata(&path).map_err(failed)?;
        let seen = if about.is_dir() {
            for entry in fs::read_dir(&path).map_err(failed)? {
                open.push(entry.map_err(failed)?.path());
            }
            Seen::Folder
        } else if about.is_symlink() {
            Seen::Link(fs::read_link(&path).map_err(failed)?)
        } else if about.is_file() {
            Seen::File(Digest::of(&fs::read(&path).map_err(failed)?), mode(&about))
        } else {
            Seen::Other
        };
        picture.insert(path, seen);
    }
    Ok(picture)
}

#[cfg(unix)]
fn mode(about: &fs::Metadata) -> u32 {
    use std::os::unix::fs::MetadataExt as _;
    about.mode()
}

#[cfg(not(unix))]
fn mode(about: &fs::Metadata) -> u32 {
    u32::from(about.permissions().readonly())
}
