//! What a kept transaction did, with the bytes of both sides: for whoever traces or undoes it.

use serde::{Deserialize, Serialize};
use tagout_vocab::{CallId, Digest};

use crate::check;
use crate::error::Error;
use crate::journal::frame::Frame;
use crate::look::{self, Keep};
use crate::make::Blobs;
use crate::node::{Item, Node};
use crate::relpath::RelPath;
use crate::sys::{self, FileTime};
use crate::workspace::Workspace;

/// The kind of what stands or stood at a path.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum StoodKind {
    /// A file.
    File,
    /// A symbolic link; its bytes are its target.
    Symlink,
    /// A folder.
    Folder,
    /// A named pipe; it has no bytes.
    Pipe,
    /// A socket; it has no bytes.
    Socket,
}

/// What stands or stood at a path.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Stood {
    /// Of which kind it is.
    pub kind: StoodKind,
    /// The permission bits.
    pub mode: u32,
    /// Of its bytes.
    pub digest: Digest,
    /// The bytes, as far as they are kept and fit.
    pub bytes: Option<Vec<u8>>,
    /// What else belongs to it.
    pub facts: Facts,
}

/// What belongs to a thing beside its content and its permission bits; `None` for what is not known
/// or left to the system.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// Owner and group.
    pub owner: Option<(u32, u32)>,
    /// Time of the last change.
    pub mtime: Option<FileTime>,
    /// Extended attributes, access lists among them, sorted by name.
    pub attributes: Option<Vec<(Vec<u8>, Vec<u8>)>>,
    /// Which file it is: device, number, and how many names it has.
    pub file: Option<(u64, u64, u64)>,
}

impl Facts {
    /// Whether this user may give a thing the owner that it is said to have.
    pub fn may_be_owned(&self) -> bool {
        self.owner
            .is_none_or(|(user, group)| sys::may_own(user, group))
    }

    fn of(item: &Item) -> Self {
        Self {
            owner: item.meta.owner,
            mtime: item.meta.mtime,
            attributes: item.meta.xattrs.clone(),
            file: item.identity.map(|one| (one.dev, one.ino, one.nlink)),
        }
    }
}

/// What became of one path.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Effect {
    /// The path.
    pub path: RelPath,
    /// What was there.
    pub before: Option<Stood>,
    /// What is there since.
    pub after: Option<Stood>,
}

/// Reads bytes as long as there is room for them.
struct Room<'a> {
    blobs: Blobs<'a>,
    left: u64,
}

impl Room<'_> {
    fn stood(&mut self, item: &Item) -> Stood {
        let mode = item.meta.mode;
        let plain = |kind, bytes: Vec<u8>| Stood {
            kind,
            mode,
            digest: Digest::of(&bytes),
            bytes: Some(bytes),
            facts: Facts::of(item),
        };
        match &item.node {
            Node::File {
                digest,
                size,
                place,
            } => {
                let fits = self.left.checked_sub(*size);
                // An image that is gone is not there to be shown; its digest still is.
                let bytes = fits.and_then(|_| self.blobs.read(digest, *size, place).ok());
                if let (Some(left), Some(_)) = (fits, &bytes) {
                    self.left = left;
                }
                Stood {
                    kind: StoodKind::File,
                    mode,
                    digest: *digest,
                    bytes,
                    facts: Facts::of(item),
                }
            }
            Node::Symlink { target } => plain(StoodKind::Symlink, target.clone()),
            Node::Dir => plain(StoodKind::Folder, Vec::new()),
            Node::Pipe => plain(StoodKind::Pipe, Vec::new()),
            Node::Socket => plain(StoodKind::Socket, Vec::new()),
        }
    }
}

impl Workspace {
    /// What a record says, and how many more bytes may be read.
    fn effects_of(&self, frame: &Frame, bytes_max: u64) -> (Vec<Effect>, u64) {
        let blobs = Blobs {
            inline: &frame.inline,
            images: &self.state.images,
        };
        let mut room = Room {
            blobs,
            left: bytes_max,
        };
        let mut found = Vec::new();
        let units = frame.record.units.iter();
        for unit in units.filter(|unit| !check::is_folder_time(unit)) {
            for (sub, (before, after)) in unit.pairs() {
                found.push(Effect {
                    path: unit.path.join(sub),
                    before: before.map(|item| room.stood(item)),
                    after: after.map(|item| room.stood(item)),
                });
            }
        }
        (found, room.left)
    }

    /// A thing with its bytes, as far as they are at hand.
    pub(crate) fn stood(&self, item: &Item) -> Stood {
        let blobs = Blobs {
            inline: &[],
            images: &self.state.images,
        };
        let left = u64::MAX;
        Room { blobs, left }.stood(item)
    }

    /// What a committed transaction that is still kept did. Of all files together, no more than
    /// `bytes_max` bytes are read.
    pub fn effects(&self, execution: &CallId, bytes_max: u64) -> Result<Vec<Effect>, Error> {
        let frame = self.committed(execution)?;
        Ok(self.effects_of(&frame, bytes_max).0)
    }

    /// The folders of which a committed transaction set nothing but the time: which, what it was
    /// and what it became. None of a transaction that is no longer kept.
    pub fn folder_times(
        &self,
        execution: &CallId,
    ) -> Result<Vec<(RelPath, FileTime, FileTime)>, Error> {
        let frame = match self.committed(execution) {
            Err(Error::Unknown { .. }) => return Ok(Vec::new()),
            other => other?,
        };
        let units = frame.record.units.iter();
        let timed = units.filter(|unit| check::is_folder_time(unit));
        let time = |items: &[Item]| items.first().and_then(|item| item.meta.mtime);
        Ok(timed
            .filter_map(|unit| Some((unit.path.clone(), time(&unit.before)?, time(&unit.after)?)))
            .collect())
    }

    /// What changed since a snapshot that is still kept was taken. Of all files together, no more
    /// than `bytes_max` bytes are read.
    pub fn snapshot_effects(
        &self,
        execution: &CallId,
        bytes_max: u64,
    ) -> Result<Vec<Effect>, Error> {
        let frame = self.snapshot_of(execution)?;
        let (mut effects, mut left) = self.effects_of(&frame, bytes_max);
        for change in self.diff(execution)? {
            if !effects.iter().any(|effect| effect.path == change.path) {
                let (path, before) = (change.path, None);
                let after = None;
                effects.push(Effect {
                    path,
                    before,
                    after,
                });
            }
        }
        for effect in &mut effects {
            effect.after = self.stands(&effect.path, left)?;
            let bytes = effect.after.as_ref().and_then(|after| after.bytes.as_ref());
            left = left.saturating_sub(bytes.map_or(0, |bytes| bytes.len() as u64));
        }
        let is_other = |effect: &Effect| match (&effect.before, &effect.after) {
            (None, None) => false,
            (Some(before), Some(after)) => {
                (before.kind, before.mode, before.digest) != (after.kind, after.mode, after.digest)
            }
            (Some(_), None) | (None, Some(_)) => true,
        };
        effects.retain(is_other);
        Ok(effects)
    }

    /// What stands at a path now, with its bytes if there are no more than `bytes_max`.
    pub fn stands(&self, path: &RelPath, bytes_max: u64) -> Result<Option<Stood>, Error> {
        let found = if path.is_root() {
            look::node(self.root.handle(), b".", path, Keep::Nothing)?
        } else {
            let (folder, name) = match self.root.parent(path) {
                Err(Error::Missing { .. } | Error::Conflict { .. }) => return Ok(None),
                other => other?,
            };
            look::node(&folder, name, path, Keep::Nothing)?
        };
        let Some(item) = found else {
            return Ok(None);
        };
        let mut stood = Room {
            blobs: Blobs {
                inline: &[],
                images: &self.state.images,
            },
            left: 0,
        }
        .stood(&item);
        if let Node::File { size, .. } = &item.node {
            stood.bytes = None;
            if *size <= bytes_max {
                let bytes = self.read(path, bytes_max)?;
                stood.digest = Digest::of(&bytes);
                stood.bytes = Some(bytes);
            }
        }
        Ok(Some(stood))
    }
}
