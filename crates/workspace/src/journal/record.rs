//! What one transaction writes into the journal: everything that redoing or undoing it needs.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tagout_vocab::limits::JOURNAL_RECORD_BYTES_MAX;
use tagout_vocab::{CallId, Digest};

use crate::error::Error;
use crate::images::Images;
use crate::node::{Item, Node, Place, Tree};
use crate::relpath::RelPath;
use crate::sys::FileTime;

/// One path that changes as a whole: a file, or a tree that appears, goes or is replaced.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub(crate) struct Unit {
    /// Where.
    pub path: RelPath,
    /// What was there; empty when nothing was.
    pub before: Tree,
    /// What shall be there; empty when nothing shall.
    pub after: Tree,
    /// Only attributes change: nothing is swapped, they are set on the file itself.
    pub in_place: bool,
}

impl Unit {
    /// Every path of the unit beneath its top, with what was and what shall be there.
    pub(crate) fn pairs(&self) -> BTreeMap<&RelPath, (Option<&Item>, Option<&Item>)> {
        let mut pairs: BTreeMap<&RelPath, (Option<&Item>, Option<&Item>)> = BTreeMap::new();
        for item in &self.before {
            pairs.entry(&item.sub).or_default().0 = Some(item);
        }
        for item in &self.after {
            pairs.entry(&item.sub).or_default().1 = Some(item);
        }
        pairs
    }
}

/// One transaction.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub(crate) struct Record {
    /// The call that it belongs to.
    pub execution: CallId,
    /// When it was committed, as the caller's clock said.
    pub at_ms: i64,
    /// Which boot of the machine wrote it.
    pub boot: Option<[u8; 16]>,
    /// What changes.
    pub units: Vec<Unit>,
    /// Times of the folders whose entries change.
    pub folders: Vec<(RelPath, FileTime)>,
    /// The closing events, which the caller understands and this crate does not.
    pub closing: Vec<u8>,
    /// New names that shall be names of one file: each with the name that the file is known by.
    pub links: Vec<(RelPath, RelPath)>,
}

/// A record of the first format, which knew no links.
#[derive(Debug, Deserialize)]
pub(crate) struct First {
    pub execution: CallId,
    pub at_ms: i64,
    pub boot: Option<[u8; 16]>,
    pub units: Vec<Unit>,
    pub folders: Vec<(RelPath, FileTime)>,
    pub closing: Vec<u8>,
}

impl From<First> for Record {
    fn from(first: First) -> Self {
        Self {
            execution: first.execution,
            at_ms: first.at_ms,
            boot: first.boot,
            units: first.units,
            folders: first.folders,
            closing: first.closing,
            links: Vec::new(),
        }
    }
}

impl Record {
    /// Moves images from memory into the store where the record would get too long.
    pub(crate) fn spill(&mut self, images: &Images) -> Result<(), Error> {
        let mut carried = 0;
        for item in self.items_mut() {
            if let Node::File { place, size, .. } = &mut item.node
                && let Place::Memory(bytes) = place
            {
                if carried + *size > JOURNAL_RECORD_BYTES_MAX {
                    images.put_bytes(bytes)?;
                    *place = Place::Stored;
                } else {
                    carried += *size;
                }
            }
        }
        Ok(())
    }

    /// The record as it is written: images in memory become pieces that follow it.
    pub(crate) fn written(&self) -> (Self, Vec<Arc<[u8]>>) {
        let mut written = self.clone();
        let mut pieces = Vec::new();
        let mut start = 0;
        for item in written.items_mut() {
            if let Node::File { place, size, .. } = &mut item.node
                && let Place::Memory(bytes) = place
            {
                pieces.push(Arc::clone(bytes));
                *place = Place::Inline { start };
                start += *size;
            }
        }
        (written, pieces)
    }

    fn items_mut(&mut self) -> impl Iterator<Item = &mut Item> {
        self.units
            .iter_mut()
            .flat_map(|unit| unit.before.iter_mut().chain(&mut unit.after))
    }

    /// The pieces that follow the record: their digests and sizes, in the order they follow.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = (Digest, u64)> {
        self.units
            .iter()
            .flat_map(|unit| unit.before.iter().chain(&unit.after))
            .filter_map(|item| match &item.node {
                Node::File {
                    digest,
                    size,
                    place: Place::Inline { .. },
                } => Some((*digest, *size)),
                Node::File { .. }
                | Node::Symlink { .. }
                | Node::Dir
                | Node::Pipe
                | Node::Socket => None,
            })
    }

    /// The images in the store that this record needs.
    pub(crate) fn stored(&self) -> impl Iterator<Item = Digest> {
        self.units
            .iter()
            .flat_map(|unit| unit.before.iter().chain(&unit.after))
            .filter_map(|item| match &item.node {
                Node::File {
                    digest,
                    place: Place::Stored,
                    ..
                } => Some(*digest),
                Node::File { .. }
                | Node::Symlink { .. }
                | Node::Dir
                | Node::Pipe
                | Node::Socket => None,
            })
    }
}
