//! Looking at what is there: one node or a whole tree, with digests, and with the bytes if wanted.

use std::io::Read as _;
use std::sync::Arc;

use tagout_vocab::Digest;
use tagout_vocab::limits::{IMAGE_INLINE_BYTES_MAX, TRANSACTION_PATHS_MAX, TREE_DEPTH_MAX};

use crate::error::{Error, at};
use crate::images::{Images, hash_file};
use crate::node::{Identity, Item, Meta, Node, Place, Tree};
use crate::relpath::RelPath;
use crate::sys::{self, Handle, Kind, Stat};

/// What to do with the bytes of a file that is looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Keep<'a> {
    /// Only their digest is wanted.
    Nothing,
    /// They will be needed: small ones stay in memory, larger ones go into the store.
    Images {
        /// The store.
        images: &'a Images,
        /// The largest file that is kept.
        max: u64,
    },
}

/// How often a file that changes while it is read is read again before that counts as a conflict.
const TRIES: usize = 8;

/// What stands under a name of a folder; `None` when nothing does.
pub(crate) fn node(
    folder: &Handle,
    name: &[u8],
    path: &RelPath,
    keep: Keep<'_>,
) -> Result<Option<Item>, Error> {
    for _ in 0..TRIES {
        let stat = match sys::stat_at(folder, name) {
            Ok(stat) => stat,
            Err(error) if sys::is_missing(&error) => return Ok(None),
            Err(error) => return Err(Error::io("look at", path.to_string(), error)),
        };
        match once(folder, name, path, (&stat, keep)) {
            Ok(Some(item)) => return Ok(Some(item)),
            // It changed under our eyes: look again.
            Ok(None) | Err(Error::Missing { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Err(Error::conflict(
        path.to_string(),
        crate::error::Clash::Changed,
    ))
}

fn once(
    folder: &Handle,
    name: &[u8],
    path: &RelPath,
    (stat, keep): (&Stat, Keep<'_>),
) -> Result<Option<Item>, Error> {
    let shown = || path.to_string();
    let special = |kind| {
        Err(Error::Special {
            path: shown(),
            kind,
        })
    };
    let (node, xattrs) = match stat.kind {
        Kind::Fifo => (Node::Pipe, None),
        Kind::Socket => (Node::Socket, None),
        Kind::Device => return special("device"),
        Kind::Symlink => {
            let target = sys::readlink(folder, name).map_err(at("read the link", shown()))?;
            (Node::Symlink { target }, None)
        }
        Kind::Dir => {
            let handle = sys::open_dir(folder, name).map_err(at("open the folder", shown()))?;
            let attributes = sys::xattrs(&handle).map_err(at("look at", shown()))?;
            (Node::Dir, Some(attributes))
        }
        Kind::File => {
            let handle = sys::open_read(folder, name).map_err(at("read", shown()))?;
            let opened = sys::stat(&handle).map_err(at("look at", shown()))?;
            if opened.kind != Kind::File || !Identity::of(&opened).same_file(&Identity::of(stat)) {
                return Ok(None);
            }
            let attributes = sys::xattrs(&handle).map_err(at("look at", shown()))?;
            let Some(node) = content(handle, stat, path, keep)? else {
                return Ok(None);
            };
            (node, Some(attributes))
        }
    };
    let meta = Meta {
        mode: stat.mode,
        owner: Some((stat.uid, stat.gid)),
        mtime: Some(stat.mtime),
        xattrs,
    };
    let identity = Some(Identity::of(stat));
    Ok(Some(Item {
        sub: RelPath::root(),
        node,
        meta,
        identity,
    }))
}

/// The content of an open file, or `None` when it changed while it was read.
fn content(
    handle: Handle,
    stat: &Stat,
    path: &RelPath,
    keep: Keep<'_>,
) -> Result<Option<Node>, Error> {
    let shown = || path.to_string();
    let mut file = handle.into_file();
    let node = if stat.size <= IMAGE_INLINE_BYTES_MAX {
        // What the size says is read; whether that still was all is seen by the look that follows.
        let mut bytes = Vec::with_capacity(usize::try_from(stat.size).unwrap_or(0));
        (&mut file)
            .take(stat.size)
            .read_to_end(&mut bytes)
            .map_err(at("read", shown()))?;
        let (digest, size) = (Digest::of(&bytes), bytes.len() as u64);
        let place = match keep {
            Keep::Nothing => Place::Nowhere,
            Keep::Images { .. } => Place::Memory(Arc::from(bytes)),
        };
        Node::File {
            digest,
            size,
            place,
        }
    } else {
        match keep {
            Keep::Nothing => {
                let (digest, size) = hash_file(&file).map_err(at("read", shown()))?;
                Node::File {
                    digest,
                    size,
                    place: Place::Nowhere,
                }
            }
            Keep::Images { max, .. } if stat.size > max => {
                return Err(Error::TooLarge {
                    path: shown(),
                    size: stat.size,
                    max,
                });
            }
            Keep::Images { images, .. } => {
                let (digest, size) = images.put_file(&file)?;
                Node::File {
                    digest,
                    size,
                    place: Place::Stored,
                }
            }
        }
    };
    let after = sys::stat(&file).map_err(at("look at", shown()))?;
    Ok(Identity::of(&after)
        .same_file(&Identity::of(stat))
        .then_some(node))
}

/// The tree under a name of a folder, in path order; empty when nothing is there.
///
/// `path` is where the tree stands in the workspace, for messages.
pub(crate) fn tree(
    folder: &Handle,
    name: &[u8],
    path: &RelPath,
    keep: Keep<'_>,
) -> Result<Tree, Error> {
    let Some(top) = node(folder, name, path, keep)? else {
        return Ok(Tree::new());
    };
    let is_dir = top.node.is_dir();
    let mut found = vec![top];
    if is_dir {
        let handle =
            sys::open_dir(folder, name).map_err(at("open the folder", path.to_string()))?;
        below(&handle, &RelPath::root(), path, (keep, &mut found))?;
    }
    Ok(found)
}

fn below(
    folder: &Handle,
    sub: &RelPath,
    path: &RelPath,
    (keep, found): (Keep<'_>, &mut Tree),
) -> Result<(), Error> {
    if sub.segments().count() > TREE_DEPTH_MAX {
        return Err(Error::TooMany {
            what: "nested folders",
            max: TREE_DEPTH_MAX,
        });
    }
    let mut names = sys::names(folder).map_err(at("list", path.to_string()))?;
    names.sort();
    for name in names {
        let here = path.with(&name);
        let Some(mut item) = node(folder, &name, &here, keep)? else {
            continue;
        };
        item.sub = sub.with(&name);
        if found.len() >= TRANSACTION_PATHS_MAX {
            return Err(Error::TooMany {
                what: "paths",
                max: TRANSACTION_PATHS_MAX,
            });
        }
        let is_dir = item.node.is_dir();
        found.push(item);
        if is_dir {
            let handle =
                sys::open_dir(folder, &name).map_err(at("open the folder", here.to_string()))?;
            below(&handle, &sub.with(&name), &here, (keep, found))?;
        }
    }
    Ok(())
}
