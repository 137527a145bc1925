//! Going on with a record whose process died after all its trees were made.
//!
//! The inodes of those trees are known, so for every unit it can be told whether its new tree
//! stands in its place, still under its temporary name, or nowhere: then it stood in its place and
//! someone replaced it since.

use super::{Engine, Spot};
use crate::error::{Clash, ConflictPath, Error, at};
use crate::journal::record::Unit;
use crate::make;
use crate::node::same_tree;
use crate::sys::{self, Rename};

/// Where a unit's new tree is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Stand {
    /// In its place.
    InPlace,
    /// Under its temporary name: not swapped yet, or swapped back.
    Aside,
    /// Neither: it was in its place, or the unit has no new tree.
    Gone,
}

impl Engine<'_> {
    pub(super) fn stand(&self, spot: &Spot<'_>, index: usize) -> Stand {
        let staged = self
            .staged
            .as_ref()
            .and_then(|all| all.get(index).copied().flatten());
        let is = |name: &[u8]| {
            let stat = sys::stat_at(&spot.folder, name);
            stat.is_ok_and(|stat| Some(stat.ino) == staged)
        };
        if is(spot.name) {
            Stand::InPlace
        } else if is(&spot.temporary) {
            Stand::Aside
        } else {
            Stand::Gone
        }
    }

    /// Removes what was made before it was known that not everything can be. Nobody has ever seen
    /// it under another name, but for a file that was filled again: what someone wrote into that is
    /// kept.
    pub(super) fn clear_pieces(&self, kept: &mut Vec<ConflictPath>) -> Result<(), Error> {
        for (index, unit) in self.swapped_units() {
            let spot = match self.spot(index, unit) {
                Ok(spot) => spot,
                Err(Error::Missing { .. } | Error::Conflict { .. }) => continue,
                Err(error) => return Err(error),
            };
            if self.again.get(index).is_some_and(Option::is_some) {
                self.discard(&spot, (index, unit), kept)?;
            } else {
                make::remove(&spot.folder, &spot.temporary)
                    .map_err(at("clean up after", unit.path.to_string()))?;
            }
        }
        Ok(())
    }

    /// Swaps what is not swapped yet, then checks everything that was displaced.
    pub(crate) fn resume(&self) -> Result<(), Error> {
        for (index, unit) in self.swapped_units() {
            let spot = self.spot(index, unit)?;
            self.resume_unit(&spot, index, unit)?;
        }
        self.check()
    }

    fn resume_unit(&self, spot: &Spot<'_>, index: usize, unit: &Unit) -> Result<(), Error> {
        let conflict = |clash| Err(Error::conflict(unit.path.to_string(), clash));
        let here = spot.tree(spot.name, &unit.path)?;
        if unit.after.is_empty() {
            if here.is_empty() || spot.exists(&spot.temporary) {
                return Ok(());
            }
            return if same_tree(&unit.before, &here) {
                self.swap_in(spot, unit)
            } else {
                conflict(Clash::Changed)
            };
        }
        match self.stand(spot, index) {
            Stand::InPlace | Stand::Gone => Ok(()),
            Stand::Aside if spot.exists(&spot.aside) => {
                if !here.is_empty() {
                    return conflict(Clash::Existence);
                }
                spot.rename(&spot.temporary, spot.name, Rename::NoReplace)
                    .map_err(at("replace", unit.path.to_string()))
            }
            Stand::Aside if same_tree(&unit.before, &here) => self.swap_in(spot, unit),
            Stand::Aside => conflict(Clash::Changed),
        }
    }
}
