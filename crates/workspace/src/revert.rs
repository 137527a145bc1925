//! Staging the inverse of a committed transaction.

use std::sync::Arc;

use tagout_vocab::CallId;

use crate::error::{Clash, ConflictPath, Error};
use crate::journal::frame::Frame;
use crate::journal::record::Unit;
use crate::make::Blobs;
use crate::node::{Item, Node, Place};
use crate::relpath::RelPath;
use crate::transaction::Transaction;

impl Transaction<'_> {
    /// Stages the inverse of a committed transaction that is still kept.
    ///
    /// A path that is not any more as that transaction left it is a conflict, and nothing is
    /// staged.
    pub fn revert(&mut self, execution: &CallId) -> Result<(), Error> {
        let frame = self.workspace.committed(execution)?;
        let mut staged = Vec::new();
        let mut paths = Vec::new();
        for unit in &frame.record.units {
            self.revert_unit((&frame, unit), (&mut staged, &mut paths))?;
        }
        if !paths.is_empty() {
            return Err(Error::Conflict { paths });
        }
        for unit in &frame.record.units {
            let folder = unit.before.first().is_some_and(|item| item.node.is_dir());
            if unit.in_place && folder {
                self.timed.insert(unit.path.clone());
            }
        }
        for (path, item) in staged {
            if path.is_root() {
                let there = self.root_item()?;
                self.before.entry(path.clone()).or_insert(Some(there));
                self.wants.insert(path, item);
            } else {
                self.want(&path, item)?;
            }
        }
        Ok(())
    }

    fn revert_unit(
        &mut self,
        (frame, unit): (&Frame, &Unit),
        (staged, paths): (&mut Vec<(RelPath, Option<Item>)>, &mut Vec<ConflictPath>),
    ) -> Result<(), Error> {
        let blobs = Blobs {
            inline: &frame.inline,
            images: &self.workspace.state.images,
        };
        let pairs = unit.pairs();
        let mut moved = false;
        for item in &unit.after {
            let path = unit.path.join(&item.sub);
            let found = match self.view(&path) {
                Err(Error::BadPath { .. }) if path.is_root() => Some(self.root_item()?),
                // A file took the place of a folder above it.
                Err(Error::WrongKind { .. }) => None,
                other => other?,
            };
            let same = found.as_ref().is_some_and(|found| {
                found.node.same(&item.node) && item.meta.satisfied_by(&found.meta)
            });
            moved |= item.meta.mtime.is_none()
                || found.map(|one| one.meta.mtime) != Some(item.meta.mtime);
            if !same {
                paths.push(conflict(&path));
            }
            if !unit.in_place {
                staged.push((path, None));
            }
        }
        for item in &unit.before {
            let path = unit.path.join(&item.sub);
            let was_there = pairs.get(&item.sub).is_some_and(|pair| pair.1.is_some());
            if !was_there && self.stands(&path)? {
                paths.push(conflict(&path));
            }
            let mut item = Item {
                sub: RelPath::root(),
                ..item.clone()
            };
            if unit.in_place && item.node.is_dir() && moved {
                // Someone made or removed something in the folder since: its time is that one's.
                item.meta.mtime = None;
            }
            if let Node::File {
                digest,
                size,
                place,
            } = &mut item.node
                && matches!(place, Place::Inline { .. })
            {
                *place = Place::Memory(Arc::from(blobs.read(digest, *size, place)?));
            }
            staged.push((path, Some(item)));
        }
        Ok(())
    }

    fn stands(&self, path: &RelPath) -> Result<bool, Error> {
        match self.peek(path) {
            Err(Error::WrongKind { .. }) => Ok(false),
            other => Ok(other?.is_some()),
        }
    }
}

fn conflict(path: &RelPath) -> ConflictPath {
    ConflictPath {
        path: path.to_string(),
        found: Clash::Changed,
        kept: None,
    }
}
