//! The workspace's folder as a handle: every path is resolved beneath it, and no link is followed.

use std::cell::RefCell;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use crate::error::{Clash, Error, at};
use crate::relpath::RelPath;
use crate::sys::{self, Handle, Stat};

/// Whether a path goes from the top down only.
pub(crate) fn is_straight(path: &Path) -> bool {
    let steps_up = |part| matches!(part, Component::ParentDir);
    path.is_absolute() && !path.components().any(steps_up)
}

/// The root folder, held open so that renaming or replacing it gains nothing.
#[derive(Debug)]
pub(crate) struct Root {
    handle: Handle,
    path: PathBuf,
}

impl Root {
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let shown = path.display().to_string();
        // Most roots are named without a link, and then that is where they lie.
        if is_straight(path)
            && let Ok(handle) = sys::open_root_unlinked(path)
        {
            let path = path.components().collect();
            return Ok(Self { handle, path });
        }
        let handle = sys::open_root(path).map_err(at("open", shown.clone()))?;
        let path = sys::real_path(&handle).map_err(at("open", shown))?;
        Ok(Self { handle, path })
    }

    pub(crate) const fn handle(&self) -> &Handle {
        &self.handle
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The folder that holds a path, and the path's last name.
    pub(crate) fn parent<'a>(&self, path: &'a RelPath) -> Result<(Handle, &'a [u8]), Error> {
        let (Some(folder), Some(name)) = (path.parent(), path.name()) else {
            return Err(Error::BadPath {
                path: path.to_string(),
            });
        };
        Ok((self.dir(&folder)?, name))
    }

    /// An open folder.
    pub(crate) fn dir(&self, path: &RelPath) -> Result<Handle, Error> {
        sys::open_dir(&self.handle, path.as_bytes()).map_err(|error| way(path, error))
    }

    /// What stands under a path; `None` when nothing does.
    pub(crate) fn stat(&self, path: &RelPath) -> Result<Option<Stat>, Error> {
        if path.is_root() {
            return sys::stat(&self.handle)
                .map(Some)
                .map_err(at("look at", path.to_string()));
        }
        let (folder, name) = match self.parent(path) {
            Ok(found) => found,
            Err(Error::Missing { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        match sys::stat_at(&folder, name) {
            Ok(stat) => Ok(Some(stat)),
            Err(error) if sys::is_missing(&error) => Ok(None),
            Err(error) => Err(Error::io("look at", path.to_string(), error)),
        }
    }
}

/// The folder that was opened last: units come in path order, so most share it with their
/// neighbour.
///
/// It lives as long as one commit or one recovery. The handle is the folder, wherever its name goes
/// in these moments.
#[derive(Debug, Default)]
pub(crate) struct Parents(RefCell<Option<(RelPath, Rc<Handle>)>>);

impl Parents {
    pub(crate) fn of(&self, root: &Root, path: &RelPath) -> Result<Rc<Handle>, Error> {
        let folder = path.parent().unwrap_or_default();
        let mut last = self.0.borrow_mut();
        if let Some((known, handle)) = &*last
            && *known == folder
        {
            return Ok(Rc::clone(handle));
        }
        let handle = Rc::new(root.dir(&folder)?);
        *last = Some((folder, Rc::clone(&handle)));
        Ok(handle)
    }
}

/// The error of a folder that can't be opened: a link or a file on the way is not merely an I/O
/// error.
fn way(path: &RelPath, error: io::Error) -> Error {
    if sys::is_not_a_folder(&error) {
        Error::conflict(path.to_string(), Clash::WayChanged)
    } else {
        Error::io("open the folder", path.to_string(), error)
    }
}
