//! Showing a change for as short as can be before it is known to stand.
//!
//! From the swap until what was displaced is looked at, everybody sees the new file. If it has to
//! go again, a program may have read it in that moment, and saves its work later over what was put
//! back, which it never saw. So the files are looked at once more right before they are displaced;
//! if what was displaced turns out to be another, the files that were replaced go back before
//! anything is made durable; and someone else's work that was displaced for that moment is copied
//! first.

use tagout_vocab::Digest;

use super::resume::Stand;
use super::{Engine, Spot};
use crate::error::{Clash, ConflictPath, Error};
use crate::journal::record::Unit;
use crate::node::{Identity, Node, same_tree};
use crate::sys::{self, Kind, Rename};

impl Engine<'_> {
    /// Whether every file that is about to be displaced is still what the record expects. Making
    /// the record durable and the trees took a while.
    pub(super) fn look_again(&self) -> Result<(), Error> {
        let mut paths = Vec::new();
        for (index, unit) in self.swapped_units() {
            let spot = self.spot(index, unit)?;
            if let Some(found) = other(&spot, unit)? {
                paths.push(ConflictPath {
                    path: unit.path.to_string(),
                    found,
                    kept: None,
                });
            }
        }
        Error::if_any(paths)
    }

    /// Takes files that replaced others and do not stand out of sight, and says where the copies of
    /// what was displaced by them are. What fails here is done by the undoing that follows.
    ///
    /// A process that dies behind this leaves what one leaves that had not swapped yet.
    pub(super) fn swap_back(&self, mut paths: Vec<ConflictPath>) -> Vec<ConflictPath> {
        let units: Vec<(usize, &Unit)> = self.swapped_units().collect();
        for (index, unit) in units.into_iter().rev() {
            let Ok(spot) = self.spot(index, unit) else {
                continue;
            };
            if self.stand(&spot, index) != Stand::InPlace {
                continue;
            }
            let path = unit.path.to_string();
            if let Some(conflict) = paths.iter_mut().find(|one| one.path == path) {
                conflict.kept = self.copy(&spot, unit).ok().flatten();
            }
            if !unit.before.is_empty() && !spot.exists(&spot.aside) {
                drop(spot.rename(&spot.temporary, spot.name, Rename::Exchange));
            }
        }
        paths
    }

    /// Copies a displaced file under a name that people see, if its content is someone else's.
    fn copy(&self, spot: &Spot<'_>, unit: &Unit) -> std::io::Result<Option<String>> {
        let (Some(name), [before]) = (Self::displaced(spot), unit.before.as_slice()) else {
            return Ok(None);
        };
        let file = sys::open_read(&spot.folder, name)?;
        let stat = sys::stat(&file)?;
        if stat.kind != Kind::File || stat.size > self.options.image_bytes_max {
            return Ok(None);
        }
        let size = usize::try_from(stat.size).unwrap_or(usize::MAX);
        let bytes = sys::read_front(&file, size)?;
        if before.node.digest() == Some(Digest::of(&bytes)) {
            return Ok(None);
        }
        for free in self.free_names(spot) {
            match sys::create(&spot.folder, &free, 0o600) {
                Ok(copy) => {
                    let written = sys::write_all(&copy, &bytes)
                        .and_then(|()| sys::chmod(&copy, stat.mode & 0o777));
                    if let Err(error) = written {
                        sys::unlink(&spot.folder, &free)?;
                        return Err(error);
                    }
                    let folder = unit.path.parent().unwrap_or_default();
                    return Ok(Some(folder.with(&free).to_string()));
                }
                Err(error) if super::taken(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }
}

/// What is another about a file than the record expects. Folders change with what is in them, and
/// are looked at when they are displaced.
fn other(spot: &Spot<'_>, unit: &Unit) -> Result<Option<Clash>, Error> {
    let [before] = unit.before.as_slice() else {
        return Ok(None);
    };
    if !matches!(before.node, Node::File { .. }) {
        return Ok(None);
    }
    let shown = || unit.path.to_string();
    match sys::stat_at(&spot.folder, spot.name) {
        Ok(stat) if before.identity == Some(Identity::of(&stat)) => Ok(None),
        Ok(_) => {
            let found = spot.tree(spot.name, &unit.path)?;
            Ok((!same_tree(&unit.before, &found)).then_some(Clash::Changed))
        }
        Err(error) if sys::is_missing(&error) => Ok(Some(Clash::Existence)),
        Err(error) => Err(Error::io("look at", shown(), error)),
    }
}
