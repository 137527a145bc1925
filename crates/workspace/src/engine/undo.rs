//! Taking a record out again.

use super::{Engine, Spot};
use crate::error::{Clash, ConflictPath, Error, at};
use crate::journal::record::Unit;
use crate::make;
use crate::node::same_tree;
use crate::sys::{self, Rename};

impl Engine<'_> {
    /// Takes a record out again, from wherever its application stopped. Never touches what is not
    /// from this record; says what had to be kept beside.
    pub(crate) fn undo(&self) -> Result<Vec<ConflictPath>, Error> {
        let mut kept = Vec::new();
        for (_, unit) in self.in_place_units() {
            match self.set_meta(unit, &unit.after, &unit.before) {
                Ok(()) => {}
                Err(Error::Conflict { paths }) => kept.extend(paths),
                Err(error) => return Err(error),
            }
        }
        let units: Vec<(usize, &Unit)> = self.swapped_units().collect();
        for (index, unit) in units.into_iter().rev() {
            match self.spot(index, unit) {
                Ok(spot) => self.undo_unit(&spot, (index, unit), &mut kept)?,
                Err(Error::Missing { .. } | Error::Conflict { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        self.restore_folders();
        Ok(kept)
    }

    fn undo_unit(
        &self,
        spot: &Spot<'_>,
        (index, unit): (usize, &Unit),
        kept: &mut Vec<ConflictPath>,
    ) -> Result<(), Error> {
        let doing = || at("restore", unit.path.to_string());
        let here = spot.tree(spot.name, &unit.path)?;
        // Our tree is known by its inode, so that it goes even if someone wrote into it meanwhile;
        // what they wrote is kept beside.
        let ours = !unit.after.is_empty()
            && self
                .is_staged(spot, spot.name, index)
                .unwrap_or_else(|| same_tree(&unit.after, &here));
        if spot.exists(&spot.aside) {
            if ours {
                make::remove(&spot.folder, &spot.temporary).map_err(doing())?;
                spot.rename(spot.name, &spot.temporary, Rename::NoReplace)
                    .map_err(doing())?;
            }
            if ours || here.is_empty() {
                spot.rename(&spot.aside, spot.name, Rename::NoReplace)
                    .map_err(doing())?;
            } else {
                kept.push(self.keep(
                    spot,
                    (&spot.folder, &spot.aside),
                    (unit, Clash::Existence),
                )?);
            }
            return self.discard(spot, (index, unit), kept);
        }
        let displaced = spot.exists(&spot.temporary);
        if unit.before.is_empty() {
            // A created tree: only what is exactly ours goes.
            if ours && !displaced {
                spot.rename(spot.name, &spot.temporary, Rename::NoReplace)
                    .map_err(doing())?;
            }
            return self.discard(spot, (index, unit), kept);
        }
        if !displaced {
            return Ok(());
        }
        if here.is_empty() {
            return spot
                .rename(&spot.temporary, spot.name, Rename::NoReplace)
                .map_err(doing());
        }
        if ours {
            spot.rename(&spot.temporary, spot.name, Rename::Exchange)
                .map_err(doing())?;
            return self.discard(spot, (index, unit), kept);
        }
        if same_tree(&unit.before, &here) {
            return make::remove(&spot.folder, &spot.temporary).map_err(doing());
        }
        if same_tree(&unit.before, &spot.tree(&spot.temporary, &unit.path)?) {
            // It was swapped, and then someone worked on: the newer work stays, the older is kept.
            kept.push(self.keep(
                spot,
                (&spot.folder, &spot.temporary),
                (unit, Clash::Changed),
            )?);
            return Ok(());
        }
        self.discard(spot, (index, unit), kept)
    }

    fn restore_folders(&self) {
        for (path, mtime) in &self.record.folders {
            // A folder that is gone or closed to us by now has no time to restore.
            if let Ok(folder) = self.root.dir(path) {
                drop(sys::set_mtime(&folder, *mtime));
            }
        }
    }
}
