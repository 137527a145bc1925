//! Making what a record describes: a file, a link or a whole folder tree under a temporary name.

use std::collections::BTreeMap;

use tagout_vocab::Digest;

use crate::error::{Error, at};
use crate::images::Images;
use crate::node::{Attribute, Identity, Item, Meta, Node, Place};
use crate::relpath::RelPath;
use crate::root::Root;
use crate::sys::{self, Handle};

/// Where the bytes that a record speaks of can be read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Blobs<'a> {
    /// What lies in the record itself.
    pub inline: &'a [u8],
    /// What lies in the store.
    pub images: &'a Images,
}

impl Blobs<'_> {
    fn inline(&self, start: u64, size: u64) -> Result<&[u8], Error> {
        let start = usize::try_from(start).unwrap_or(usize::MAX);
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        self.inline
            .get(start..start.saturating_add(size))
            .ok_or_else(|| Error::StateDamaged {
                path: "journal".to_owned(),
                what: "a record names bytes that it does not hold",
            })
    }

    /// The bytes of a file image.
    pub(crate) fn read(&self, digest: &Digest, size: u64, place: &Place) -> Result<Vec<u8>, Error> {
        match place {
            Place::Inline { start } => Ok(self.inline(*start, size)?.to_vec()),
            Place::Memory(bytes) => Ok(bytes.to_vec()),
            Place::Stored | Place::Nowhere => self.images.read(digest),
        }
    }

    /// Writes the bytes of a file at an open file's position.
    pub(crate) fn fill(&self, to: &Handle, node: &Node, path: &RelPath) -> Result<(), Error> {
        match node {
            Node::File {
                digest,
                size,
                place,
            } => self.write((to, path), digest, *size, place),
            Node::Symlink { .. } | Node::Dir | Node::Pipe | Node::Socket => Ok(()),
        }
    }

    fn write(
        &self,
        (to, path): (&Handle, &RelPath),
        digest: &Digest,
        size: u64,
        place: &Place,
    ) -> Result<(), Error> {
        let doing = || at("write", path.to_string());
        match place {
            Place::Inline { start } => {
                sys::write_all(to, self.inline(*start, size)?).map_err(doing())
            }
            Place::Memory(bytes) => sys::write_all(to, bytes).map_err(doing()),
            Place::Stored | Place::Nowhere => {
                let mut file = to.duplicate().map_err(doing())?.into_file();
                self.images.copy_to(digest, (&mut file, path))
            }
        }
    }
}

/// Files that were or shall be one file under several names, and where such a name can be found
/// now.
#[derive(Debug, Default)]
pub(crate) struct Links {
    known: Vec<(u64, u64, RelPath)>,
    /// New names, each with the place where the file is that they shall be names of.
    wanted: BTreeMap<RelPath, RelPath>,
}

impl Links {
    /// Notes that the file that once had this identity stands at a path.
    pub(crate) fn note(&mut self, identity: Option<&Identity>, path: RelPath) {
        if let Some(identity) = identity.filter(|identity| identity.nlink > 1) {
            self.known.push((identity.dev, identity.ino, path));
        }
    }

    /// Says that a new name shall be a name of the file that stands at a place.
    pub(crate) fn want(&mut self, path: RelPath, place: RelPath) {
        self.wanted.insert(path, place);
    }

    fn find(&self, path: &RelPath, item: &Item) -> Option<&RelPath> {
        let identity = item.identity.as_ref();
        let known = identity.and_then(|identity| {
            let same = |one: &&(u64, u64, RelPath)| (one.0, one.1) == (identity.dev, identity.ino);
            self.known.iter().find(same).map(|(_, _, path)| path)
        });
        self.wanted.get(path).or(known)
    }
}

/// What making a tree stands on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Maker<'a> {
    pub root: &'a Root,
    pub blobs: Blobs<'a>,
    pub links: &'a Links,
}

/// Makes a tree that shall stand at a path under a temporary name in a folder.
pub(crate) fn tree(
    maker: Maker<'_>,
    (folder, name): (&Handle, &[u8]),
    (path, items): (&RelPath, &[Item]),
) -> Result<(), Error> {
    let Some((top, rest)) = items.split_first() else {
        return Ok(());
    };
    node(maker, (folder, name), (path, top))?;
    if !top.node.is_dir() {
        return Ok(());
    }
    let handle = sys::open_dir(folder, name).map_err(at("open the folder", shown(name)))?;
    for item in rest {
        let (parent, last) = beneath(&handle, &item.sub)?;
        node(maker, (&parent, last), (&path.join(&item.sub), item))?;
    }
    // Modes and times of folders come last and innermost first: filling a folder changes its time,
    // and a folder without permissions can't be filled.
    for item in items.iter().rev().filter(|item| item.node.is_dir()) {
        let opened = sys::open_dir(&handle, item.sub.as_bytes());
        let opened = opened.map_err(at("open the folder", item.sub.to_string()))?;
        finish(&opened, &item.meta).map_err(at("set the attributes of", item.sub.to_string()))?;
    }
    Ok(())
}

fn beneath<'a>(top: &Handle, sub: &'a RelPath) -> Result<(Handle, &'a [u8]), Error> {
    let folder = sub.parent().unwrap_or_default();
    let name = sub.name().unwrap_or_default();
    let opened = sys::open_dir(top, folder.as_bytes());
    Ok((
        opened.map_err(at("open the folder", folder.to_string()))?,
        name,
    ))
}

fn shown(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}

fn node(
    maker: Maker<'_>,
    (folder, name): (&Handle, &[u8]),
    (path, item): (&RelPath, &Item),
) -> Result<(), Error> {
    let special = |kind| {
        special_node(folder, name, kind, &item.meta)
            .map_err(at("make the pipe or socket", path.to_string()))
    };
    match &item.node {
        Node::Pipe => special(sys::Kind::Fifo),
        Node::Socket => special(sys::Kind::Socket),
        Node::Dir => {
            sys::mkdir(folder, name, 0o700).map_err(at("make the folder", path.to_string()))
        }
        Node::Symlink { target } => link_node(folder, name, target, &item.meta)
            .map_err(at("make the symbolic link", path.to_string())),
        Node::File {
            digest,
            size,
            place,
        } => {
            if linked(maker, (folder, name), (path, item)) {
                return Ok(());
            }
            // Mostly the mode is right from the start, and one call is saved.
            let created = sys::create(folder, name, item.meta.mode & 0o777);
            let created = created.map_err(at("write", path.to_string()))?;
            maker.blobs.write((&created, path), digest, *size, place)?;
            finish(&created, &item.meta).map_err(at("set the attributes of", path.to_string()))
        }
    }
}

fn link_node(folder: &Handle, name: &[u8], target: &[u8], meta: &Meta) -> std::io::Result<()> {
    sys::symlink(folder, name, target)?;
    own_node(folder, name, meta)
}

/// A socket or pipe is never opened: someone may wait for that.
fn special_node(folder: &Handle, name: &[u8], kind: sys::Kind, meta: &Meta) -> std::io::Result<()> {
    sys::special(folder, name, kind, meta.mode)?;
    own_node(folder, name, meta)
}

fn own_node(folder: &Handle, name: &[u8], meta: &Meta) -> std::io::Result<()> {
    if let Some(owner) = meta.owner {
        let stat = sys::stat_at(folder, name)?;
        if (stat.uid, stat.gid) != owner {
            allowed(sys::chown_at(folder, name, owner))?;
        }
    }
    meta.mtime
        .map_or(Ok(()), |mtime| sys::set_mtime_at(folder, name, mtime))
}

/// Makes the name a second name of a file that it shares or shared its content with, if that file
/// is what it has to be; otherwise the name gets a file of its own.
fn linked(
    maker: Maker<'_>,
    (folder, name): (&Handle, &[u8]),
    (path, item): (&RelPath, &Item),
) -> bool {
    let Some(other) = maker.links.find(path, item) else {
        return false;
    };
    let Ok((parent, last)) = maker.root.parent(other) else {
        return false;
    };
    let same =
        crate::look::node(&parent, last, other, crate::look::Keep::Nothing).is_ok_and(|found| {
            found.is_some_and(|found| {
                found.node.same(&item.node) && item.meta.satisfied_by(&found.meta)
            })
        });
    same && sys::link((&parent, last), (folder, name)).is_ok()
}

/// Gives an open file or folder everything but its content.
pub(crate) fn finish(file: &Handle, meta: &Meta) -> std::io::Result<()> {
    let stat = sys::stat(file)?;
    let mut touched = false;
    if let Some((uid, gid)) = meta.owner
        && (stat.uid, stat.gid) != (uid, gid)
    {
        allowed(sys::chown(file, uid, gid))?;
        touched = true;
    }
    if let Some(wanted) = &meta.xattrs {
        touched |= set_attributes(file, wanted)?;
    }
    // Changing the owner clears the set-user-id bit and an access list changes the mode, so the
    // mode comes after both.
    let mode = if touched {
        sys::stat(file)?.mode
    } else {
        stat.mode
    };
    if mode != meta.mode {
        sys::chmod(file, meta.mode)?;
    }
    meta.mtime
        .map_or(Ok(()), |mtime| sys::set_mtime(file, mtime))
}

/// Only a privileged user can give files away; for the others the owner stays who they are.
fn allowed(result: std::io::Result<()>) -> std::io::Result<()> {
    match result {
        Err(error) if sys::is_forbidden(&error) => Ok(()),
        other => other,
    }
}

/// Sets exactly these attributes; answers whether others were there.
fn set_attributes(file: &Handle, wanted: &[Attribute]) -> std::io::Result<bool> {
    let present = sys::xattrs(file)?;
    if present == wanted {
        return Ok(false);
    }
    for (name, _) in &present {
        if !wanted.iter().any(|(other, _)| other == name) {
            lenient(name, sys::remove_xattr(file, name))?;
        }
    }
    for (name, value) in wanted {
        if !present.iter().any(|one| one.0 == *name && one.1 == *value) {
            lenient(name, sys::set_xattr(file, name, value))?;
        }
    }
    Ok(true)
}

/// Labels that only the system may set are left as the system sets them.
fn lenient(name: &[u8], result: std::io::Result<()>) -> std::io::Result<()> {
    let systems = name.starts_with(b"security.") || name.starts_with(b"trusted.");
    match result {
        Err(error) if systems && (sys::is_forbidden(&error) || sys::is_unsupported(&error)) => {
            Ok(())
        }
        other => other,
    }
}

/// Removes a tree under a name of a folder; what is not there is not missed.
pub(crate) fn remove(folder: &Handle, name: &[u8]) -> std::io::Result<()> {
    match sys::unlink(folder, name) {
        Ok(()) => return Ok(()),
        Err(error) if sys::is_missing(&error) => return Ok(()),
        Err(error) => {
            if sys::stat_at(folder, name)?.kind != sys::Kind::Dir {
                return Err(error);
            }
        }
    }
    let handle = sys::open_dir(folder, name)?;
    // Best effort: a folder of ours without write permission still has to go.
    allowed(sys::chmod(&handle, 0o700))?;
    for inner in sys::names(&handle)? {
        remove(&handle, &inner)?;
    }
    match sys::rmdir(folder, name) {
        Err(error) if sys::is_missing(&error) => Ok(()),
        other => other,
    }
}

/// Removes exactly the nodes of a tree that was just looked at, innermost first.
///
/// Whatever else turned up in one of its folders stays, and so does the folder: then the answer is
/// `false`.
pub(crate) fn remove_listed(folder: &Handle, name: &[u8], items: &[Item]) -> std::io::Result<bool> {
    let Some((top, rest)) = items.split_first() else {
        return Ok(true);
    };
    if !top.node.is_dir() {
        return gone(sys::unlink(folder, name)).map(|()| true);
    }
    let handle = match sys::open_dir(folder, name) {
        Ok(handle) => handle,
        Err(error) if sys::is_missing(&error) => return Ok(true),
        Err(error) => return Err(error),
    };
    for item in items
        .iter()
        .filter(|item| item.node.is_dir() && item.meta.mode & 0o300 != 0o300)
    {
        let opened = sys::open_dir(&handle, item.sub.as_bytes())?;
        allowed(sys::chmod(&opened, 0o700))?;
    }
    for item in rest.iter().rev() {
        let parent = sys::open_dir(&handle, item.sub.parent().unwrap_or_default().as_bytes());
        let parent = match parent {
            Ok(parent) => parent,
            Err(error) if sys::is_missing(&error) => continue,
            Err(error) => return Err(error),
        };
        let last = item.sub.name().unwrap_or_default();
        let removed = if item.node.is_dir() {
            sys::rmdir(&parent, last)
        } else {
            sys::unlink(&parent, last)
        };
        match gone(removed) {
            Ok(()) => {}
            Err(error) if sys::is_not_empty(&error) => return Ok(false),
            Err(error) => return Err(error),
        }
    }
    match gone(sys::rmdir(folder, name)) {
        Ok(()) => Ok(true),
        Err(error) if sys::is_not_empty(&error) => Ok(false),
        Err(error) => Err(error),
    }
}

fn gone(result: std::io::Result<()>) -> std::io::Result<()> {
    match result {
        Err(error) if sys::is_missing(&error) => Ok(()),
        other => other,
    }
}
