//! Going on with a record whose process died.

use super::{Engine, Spot};
use crate::error::{Clash, Error, at};
use crate::journal::record::Unit;
use crate::make::{self, Links};
use crate::node::same_tree;
use crate::sys::{self, Rename};

impl Engine<'_> {
    /// Whether a name is the tree that was staged for a unit; `None` when that is not known.
    pub(super) fn is_staged(&self, spot: &Spot<'_>, name: &[u8], index: usize) -> Option<bool> {
        let staged = self.staged.get(index).copied().flatten()?;
        Some(sys::stat_at(&spot.folder, name).is_ok_and(|stat| stat.ino == staged))
    }

    /// Goes on with a record whose process died somewhere on the way.
    pub(crate) fn resume(&self) -> Result<(), Error> {
        let links = self.links()?;
        for (index, unit) in self.swapped_units() {
            let spot = self.spot(index, unit)?;
            self.resume_unit(&spot, (index, unit), &links)?;
        }
        self.check()
    }

    /// Makes a unit's tree anew, in the place of whatever piece of it there is.
    fn remake(&self, spot: &Spot<'_>, unit: &Unit, links: &Links) -> Result<(), Error> {
        make::remove(&spot.folder, &spot.temporary)
            .map_err(at("replace", unit.path.to_string()))?;
        let parts = (self.blobs, links);
        make::tree(self.root, &spot.folder, &spot.temporary, &unit.after, parts)
    }

    fn resume_unit(
        &self,
        spot: &Spot<'_>,
        (index, unit): (usize, &Unit),
        links: &Links,
    ) -> Result<(), Error> {
        let here = spot.tree(spot.name, &unit.path)?;
        if spot.exists(&spot.aside) {
            // The first of two steps was made. Whatever stands in the new name's place now is newer.
            if here.is_empty() {
                self.remake(spot, unit, links)?;
                spot.rename(&spot.temporary, spot.name, Rename::NoReplace)
                    .map_err(at("replace", unit.path.to_string()))?;
            }
            return Ok(());
        }
        // Where someone worked on in the swapped file, it was swapped all the same.
        if self.is_staged(spot, spot.name, index) == Some(true) || same_tree(&unit.after, &here) {
            return Ok(());
        }
        if same_tree(&unit.before, &here) {
            self.remake(spot, unit, links)?;
            return self.swap_in(spot, unit);
        }
        let displaced = spot.tree(&spot.temporary, &unit.path)?;
        if !unit.before.is_empty() && same_tree(&unit.before, &displaced) {
            return Ok(());
        }
        Err(Error::conflict(unit.path.to_string(), Clash::Changed))
    }
}
