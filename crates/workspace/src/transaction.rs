//! A transaction before it is settled: staged changes, and a view of the workspace that has them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::sync::Arc;

use tagout_vocab::limits::{
    IMAGE_INLINE_BYTES_MAX, NAME_BYTES_MAX, PATH_BYTES_MAX, TRANSACTION_PATHS_MAX,
};
use tagout_vocab::{CallId, Digest, Timestamp};

use crate::commit::{Change, Committed};
use crate::error::{Error, at};
use crate::journal::record::Unit;
use crate::look::{self, Keep};
use crate::make::Blobs;
use crate::mark::Mark;
use crate::node::{Item, Meta, Node, Place};
use crate::plan::{self, Nodes};
use crate::relpath::RelPath;
use crate::state::Owner;
use crate::sys::{self, FileTime};
use crate::workspace::Workspace;

/// A transaction that is neither committed nor rolled back. Dropping it rolls it back.
#[derive(Debug)]
#[must_use = "a transaction that is dropped is rolled back"]
pub struct Transaction<'a> {
    pub(crate) workspace: &'a Workspace,
    pub(crate) execution: CallId,
    pub(crate) owner: Owner,
    /// What stood under every path that was touched, when it was first touched.
    pub(crate) before: Nodes,
    /// What shall stand there.
    pub(crate) wants: Nodes,
    /// New names that shall be names of the file under another path.
    pub(crate) links: BTreeMap<RelPath, RelPath>,
    /// Folders whose time is set, whatever else changes it.
    pub(crate) timed: BTreeSet<RelPath>,
    /// What changed since then is someone else's work.
    pub(crate) since: Option<Mark>,
    /// Bytes of new content, what was written over again among them.
    staged_bytes: u64,
    staged_bytes_max: u64,
}

impl<'a> Transaction<'a> {
    pub(crate) const fn new(workspace: &'a Workspace, execution: CallId, owner: Owner) -> Self {
        Self {
            workspace,
            execution,
            owner,
            before: BTreeMap::new(),
            wants: BTreeMap::new(),
            links: BTreeMap::new(),
            timed: BTreeSet::new(),
            since: None,
            staged_bytes: 0,
            staged_bytes_max: u64::MAX,
        }
    }

    /// Bounds the bytes of new content that may still be staged. A bound can only be lowered.
    pub fn bound(&mut self, bytes_max: u64) {
        self.staged_bytes_max = self.staged_bytes_max.min(bytes_max);
    }

    /// How many bytes of new content were staged, what was written over again among them.
    pub const fn staged_bytes(&self) -> u64 {
        self.staged_bytes
    }

    /// Counts new content before it is kept anywhere.
    pub(crate) fn count(&mut self, bytes: u64) -> Result<(), Error> {
        let counted = self.staged_bytes.saturating_add(bytes);
        if counted > self.staged_bytes_max {
            return Err(Error::TooMany {
                what: "bytes of new content",
                max: usize::try_from(self.staged_bytes_max).unwrap_or(usize::MAX),
            });
        }
        self.staged_bytes = counted;
        Ok(())
    }

    /// The call that it belongs to.
    pub const fn execution(&self) -> &CallId {
        &self.execution
    }

    /// Gives everything up. The workspace was never touched.
    pub fn rollback(self) {
        drop(self);
    }

    /// Makes everything happen at once; see [`Committed`].
    ///
    /// `closing` is what the caller will append to its ledger. It becomes durable with the change,
    /// and [`Workspace::recover`] hands it back when the process dies in between.
    pub fn commit(self, now: Timestamp, closing: &[u8]) -> Result<Committed, Error> {
        crate::commit::commit(self, now, closing)
    }

    /// What a commit would report now, before anything is durable or applied.
    ///
    /// Someone else's work in the meantime is not in it: that ends the commit as a conflict.
    pub fn staged(&self) -> Result<Vec<Change>, Error> {
        Ok(crate::commit::changes(&self.units()))
    }

    /// The trees that change as a whole.
    pub(crate) fn units(&self) -> Vec<Unit> {
        plan::units((&self.before, &self.wants), &self.links, &self.timed)
    }

    /// Notes what stands on the disk under a path, once.
    fn touch(&mut self, path: &RelPath) -> Result<(), Error> {
        if self.before.contains_key(path) {
            return Ok(());
        }
        if self.before.len() >= TRANSACTION_PATHS_MAX {
            return Err(Error::TooMany {
                what: "paths",
                max: TRANSACTION_PATHS_MAX,
            });
        }
        if path.is_root() {
            return Err(Error::BadPath {
                path: path.to_string(),
            });
        }
        // The kernel would say so too, but only once the folders above exist.
        let long = |segment: &[u8]| segment.len() > NAME_BYTES_MAX;
        if path.as_bytes().len() >= PATH_BYTES_MAX || path.segments().any(long) {
            let path = path.to_string().chars().take(120).collect();
            return Err(Error::TooLong { path });
        }
        let found = self.on_disk(path, self.workspace.keep())?;
        self.before.insert(path.clone(), found);
        Ok(())
    }

    fn on_disk(&self, path: &RelPath, keep: Keep<'_>) -> Result<Option<Item>, Error> {
        let (folder, name) = match self.workspace.root.parent(path) {
            Ok(found) => found,
            Err(Error::Missing { .. }) => return Ok(None),
            Err(Error::Conflict { .. }) => {
                let (found, needed) = ("beneath a file or a symbolic link", "a folder above it");
                return Err(Error::WrongKind {
                    path: path.to_string(),
                    found,
                    needed,
                });
            }
            Err(error) => return Err(error),
        };
        look::node(&folder, name, path, keep)
    }

    /// Whether an ancestor was staged so that nothing of the disk shows beneath it.
    fn hidden(&self, path: &RelPath) -> bool {
        let mut above = path.parent();
        while let Some(folder) = above {
            if let Some(want) = self.wants.get(&folder) {
                let was_dir = self
                    .before
                    .get(&folder)
                    .and_then(Option::as_ref)
                    .is_some_and(|item| item.node.is_dir());
                let is_dir = want.as_ref().is_some_and(|item| item.node.is_dir());
                if !is_dir || !was_dir {
                    return true;
                }
            }
            above = folder.parent();
        }
        false
    }

    /// What stands under a path as this transaction sees it. Its bytes are kept for a change.
    pub(crate) fn view(&mut self, path: &RelPath) -> Result<Option<Item>, Error> {
        if let Some(want) = self.wants.get(path) {
            return Ok(want.clone());
        }
        if self.hidden(path) {
            self.before.entry(path.clone()).or_insert(None);
            return Ok(None);
        }
        self.touch(path)?;
        Ok(self.before.get(path).cloned().flatten())
    }

    pub(crate) fn peek(&self, path: &RelPath) -> Result<Option<Item>, Error> {
        if let Some(want) = self.wants.get(path) {
            return Ok(want.clone());
        }
        if self.hidden(path) {
            return Ok(None);
        }
        if let Some(found) = self.before.get(path) {
            return Ok(found.clone());
        }
        self.on_disk(path, Keep::Nothing)
    }

    pub(crate) fn want(&mut self, path: &RelPath, mut item: Option<Item>) -> Result<(), Error> {
        // A new file of this user can't be given to everybody; then its owner is who makes it.
        if let Some(item) = &mut item {
            let owner = item
                .meta
                .owner
                .filter(|(uid, gid)| sys::may_own(*uid, *gid));
            item.meta.owner = owner;
        }
        // What is wanted has to be compared with something, so the path is always looked at first.
        if self.hidden(path) {
            self.before.entry(path.clone()).or_insert(None);
        } else {
            self.touch(path)?;
        }
        self.links.remove(path);
        self.wants.insert(path.clone(), item);
        Ok(())
    }

    fn wrong(path: &RelPath, item: &Item, needed: &'static str) -> Error {
        let (path, found) = (path.to_string(), item.node.words());
        Error::WrongKind {
            path,
            found,
            needed,
        }
    }

    fn new_meta(&self, bits: u32) -> Meta {
        Meta {
            mode: bits & !self.workspace.umask(),
            ..Meta::default()
        }
    }

    /// Stages folders for everything above a path that does not exist yet.
    pub(crate) fn parents(&mut self, path: &RelPath) -> Result<(), Error> {
        let mut missing = Vec::new();
        let mut above = path.parent();
        while let Some(folder) = above.filter(|folder| !folder.is_root()) {
            match self.peek(&folder)? {
                Some(item) if item.node.is_dir() => break,
                Some(item) => return Err(Self::wrong(&folder, &item, "a folder")),
                None => missing.push(folder.clone()),
            }
            above = folder.parent();
        }
        for folder in missing.into_iter().rev() {
            let meta = self.new_meta(0o777);
            self.want(&folder, Some(wanted(Node::Dir, meta)))?;
        }
        Ok(())
    }

    pub(crate) fn file_node(&self, bytes: &[u8]) -> Result<Node, Error> {
        let size = bytes.len() as u64;
        if size > IMAGE_INLINE_BYTES_MAX {
            let digest = self.workspace.state.images.put_bytes(bytes)?;
            return Ok(Node::File {
                digest,
                size,
                place: Place::Stored,
            });
        }
        let place = Place::Memory(Arc::from(bytes));
        Ok(Node::File {
            digest: Digest::of(bytes),
            size,
            place,
        })
    }

    /// Puts a file's content in place; mode, owner and attributes of an existing file stay.
    fn put(&mut self, path: &RelPath, node: Node) -> Result<(), Error> {
        let meta = match self.view(path)? {
            Some(item) if matches!(item.node, Node::File { .. }) => Meta {
                mtime: None,
                ..item.meta
            },
            Some(item) => return Err(Self::wrong(path, &item, "a file")),
            None => {
                self.parents(path)?;
                self.new_meta(0o666)
            }
        };
        self.want(path, Some(wanted(node, meta)))
    }

    /// Stages a file with these bytes; folders above it are made if need be.
    pub fn write(&mut self, path: &RelPath, bytes: &[u8]) -> Result<(), Error> {
        self.count(bytes.len() as u64)?;
        let node = self.file_node(bytes)?;
        self.put(path, node)
    }

    /// Stages a file with the content of an open one, without holding it in memory.
    pub fn write_from(&mut self, path: &RelPath, file: &File) -> Result<(), Error> {
        let length = sys::stat(file)
            .map_err(at("look at", path.to_string()))?
            .size;
        self.count(length)?;
        let (digest, size) = self.workspace.state.images.put_file(file)?;
        self.put(
            path,
            Node::File {
                digest,
                size,
                place: Place::Stored,
            },
        )
    }

    /// Stages bytes at the end of a file, which is made if it does not exist.
    pub fn append(&mut self, path: &RelPath, bytes: &[u8]) -> Result<(), Error> {
        let mut whole = match self.view(path)? {
            Some(item) => self.bytes(path, &item)?,
            None => Vec::new(),
        };
        whole.extend_from_slice(bytes);
        self.write(path, &whole)
    }

    /// How many bytes a file has as this transaction sees it; `None` where there is no file.
    pub fn size(&self, path: &RelPath) -> Result<Option<u64>, Error> {
        Ok(self.peek(path)?.and_then(|item| match item.node {
            Node::File { size, .. } => Some(size),
            Node::Symlink { .. } | Node::Dir | Node::Pipe | Node::Socket => None,
        }))
    }

    /// Stages the removal of a file or link.
    pub fn delete(&mut self, path: &RelPath) -> Result<(), Error> {
        match self.view(path)? {
            None => Err(Error::Missing {
                path: path.to_string(),
            }),
            Some(item) if item.node.is_dir() => Err(Self::wrong(path, &item, "a file or a link")),
            Some(_) => self.want(path, None),
        }
    }

    /// Stages a folder, and those above it.
    pub fn mkdir(&mut self, path: &RelPath) -> Result<(), Error> {
        match self.view(path)? {
            Some(item) if item.node.is_dir() => Ok(()),
            Some(item) => Err(Self::wrong(path, &item, "nothing")),
            None => {
                self.parents(path)?;
                let meta = self.new_meta(0o777);
                self.want(path, Some(wanted(Node::Dir, meta)))
            }
        }
    }

    /// Stages the removal of an empty folder.
    pub fn rmdir(&mut self, path: &RelPath) -> Result<(), Error> {
        match self.view(path)? {
            None => {
                return Err(Error::Missing {
                    path: path.to_string(),
                });
            }
            Some(item) if !item.node.is_dir() => return Err(Self::wrong(path, &item, "a folder")),
            Some(_) => {}
        }
        if !self.list(path)?.is_empty() {
            return Err(Error::NotEmpty {
                path: path.to_string(),
            });
        }
        self.want(path, None)
    }

    /// Stages the removal of whatever stands under a path, with all that is in it.
    pub fn remove_tree(&mut self, path: &RelPath) -> Result<(), Error> {
        if self.view(path)?.is_none() {
            return Err(Error::Missing {
                path: path.to_string(),
            });
        }
        for below in self.tree(path)?.into_iter().rev() {
            self.want(&below, None)?;
        }
        Ok(())
    }

    /// The paths of a tree as this transaction sees it, top first.
    fn tree(&mut self, top: &RelPath) -> Result<Vec<RelPath>, Error> {
        let mut found = Vec::new();
        let mut open = vec![top.clone()];
        while let Some(path) = open.pop() {
            let Some(item) = self.view(&path)? else {
                continue;
            };
            if item.node.is_dir() {
                open.extend(self.list(&path)?.iter().map(|name| path.with(name)));
            }
            found.push(path);
        }
        found.sort();
        Ok(found)
    }

    /// Stages another name for a file, link or folder. A file or link in its place is replaced.
    pub fn rename(&mut self, from: &RelPath, to: &RelPath) -> Result<(), Error> {
        let moved = self.view(from)?.ok_or_else(|| Error::Missing {
            path: from.to_string(),
        })?;
        if to.is_beneath(from) {
            return if to == from {
                Ok(())
            } else {
                Err(Error::BadPath {
                    path: to.to_string(),
                })
            };
        }
        match self.view(to)? {
            Some(there) if moved.node.is_dir() || there.node.is_dir() => {
                return Err(Self::wrong(to, &there, "nothing"));
            }
            Some(_) => {}
            None => self.parents(to)?,
        }
        let paths = self.tree(from)?;
        for path in &paths {
            let sub = path.beneath(from).unwrap_or_default();
            let item = self.view(path)?.map(|item| wanted(item.node, item.meta));
            self.want(&to.join(&sub), item)?;
        }
        for path in paths.iter().rev() {
            self.want(path, None)?;
        }
        Ok(())
    }

    /// Stages a symbolic link. A link or file in its place is replaced.
    pub fn symlink(&mut self, path: &RelPath, target: &[u8]) -> Result<(), Error> {
        match self.view(path)? {
            Some(item) if item.node.is_dir() => return Err(Self::wrong(path, &item, "nothing")),
            Some(_) => {}
            None => self.parents(path)?,
        }
        let meta = Meta {
            mode: 0o777,
            ..Meta::default()
        };
        self.want(
            path,
            Some(wanted(
                Node::Symlink {
                    target: target.to_vec(),
                },
                meta,
            )),
        )
    }

    fn change(&mut self, path: &RelPath, with: impl FnOnce(&mut Meta)) -> Result<(), Error> {
        let found = self.view(path)?.ok_or_else(|| Error::Missing {
            path: path.to_string(),
        })?;
        let mut item = wanted(found.node, found.meta);
        with(&mut item.meta);
        self.want(path, Some(item))
    }

    /// Refuses a symbolic link, which has no mode or attributes of its own.
    fn no_link(&mut self, path: &RelPath) -> Result<(), Error> {
        match self.view(path)? {
            Some(item) if matches!(item.node, Node::Symlink { .. }) => {
                Err(Self::wrong(path, &item, "a file or a folder"))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Stages other permission bits.
    pub fn set_mode(&mut self, path: &RelPath, mode: u32) -> Result<(), Error> {
        self.no_link(path)?;
        self.change(path, |meta| meta.mode = mode & 0o7777)
    }

    /// Stages another owner and group; only a privileged user can.
    pub fn set_owner(&mut self, path: &RelPath, uid: u32, gid: u32) -> Result<(), Error> {
        if !sys::may_own(uid, gid) {
            let (doing, path) = ("give away", path.to_string());
            return Err(Error::Forbidden { doing, path });
        }
        self.change(path, |meta| meta.owner = Some((uid, gid)))
    }

    /// Stages another time of the last change.
    pub fn set_mtime(&mut self, path: &RelPath, mtime: FileTime) -> Result<(), Error> {
        self.change(path, |meta| meta.mtime = Some(mtime))
    }

    /// Stages an extended attribute; `None` removes it.
    pub fn set_xattr(
        &mut self,
        path: &RelPath,
        name: &[u8],
        value: Option<&[u8]>,
    ) -> Result<(), Error> {
        self.no_link(path)?;
        self.change(path, |meta| {
            let attributes = meta.xattrs.get_or_insert_default();
            attributes.retain(|(other, _)| other != name);
            attributes.extend(value.map(|value| (name.to_vec(), value.to_vec())));
            attributes.sort();
        })
    }

    pub(crate) fn bytes(&self, path: &RelPath, item: &Item) -> Result<Vec<u8>, Error> {
        match &item.node {
            Node::File {
                digest,
                size,
                place,
            } => Blobs {
                inline: &[],
                images: &self.workspace.state.images,
            }
            .read(digest, *size, place),
            Node::Symlink { .. } | Node::Dir | Node::Pipe | Node::Socket => {
                Err(Self::wrong(path, item, "a file"))
            }
        }
    }

    /// The bytes of a file as this transaction sees it. The file then has to be the same at commit
    /// if the transaction changes it.
    pub fn read(&mut self, path: &RelPath) -> Result<Vec<u8>, Error> {
        let item = self.view(path)?.ok_or_else(|| Error::Missing {
            path: path.to_string(),
        })?;
        self.bytes(path, &item)
    }

    /// Where a link points as this transaction sees it.
    pub fn read_link(&self, path: &RelPath) -> Result<Vec<u8>, Error> {
        let item = self.peek(path)?.ok_or_else(|| Error::Missing {
            path: path.to_string(),
        })?;
        match item.node {
            Node::Symlink { target } => Ok(target),
            Node::File { .. } | Node::Dir | Node::Pipe | Node::Socket => {
                Err(Self::wrong(path, &item, "a symbolic link"))
            }
        }
    }

    /// Whether anything stands under a path as this transaction sees it.
    pub fn exists(&self, path: &RelPath) -> Result<bool, Error> {
        Ok(path.is_root() || self.peek(path)?.is_some())
    }

    /// Whether there is a folder as this transaction sees it; a link to one is none.
    pub fn is_folder(&self, path: &RelPath) -> Result<bool, Error> {
        Ok(path.is_root() || self.peek(path)?.is_some_and(|item| item.node.is_dir()))
    }

    /// The names in a folder as this transaction sees it, sorted.
    pub fn list(&self, path: &RelPath) -> Result<Vec<Vec<u8>>, Error> {
        let mut names = BTreeSet::new();
        let created = self.wants.contains_key(path)
            && !self
                .before
                .get(path)
                .and_then(Option::as_ref)
                .is_some_and(|item| item.node.is_dir());
        if !created && !self.hidden(path) {
            let folder = self.workspace.root.dir(path)?;
            let listed = sys::names(&folder);
            names.extend(listed.map_err(crate::error::at("list", path.to_string()))?);
        }
        for (other, want) in self
            .wants
            .range(path.clone()..)
            .take_while(|(other, _)| other.is_beneath(path))
        {
            if other.parent().as_ref() == Some(path)
                && let Some(name) = other.name()
            {
                if want.is_some() {
                    names.insert(name.to_vec());
                } else {
                    names.remove(name);
                }
            }
        }
        Ok(names.into_iter().collect())
    }
}

pub(crate) fn wanted(node: Node, meta: Meta) -> Item {
    Item {
        sub: RelPath::root(),
        node,
        meta,
        identity: None,
    }
}
