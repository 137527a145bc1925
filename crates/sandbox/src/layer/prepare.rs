//! Fresh scratch folders for an overlay, and their removal.

use std::path::Path;

use super::sys::{self, at};
use super::{LayerError, read};

/// Makes a fresh upper and work folder, which must not exist yet.
///
/// A program inside sees the upper folder in the place of the workspace's own: it gets the
/// workspace's mode, owner, attributes and time.
pub fn prepare(workspace: &Path, upper: &Path, work: &Path) -> Result<(), LayerError> {
    make(upper)?;
    make(work)?;
    let doing = || at("prepare", sys::bytes_of(upper));
    let below = sys::open_root(workspace).map_err(at("open", sys::bytes_of(workspace)))?;
    let above = sys::open_root(upper).map_err(doing())?;
    alike(&above, &below).map_err(doing())
}

/// Gives a folder of a layer what the workspace's folder has, its content aside.
pub(super) fn alike(
    above: &std::os::fd::OwnedFd,
    below: &std::os::fd::OwnedFd,
) -> std::io::Result<()> {
    let stat = sys::stat(below)?;
    sys::chown(above, stat.uid, stat.gid)?;
    // What looks like an overlay's own note would be obeyed as one.
    let mut xattrs = sys::xattrs(below)?;
    xattrs.retain(|(name, _)| !name.starts_with(read::NOTES));
    sys::set_xattrs(above, &xattrs)?;
    sys::chmod(above, stat.mode)?;
    sys::set_mtime(above, stat.mtime)
}

fn make(path: &Path) -> Result<(), LayerError> {
    let doing = || at("make the folder", sys::bytes_of(path));
    let (above, name) = place(path)?;
    sys::mkdir(&above, &name, 0o700).map_err(doing())
}

fn place(path: &Path) -> Result<(std::os::fd::OwnedFd, Vec<u8>), LayerError> {
    let doing = || at("open", sys::bytes_of(path));
    let (Some(above), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(doing()(std::io::ErrorKind::InvalidInput.into()));
    };
    let above = sys::open_root(above).map_err(doing())?;
    Ok((above, sys::bytes_of(Path::new(name)).to_vec()))
}

/// Removes a layer or a scratch folder with all that is in it, also what its modes close; what is
/// not there is not missed.
pub fn remove(path: &Path) -> Result<(), LayerError> {
    let (above, name) = match place(path) {
        Err(LayerError::Io { source, .. }) if sys::is_missing(&source) => return Ok(()),
        other => other?,
    };
    sys::remove_tree(&above, &name).map_err(at("remove", sys::bytes_of(path)))
}

/// Gives a folder of a layer what another layer's folder has, content and notes aside.
pub(super) fn taken_over(
    to: &std::os::fd::OwnedFd,
    from: &std::os::fd::OwnedFd,
) -> std::io::Result<()> {
    let stat = sys::stat(from)?;
    sys::chown(to, stat.uid, stat.gid)?;
    let mut xattrs = sys::xattrs(from)?;
    let note = |name: &[u8]| name.starts_with(read::NOTES) && !name.starts_with(read::ESCAPED);
    xattrs.retain(|(name, _)| !note(name));
    xattrs.extend(sys::xattrs(to)?.into_iter().filter(|(name, _)| note(name)));
    xattrs.sort();
    sys::set_xattrs(to, &xattrs)?;
    sys::chmod(to, stat.mode)?;
    sys::set_mtime(to, stat.mtime)
}
