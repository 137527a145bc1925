//! Making a path's new file out of the one that it had before its last one.
//!
//! A file that was displaced lies in the yard, and the next change of the same path would make yet
//! another one. Some file systems pay dearly for each file that is made and removed, so the
//! displaced one is emptied and filled again instead, if nobody can tell the difference: it has no
//! other name, its attributes are the wanted ones, its content is what was displaced, and the
//! kernel grants a lease that only the sole holder of a file gets. It is only ever used for the
//! path that it came from: whoever was in the middle of opening it then holds that path's newest
//! file, and what a power loss can leave of it is a state of that path that the journal knows.

use std::collections::BTreeMap;
use std::io::{Read as _, Seek as _, SeekFrom};

use tagout_vocab::Digest;
use tagout_vocab::limits::IMAGE_INLINE_BYTES_MAX;

use super::yard::Side;
use super::{Engine, Spot};
use crate::error::{Error, at};
use crate::journal::Segment;
use crate::journal::done::Done;
use crate::journal::frame::Frame;
use crate::journal::record::{Record, Unit};
use crate::make;
use crate::node::{Item, Meta, Node};
use crate::options::LeaseProbe;
use crate::sys::{self, Handle, Kind, Rename};
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
        if self.options.alone.is_none() || !record.links.is_empty() {
            return Vec::new();
        }
        let mut frames: BTreeMap<u64, Option<Frame>> = BTreeMap::new();
        let mut find = |unit: &Unit| {
            let identity = replaced(unit)?.0.identity?;
            let (offset, index) = installer(done, (identity.dev, identity.ino))?;
            let frame = frames
                .entry(offset)
                .or_insert_with(|| segment.head(offset))
                .as_ref()
                .filter(|frame| !frame.aborted)?;
            let displacing = frame.record.units.get(index)?;
            let was = replaced(displacing)?.0.clone();
            let name = self
                .engine(segment.number, frame)
                .yard_name(index, Side::Before);
            (displacing.path == unit.path).then_some(Again { name, was })
        };
        record.units.iter().map(&mut find).collect()
    }
}

impl Engine<'_> {
    /// Makes a unit's new file out of a displaced one; answers whether it could.
    pub(super) fn make_again(
        &self,
        spot: &Spot<'_>,
        (index, unit): (usize, &Unit),
    ) -> Result<bool, Error> {
        let (Some(again), Some(probe), Some((_, wanted))) = (
            self.again.get(index).and_then(Option::as_ref),
            self.options.alone,
            replaced(unit),
        ) else {
            return Ok(false);
        };
        let temporary = (&*spot.folder, spot.temporary.as_slice());
        let yard = (self.yard, again.name.as_slice());
        let Some(file) = alone(probe, yard) else {
            return Ok(false);
        };
        if !fits(&file, &wanted.meta).unwrap_or(false) {
            return Ok(false);
        }
        let file = file.into_file();
        if !holds(&file, &again.was.node).unwrap_or(false)
            || sys::rename(yard, temporary, Rename::NoReplace).is_err()
        {
            return Ok(false);
        }
        // File systems hurry to write out what one handle emptied and filled, in fear of a program
        // that does not sync. The bytes are durable in the journal, so two handles do it.
        let doing = || at("write", unit.path.to_string());
        file.set_len(0).map_err(doing())?;
        drop(file);
        let Some(file) = alone(probe, temporary) else {
            // Someone was in the middle of opening it and holds it now: it is theirs.
            sys::rename(temporary, yard, Rename::NoReplace).map_err(doing())?;
            return Ok(false);
        };
        self.blobs.fill(&file, &wanted.node)?;
        make::finish(&file, &wanted.meta).map_err(doing())?;
        Ok(true)
    }
}

/// Opens a file that nobody else holds open, and keeps others from opening it while it is held.
fn alone(probe: LeaseProbe, (folder, name): (&Handle, &[u8])) -> Option<Handle> {
    let file = sys::open_write(folder, name).ok()?;
    let refused = sys::ask_lease(&file, probe).ok()?;
    (!refused).then_some(file)
}

/// Whether a file is all that is wanted but for its content.
fn fits(file: &Handle, wanted: &Meta) -> std::io::Result<bool> {
    let stat = sys::stat(file)?;
    Ok(stat.kind == Kind::File
        && stat.nlink == 1
        && stat.mode == wanted.mode
        && wanted.owner == Some((stat.uid, stat.gid))
        && wanted.xattrs == Some(sys::xattrs(file)?))
}

/// Whether a file still holds what it held when it was displaced. Large ones are not asked.
fn holds(mut file: &std::fs::File, node: &Node) -> std::io::Result<bool> {
    let Node::File { digest, size, .. } = node else {
        return Ok(false);
    };
    if *size > IMAGE_INLINE_BYTES_MAX {
        return Ok(false);
    }
    let mut bytes = Vec::with_capacity(usize::try_from(*size).unwrap_or(0) + 1);
    file.seek(SeekFrom::Start(0))?;
    file.take(*size + 1).read_to_end(&mut bytes)?;
    Ok(bytes.len() as u64 == *size && Digest::of(&bytes) == *digest)
}
