//! Making a path's new file out of the one that it had before its last one.
//!
//! A file that was displaced lies in the yard, and the next change of the same path would make yet
//! another one. Some file systems pay dearly for each file that is made and removed, so the
//! displaced one is filled again instead, if nobody can tell the difference: it has no other name,
//! its attributes are the wanted ones, its content is what was displaced, and the kernel grants a
//! lease that only the sole holder of a file gets. All its blocks are given back first, so old and
//! new bytes never stand in one file, not even after a power loss. It is only ever used for the
//! path that it came from: whoever opens it later holds that path's newest file.

use std::collections::BTreeMap;
use std::time::Instant;

use tagout_vocab::Digest;
use tagout_vocab::limits::{IMAGE_INLINE_BYTES_MAX, LEASE_SURE_MS};

use super::yard::Side;
use super::{Engine, Spot};
use crate::error::{Error, at};
use crate::journal::Segment;
use crate::journal::done::Done;
use crate::journal::frame::Frame;
use crate::journal::record::{Record, Unit};
use crate::make;
use crate::node::{Item, Meta, Node};
use crate::options::Alone;
use crate::relpath::RelPath;
use crate::sys::{self, FileTime, Handle, Kind, Rename, Stat};
use crate::workspace::Workspace;

/// A displaced file that may be filled again.
#[derive(Debug)]
pub(crate) struct Again {
    /// Its name in the yard.
    name: Vec<u8>,
    /// What it was when it was displaced.
    was: Item,
}

/// A unit that replaces one file by another: what was there and what shall be.
fn replaced(unit: &Unit) -> Option<(&Item, &Item)> {
    let ([before], [after]) = (unit.before.as_slice(), unit.after.as_slice()) else {
        return None;
    };
    let file = |item: &Item| matches!(item.node, Node::File { .. });
    let linked = after.identity.is_some_and(|identity| identity.nlink > 1);
    (!unit.in_place && file(before) && file(after) && !linked).then_some((before, after))
}

/// Whether a file is so small that it is filled again: that takes a moment only.
const fn is_small(node: &Node) -> bool {
    matches!(node, Node::File { size, .. } if *size <= IMAGE_INLINE_BYTES_MAX)
}

/// Whether a unit's new file may be one that the path had earlier.
pub(crate) fn may_be_again(unit: &Unit) -> bool {
    replaced(unit).is_some_and(|(_, after)| is_small(&after.node))
}

/// The record that put a file in its place, and which of its units did.
fn installer(done: &[Done], (dev, ino): (u64, u64)) -> Option<(u64, usize)> {
    done.iter().rev().find_map(|one| {
        let is = |file: &Option<crate::node::Identity>| {
            file.is_some_and(|file| (file.dev, file.ino) == (dev, ino))
        };
        Some((one.offset, one.installed.iter().position(is)?))
    })
}

impl Workspace {
    /// The displaced files that a record's new files can be made of, one per unit.
    ///
    /// Only files that the active segment displaced count: what they held, it knows.
    pub(crate) fn again(
        &self,
        segment: &mut Segment,
        done: &[Done],
        record: &Record,
    ) -> Vec<Option<Again>> {
        let used = self.options.alone.is_some() && record.links.is_empty();
        if !used || !sys::fills_again(&self.state.yard) {
            return Vec::new();
        }
        let mut frames: BTreeMap<u64, Option<Frame>> = BTreeMap::new();
        let mut find = |unit: &Unit| {
            let identity = replaced(unit).filter(|_| may_be_again(unit))?.0.identity?;
            let (offset, index) = installer(done, (identity.dev, identity.ino))?;
            let frame = frames
                .entry(offset)
                .or_insert_with(|| segment.head(offset))
                .as_ref()
                .filter(|frame| !frame.aborted)?;
            let displacing = frame.record.units.get(index)?;
            let was = replaced(displacing)?.0.clone();
            if !is_small(&was.node) {
                return None;
            }
            let name = self
                .engine(segment.number, frame)
                .yard_name(index, Side::Before);
            (displacing.path == unit.path).then_some(Again { name, was })
        };
        record.units.iter().map(&mut find).collect()
    }
}

/// A displaced file in our hands alone.
struct Taken {
    file: Handle,
    lease: Alone,
    since: Instant,
    /// Its bytes, and when they last changed.
    old: (Vec<u8>, FileTime),
}

impl Engine<'_> {
    /// Makes a unit's new file out of a displaced one; answers whether it could.
    ///
    /// One lease is held from the first look to the last: whoever comes in between waits, and is
    /// let in to the file as it was.
    pub(super) fn make_again(
        &self,
        spot: &Spot<'_>,
        (index, unit): (usize, &Unit),
    ) -> Result<bool, Error> {
        let (Some(again), Some(lease), Some((_, wanted))) = (
            self.again.get(index).and_then(Option::as_ref),
            self.options.alone,
            replaced(unit),
        ) else {
            return Ok(false);
        };
        let temporary = (&*spot.folder, spot.temporary.as_slice());
        let yard = (self.yard, again.name.as_slice());
        let taken = take(lease, yard, (&again.was.node, &wanted.meta));
        let Some(taken) = taken.ok().flatten() else {
            return Ok(false);
        };
        if sys::rename(yard, temporary, Rename::NoReplace).is_err() {
            return Ok(false);
        }
        if self
            .fill_again(&taken, (&unit.path, wanted))
            .unwrap_or(false)
        {
            return Ok(true);
        }
        let doing = || at("write", unit.path.to_string());
        taken.put_back().map_err(doing())?;
        sys::rename(temporary, yard, Rename::NoReplace).map_err(doing())?;
        Ok(false)
    }

    /// Fills a file that is ours alone; answers whether it is whole and was ours all the while.
    fn fill_again(&self, taken: &Taken, (path, wanted): (&RelPath, &Item)) -> Result<bool, Error> {
        let Node::File { size, .. } = &wanted.node else {
            return Ok(false);
        };
        let doing = || at("write", path.to_string());
        let file = &taken.file;
        if taken.is_lost() || !sys::hollow(file, taken.size()).map_err(doing())? {
            return Ok(false);
        }
        if *size < taken.size() {
            sys::set_len(file, *size).map_err(doing())?;
        }
        if taken.is_lost() {
            return Ok(false);
        }
        self.blobs.fill(file, &wanted.node, path)?;
        make::finish(file, &wanted.meta).map_err(doing())?;
        let stat = sys::stat(file).map_err(doing())?;
        let whole = stat.size == *size && fits(file, &stat, &wanted.meta).map_err(doing())?;
        Ok(whole && !taken.is_lost())
    }
}

impl Taken {
    fn size(&self) -> u64 {
        self.old.0.len() as u64
    }

    /// Whether someone waits for it. What can't be asked counts as a yes.
    fn is_lost(&self) -> bool {
        sys::ask_lease(&self.file, self.lease.lost).unwrap_or(true)
    }

    /// Makes it what it was, for whoever waits for it.
    ///
    /// Who waited longer than the kernel lets anybody wait is in it already: then it stays as it
    /// is, and the look at what was displaced finds it changed and keeps it for people.
    fn put_back(&self) -> std::io::Result<()> {
        if self.since.elapsed().as_millis() > u128::from(LEASE_SURE_MS) {
            return Ok(());
        }
        let (bytes, mtime) = &self.old;
        sys::hollow(&self.file, sys::stat(&self.file)?.size)?;
        sys::set_len(&self.file, self.size())?;
        sys::write_all_at(&self.file, bytes, 0)?;
        sys::set_mtime(&self.file, *mtime)
    }
}

/// Takes a file that nobody else holds open, if it holds what it held when it was displaced and is
/// all that is wanted but for its content.
fn take(
    lease: Alone,
    (folder, name): (&Handle, &[u8]),
    (was, wanted): (&Node, &Meta),
) -> std::io::Result<Option<Taken>> {
    let Node::File { digest, size, .. } = was else {
        return Ok(None);
    };
    let file = sys::open_write(folder, name)?;
    let since = Instant::now();
    if sys::ask_lease(&file, lease.take)? {
        return Ok(None);
    }
    let stat = sys::stat(&file)?;
    if stat.size != *size || !fits(&file, &stat, wanted)? {
        return Ok(None);
    }
    let bytes = sys::read_front(&file, usize::try_from(*size).unwrap_or(0))?;
    let same = bytes.len() as u64 == *size && Digest::of(&bytes) == *digest;
    let old = (bytes, stat.mtime);
    Ok(same.then_some(Taken {
        file,
        lease,
        since,
        old,
    }))
}

/// Whether a file is all that is wanted but for its content.
fn fits(file: &Handle, stat: &Stat, wanted: &Meta) -> std::io::Result<bool> {
    Ok(stat.kind == Kind::File
        && stat.nlink == 1
        && stat.mode == wanted.mode
        && wanted.owner == Some((stat.uid, stat.gid))
        && wanted.xattrs == Some(sys::xattrs(file)?))
}
