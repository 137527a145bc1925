//! Fresh scratch folders for an overlay, and their removal.

use std::path::Path;

use tagout_vocab::limits::IMAGE_BYTES_MAX;

use super::sys::{self, Type, at};
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

/// What is put into a layer by hand.
#[derive(Clone, Copy, Debug)]
pub enum Put<'a> {
    /// Nothing is there any more.
    Gone,
    /// A folder, with this mode where the workspace has none.
    Folder(u32),
    /// A file with these bytes and this mode.
    File(&'a [u8], u32),
    /// A symbolic link.
    Symlink(&'a [u8]),
}

/// Makes a path of the workspace ready to be written in a layer: a folder gets one that looks like
/// it, and a work folder, so that it can have an overlay of its own; a file gets a copy.
pub fn apart(
    (workspace, path): (&Path, &[u8]),
    upper: &Path,
    work: &Path,
) -> Result<(), LayerError> {
    let doing = || at("prepare", path);
    let below = sys::open_root(workspace).map_err(at("open", sys::bytes_of(workspace)))?;
    let above = sys::open_root(upper).map_err(at("open", sys::bytes_of(upper)))?;
    let folder = sys::stat_at(&below, path).map_err(doing())?.kind == Type::Folder;
    if folder {
        way(&above, path).map_err(doing())?;
        make(work)?;
    } else {
        way(&above, read::parent(path)).map_err(doing())?;
        let from = sys::open_file(&below, path).map_err(doing())?;
        let copied = sys::copy(&above, path, (&from, IMAGE_BYTES_MAX)).map_err(doing())?;
        if copied > IMAGE_BYTES_MAX {
            let path = sys::shown(path);
            let max = IMAGE_BYTES_MAX;
            return Err(LayerError::TooLarge { path, max });
        }
        let made = sys::open_own_file(&above, path).map_err(doing())?;
        alike(&made.into(), &from.into()).map_err(doing())?;
    }
    settle((&above, &below), path).map_err(doing())
}

/// Puts one thing into a layer that no overlay has written.
pub fn put(
    (workspace, path): (&Path, &[u8]),
    upper: &Path,
    what: Put<'_>,
) -> Result<(), LayerError> {
    let doing = || at("keep", path);
    let below = sys::open_root(workspace).map_err(at("open", sys::bytes_of(workspace)))?;
    let above = sys::open_root(upper).map_err(at("open", sys::bytes_of(upper)))?;
    way(&above, read::parent(path)).map_err(doing())?;
    match what {
        Put::Gone => sys::whiteout(&above, path),
        Put::Folder(mode) => way(&above, path)
            .and_then(|()| sys::open_own_dir(&above, path))
            .and_then(|made| sys::chmod(&made, mode)),
        Put::File(bytes, mode) => sys::write(&above, path, bytes)
            .and_then(|()| sys::open_own_file(&above, path))
            .and_then(|made| sys::chmod(&made.into(), mode)),
        Put::Symlink(target) => sys::symlink(&above, path, target),
    }
    .map_err(doing())?;
    settle((&above, &below), read::parent(path)).map_err(doing())
}

/// Makes the folders of a path that are not there yet.
fn way(above: &std::os::fd::OwnedFd, path: &[u8]) -> std::io::Result<()> {
    let ends = (0..path.len()).filter(|at| path.get(*at) == Some(&b'/'));
    for end in ends.chain([path.len()]) {
        let folder = path.get(..end).unwrap_or_default();
        if !folder.is_empty() && sys::stat_if(above, folder)?.is_none() {
            sys::mkdir(above, folder, 0o755)?;
        }
    }
    Ok(())
}

/// Gives a path's folders, innermost first, what the workspace's have; filling them changed times.
fn settle(
    (above, below): (&std::os::fd::OwnedFd, &std::os::fd::OwnedFd),
    path: &[u8],
) -> std::io::Result<()> {
    let mut folder = path;
    loop {
        let shown = if folder.is_empty() { b"." } else { folder };
        let is_folder = |root| {
            let found = sys::stat_if(root, shown)?;
            Ok::<_, std::io::Error>(found.is_some_and(|found| found.kind == Type::Folder))
        };
        if is_folder(above)? && is_folder(below)? {
            alike(
                &sys::open_own_dir(above, shown)?,
                &sys::open_dir(below, shown)?,
            )?;
        }
        if folder.is_empty() {
            return Ok(());
        }
        folder = read::parent(folder);
    }
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
