//! Reading an upper layer: each name in it against the workspace that it lay on.
//!
//! Folders are opened by their path beneath the layer, so the depth of a tree costs no descriptors.
//! Nothing is written; what a layer escapes or notes for itself is undone in the copy that is
//! returned.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use tagout_vocab::limits::PATH_BYTES_MAX;

use super::change::path_order;
use super::sys::{self, Stat, Type, at};
use super::{Attribute, Attributes, ChangeSet, Entry, Extent, Kind, LayerError, Reading, Was};

/// What an overlay keeps for itself in a layer.
pub(super) const NOTES: &[u8] = b"user.overlay.";
/// How it stores what a program calls by such a name.
pub(super) const ESCAPED: &[u8] = b"user.overlay.overlay.";

/// What a command changed, in path order.
///
/// A file that was only opened for writing was copied into the layer; if it is still the same in
/// bytes and attributes it is no change. A folder that was replaced as a whole is listed with what
/// is gone from it. What lies in folders that are gone is listed too, so that each path can be
/// judged.
pub fn read(upper: &Path, how: Reading<'_>) -> Result<ChangeSet, LayerError> {
    let open = |path: &Path| sys::open_root(path).map_err(at("open", sys::bytes_of(path)));
    let mut reader = Reader {
        upper: open(upper)?,
        workspace: open(how.workspace)?,
        how,
        entries: Vec::new(),
        bytes: 0,
        groups: BTreeMap::new(),
        grouped: 0,
        times: Vec::new(),
        with_private: BTreeSet::new(),
    };
    let mut open = vec![Vec::new()];
    while let Some(path) = open.pop() {
        reader.folder(&path, &mut open)?;
    }
    reader.root()?;
    reader.link()?;
    reader.finish()
}

/// One name of a file that has several in the layer.
struct Name {
    entry: Entry,
    /// The file of the workspace that it is the same as.
    same_as: Option<(u64, u64)>,
}

struct Reader<'a> {
    upper: OwnedFd,
    workspace: OwnedFd,
    how: Reading<'a>,
    entries: Vec<Entry>,
    bytes: u64,
    groups: BTreeMap<(u64, u64), Vec<Name>>,
    /// Names in them.
    grouped: usize,
    /// Folders of which only the time differs.
    times: Vec<Entry>,
    /// Folders in which something private lies.
    with_private: BTreeSet<Vec<u8>>,
}

/// A name of the layer, looked at from both sides.
struct Spot<'a> {
    path: Vec<u8>,
    name: &'a [u8],
    folder: &'a OwnedFd,
    /// The workspace's folder of the same path.
    below: Option<&'a OwnedFd>,
    stat: Stat,
    was: Option<Stat>,
}

fn joined(folder: &[u8], name: &[u8]) -> Vec<u8> {
    if folder.is_empty() {
        return name.to_vec();
    }
    [folder, b"/", name].concat()
}

/// The part of a path before its last name.
pub(super) fn parent(path: &[u8]) -> &[u8] {
    let end = path.iter().rposition(|byte| *byte == b'/').unwrap_or(0);
    path.get(..end).unwrap_or_default()
}

const fn was(stat: Option<&Stat>) -> Was {
    match stat {
        None => Was::Nothing,
        Some(stat) => match stat.kind {
            Type::File => Was::File,
            Type::Folder => Was::Folder,
            Type::Symlink => Was::Symlink,
            Type::Pipe | Type::Socket | Type::Device | Type::Whiteout => Was::Special,
        },
    }
}

fn attributes(stat: &Stat, xattrs: Vec<Attribute>) -> Attributes {
    Attributes {
        mode: stat.mode,
        uid: stat.uid,
        gid: stat.gid,
        mtime: stat.mtime,
        xattrs,
    }
}

/// Attributes that a program sets, as opposed to those of the system.
fn is_programs(name: &[u8]) -> bool {
    name.starts_with(b"user.") || name.starts_with(b"system.posix_acl_")
}

/// The attributes as a program in the sandbox saw them.
pub(super) fn unescaped(found: Vec<Attribute>) -> Vec<Attribute> {
    let mut seen: Vec<Attribute> = found
        .into_iter()
        .filter_map(|(name, value)| {
            if let Some(rest) = name.strip_prefix(ESCAPED) {
                return Some(([NOTES, rest].concat(), value));
            }
            (is_programs(&name) && !name.starts_with(NOTES)).then_some((name, value))
        })
        .collect();
    seen.sort();
    seen
}

/// The attributes of a file of the workspace that show through an overlay.
fn showing(found: Vec<Attribute>) -> Vec<Attribute> {
    found
        .into_iter()
        .filter(|(name, _)| is_programs(name) && !name.starts_with(NOTES))
        .collect()
}

fn same_attributes(upper: &Attributes, stat: &Stat, below: &[Attribute]) -> bool {
    (upper.mode, upper.uid, upper.gid) == (stat.mode, stat.uid, stat.gid) && upper.xattrs == below
}

fn same_bytes(mut one: impl io::Read, mut other: impl io::Read) -> io::Result<bool> {
    let (mut left, mut right) = (vec![0; 64 * 1024], vec![0; 64 * 1024]);
    loop {
        let count = fill(&mut one, &mut left)?;
        if fill(&mut other, &mut right)? != count || left.get(..count) != right.get(..count) {
            return Ok(false);
        }
        if count < left.len() {
            return Ok(true);
        }
    }
}

fn fill(from: &mut impl io::Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut have = 0;
    while let Some(rest) = buffer.get_mut(have..).filter(|rest| !rest.is_empty()) {
        match from.read(rest) {
            Ok(0) => break,
            Ok(count) => have += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(have)
}

impl Reader<'_> {
    fn push(&mut self, entry: Entry) -> Result<(), LayerError> {
        self.room()?;
        self.entries.push(entry);
        Ok(())
    }

    fn room(&self) -> Result<(), LayerError> {
        if self.entries.len() + self.times.len() + self.grouped >= self.how.entries_max {
            let max = self.how.entries_max as u64;
            return Err(LayerError::TooMany { what: "paths", max });
        }
        Ok(())
    }

    /// One folder of the layer; folders in it are added to `open`.
    fn folder(&mut self, path: &[u8], open: &mut Vec<Vec<u8>>) -> Result<(), LayerError> {
        let folder = sys::open_own_dir(&self.upper, path).map_err(at("open the folder", path))?;
        // A workspace that has something else there has nothing beneath it.
        let below = sys::open_dir(&self.workspace, path).ok();
        for name in sys::names(&folder).map_err(at("list", path))? {
            let full = joined(path, &name);
            if full.len() >= PATH_BYTES_MAX {
                let max = PATH_BYTES_MAX as u64;
                return Err(LayerError::TooMany {
                    what: "bytes in one path",
                    max,
                });
            }
            let stat = sys::stat_at(&folder, &name).map_err(at("look at", &full))?;
            let was = below.as_ref().map(|below| sys::stat_if(below, &name));
            let was = was.transpose().map_err(at("look at", &full))?.flatten();
            let is_folder = match stat.kind {
                Type::Whiteout => was.is_some_and(|was| was.kind == Type::Folder),
                Type::Folder => true,
                Type::File | Type::Symlink | Type::Pipe | Type::Socket | Type::Device => false,
            };
            if (self.how.is_private)(&full, is_folder) {
                self.with_private.insert(path.to_vec());
                continue;
            }
            let spot = Spot {
                path: full,
                name: &name,
                folder: &folder,
                below: below.as_ref(),
                stat,
                was,
            };
            self.one(spot, open)?;
        }
        Ok(())
    }

    fn one(&mut self, spot: Spot<'_>, open: &mut Vec<Vec<u8>>) -> Result<(), LayerError> {
        if spot.stat.kind != Type::Folder && was(spot.was.as_ref()) == Was::Folder {
            self.gone(&spot.path)?;
        }
        match spot.stat.kind {
            Type::Whiteout => self.whiteout(spot),
            Type::File => self.file(spot),
            Type::Folder => {
                open.push(spot.path.clone());
                self.directory(&spot)
            }
            Type::Symlink | Type::Pipe | Type::Socket | Type::Device => self.small(spot),
        }
    }

    fn whiteout(&mut self, spot: Spot<'_>) -> Result<(), LayerError> {
        if spot.was.is_none() {
            return Ok(());
        }
        self.push(deleted(spot.path, spot.was.as_ref()))
    }

    /// Everything beneath a folder of the workspace as deleted.
    fn gone(&mut self, top: &[u8]) -> Result<(), LayerError> {
        let mut open = vec![top.to_vec()];
        while let Some(path) = open.pop() {
            let doing = || at("list", &path);
            let folder = match sys::open_dir(&self.workspace, &path) {
                // Someone took it away meanwhile.
                Err(error) if sys::is_missing(&error) => continue,
                other => other.map_err(doing())?,
            };
            for name in sys::names(&folder).map_err(doing())? {
                let full = joined(&path, &name);
                let Some(stat) = sys::stat_if(&folder, &name).map_err(at("look at", &full))? else {
                    continue;
                };
                self.push(deleted(full.clone(), Some(&stat)))?;
                if stat.kind == Type::Folder {
                    open.push(full);
                }
            }
        }
        Ok(())
    }

    fn file(&mut self, spot: Spot<'_>) -> Result<(), LayerError> {
        let doing = || at("read", &spot.path);
        let bytes = spot.stat.bytes;
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > self.how.bytes_max {
            let max = self.how.bytes_max;
            return Err(LayerError::TooMany { what: "bytes", max });
        }
        let opened = sys::open_own_file(spot.folder, spot.name).map_err(doing())?;
        let xattrs = unescaped(sys::xattrs(&opened).map_err(doing())?);
        let attributes = attributes(&spot.stat, xattrs);
        let found = spot.was.filter(|was| was.kind == Type::File);
        let (mut extent, mut same_as) = (Extent::Whole, None);
        if let (Some(found), Some(below)) = (found, spot.below)
            && let Ok(other) = sys::open_file(below, spot.name)
        {
            let theirs = showing(sys::xattrs(&other).map_err(doing())?);
            let alike = found.bytes == bytes && same_bytes(opened, other).map_err(doing())?;
            if alike {
                extent = Extent::Attributes;
                let same = same_attributes(&attributes, &found, &theirs);
                same_as =
                    (same && attributes.mtime == found.mtime).then_some((found.dev, found.ino));
            }
        }
        let key = (spot.stat.dev, spot.stat.ino);
        let entry = Entry {
            path: spot.path,
            kind: Kind::File { bytes },
            was: was(spot.was.as_ref()),
            extent,
            attributes,
        };
        if spot.stat.nlink > 1 {
            self.room()?;
            let names = self.groups.entry(key).or_default();
            names.push(Name { entry, same_as });
            self.grouped += 1;
            return Ok(());
        }
        if same_as.is_some() {
            self.bytes = self.bytes.saturating_sub(bytes);
            return Ok(());
        }
        self.push(entry)
    }

    fn directory(&mut self, spot: &Spot<'_>) -> Result<(), LayerError> {
        let doing = || at("look at", &spot.path);
        let opened = sys::open_own_dir(spot.folder, spot.name).map_err(doing())?;
        let raw = sys::xattrs(&opened).map_err(doing())?;
        let opaque = is_opaque(&raw);
        let attributes = attributes(&spot.stat, unescaped(raw));
        let found = spot.was.filter(|was| was.kind == Type::Folder);
        let mut entry = Entry {
            path: spot.path.clone(),
            kind: Kind::Folder { opaque },
            was: was(spot.was.as_ref()),
            extent: Extent::Whole,
            attributes,
        };
        let (Some(found), Some(below)) = (found, spot.below) else {
            return self.push(entry);
        };
        let theirs = match sys::open_dir(below, spot.name) {
            Ok(other) => showing(sys::xattrs(&other).map_err(doing())?),
            Err(_) => return self.push(entry),
        };
        if opaque {
            self.replaced(&spot.path, &opened)?;
        }
        if !same_attributes(&entry.attributes, &found, &theirs) {
            entry.extent = Extent::Attributes;
            return self.push(entry);
        }
        if entry.attributes.mtime != found.mtime {
            self.room()?;
            entry.extent = Extent::FolderTime;
            self.times.push(entry);
        }
        Ok(())
    }

    /// What a folder of the workspace holds that did not come again in the one that replaced it.
    fn replaced(&mut self, path: &[u8], upper: &OwnedFd) -> Result<(), LayerError> {
        let below = sys::open_dir(&self.workspace, path).map_err(at("list", path))?;
        for name in sys::names(&below).map_err(at("list", path))? {
            let full = joined(path, &name);
            let doing = || at("look at", &full);
            let Some(stat) = sys::stat_if(&below, &name).map_err(doing())? else {
                continue;
            };
            let again = sys::stat_if(upper, &name).map_err(doing())?;
            // A mark of deletion among them is listed when its turn comes.
            if again.is_none() && !(self.how.is_private)(&full, stat.kind == Type::Folder) {
                self.push(deleted(full.clone(), Some(&stat)))?;
                if stat.kind == Type::Folder {
                    self.gone(&full)?;
                }
            }
        }
        Ok(())
    }

    fn small(&mut self, spot: Spot<'_>) -> Result<(), LayerError> {
        let doing = || at("read", &spot.path);
        let kind = match spot.stat.kind {
            Type::Symlink => Kind::Symlink {
                target: sys::readlink(spot.folder, spot.name).map_err(doing())?,
            },
            Type::Pipe => Kind::Pipe,
            Type::Socket => Kind::Socket,
            Type::Device | Type::Whiteout | Type::File | Type::Folder => Kind::Device,
        };
        let attributes = attributes(&spot.stat, Vec::new());
        let same = spot.was.is_some_and(|was| {
            was.kind == spot.stat.kind
                && same_attributes(&attributes, &was, &[])
                && was.mtime == attributes.mtime
        });
        if same {
            let target = spot.below.map(|below| sys::readlink(below, spot.name));
            let alike = match (&kind, target) {
                (Kind::Symlink { target }, Some(Ok(other))) => *target == other,
                (Kind::Symlink { .. }, _) => false,
                _ => true,
            };
            if alike {
                return Ok(());
            }
        }
        let was = was(spot.was.as_ref());
        self.push(Entry {
            path: spot.path,
            kind,
            was,
            extent: Extent::Whole,
            attributes,
        })
    }

    /// The workspace's own folder: only its time counts.
    fn root(&mut self) -> Result<(), LayerError> {
        let doing = || at("look at", b"");
        let (upper, below) = (
            sys::stat(&self.upper).map_err(doing())?,
            sys::stat(&self.workspace).map_err(doing())?,
        );
        if upper.mtime != below.mtime {
            self.times.push(Entry {
                path: Vec::new(),
                kind: Kind::Folder { opaque: false },
                was: Was::Folder,
                extent: Extent::FolderTime,
                attributes: Attributes {
                    mtime: upper.mtime,
                    ..attributes(&below, Vec::new())
                },
            });
        }
        Ok(())
    }

    /// Turns names of one file into one file and links to it.
    ///
    /// A name that is the same in the workspace stays untouched, and the others become names of it.
    fn link(&mut self) -> Result<(), LayerError> {
        self.grouped = 0;
        for mut names in std::mem::take(&mut self.groups).into_values() {
            names.sort_by(|one, other| path_order(&one.entry.path, &other.entry.path));
            let kept = names.iter().position(|name| name.same_as.is_some());
            let base = names.get(kept.unwrap_or(0));
            let Some((to, stays)) = base.map(|base| (base.entry.path.clone(), base.same_as)) else {
                continue;
            };
            let bytes = names.first().map_or(0, |name| size(&name.entry));
            // The bytes were counted once per name.
            let extra = names.len().saturating_sub(usize::from(stays.is_none())) as u64;
            self.bytes = self.bytes.saturating_sub(bytes.saturating_mul(extra));
            for Name { mut entry, same_as } in names {
                if entry.path == to {
                    if stays.is_none() {
                        self.push(entry)?;
                    }
                } else if stays.is_none() || same_as != stays {
                    entry.kind = Kind::Link { to: to.clone() };
                    entry.extent = Extent::Whole;
                    self.push(entry)?;
                }
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Result<ChangeSet, LayerError> {
        let busy: BTreeSet<Vec<u8>> = self
            .entries
            .iter()
            .filter(|entry| entry.extent == Extent::Whole && !entry.path.is_empty())
            .map(|entry| parent(&entry.path).to_vec())
            .collect();
        // What came and went in private changed the folder's time too, and shows nowhere.
        for entry in std::mem::take(&mut self.times) {
            if busy.contains(&entry.path) || !self.with_private.contains(&entry.path) {
                self.push(entry)?;
            }
        }
        let (mut entries, bytes) = (self.entries, self.bytes);
        entries.sort_by(|one, other| path_order(&one.path, &other.path));
        Ok(ChangeSet { entries, bytes })
    }
}

pub(super) fn is_opaque(raw: &[Attribute]) -> bool {
    raw.iter()
        .any(|(name, value)| name == b"user.overlay.opaque" && value == b"y")
}

const fn size(entry: &Entry) -> u64 {
    match entry.kind {
        Kind::File { bytes } => bytes,
        Kind::Deleted
        | Kind::Folder { .. }
        | Kind::Symlink { .. }
        | Kind::Link { .. }
        | Kind::Pipe
        | Kind::Socket
        | Kind::Device => 0,
    }
}

fn deleted(path: Vec<u8>, stat: Option<&Stat>) -> Entry {
    Entry {
        path,
        kind: Kind::Deleted,
        was: was(stat),
        extent: Extent::Whole,
        attributes: Attributes::default(),
    }
}
