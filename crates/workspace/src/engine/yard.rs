//! What becomes of trees that are done with.
//!
//! A program may be in the middle of opening a file while it is displaced: it has found the file
//! but does not hold it yet, so no look can see it. Therefore a displaced file is not destroyed at
//! once but lies in the yard, a folder of the state, until the checkpoint after the next one looks
//! at it once more. Where the state is on another file system there is no yard, and that moment
//! stays open.

use super::{Engine, Spot, clash, taken};
use crate::error::{Clash, ConflictPath, Error, at};
use crate::journal::record::Unit;
use crate::make::{self, Blobs};
use crate::node::{Item, Node};
use crate::sys::{self, Handle, Kind, Rename};
use crate::writers::{self, Files};

/// How many versions of one path are kept by one record.
const KEPT_NAMES_MAX: usize = 1000;

/// The journal segment that a name in the yard belongs to.
pub(crate) fn segment_of(name: &[u8]) -> Option<u64> {
    let digits = name.split(|byte| *byte == b'-').next()?;
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// Which of a unit's trees lies in the yard.
#[derive(Clone, Copy, Debug)]
pub(super) enum Side {
    Before,
    After,
}

impl Engine<'_> {
    pub(super) fn yard_name(&self, index: usize, side: Side) -> Vec<u8> {
        let ending = match side {
            Side::Before => "before",
            Side::After => "after",
        };
        format!("{:08}-{}-{index}.{ending}", self.segment, self.token).into_bytes()
    }

    /// Moves a checked tree into the yard; where that can't be, removes exactly what was checked.
    /// Answers whether nothing else was in it.
    fn bury(
        &self,
        (spot, name): (&Spot<'_>, &[u8]),
        (index, side): (usize, Side),
        items: &[Item],
    ) -> std::io::Result<bool> {
        let stat = match sys::stat_at(&spot.folder, name) {
            Err(error) if sys::is_missing(&error) => return Ok(true),
            other => other?,
        };
        // A file with another name lives on under it, and changes there are no loss.
        let lives_on = stat.kind == Kind::File && stat.nlink > 1;
        let to = self.yard_name(index, side);
        if !lives_on
            && sys::rename((&spot.folder, name), (self.yard, &to), Rename::NoReplace).is_ok()
        {
            return Ok(true);
        }
        make::remove_listed(&spot.folder, name, items)
    }

    /// Puts the old trees away, which were checked. What turned up since stays and is reported.
    pub(crate) fn clean_up(&self) -> Result<Vec<ConflictPath>, Error> {
        let mut kept = Vec::new();
        for (index, unit) in self.swapped_units() {
            let spot = match self.spot(index, unit) {
                Ok(spot) => spot,
                // The folder went with a later change of someone else; nothing is left to clean.
                Err(Error::Missing { .. } | Error::Conflict { .. }) => continue,
                Err(error) => return Err(error),
            };
            for name in [&spot.aside, &spot.temporary] {
                let buried = self.bury((&spot, name), (index, Side::Before), &unit.before);
                if !buried.map_err(at("clean up after", unit.path.to_string()))? {
                    let from = (&*spot.folder, name.as_slice());
                    kept.push(self.keep(&spot, from, (unit, Clash::FolderGrew))?);
                }
            }
        }
        Ok(kept)
    }

    /// Removes our own tree from its temporary name; what someone changed in it is kept.
    pub(super) fn discard(
        &self,
        spot: &Spot<'_>,
        (index, unit): (usize, &Unit),
        kept: &mut Vec<ConflictPath>,
    ) -> Result<(), Error> {
        let name = spot.temporary.as_slice();
        if !spot.exists(name) {
            return Ok(());
        }
        let doing = || at("clean up after", unit.path.to_string());
        let held = writers::held(self.options.writers, &[(&spot.folder, name)])?;
        let clash = clash((&spot.folder, name), (&unit.path, &unit.after), &held)?;
        // Once every tree was made whole, one that is less was cut by someone.
        let partial = self.staged.is_none()
            && clash == Some(Clash::Changed)
            && is_part(&unit.after, &spot.tree(name, &unit.path)?, self.blobs);
        match clash {
            Some(_) if partial => make::remove(&spot.folder, name).map_err(doing())?,
            None if self
                .bury((spot, name), (index, Side::After), &unit.after)
                .map_err(doing())? => {}
            None => kept.push(self.keep(spot, (&spot.folder, name), (unit, Clash::FolderGrew))?),
            Some(found) => kept.push(self.keep(spot, (&spot.folder, name), (unit, found))?),
        }
        Ok(())
    }

    /// Empties the yard of this record's trees. One that was written to since it was put there goes
    /// back beside its path, where people see it. `held` are the files in the yard that someone may
    /// write.
    pub(crate) fn sweep(&self, held: &Files) -> Result<Vec<ConflictPath>, Error> {
        let mut kept = Vec::new();
        for (index, unit) in self.swapped_units() {
            for (side, items) in [(Side::Before, &unit.before), (Side::After, &unit.after)] {
                let name = self.yard_name(index, side);
                if sys::stat_at(self.yard, &name).is_err() {
                    continue;
                }
                let found = match clash((self.yard, &name), (&unit.path, items), held)? {
                    None if make::remove_listed(self.yard, &name, items)
                        .map_err(at("clean up after", unit.path.to_string()))? =>
                    {
                        continue;
                    }
                    None => Clash::FolderGrew,
                    Some(found) => found,
                };
                kept.push(self.rescue((index, unit), &name, found)?);
            }
        }
        Ok(kept)
    }

    fn rescue(
        &self,
        (index, unit): (usize, &Unit),
        name: &[u8],
        found: Clash,
    ) -> Result<ConflictPath, Error> {
        match self.spot(index, unit) {
            Ok(spot) => self.keep(&spot, (self.yard, name), (unit, found)),
            // Its folder is gone: it stays where it is, out of the next checkpoint's reach.
            Err(Error::Missing { .. } | Error::Conflict { .. }) => {
                let free = [b"kept-", name].concat();
                sys::rename((self.yard, name), (self.yard, &free), Rename::Replace)
                    .map_err(at("keep", unit.path.to_string()))?;
                let kept = Some(format!("displaced/{}", String::from_utf8_lossy(&free)));
                Ok(ConflictPath {
                    path: unit.path.to_string(),
                    found,
                    kept,
                })
            }
            Err(error) => Err(error),
        }
    }

    /// Keeps a tree that is not ours under a name that people see.
    pub(super) fn keep(
        &self,
        spot: &Spot<'_>,
        from: (&Handle, &[u8]),
        (unit, found): (&Unit, Clash),
    ) -> Result<ConflictPath, Error> {
        for free in self.free_names(spot) {
            match sys::rename(from, (&spot.folder, &free), Rename::NoReplace) {
                Ok(()) => {
                    let kept = unit
                        .path
                        .parent()
                        .unwrap_or_default()
                        .with(&free)
                        .to_string();
                    let path = unit.path.to_string();
                    return Ok(ConflictPath {
                        path,
                        found,
                        kept: Some(kept),
                    });
                }
                Err(error) if taken(&error) => {}
                Err(error) => return Err(Error::io("keep", unit.path.to_string(), error)),
            }
        }
        Err(Error::TooMany {
            what: "kept versions of one file",
            max: KEPT_NAMES_MAX,
        })
    }

    /// The names under which people see what is kept of a path, until one is free.
    pub(super) fn free_names(&self, spot: &Spot<'_>) -> impl Iterator<Item = Vec<u8>> {
        let short: String = self.token.chars().take(8).collect();
        let mut name = spot.name.to_vec();
        name.truncate(200);
        name.extend_from_slice(format!(".tagout-conflict-{short}").as_bytes());
        (0..KEPT_NAMES_MAX).map(move |count| match count {
            0 => name.clone(),
            _ => [&name, format!("-{count}").as_bytes()].concat(),
        })
    }

    /// Keeps a tree that a power loss left under a temporary name and that nobody here knows.
    pub(crate) fn keep_beside(
        &self,
        spot: &Spot<'_>,
        name: &[u8],
        unit: &Unit,
    ) -> Result<ConflictPath, Error> {
        self.keep(spot, (&spot.folder, name), (unit, Clash::Changed))
    }
}

/// Whether a tree is an unfinished piece of one that was being made: nothing in it is foreign.
fn is_part(whole: &[Item], found: &[Item], blobs: Blobs<'_>) -> bool {
    found.iter().all(|one| {
        whole.iter().any(|item| {
            item.sub == one.sub
                && match (&item.node, &one.node) {
                    (
                        Node::File {
                            digest,
                            size,
                            place,
                        },
                        Node::File {
                            size: have,
                            digest: got,
                            ..
                        },
                    ) => {
                        have <= size
                            && blobs.read(digest, *size, place).is_ok_and(|bytes| {
                                let have = usize::try_from(*have).unwrap_or(usize::MAX);
                                bytes
                                    .get(..have)
                                    .is_some_and(|front| tagout_vocab::Digest::of(front) == *got)
                            })
                    }
                    (wanted, found) => wanted.same(found),
                }
        })
    })
}
