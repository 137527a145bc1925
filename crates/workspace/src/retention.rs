//! Checkpoints, and how long before-images are kept.

use std::collections::BTreeSet;

use tagout_vocab::{CallId, Digest, Timestamp};

use crate::commit::is_settled;
use crate::engine::segment_of;
use crate::error::{ConflictPath, Error, at};
use crate::journal::frame::Frame;
use crate::node::Node;
use crate::options::SyncPoint;
use crate::recover::Recovery;
use crate::relpath::RelPath;
use crate::sys;
use crate::workspace::Workspace;
use crate::writers;

/// What a checkpoint came to.
#[derive(Debug, Default)]
pub struct Checkpoint {
    /// Everything is durable in the workspace. Otherwise a commit is not confirmed yet: try again.
    pub done: bool,
    /// Displaced files that someone wrote to after all, and where they are now.
    pub conflicts: Vec<ConflictPath>,
}

/// What pruning did.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Pruned {
    /// Journal segments that were dropped.
    pub segments: usize,
    /// Bytes that were freed.
    pub bytes: u64,
    /// Bytes that are still kept for undoing.
    pub kept_bytes: u64,
    /// Displaced files that someone wrote to after all, and where they are now.
    pub conflicts: Vec<ConflictPath>,
}

impl Workspace {
    /// Makes everything since the last checkpoint durable in the workspace itself, so that recovery
    /// need not look at it again. Answers whether it could.
    ///
    /// `ledger` has to make the ledger durable: behind a checkpoint, nobody hands closing events
    /// back. While a commit is not confirmed, the checkpoint waits for another time.
    pub fn checkpoint(
        &self,
        ledger: impl FnOnce() -> std::io::Result<()>,
    ) -> Result<Checkpoint, Error> {
        let mut checkpoint = Checkpoint::default();
        let _lock = self.state.lock()?;
        let mut segment = self.state.journal.active()?;
        if !is_settled(self, segment.length(), &segment.done()?) {
            self.settle(&mut segment, &mut Recovery::default())?;
        }
        checkpoint.conflicts = self.sweep(segment.number)?;
        let (frames, _) = segment.heads()?;
        if frames.is_empty() {
            checkpoint.done = true;
            return Ok(checkpoint);
        }
        let done = segment.done()?;
        let confirmed = frames.iter().all(|frame| {
            done.iter()
                .any(|one| one.offset == frame.offset && one.confirmed)
        });
        if !confirmed {
            return Ok(checkpoint);
        }
        ledger().map_err(at("sync", "the ledger"))?;
        self.sync_touched(&frames)?;
        self.state.journal.start(segment.number + 1)?;
        checkpoint.done = true;
        Ok(checkpoint)
    }

    /// Looks once more at the files that were displaced before the last checkpoint, and lets them
    /// go.
    ///
    /// Those of the active segment stay: one may have been displaced a moment ago.
    fn sweep(&self, active: u64) -> Result<Vec<ConflictPath>, Error> {
        let yard = &self.state.yard;
        let names = sys::names(yard).map_err(at("list", "the displaced files"))?;
        let old = |name: &&Vec<u8>| segment_of(name).is_some_and(|segment| segment < active);
        let names: Vec<&Vec<u8>> = names.iter().filter(old).collect();
        let trees: Vec<(&sys::Handle, &[u8])> =
            names.iter().map(|name| (yard, name.as_slice())).collect();
        if trees.is_empty() {
            return Ok(Vec::new());
        }
        let held = writers::held(self.options.writers, &trees)?;
        let segments: BTreeSet<u64> = names.iter().filter_map(|name| segment_of(name)).collect();
        let mut kept = Vec::new();
        for number in segments {
            for frame in self.state.journal.kept_heads(number)? {
                kept.extend(self.engine(number, &frame).sweep(&held)?);
            }
        }
        Ok(kept)
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
                    Node::Symlink { .. } | Node::Pipe | Node::Socket => false,
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
        self.drop_old_snapshots(now)?;
        let mut kept: BTreeSet<Digest> = self.snapshot_images()?;
        // What was displaced before the last checkpoint still rests, and is compared with its
        // record.
        let resting = numbers.last().map_or(0, |active| active.saturating_sub(1));
        pruned.conflicts = self.sweep(resting)?;
        for number in numbers {
            let frames = journal.kept_heads(number)?;
            let newest = frames.iter().map(|frame| frame.record.at_ms).max();
            let end = newest.map(|at| at.saturating_add(self.options.undo_horizon_ms));
            let expired = end.is_none_or(|end| end < now.as_millis());
            let over = total > self.options.undo_bytes_max;
            if number < resting && (expired || over) {
                let own: u64 = journal.size(number)?;
                let images: u64 = self.image_bytes(&frames);
                journal.drop_segment(number)?;
                total = total.saturating_sub(own + images);
                pruned.segments += 1;
                pruned.bytes += own;
            } else {
                // What was given up before the last checkpoint needs its images no more.
                let needed = frames
                    .iter()
                    .filter(|frame| number > resting || !frame.aborted);
                kept.extend(needed.flat_map(|frame| frame.record.stored()));
            }
        }
        if self.state.living()?.is_empty() {
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
