//! A session's private layer: build folders and caches that stay between its commands and never
//! reach the workspace.
//!
//! It is a layer like any other, and lies between the workspace and the fresh upper layer of each
//! command. What a command did to private paths is moved into it afterwards. A layer whose last
//! change did not come to its end, or that saw the machine go down, is thrown away: it is only a
//! cache.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use super::sys::{self, Stat, Type, at};
use super::{IsPrivate, LayerError, prepare, read};
use crate::kernel;

const TREE: &[u8] = b"tree";
/// Says which boot of the machine the layer is from; absent while it is being changed.
const WHOLE: &[u8] = b"whole";

/// A session's private layer.
#[derive(Debug)]
pub struct Private {
    folder: OwnedFd,
    tree: PathBuf,
}

/// The layer while it is being changed.
struct Merge<'a> {
    upper: &'a OwnedFd,
    tree: OwnedFd,
    /// The workspace, or the folder that a cache lies on.
    below: OwnedFd,
    is_private: IsPrivate<'a>,
    moved: usize,
}

impl Private {
    /// Opens a private layer in a folder of its own, or makes it. One that can't be believed any
    /// more is emptied.
    pub fn open(folder: &Path) -> Result<Self, LayerError> {
        let shown = sys::bytes_of(folder);
        std::fs::create_dir_all(folder).map_err(at("make the folder", shown))?;
        let handle = sys::open_root(folder).map_err(at("open", shown))?;
        let tree = folder.join("tree");
        let private = Self {
            folder: handle,
            tree,
        };
        let _lock = private.lock()?;
        private.settle()?;
        Ok(private)
    }

    /// The layer itself, for a mount.
    pub fn tree(&self) -> &Path {
        &self.tree
    }

    fn lock(&self) -> Result<OwnedFd, LayerError> {
        sys::lock(&self.folder, b"lock").map_err(at("lock", b"a private layer"))
    }

    /// Empties a layer that is not whole.
    fn settle(&self) -> Result<(), LayerError> {
        let doing = || at("make", b"a private layer");
        let said = std::fs::read(self.tree.with_file_name("whole")).unwrap_or_default();
        let there = sys::stat_if(&self.folder, TREE).map_err(doing())?;
        if there.is_some() && said == kernel::boot_id() && !said.is_empty() {
            return Ok(());
        }
        sys::remove_tree(&self.folder, TREE).map_err(doing())?;
        sys::mkdir(&self.folder, TREE, 0o755).map_err(doing())?;
        self.whole()
    }

    fn whole(&self) -> Result<(), LayerError> {
        sys::write(&self.folder, WHOLE, kernel::boot_id()).map_err(at("write", b"a private layer"))
    }

    /// Changes the layer; if that stops half-way, the next look finds it not whole.
    fn changed<T>(
        &self,
        change: impl FnOnce(OwnedFd) -> Result<T, LayerError>,
    ) -> Result<T, LayerError> {
        let _lock = self.lock()?;
        self.settle()?;
        let doing = || at("change", b"a private layer");
        let tree = sys::open_dir(&self.folder, TREE).map_err(doing())?;
        sys::unlink(&self.folder, WHOLE).map_err(doing())?;
        let result = change(tree)?;
        self.whole()?;
        Ok(result)
    }

    /// Brings the folders on the way to private things in line with the workspace's, whose place
    /// they take in the sandbox. What lay in a folder that the workspace has no more goes.
    pub fn refresh(&self, workspace: &Path, is_private: IsPrivate<'_>) -> Result<(), LayerError> {
        let below = sys::open_root(workspace).map_err(at("open", sys::bytes_of(workspace)))?;
        self.changed(|tree| {
            let mut open = vec![Vec::new()];
            while let Some(path) = open.pop() {
                refresh_folder(&tree, &below, (&path, is_private), &mut open)?;
            }
            Ok(())
        })
    }

    /// Moves what is private out of an upper layer into this one. `below` is the workspace, or the
    /// folder that a cache lies on. Answers how many trees were moved.
    ///
    /// Where a command replaced or removed a folder as a whole, what this layer had beneath it goes
    /// as well.
    pub fn split(
        &self,
        upper: &Path,
        below: &Path,
        is_private: IsPrivate<'_>,
    ) -> Result<usize, LayerError> {
        let open = |path: &Path| sys::open_root(path).map_err(at("open", sys::bytes_of(path)));
        let (upper, below) = (open(upper)?, open(below)?);
        self.changed(|tree| {
            let mut merge = Merge {
                upper: &upper,
                tree,
                below,
                is_private,
                moved: 0,
            };
            let mut open = vec![(Vec::new(), false)];
            while let Some((path, inside)) = open.pop() {
                merge.folder(&path, inside, &mut open)?;
            }
            Ok(merge.moved)
        })
    }
}

fn joined(folder: &[u8], name: &[u8]) -> Vec<u8> {
    if folder.is_empty() {
        return name.to_vec();
    }
    [folder, b"/", name].concat()
}

fn refresh_folder(
    tree: &OwnedFd,
    below: &OwnedFd,
    (path, is_private): (&[u8], IsPrivate<'_>),
    open: &mut Vec<Vec<u8>>,
) -> Result<(), LayerError> {
    let doing = || at("refresh", path);
    let folder = sys::open_own_dir(tree, path).map_err(doing())?;
    for name in sys::names(&folder).map_err(doing())? {
        let full = joined(path, &name);
        let stat = sys::stat_at(&folder, &name).map_err(doing())?;
        if is_private(&full, stat.kind == Type::Folder) {
            continue;
        }
        let stands = sys::open_dir(below, &full).is_ok();
        if stat.kind == Type::Folder && stands {
            open.push(full);
        } else if !(stat.kind == Type::Whiteout && sys::stat_at(below, &full).is_ok()) {
            sys::remove_tree(&folder, &name).map_err(doing())?;
        }
    }
    let Ok(below) = sys::open_dir(below, path) else {
        return Ok(());
    };
    prepare::alike(&folder, &below).map_err(doing())
}

impl Merge<'_> {
    /// One folder of the upper layer: beneath a private one, or on the way to one.
    fn folder(
        &mut self,
        path: &[u8],
        inside: bool,
        open: &mut Vec<(Vec<u8>, bool)>,
    ) -> Result<(), LayerError> {
        let doing = || at("move", path);
        let folder = sys::open_own_dir(self.upper, path).map_err(doing())?;
        let mtime = sys::stat(&folder).map_err(doing())?.mtime;
        let (mut taken, mut shows) = (false, false);
        for name in sys::names(&folder).map_err(doing())? {
            let full = joined(path, &name);
            let stat = sys::stat_at(&folder, &name).map_err(at("look at", &full))?;
            let is_folder = match stat.kind {
                Type::Whiteout => self.was_folder(&full),
                Type::Folder => true,
                Type::File | Type::Symlink | Type::Pipe | Type::Socket | Type::Device => false,
            };
            if inside || (self.is_private)(&full, is_folder) {
                taken = true;
                self.private((&folder, &name), &full, (&stat, open))?;
            } else {
                shows |= self.passed((&folder, &name), &full, (&stat, open))?;
            }
        }
        if inside {
            // Its children are in their new place; what belongs to the folder follows them.
            let to = sys::open_own_dir(&self.tree, path).map_err(doing())?;
            prepare::taken_over(&to, &folder).map_err(doing())?;
            // Moving them has changed the time of the folder that they came from.
            sys::set_mtime(&to, mtime).map_err(doing())?;
        } else if taken {
            // Where nothing but private things came and went, the folder's time shows it no more.
            let below = sys::open_dir(&self.below, path).and_then(|below| sys::stat(&below));
            let mtime = below.map_or(mtime, |below| if shows { mtime } else { below.mtime });
            sys::set_mtime(&folder, mtime).map_err(doing())?;
        }
        Ok(())
    }

    fn was_folder(&self, path: &[u8]) -> bool {
        [&self.tree, &self.below]
            .into_iter()
            .find_map(|root| sys::stat_at(root, path).ok())
            .is_some_and(|stat| stat.kind == Type::Folder)
    }

    /// A path that is not private: what it hides in this layer goes. Answers whether it came, went
    /// or was replaced, which the time of its folder shows.
    fn passed(
        &self,
        (folder, name): (&OwnedFd, &[u8]),
        full: &[u8],
        (stat, open): (&Stat, &mut Vec<(Vec<u8>, bool)>),
    ) -> Result<bool, LayerError> {
        let doing = || at("look at", full);
        if stat.kind == Type::Folder {
            open.push((full.to_vec(), false));
            let opened = sys::open_own_dir(folder, name).map_err(doing())?;
            if !read::is_opaque(&sys::xattrs(&opened).map_err(doing())?) {
                return Ok(sys::stat_at(&self.below, full).is_err());
            }
        }
        self.forget(full)?;
        Ok(true)
    }

    fn forget(&self, path: &[u8]) -> Result<(), LayerError> {
        let (above, name) = parted(path);
        match sys::open_own_dir(&self.tree, above) {
            Ok(folder) => sys::remove_tree(&folder, name).map_err(at("remove", path)),
            Err(_) => Ok(()),
        }
    }

    fn private(
        &mut self,
        (folder, name): (&OwnedFd, &[u8]),
        full: &[u8],
        (stat, open): (&Stat, &mut Vec<(Vec<u8>, bool)>),
    ) -> Result<(), LayerError> {
        let doing = || at("move", full);
        let (above, _) = parted(full);
        let here = sys::open_own_dir(&self.tree, above)
            .ok()
            .and_then(|above| sys::stat_at(&above, name).ok());
        if stat.kind == Type::Folder && here.is_some_and(|here| here.kind == Type::Folder) {
            let opened = sys::open_own_dir(folder, name).map_err(doing())?;
            if !read::is_opaque(&sys::xattrs(&opened).map_err(doing())?) {
                open.push((full.to_vec(), true));
                return Ok(());
            }
        }
        self.forget(full)?;
        if stat.kind == Type::Whiteout && sys::stat_at(&self.below, full).is_err() {
            // It hid something that only this layer had.
            return sys::unlink(folder, name).map_err(doing());
        }
        let to = self.way(above)?;
        self.moved += 1;
        // A folder that its owner may not write can't get another parent.
        if stat.kind == Type::Folder && stat.mode & 0o200 == 0 {
            let opened = sys::open_own_dir(folder, name).map_err(doing())?;
            sys::chmod(&opened, stat.mode | 0o700).map_err(doing())?;
            sys::rename((folder, name), (&to, name)).map_err(doing())?;
            return sys::chmod(&opened, stat.mode).map_err(doing());
        }
        sys::rename((folder, name), (&to, name)).map_err(doing())
    }

    /// The folder of this layer under a path, made like the upper layer's where it is missing.
    fn way(&self, path: &[u8]) -> Result<OwnedFd, LayerError> {
        let doing = || at("make the folder", path);
        if let Ok(folder) = sys::open_own_dir(&self.tree, path) {
            return Ok(folder);
        }
        let mut made = Vec::new();
        for segment in path.split(|byte| *byte == b'/') {
            let above = sys::open_own_dir(&self.tree, &made).map_err(doing())?;
            made = joined(&made, segment);
            let kind = sys::stat_if(&above, segment).map_err(doing())?;
            if kind.is_some_and(|stat| stat.kind == Type::Folder) {
                continue;
            }
            sys::remove_tree(&above, segment).map_err(doing())?;
            sys::mkdir(&above, segment, 0o700).map_err(doing())?;
            let new = sys::open_dir(&above, segment).map_err(doing())?;
            let like = sys::open_own_dir(self.upper, &made).map_err(doing())?;
            prepare::taken_over(&new, &like).map_err(doing())?;
        }
        sys::open_own_dir(&self.tree, path).map_err(doing())
    }
}

fn parted(path: &[u8]) -> (&[u8], &[u8]) {
    path.iter()
        .rposition(|byte| *byte == b'/')
        .and_then(|at| Some((path.get(..at)?, path.get(at + 1..)?)))
        .unwrap_or((b"", path))
}
