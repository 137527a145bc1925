//! Staging a path exactly as it stands elsewhere: whatever kind it is, with everything that belongs
//! to it.

use std::fs::File;
use std::sync::Arc;

use tagout_vocab::limits::IMAGE_INLINE_BYTES_MAX;

use crate::effects::{Stood, StoodKind};
use crate::error::{Error, at};
use crate::mark::Mark;
use crate::node::{Attribute, Identity, Item, Meta, Node, Place};
use crate::relpath::RelPath;
use crate::sys::{self, FileTime};
use crate::transaction::{Transaction, wanted};

/// What shall stand under a path.
#[derive(Clone, Copy, Debug)]
pub enum Thing<'a> {
    /// A file with the content of an open one.
    File(&'a File),
    /// A folder. What is in one that stands there stays.
    Folder,
    /// A symbolic link with this target.
    Symlink(&'a [u8]),
    /// Another name of the file that this transaction sees under a path, if that has the content of
    /// the open one; a file of its own otherwise.
    Link(&'a RelPath, &'a File),
    /// A named pipe.
    Pipe,
    /// A socket that nobody listens on.
    Socket,
}

/// Everything about a path but its content.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Attributes {
    /// Permission bits.
    pub mode: u32,
    /// Owner and group; who makes it where this user may not give it away.
    pub owner: (u32, u32),
    /// Time of the last change.
    pub mtime: FileTime,
    /// Attributes that programs set, access lists among them. Those of the system, and an overlay's
    /// own notes that are not named here, stay as they are.
    pub xattrs: Vec<(Vec<u8>, Vec<u8>)>,
}

/// Attributes that programs do not see or do not set.
fn is_systems(name: &[u8]) -> bool {
    let programs = name.starts_with(b"user.") || name.starts_with(b"system.posix_acl_");
    !programs || name.starts_with(b"user.overlay.")
}

impl Attributes {
    fn meta(&self, before: Option<&Item>) -> Meta {
        let stays = before.and_then(|item| item.meta.xattrs.as_ref());
        let mut xattrs: Vec<Attribute> = self.xattrs.clone();
        let named = |name: &[u8]| self.xattrs.iter().any(|(other, _)| other == name);
        xattrs.extend(
            stays
                .into_iter()
                .flatten()
                .filter(|(name, _)| is_systems(name) && !named(name))
                .cloned(),
        );
        xattrs.sort();
        // What is new and has none gets what the system gives it.
        let as_made = before.is_none() && xattrs.is_empty();
        Meta {
            mode: self.mode & 0o7777,
            owner: Some(self.owner),
            mtime: Some(self.mtime),
            xattrs: (!as_made).then_some(xattrs),
        }
    }
}

impl Transaction<'_> {
    /// Takes everything that changed since a mark for someone else's work: at commit, a path that
    /// is to be changed, removed or replaced and that is younger than the mark is a conflict.
    pub const fn since(&mut self, mark: Mark) {
        self.since = Some(mark);
    }

    /// Stages exactly this under a path, in the place of whatever stands there; a folder in the
    /// place of a folder keeps what is in it. The root takes a folder's attributes.
    pub fn place(
        &mut self,
        path: &RelPath,
        thing: Thing<'_>,
        attributes: &Attributes,
    ) -> Result<(), Error> {
        if path.is_root() {
            return self.place_root(thing, attributes);
        }
        let there = self.view(path)?;
        let is_folder = matches!(thing, Thing::Folder);
        match &there {
            Some(item) if item.node.is_dir() && !is_folder => self.remove_tree(path)?,
            Some(_) => {}
            None => self.parents(path)?,
        }
        let node = self.thing(path, thing)?;
        let content = node.clone();
        let alike = there.filter(|item| kind(&item.node) == kind(&node));
        let meta = match node {
            Node::File { .. } | Node::Dir => attributes.meta(alike.as_ref()),
            Node::Symlink { .. } | Node::Pipe | Node::Socket => Meta {
                xattrs: None,
                ..attributes.meta(None)
            },
        };
        self.want(path, Some(wanted(node, meta)))?;
        if let Thing::Link(to, _) = thing
            && self.view(to)?.is_some_and(|item| item.node.same(&content))
        {
            self.links.insert(path.clone(), to.clone());
        }
        Ok(())
    }

    /// Stages what stood under a path at another time, with everything that belonged to it; a
    /// folder in the place of a folder keeps what is in it. What is not known stays as it is on a
    /// thing of the same kind, and is as the system makes it otherwise.
    pub fn put_back(&mut self, path: &RelPath, stood: &Stood) -> Result<(), Error> {
        let there = if path.is_root() {
            Some(self.root_item()?)
        } else {
            self.view(path)?
        };
        if there.is_none() {
            self.parents(path)?;
        }
        let node = self.stood_node(path, stood)?;
        let alike = there.as_ref();
        let alike = alike.filter(|item| kind(&item.node) == kind(&node));
        let here = alike.map(|item| item.meta.clone()).unwrap_or_default();
        let facts = &stood.facts;
        let xattrs = match node {
            Node::File { .. } | Node::Dir => facts.attributes.clone().or(here.xattrs),
            Node::Symlink { .. } | Node::Pipe | Node::Socket => None,
        };
        let meta = Meta {
            mode: stood.mode & 0o7777,
            owner: facts.owner.or(here.owner),
            mtime: facts.mtime,
            xattrs,
        };
        let names = facts.file.filter(|(_, _, nlink)| *nlink > 1);
        let names = names.filter(|_| matches!(node, Node::File { .. }));
        let is_timed = node.is_dir() && alike.is_some() && meta.mtime.is_some();
        let item = Item {
            // The other names of the file are found by what it was.
            identity: names.map(|(dev, ino, nlink)| Identity {
                dev,
                ino,
                nlink,
                ..Identity::default()
            }),
            ..wanted(node, meta)
        };
        if path.is_root() {
            self.before.entry(path.clone()).or_insert(there);
            self.wants.insert(path.clone(), Some(item));
        } else {
            self.want(path, Some(item))?;
        }
        if is_timed {
            self.timed.insert(path.clone());
        }
        Ok(())
    }

    fn stood_node(&mut self, path: &RelPath, stood: &Stood) -> Result<Node, Error> {
        let bytes = stood.bytes.as_deref().ok_or_else(|| Error::Missing {
            path: path.to_string(),
        });
        Ok(match stood.kind {
            StoodKind::File => {
                let bytes = bytes?;
                self.count(bytes.len() as u64)?;
                self.file_node(bytes)?
            }
            StoodKind::Symlink => Node::Symlink {
                target: bytes?.to_vec(),
            },
            StoodKind::Folder => Node::Dir,
            StoodKind::Pipe => Node::Pipe,
            StoodKind::Socket => Node::Socket,
        })
    }

    /// Stages the time of a folder, if there is one under the path: the time given, or the one that
    /// it has. Whatever the transaction does in the folder does not show in its time then.
    pub fn place_time(&mut self, path: &RelPath, mtime: Option<FileTime>) -> Result<(), Error> {
        let there = if path.is_root() {
            Some(self.root_item()?)
        } else {
            self.view(path)?
        };
        let Some(mut item) = there.filter(|item| item.node.is_dir()) else {
            return Ok(());
        };
        if path.is_root() {
            self.before
                .entry(path.clone())
                .or_insert_with(|| Some(item.clone()));
        }
        item.meta.mtime = mtime.or(item.meta.mtime);
        item.identity = None;
        self.wants.insert(path.clone(), Some(item));
        self.timed.insert(path.clone());
        Ok(())
    }

    fn place_root(&mut self, thing: Thing<'_>, attributes: &Attributes) -> Result<(), Error> {
        let root = RelPath::root();
        let Thing::Folder = thing else {
            return Err(Error::BadPath {
                path: root.to_string(),
            });
        };
        let there = self.root_item()?;
        let meta = attributes.meta(Some(&there));
        self.before.entry(root.clone()).or_insert(Some(there));
        self.wants.insert(root, Some(wanted(Node::Dir, meta)));
        Ok(())
    }

    /// The workspace's own folder as it stands.
    pub(crate) fn root_item(&self) -> Result<Item, Error> {
        let root = RelPath::root();
        let handle = self.workspace.root.handle();
        let found = crate::look::node(handle, b".", &root, self.workspace.keep())?;
        found.ok_or_else(|| Error::Missing {
            path: root.to_string(),
        })
    }

    fn thing(&self, path: &RelPath, thing: Thing<'_>) -> Result<Node, Error> {
        Ok(match thing {
            Thing::File(file) | Thing::Link(_, file) => self.file_of(path, file)?,
            Thing::Folder => Node::Dir,
            Thing::Symlink(target) => Node::Symlink {
                target: target.to_vec(),
            },
            Thing::Pipe => Node::Pipe,
            Thing::Socket => Node::Socket,
        })
    }

    /// The content of an open file: small ones stay in memory, larger ones go into the store.
    fn file_of(&self, path: &RelPath, file: &File) -> Result<Node, Error> {
        let doing = || at("read", path.to_string());
        let size = sys::stat(file).map_err(doing())?.size;
        let max = self.workspace.options.image_bytes_max;
        if size > max {
            return Err(Error::TooLarge {
                path: path.to_string(),
                size,
                max,
            });
        }
        let images = &self.workspace.state.images;
        if size > IMAGE_INLINE_BYTES_MAX {
            let (digest, size) = images.put_file(file)?;
            return Ok(Node::File {
                digest,
                size,
                place: Place::Stored,
            });
        }
        let mut bytes = Vec::new();
        let mut limited = std::io::Read::take(file, IMAGE_INLINE_BYTES_MAX);
        std::io::Read::read_to_end(&mut limited, &mut bytes).map_err(doing())?;
        Ok(Node::File {
            digest: tagout_vocab::Digest::of(&bytes),
            size: bytes.len() as u64,
            place: Place::Memory(Arc::from(bytes)),
        })
    }
}

/// The kind of a node as a number.
const fn kind(node: &Node) -> u8 {
    match node {
        Node::File { .. } => 0,
        Node::Symlink { .. } => 1,
        Node::Dir => 2,
        Node::Pipe => 3,
        Node::Socket => 4,
    }
}
