//! What stands under a path: a file, a link or a folder, with everything that has to be restored.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tagout_vocab::Digest;

use crate::relpath::RelPath;
use crate::sys::{FileTime, Stat};

/// One attribute: name and value.
pub(crate) type Attribute = (Vec<u8>, Vec<u8>);

/// Where the bytes of a file image lie.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub(crate) enum Place {
    /// In the journal record, behind its header.
    Inline {
        /// Offset of the first byte.
        start: u64,
    },
    /// In the image store, under their digest.
    Stored,
    /// In memory, on the way into a record.
    #[serde(skip)]
    Memory(Arc<[u8]>),
    /// Nowhere: only the digest was taken.
    #[serde(skip)]
    Nowhere,
}

/// What kind of thing it is, with its content.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub(crate) enum Node {
    /// A regular file.
    File {
        /// Of its bytes.
        #[serde(with = "raw_digest")]
        digest: Digest,
        /// How many bytes.
        size: u64,
        /// Where they are.
        place: Place,
    },
    /// A symbolic link.
    Symlink {
        /// Where it points, as written.
        target: Vec<u8>,
    },
    /// A folder.
    Dir,
    /// A named pipe.
    Pipe,
    /// A socket.
    Socket,
}

impl Node {
    /// Whether two nodes are the same thing with the same content, wherever the bytes lie.
    pub(crate) fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::File {
                    digest: a, size: n, ..
                },
                Self::File {
                    digest: b, size: m, ..
                },
            ) => a == b && n == m,
            (Self::Symlink { target: a }, Self::Symlink { target: b }) => a == b,
            (Self::Dir, Self::Dir) | (Self::Pipe, Self::Pipe) | (Self::Socket, Self::Socket) => {
                true
            }
            (
                Self::File { .. } | Self::Symlink { .. } | Self::Dir | Self::Pipe | Self::Socket,
                _,
            ) => false,
        }
    }

    /// Whether it is a folder.
    pub(crate) const fn is_dir(&self) -> bool {
        matches!(self, Self::Dir)
    }

    /// The digest of a file's bytes.
    pub(crate) const fn digest(&self) -> Option<Digest> {
        match self {
            Self::File { digest, .. } => Some(*digest),
            Self::Symlink { .. } | Self::Dir | Self::Pipe | Self::Socket => None,
        }
    }

    /// The kind in words.
    pub(crate) const fn words(&self) -> &'static str {
        match self {
            Self::File { .. } => "a file",
            Self::Symlink { .. } => "a symbolic link",
            Self::Dir => "a folder",
            Self::Pipe => "a named pipe",
            Self::Socket => "a socket",
        }
    }
}

/// Everything about a node but its content. `None` means: as the system makes it.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
pub(crate) struct Meta {
    /// Permission bits.
    pub mode: u32,
    /// Owner and group.
    pub owner: Option<(u32, u32)>,
    /// Time of the last change.
    pub mtime: Option<FileTime>,
    /// Extended attributes, access lists among them, sorted by name.
    pub xattrs: Option<Vec<Attribute>>,
}

impl Meta {
    /// Whether what is there has everything that is wanted, times aside.
    pub(crate) fn satisfied_by(&self, found: &Self) -> bool {
        self.mode == found.mode
            && (self.owner.is_none() || self.owner == found.owner)
            && (self.xattrs.is_none() || self.xattrs == found.xattrs)
    }
}

/// Which file it is: enough to tell that nobody touched it, without reading it.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
pub(crate) struct Identity {
    pub dev: u64,
    pub ino: u64,
    pub nlink: u64,
    pub size: u64,
    pub mtime: FileTime,
    pub ctime: FileTime,
}

impl Identity {
    pub(crate) const fn of(stat: &Stat) -> Self {
        Self {
            dev: stat.dev,
            ino: stat.ino,
            nlink: stat.nlink,
            size: stat.size,
            mtime: stat.mtime,
            ctime: stat.ctime,
        }
    }

    /// Whether a rename at most lies between the two: a rename sets `ctime`.
    pub(crate) fn same_file(&self, other: &Self) -> bool {
        (self.dev, self.ino, self.size, self.mtime)
            == (other.dev, other.ino, other.size, other.mtime)
    }
}

/// One node of a tree, at its path beneath the tree's top.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub(crate) struct Item {
    /// Path beneath the top; the root for the top itself.
    pub sub: RelPath,
    /// What it is.
    pub node: Node,
    /// What belongs to it.
    pub meta: Meta,
    /// Which file it was, for what was found rather than wanted.
    pub identity: Option<Identity>,
}

/// A tree in path order, top first; empty when nothing stands there.
pub(crate) type Tree = Vec<Item>;

/// Whether what is found is what was wanted or seen, times aside.
pub(crate) fn same_tree(wanted: &[Item], found: &[Item]) -> bool {
    wanted.len() == found.len()
        && wanted.iter().zip(found).all(|(wanted, found)| {
            wanted.sub == found.sub
                && wanted.node.same(&found.node)
                && (matches!(wanted.node, Node::Symlink { .. })
                    || wanted.meta.satisfied_by(&found.meta))
        })
}

/// Digests as 32 raw bytes: the journal need not be read by people.
mod raw_digest {
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};
    use tagout_vocab::Digest;

    pub(super) fn serialize<S: Serializer>(digest: &Digest, to: S) -> Result<S::Ok, S::Error> {
        digest.as_bytes().serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Digest, D::Error> {
        <[u8; 32]>::deserialize(from).map(Digest::from_bytes)
    }
}
