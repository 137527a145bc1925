//! Putting a record's trees into the workspace, and taking them out again.
//!
//! A unit's new tree is made under a temporary name beside its target, with bytes that the journal
//! already holds durably, and changes places with what is there. What was there is then looked at
//! under the temporary name, where nobody else can open it any more: if it is not what the record
//! expects, or someone still writes it, everything changes places again.

use crate::error::{Clash, ConflictPath, Error, at};
use crate::journal::record::{Record, Unit};
use crate::look::{self, Keep};
use crate::make::{self, Blobs, Links};
use crate::node::{Identity, Item, Meta, Node, Tree, same_tree};
use crate::options::{Options, Swap};
use crate::relpath::RelPath;
use crate::root::Root;
use crate::sys::{self, Handle, Kind, Rename};

/// One record on its way into or out of the workspace.
#[derive(Debug)]
pub(crate) struct Engine<'a> {
    pub root: &'a Root,
    pub options: &'a Options,
    pub record: &'a Record,
    pub blobs: Blobs<'a>,
    /// A name for this record that no other one has.
    pub token: String,
}

/// The folder of a unit and the names that it uses there.
pub(crate) struct Spot<'a> {
    pub folder: Handle,
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
        let (folder, name) = self.root.parent(&unit.path)?;
        let temporary = format!(".tagout-{}-{index}", self.token).into_bytes();
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

    /// Applies a record for the first time: everything changes places, then everything is checked.
    pub(crate) fn forward(&self) -> Result<(), Error> {
        let mut links = self.links()?;
        for (index, unit) in self.swapped_units() {
            let spot = self.spot(index, unit)?;
            self.swap_in(&spot, unit, &links)?;
            for item in &unit.after {
                links.note(item.identity.as_ref(), unit.path.join(&item.sub));
            }
        }
        self.check_displaced()?;
        for (_, unit) in self.in_place_units() {
            self.set_meta(unit, &unit.before, &unit.after)?;
        }
        Ok(())
    }

    fn swap_in(&self, spot: &Spot<'_>, unit: &Unit, links: &Links) -> Result<(), Error> {
        let conflict = |clash| Err(Error::conflict(unit.path.to_string(), clash));
        let shown = || unit.path.to_string();
        if unit.after.is_empty() {
            return match spot.rename(spot.name, &spot.temporary, Rename::NoReplace) {
                Ok(()) => Ok(()),
                Err(error) if sys::is_missing(&error) => conflict(Clash::Existence),
                Err(error) => Err(Error::io("remove", shown(), error)),
            };
        }
        let parts = (self.blobs, links);
        make::tree(self.root, &spot.folder, &spot.temporary, &unit.after, parts)?;
        let swapped = if unit.before.is_empty() {
            spot.rename(&spot.temporary, spot.name, Rename::NoReplace)
        } else {
            self.exchange(spot)
        };
        match swapped {
            Ok(()) => Ok(()),
            Err(error) if taken(&error) || sys::is_missing(&error) => conflict(Clash::Existence),
            Err(error) => Err(Error::io("replace", shown(), error)),
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
    fn check_displaced(&self) -> Result<(), Error> {
        let mut paths = Vec::new();
        for (index, unit) in self.swapped_units() {
            let spot = self.spot(index, unit)?;
            let Some(name) = Self::displaced(&spot) else {
                continue;
            };
            if let Some(found) = self.clash(&spot, name, (&unit.path, &unit.before))? {
                paths.push(ConflictPath {
                    path: unit.path.to_string(),
                    found,
                    kept: None,
                });
            }
        }
        if paths.is_empty() {
            Ok(())
        } else {
            Err(Error::Conflict { paths })
        }
    }

    /// What stands against throwing a tree away. Writers are looked for first: one that is not there
    /// then cannot come any more, and what it wrote is seen by the look that follows.
    fn clash(
        &self,
        spot: &Spot<'_>,
        name: &[u8],
        (path, expected): (&RelPath, &[Item]),
    ) -> Result<Option<Clash>, Error> {
        if self.held(&spot.folder, name, path)? {
            return Ok(Some(Clash::HeldOpen));
        }
        let found = spot.tree(name, path)?;
        if same_tree(expected, &found) {
            return Ok(None);
        }
        let grew = found.len() > expected.len();
        Ok(Some(if grew && expected.len() > 1 {
            Clash::FolderGrew
        } else {
            Clash::Changed
        }))
    }

    fn held(&self, folder: &Handle, name: &[u8], path: &RelPath) -> Result<bool, Error> {
        let doing = || at("look at", path.to_string());
        let stat = match sys::stat_at(folder, name) {
            Err(error) if sys::is_missing(&error) => return Ok(false),
            other => other.map_err(doing())?,
        };
        match stat.kind {
            Kind::File => {
                let file = sys::open_read(folder, name).map_err(doing())?;
                self.options.writers.held(&file).map_err(doing())
            }
            Kind::Dir => {
                let inner = sys::open_dir(folder, name).map_err(doing())?;
                for below in sys::names(&inner).map_err(doing())? {
                    if self.held(&inner, &below, &path.with(&below))? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Kind::Symlink | Kind::Fifo | Kind::Socket | Kind::Device => Ok(false),
        }
    }

    /// Throws the old trees away, which were checked. What turned up since stays and is reported.
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
                if !make::remove_listed(&spot.folder, name, &unit.before)
                    .map_err(at("clean up after", unit.path.to_string()))?
                {
                    kept.push(self.keep(&spot, name, (unit, Clash::FolderGrew))?);
                }
            }
        }
        Ok(kept)
    }

    /// Keeps a tree that is not ours under a name that people see.
    fn keep(
        &self,
        spot: &Spot<'_>,
        name: &[u8],
        (unit, found): (&Unit, Clash),
    ) -> Result<ConflictPath, Error> {
        let short: String = self.token.chars().take(8).collect();
        for count in 0..1000_u32 {
            let mut free = spot.name.to_vec();
            free.truncate(200);
            free.extend_from_slice(format!(".tagout-conflict-{short}").as_bytes());
            if count > 0 {
                free.extend_from_slice(format!("-{count}").as_bytes());
            }
            match spot.rename(name, &free, Rename::NoReplace) {
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
            max: 1000,
        })
    }

    /// Keeps a tree that a power loss left under a temporary name and that nobody here knows.
    pub(crate) fn keep_beside(
        &self,
        spot: &Spot<'_>,
        name: &[u8],
        unit: &Unit,
    ) -> Result<ConflictPath, Error> {
        self.keep(spot, name, (unit, Clash::Changed))
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
        if expected.meta.satisfied_by(&found) {
            return make::finish(&file, &wanted.meta).map_err(doing());
        }
        if wanted.meta.satisfied_by(&found) {
            Ok(())
        } else {
            Err(changed())
        }
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

    /// Goes on with a record whose process died somewhere on the way.
    pub(crate) fn resume(&self) -> Result<(), Error> {
        let links = self.links()?;
        for (index, unit) in self.swapped_units() {
            let spot = self.spot(index, unit)?;
            self.resume_unit(&spot, unit, &links)?;
        }
        self.check_displaced()?;
        for (_, unit) in self.in_place_units() {
            self.set_meta(unit, &unit.before, &unit.after)?;
        }
        Ok(())
    }

    fn resume_unit(&self, spot: &Spot<'_>, unit: &Unit, links: &Links) -> Result<(), Error> {
        let here = spot.tree(spot.name, &unit.path)?;
        let doing = || at("replace", unit.path.to_string());
        if spot.exists(&spot.aside) {
            // The first of two steps was made. Whatever stands in the new name's place now is newer.
            if here.is_empty() {
                make::remove(&spot.folder, &spot.temporary).map_err(doing())?;
                let parts = (self.blobs, links);
                make::tree(self.root, &spot.folder, &spot.temporary, &unit.after, parts)?;
                spot.rename(&spot.temporary, spot.name, Rename::NoReplace)
                    .map_err(doing())?;
            }
            return Ok(());
        }
        if same_tree(&unit.after, &here) {
            return Ok(());
        }
        if same_tree(&unit.before, &here) {
            make::remove(&spot.folder, &spot.temporary).map_err(doing())?;
            return self.swap_in(spot, unit, links);
        }
        let displaced = spot.tree(&spot.temporary, &unit.path)?;
        if !unit.before.is_empty() && same_tree(&unit.before, &displaced) {
            // It was swapped, and then someone worked on.
            return Ok(());
        }
        Err(Error::conflict(unit.path.to_string(), Clash::Changed))
    }

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
                Ok(spot) => self.undo_unit(&spot, unit, &mut kept)?,
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
        unit: &Unit,
        kept: &mut Vec<ConflictPath>,
    ) -> Result<(), Error> {
        let doing = || at("restore", unit.path.to_string());
        let here = spot.tree(spot.name, &unit.path)?;
        let ours = !unit.after.is_empty() && same_tree(&unit.after, &here);
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
                kept.push(self.keep(spot, &spot.aside, (unit, Clash::Existence))?);
            }
            return self.discard(spot, unit, kept);
        }
        let displaced = spot.exists(&spot.temporary);
        if unit.before.is_empty() {
            // A created tree: only what is exactly ours goes.
            if ours && !displaced {
                spot.rename(spot.name, &spot.temporary, Rename::NoReplace)
                    .map_err(doing())?;
            }
            return self.discard(spot, unit, kept);
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
            return self.discard(spot, unit, kept);
        }
        if same_tree(&unit.before, &here) {
            return make::remove(&spot.folder, &spot.temporary).map_err(doing());
        }
        if same_tree(&unit.before, &spot.tree(&spot.temporary, &unit.path)?) {
            // It was swapped, and then someone worked on: the newer work stays, the older is kept.
            kept.push(self.keep(spot, &spot.temporary, (unit, Clash::Changed))?);
            return Ok(());
        }
        self.discard(spot, unit, kept)
    }

    /// Removes our own tree from its temporary name; what someone changed in it is kept.
    fn discard(
        &self,
        spot: &Spot<'_>,
        unit: &Unit,
        kept: &mut Vec<ConflictPath>,
    ) -> Result<(), Error> {
        let name = &spot.temporary;
        let doing = || at("clean up after", unit.path.to_string());
        if !spot.exists(name) {
            return Ok(());
        }
        let clash = self.clash(spot, name, (&unit.path, &unit.after))?;
        let partial = clash == Some(Clash::Changed)
            && is_part(&unit.after, &spot.tree(name, &unit.path)?, self.blobs);
        match clash {
            None => {
                make::remove(&spot.folder, name).map_err(doing())?;
            }
            Some(_) if partial => make::remove(&spot.folder, name).map_err(doing())?,
            Some(found) => kept.push(self.keep(spot, name, (unit, found))?),
        }
        Ok(())
    }

    fn restore_folders(&self) {
        for (path, mtime) in &self.record.folders {
            // A folder that is gone or closed to us by now has no time to restore.
            if let Ok(folder) = self.root.dir(path) {
                drop(sys::set_mtime(&folder, *mtime));
            }
        }
    }

    /// The files as they stand now, one per unit.
    pub(crate) fn installed(&self) -> Vec<Option<Identity>> {
        self.record
            .units
            .iter()
            .map(|unit| {
                let (folder, name) = self.root.parent(&unit.path).ok()?;
                sys::stat_at(&folder, name)
                    .ok()
                    .map(|stat| Identity::of(&stat))
            })
            .collect()
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
