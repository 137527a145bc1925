//! Putting a record's trees into the workspace, and taking them out again.
//!
//! A unit's new tree is made under a temporary name beside its target, with bytes that the journal
//! already holds durably, and changes places with what is there. What was there is then looked at
//! under the temporary name, where nobody else can open it any more: if it is not what the record
//! expects, or someone still writes it, everything changes places again.

mod again;
mod back;
mod resume;
mod undo;
mod yard;

pub(crate) use self::again::{Again, may_be_again};
pub(crate) use self::yard::segment_of;

use std::rc::Rc;

use crate::error::{Clash, ConflictPath, Error, at};
use crate::journal::record::{Record, Unit};
use crate::look::{self, Keep};
use crate::make::{self, Blobs, Links};
use crate::node::{Identity, Item, Meta, Tree, same_tree};
use crate::options::{Options, Swap};
use crate::relpath::RelPath;
use crate::root::{Parents, Root};
use crate::sys::{self, Handle, Kind, Rename};
use crate::writers::{self, Files};

/// One record on its way into or out of the workspace.
#[derive(Debug)]
pub(crate) struct Engine<'a> {
    pub root: &'a Root,
    pub options: &'a Options,
    pub record: &'a Record,
    pub blobs: Blobs<'a>,
    /// Where trees that are done with lie until the next checkpoint.
    pub yard: &'a Handle,
    /// The number of the journal segment that the record is in.
    pub segment: u64,
    /// A name for this record that no other one has.
    pub token: String,
    /// The inodes of the trees that were made for it, one per unit. `None` says that not all were
    /// made, and then nothing was swapped yet.
    pub staged: Option<Vec<Option<u64>>>,
    /// The folders of the units.
    pub parents: Parents,
    /// Displaced files that new ones can be made of, one per unit or none at all.
    pub again: Vec<Option<Again>>,
}

/// The folder of a unit and the names that it uses there.
pub(crate) struct Spot<'a> {
    pub folder: Rc<Handle>,
    pub name: &'a [u8],
    /// The new tree before the swap, the old one after it.
    pub temporary: Vec<u8>,
    /// The old tree where the swap takes two steps.
    pub aside: Vec<u8>,
}

impl Spot<'_> {
    fn tree(&self, name: &[u8], path: &RelPath) -> Result<Tree, Error> {
        look::tree(&self.folder, name, path, Keep::Nothing)
    }

    fn rename(&self, from: &[u8], to: &[u8], how: Rename) -> std::io::Result<()> {
        let moved = sys::rename((&self.folder, from), (&self.folder, to), how);
        match moved {
            // A file system without the check gets it done here; the window is this line.
            Err(error) if how == Rename::NoReplace && sys::is_unsupported(&error) => {
                if sys::stat_at(&self.folder, to).is_ok() {
                    return Err(std::io::Error::from(std::io::ErrorKind::AlreadyExists));
                }
                sys::rename((&self.folder, from), (&self.folder, to), Rename::Replace)
            }
            other => other,
        }
    }

    fn exists(&self, name: &[u8]) -> bool {
        sys::stat_at(&self.folder, name).is_ok()
    }
}

fn taken(error: &std::io::Error) -> bool {
    sys::is_taken(error) || error.kind() == std::io::ErrorKind::AlreadyExists
}

impl<'a> Engine<'a> {
    /// The folder and names of a unit.
    pub(crate) fn spot(&self, index: usize, unit: &'a Unit) -> Result<Spot<'a>, Error> {
        let folder = self.parents.of(self.root, &unit.path)?;
        let name = unit.path.name().unwrap_or_default();
        let temporary = self.temporary(index);
        let aside = format!(".tagout-{}-{index}.old", self.token).into_bytes();
        Ok(Spot {
            folder,
            name,
            temporary,
            aside,
        })
    }

    pub(crate) fn units(&self) -> impl Iterator<Item = (usize, &'a Unit)> {
        self.record.units.iter().enumerate()
    }

    fn swapped_units(&self) -> impl Iterator<Item = (usize, &'a Unit)> {
        self.units().filter(|(_, unit)| !unit.in_place)
    }

    fn in_place_units(&self) -> impl Iterator<Item = (usize, &'a Unit)> {
        self.units().filter(|(_, unit)| unit.in_place)
    }

    /// Where files that had several names can be found, for records that restore such files.
    pub(crate) fn links(&self) -> Result<Links, Error> {
        let mut links = Links::default();
        for (path, to) in &self.record.links {
            links.want(path.clone(), self.made_at(to));
        }
        let wanted: Vec<&Identity> = self
            .record
            .units
            .iter()
            .filter(|unit| !unit.in_place)
            .flat_map(|unit| &unit.after)
            .filter_map(|item| item.identity.as_ref())
            .filter(|identity| identity.nlink > 1)
            .collect();
        if !wanted.is_empty() {
            find_links(self.root.handle(), &RelPath::root(), &wanted, &mut links)?;
        }
        Ok(links)
    }

    /// Where a file lies while the trees are made: under a temporary name, or where it always was.
    fn made_at(&self, path: &RelPath) -> RelPath {
        let units = &self.record.units;
        let next = units.partition_point(|unit| unit.path <= *path);
        let place = next.checked_sub(1).and_then(|index| {
            let unit = units.get(index).filter(|unit| !unit.in_place)?;
            let sub = path.beneath(&unit.path)?;
            let folder = unit.path.parent().unwrap_or_default();
            Some(folder.with(&self.temporary(index)).join(&sub))
        });
        place.unwrap_or_else(|| path.clone())
    }

    fn temporary(&self, index: usize) -> Vec<u8> {
        format!(".tagout-{}-{index}", self.token).into_bytes()
    }

    /// Makes every new tree under its temporary name. Nothing has changed for anybody yet.
    pub(crate) fn stage(&mut self) -> Result<(), Error> {
        let mut links = self.links()?;
        let mut staged = vec![None; self.record.units.len()];
        for (index, unit) in self
            .swapped_units()
            .filter(|(_, unit)| !unit.after.is_empty())
        {
            let spot = self.spot(index, unit)?;
            // The first name of a file is not there yet when it is made; the others find it.
            let made = unit.path.parent().unwrap_or_default().with(&spot.temporary);
            for item in &unit.after {
                links.note(item.identity.as_ref(), made.join(&item.sub));
            }
            let maker = make::Maker {
                root: self.root,
                blobs: self.blobs,
                links: &links,
            };
            let place = (&*spot.folder, spot.temporary.as_slice());
            if !self.make_again(&spot, (index, unit))? {
                make::tree(maker, place, (&unit.path, &unit.after))?;
            }
            let stat = sys::stat_at(&spot.folder, &spot.temporary);
            let stat = stat.map_err(at("look at", unit.path.to_string()))?;
            if let Some(one) = staged.get_mut(index) {
                *one = Some(stat.ino);
            }
        }
        self.staged = Some(staged);
        Ok(())
    }

    /// Puts every staged tree in its place in one burst, then checks what was displaced.
    pub(crate) fn forward(&self) -> Result<(), Error> {
        self.look_again()?;
        for (index, unit) in self.swapped_units() {
            let spot = self.spot(index, unit)?;
            self.swap_in(&spot, unit)?;
        }
        match self.check() {
            Err(Error::Conflict { paths }) => Err(Error::Conflict {
                paths: self.swap_back(paths),
            }),
            other => other,
        }
    }

    fn check(&self) -> Result<(), Error> {
        self.check_displaced()?;
        for (_, unit) in self.in_place_units() {
            self.set_meta(unit, &unit.before, &unit.after)?;
        }
        Ok(())
    }

    fn swap_in(&self, spot: &Spot<'_>, unit: &Unit) -> Result<(), Error> {
        let conflict = |clash| Err(Error::conflict(unit.path.to_string(), clash));
        let swapped = if unit.after.is_empty() {
            spot.rename(spot.name, &spot.temporary, Rename::NoReplace)
        } else if unit.before.is_empty() {
            spot.rename(&spot.temporary, spot.name, Rename::NoReplace)
        } else {
            self.exchange(spot)
        };
        match swapped {
            Ok(()) => Ok(()),
            Err(error) if taken(&error) || sys::is_missing(&error) => conflict(Clash::Existence),
            Err(error) => Err(Error::io("replace", unit.path.to_string(), error)),
        }
    }

    fn exchange(&self, spot: &Spot<'_>) -> std::io::Result<()> {
        if self.options.swap == Swap::Exchange {
            match spot.rename(&spot.temporary, spot.name, Rename::Exchange) {
                Err(error) if sys::is_unsupported(&error) => {}
                other => return other,
            }
        }
        spot.rename(spot.name, &spot.aside, Rename::NoReplace)?;
        spot.rename(&spot.temporary, spot.name, Rename::NoReplace)
    }

    /// The name under which a unit's old tree lies now, if it lies anywhere.
    fn displaced<'s>(spot: &'s Spot<'_>) -> Option<&'s [u8]> {
        [&spot.aside, &spot.temporary]
            .into_iter()
            .find(|name| spot.exists(name))
            .map(Vec::as_slice)
    }

    /// Looks at every old tree after the swap: is it what was expected, and does nobody write it?
    ///
    /// Writers are looked for first, once for all: what one wrote who is gone by then is seen by
    /// the look that follows.
    fn check_displaced(&self) -> Result<(), Error> {
        let mut spots = Vec::new();
        for (index, unit) in self.swapped_units() {
            spots.push((self.spot(index, unit)?, unit));
        }
        let displaced: Vec<(&Spot<'_>, &Unit, &[u8])> = spots
            .iter()
            .filter_map(|(spot, unit)| Some((spot, *unit, Self::displaced(spot)?)))
            .collect();
        let trees: Vec<(&Handle, &[u8])> = displaced
            .iter()
            .map(|(spot, _, name)| (&*spot.folder, *name))
            .collect();
        let held = writers::held(self.options.writers, &trees)?;
        let mut paths = Vec::new();
        for (spot, unit, name) in displaced {
            let expected = (&unit.path, unit.before.as_slice());
            if let Some(found) = clash((&spot.folder, name), expected, &held)? {
                paths.push(ConflictPath {
                    path: unit.path.to_string(),
                    found,
                    kept: None,
                });
            }
        }
        Error::if_any(paths)
    }

    /// Sets attributes on the file itself, if it is still the file with the attributes expected.
    fn set_meta(&self, unit: &Unit, expected: &[Item], wanted: &[Item]) -> Result<(), Error> {
        let (Some(expected), Some(wanted)) = (expected.first(), wanted.first()) else {
            return Ok(());
        };
        let changed = || Error::conflict(unit.path.to_string(), Clash::Changed);
        let file = self.open_any(&unit.path)?;
        let doing = || at("set the attributes of", unit.path.to_string());
        let found = meta_of(&file).map_err(doing())?;
        if wanted.meta.satisfied_by(&found) && found.mtime != expected.meta.mtime {
            return Ok(());
        }
        // Attributes are set one by one, and a process may have died between two of them.
        if found.is_between(&expected.meta, &wanted.meta) {
            return make::finish(&file, &wanted.meta).map_err(doing());
        }
        Err(changed())
    }

    fn open_any(&self, path: &RelPath) -> Result<Handle, Error> {
        match sys::open_read(self.root.handle(), path.as_bytes()) {
            Ok(file) => Ok(file),
            Err(error) if sys::is_missing(&error) => {
                Err(Error::conflict(path.to_string(), Clash::Existence))
            }
            Err(error) if sys::is_not_a_folder(&error) => {
                Err(Error::conflict(path.to_string(), Clash::WayChanged))
            }
            Err(error) => Err(Error::io("open", path.to_string(), error)),
        }
    }

    /// Sets the times of folders, which everything else has changed by now.
    pub(crate) fn set_folder_times(&self) {
        for (_, unit) in self.in_place_units() {
            let wanted = unit.after.first().filter(|item| item.node.is_dir());
            if let Some(mtime) = wanted.and_then(|item| item.meta.mtime)
                && let Ok(folder) = self.root.dir(&unit.path)
            {
                // A folder that is gone or closed to us by now has no time to set.
                drop(sys::set_mtime(&folder, mtime));
            }
        }
    }

    /// The files as they stand now, one per unit.
    pub(crate) fn installed(&self) -> Vec<Option<Identity>> {
        self.record
            .units
            .iter()
            .map(|unit| {
                let folder = self.parents.of(self.root, &unit.path).ok()?;
                sys::stat_at(&folder, unit.path.name()?)
                    .ok()
                    .map(|stat| Identity::of(&stat))
            })
            .collect()
    }
}

/// What stands against throwing a tree away.
fn clash(
    (folder, name): (&Handle, &[u8]),
    (path, expected): (&RelPath, &[Item]),
    held: &Files,
) -> Result<Option<Clash>, Error> {
    let found = look::tree(folder, name, path, Keep::Nothing)?;
    let is_held = |item: &Item| {
        item.identity
            .is_some_and(|identity| held.contains(&(identity.dev, identity.ino)))
    };
    if found.iter().any(is_held) {
        return Ok(Some(Clash::HeldOpen));
    }
    if same_tree(expected, &found) {
        return Ok(None);
    }
    let grew = found.len() > expected.len() && expected.len() > 1;
    Ok(Some(if grew {
        Clash::FolderGrew
    } else {
        Clash::Changed
    }))
}

fn meta_of(file: &Handle) -> std::io::Result<Meta> {
    let stat = sys::stat(file)?;
    Ok(Meta {
        mode: stat.mode,
        owner: Some((stat.uid, stat.gid)),
        mtime: Some(stat.mtime),
        xattrs: Some(sys::xattrs(file)?),
    })
}

/// Looks through the workspace for other names of files that are to be restored.
fn find_links(
    folder: &Handle,
    path: &RelPath,
    wanted: &[&Identity],
    links: &mut Links,
) -> Result<(), Error> {
    for name in sys::names(folder).map_err(at("list", path.to_string()))? {
        let Ok(stat) = sys::stat_at(folder, &name) else {
            continue;
        };
        let identity = Identity::of(&stat);
        if stat.kind == Kind::Dir {
            if let Ok(inner) = sys::open_dir(folder, &name) {
                find_links(&inner, &path.with(&name), wanted, links)?;
            }
        } else if let Some(one) = wanted
            .iter()
            .find(|one| (one.dev, one.ino) == (identity.dev, identity.ino))
        {
            links.note(Some(one), path.with(&name));
        }
    }
    Ok(())
}
