//! Checkpoints, and how long before-images are kept.

use std::collections::BTreeSet;

use tagout_vocab::{CallId, Digest, Timestamp};

use crate::commit::is_settled;
use crate::error::{Error, at};
use crate::journal::frame::Frame;
use crate::node::Node;
use crate::options::SyncPoint;
use crate::recover::Recovery;
use crate::relpath::RelPath;
use crate::sys;
use crate::workspace::Workspace;

/// What pruning did.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Pruned {
    /// Journal segments that were dropped.
    pub segments: usize,
    /// Bytes that were freed.
    pub bytes: u64,
    /// Bytes that are still kept for undoing.
    pub kept_bytes: u64,
}

impl Workspace {
    /// Makes everything since the last checkpoint durable in the workspace itself, so that recovery
    /// need not look at it again. Answers whether it could.
    ///
    /// `ledger` has to make the ledger durable: behind a checkpoint, nobody hands closing events back.
    /// While a commit is not confirmed, the checkpoint waits for another time.
    pub fn checkpoint(&self, ledger: impl FnOnce() -> std::io::Result<()>) -> Result<bool, Error> {
        let _lock = self.state.lock()?;
        let mut segment = self.state.journal.active()?;
        if !is_settled(self, segment.length(), &segment.done()?) {
            self.settle(&mut segment, &mut Recovery::default())?;
        }
        let (frames, _) = segment.frames()?;
        if frames.is_empty() {
            return Ok(true);
        }
        let done = segment.done()?;
        let confirmed = frames.iter().all(|frame| {
            done.iter()
                .any(|one| one.offset == frame.offset && one.confirmed)
        });
        if !confirmed {
            return Ok(false);
        }
        ledger().map_err(at("sync", "the ledger"))?;
        self.sync_touched(&frames)?;
        self.state.journal.start(segment.number + 1)?;
        Ok(true)
    }

    fn sync_touched(&self, frames: &[Frame]) -> Result<(), Error> {
        let mut files = BTreeSet::new();
        let mut folders = BTreeSet::new();
        for unit in frames.iter().flat_map(|frame| &frame.record.units) {
            folders.insert(unit.path.parent().unwrap_or_default());
            for item in unit.before.iter().chain(&unit.after) {
                let path = unit.path.join(&item.sub);
                folders.insert(path.parent().unwrap_or_default());
                match item.node {
                    Node::Dir => folders.insert(path),
                    Node::File { .. } => files.insert(path),
                    Node::Symlink { .. } => false,
                };
            }
        }
        let skip = self.options.skip_sync;
        if skip != Some(SyncPoint::CheckpointFiles) {
            self.sync_each(&files)?;
        }
        if skip != Some(SyncPoint::CheckpointFolders) {
            self.sync_each(&folders)?;
        }
        Ok(())
    }

    fn sync_each(&self, paths: &BTreeSet<RelPath>) -> Result<(), Error> {
        for path in paths {
            match sys::open_read(self.root.handle(), path.as_bytes()) {
                Ok(file) => sys::sync_all(&file).map_err(at("sync", path.to_string()))?,
                // It is gone or something else by now: its folder's sync says so.
                Err(error) if sys::is_missing(&error) || sys::is_not_a_folder(&error) => {}
                Err(error) => return Err(Error::io("sync", path.to_string(), error)),
            }
        }
        Ok(())
    }

    /// Drops what is older than the horizon or beyond the cap, oldest first. What recovery, a
    /// snapshot or a living transaction needs is never dropped.
    pub fn prune(&self, now: Timestamp) -> Result<Pruned, Error> {
        let _lock = self.state.lock()?;
        let journal = &self.state.journal;
        let numbers = journal.numbers()?;
        let mut pruned = Pruned::default();
        let mut total = self
            .state
            .images
            .list()?
            .iter()
            .map(|(_, size)| size)
            .sum::<u64>();
        for number in &numbers {
            total += journal.size(*number)?;
        }
        let mut kept: BTreeSet<Digest> = self.snapshot_images()?;
        let active = numbers.last().copied();
        for number in numbers {
            let frames = journal.kept(number)?;
            let newest = frames.iter().map(|frame| frame.record.at_ms).max();
            let end = newest.map(|at| at.saturating_add(self.options.undo_horizon_ms));
            let expired = end.is_none_or(|end| end < now.as_millis());
            let over = total > self.options.undo_bytes_max;
            if Some(number) != active && (expired || over) {
                let own: u64 = journal.size(number)?;
                let images: u64 = self.image_bytes(&frames);
                journal.drop_segment(number)?;
                total = total.saturating_sub(own + images);
                pruned.segments += 1;
                pruned.bytes += own;
            } else {
                kept.extend(frames.iter().flat_map(|frame| frame.record.stored()));
            }
        }
        if !self.state.any_alive()? {
            pruned.bytes += self.state.images.keep_only(&kept)?;
        }
        pruned.kept_bytes = total;
        Ok(pruned)
    }

    fn image_bytes(&self, frames: &[Frame]) -> u64 {
        let mine: BTreeSet<Digest> = frames
            .iter()
            .flat_map(|frame| frame.record.stored())
            .collect();
        let all = self.state.images.list().unwrap_or_default();
        all.iter()
            .filter(|(digest, _)| mine.contains(digest))
            .map(|(_, size)| size)
            .sum()
    }

    /// The newest committed record of a call that is still kept.
    pub(crate) fn committed(&self, execution: &CallId) -> Result<Frame, Error> {
        for number in self.state.journal.numbers()?.into_iter().rev() {
            let found = self
                .state
                .journal
                .kept(number)?
                .into_iter()
                .rev()
                .find(|frame| !frame.aborted && frame.record.execution == *execution);
            if let Some(frame) = found {
                return Ok(frame);
            }
        }
        Err(Error::Unknown {
            execution: execution.to_string(),
        })
    }

    /// The bytes of a file before or after a kept transaction, by their digest.
    pub fn image(&self, digest: &Digest) -> Result<Vec<u8>, Error> {
        if self.state.images.has(digest) {
            return self.state.images.read(digest);
        }
        for number in self.state.journal.numbers()?.into_iter().rev() {
            for frame in self.state.journal.kept(number)? {
                let blobs = crate::make::Blobs {
                    inline: &frame.inline,
                    images: &self.state.images,
                };
                let items = frame
                    .record
                    .units
                    .iter()
                    .flat_map(|unit| unit.before.iter().chain(&unit.after));
                for item in items {
                    if let Node::File {
                        digest: found,
                        size,
                        place,
                    } = &item.node
                        && found == digest
                    {
                        return blobs.read(digest, *size, place);
                    }
                }
            }
        }
        Err(Error::ImageGone {
            digest: digest.to_string(),
        })
    }
}
