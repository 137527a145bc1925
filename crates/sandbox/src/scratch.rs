//! Removing layers that are no longer needed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Removes a folder of layers with all that is in it. The kernel leaves folders in a `work` layer
/// that nobody may enter, and commands may have made such folders too: they are opened first. It is
/// no error if nothing is there.
pub fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        other => return other,
    }
    let mut open: Vec<PathBuf> = vec![folder.to_path_buf()];
    while let Some(path) = open.pop() {
        open_up(&path)?;
        for entry in fs::read_dir(&path)? {
            let entry = entry?;
            // The type is the entry's own: a link to a folder is a link.
            if entry.file_type()?.is_dir() {
                open.push(entry.path());
            }
        }
    }
    fs::remove_dir_all(folder)
}

#[cfg(unix)]
fn open_up(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700))
}

/// There are no layers on this system, so there is nothing that could be closed.
#[cfg(not(unix))]
fn open_up(_folder: &Path) -> io::Result<()> {
    Ok(())
}
