//! What one transaction writes into the journal: everything that redoing or undoing it needs.

use serde::{Deserialize, Serialize};
use tagout_vocab::limits::JOURNAL_RECORD_BYTES_MAX;
use tagout_vocab::{CallId, Digest};

use crate::error::Error;
use crate::images::Images;
use crate::node::{Node, Place, Tree};
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
}

impl Record {
    /// Moves every image out of memory: into the record's own bytes while there is room, else into
    /// the store. Returns those bytes.
    pub(crate) fn gather(&mut self, images: &Images) -> Result<Vec<u8>, Error> {
        let mut inline = Vec::new();
        for unit in &mut self.units {
            for item in unit.before.iter_mut().chain(&mut unit.after) {
                if let Node::File { place, .. } = &mut item.node
                    && let Place::Memory(bytes) = place
                {
                    let start = inline.len() as u64;
                    if start + bytes.len() as u64 > JOURNAL_RECORD_BYTES_MAX {
                        images.put_bytes(bytes)?;
                        *place = Place::Stored;
                    } else {
                        inline.extend_from_slice(bytes);
                        *place = Place::Inline { start };
                    }
                }
            }
        }
        Ok(inline)
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
                Node::File { .. } | Node::Symlink { .. } | Node::Dir => None,
            })
    }
}
