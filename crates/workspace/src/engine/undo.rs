//! Taking a record out again.

use super::resume::Stand;
use super::{Engine, Spot, taken};
use crate::error::{Clash, ConflictPath, Error, at};
use crate::journal::record::Unit;
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
        if self.staged.is_none() {
            self.clear_pieces(&mut kept)?;
            self.restore_folders();
            return Ok(kept);
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
        match self.stand(spot, index) {
            Stand::InPlace => {
                // Our tree goes even if someone wrote into it meanwhile; what they wrote is kept.
                if !unit.before.is_empty() && !spot.exists(&spot.aside) {
                    spot.rename(&spot.temporary, spot.name, Rename::Exchange)
                        .map_err(doing())?;
                } else {
                    spot.rename(spot.name, &spot.temporary, Rename::NoReplace)
                        .map_err(doing())?;
                    self.put_back(spot, &spot.aside, unit, kept)?;
                }
                self.discard(spot, (index, unit), kept)
            }
            Stand::Aside => {
                self.put_back(spot, &spot.aside, unit, kept)?;
                self.discard(spot, (index, unit), kept)
            }
            // Removed by this unit, or replaced by someone since: the old tree may still be here.
            Stand::Gone => {
                self.put_back(spot, &spot.aside, unit, kept)?;
                self.put_back(spot, &spot.temporary, unit, kept)
            }
        }
    }

    /// Gives an old tree its name back. If the name is taken by now, the newer work stays there and
    /// the old tree is kept beside.
    fn put_back(
        &self,
        spot: &Spot<'_>,
        name: &[u8],
        unit: &Unit,
        kept: &mut Vec<ConflictPath>,
    ) -> Result<(), Error> {
        if !spot.exists(name) {
            return Ok(());
        }
        match spot.rename(name, spot.name, Rename::NoReplace) {
            Ok(()) => Ok(()),
            Err(error) if taken(&error) => {
                kept.push(self.keep(spot, (&spot.folder, name), (unit, Clash::Existence))?);
                Ok(())
            }
            Err(error) => Err(Error::io("restore", unit.path.to_string(), error)),
        }
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
