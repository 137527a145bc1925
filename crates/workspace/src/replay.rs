//! After the machine lost power: files may have any state that an unfinished write-back leaves.
//!
//! Every path since the last checkpoint is compared with all states that the journal knows for it.
//! A state that the journal knows, or a torn piece of one that Tagout wrote, becomes the last known
//! state; anything else is someone else's work and stays.

use std::collections::BTreeMap;

use crate::engine::{Engine, Spot, may_be_again};
use crate::error::{Clash, ConflictPath, Error, at};
use crate::journal::Segment;
use crate::journal::done::Done;
use crate::journal::frame::Frame;
use crate::journal::record::Unit;
use crate::look::{self, Keep};
use crate::make::{self, Blobs, Links};
use crate::node::{Identity, Item, Node};
use crate::recover::{Recovery, segment_done};
use crate::relpath::RelPath;
use crate::sys::{self, Rename};
use crate::workspace::Workspace;
use crate::writers;

/// One state that a path had.
pub(crate) struct Known<'a> {
    item: Option<&'a Item>,
    blobs: Blobs<'a>,
    /// Tagout wrote it in this window, so a power loss may have torn it.
    ours: bool,
    /// Which file it was, where that is known.
    identity: Option<Identity>,
}

/// Every state that each path had in one segment, oldest first.
pub(crate) type Chains<'a> = BTreeMap<RelPath, Vec<Known<'a>>>;

/// What is to be done with one path.
enum Finding {
    Right,
    Repair,
    Foreign,
}

impl Workspace {
    pub(crate) fn replay(
        &self,
        segment: &Segment,
        frames: &[Frame],
        (done, recovery): (&[Done], &mut Recovery),
    ) -> Result<(), Error> {
        let chains = self.chains(frames, done);
        let mut leftovers = Vec::new();
        for frame in frames {
            let engine = self.engine(segment.number, frame);
            clear_leftovers(&engine, &chains, (&mut leftovers, recovery))?;
        }
        let mut repairs: Vec<(&RelPath, &Known<'_>)> = Vec::new();
        for (path, chain) in &chains {
            let Some(last) = chain.last() else {
                continue;
            };
            match self.find(path, chain, leftovers.contains(path))? {
                Finding::Right => {}
                Finding::Repair => repairs.push((path, last)),
                Finding::Foreign => recovery.conflicts.push(ConflictPath {
                    path: path.to_string(),
                    found: Clash::Changed,
                    kept: None,
                }),
            }
        }
        recovery.repaired += repairs.len();
        // Away first and innermost first, so that a file can take the place of a folder.
        for (path, last) in repairs.iter().rev() {
            self.clear(path, last.item, recovery)?;
        }
        for (path, last) in &repairs {
            if let Some(item) = last.item {
                self.install(path, item, last.blobs)?;
            }
        }
        Ok(())
    }

    pub(crate) fn chains<'a>(&'a self, frames: &'a [Frame], done: &[Done]) -> Chains<'a> {
        let mut chains = Chains::new();
        for frame in frames {
            let blobs = Blobs {
                inline: &frame.inline,
                images: &self.state.images,
            };
            let installed = segment_done(done, frame).map(|one| one.installed.as_slice());
            for (index, unit) in frame.record.units.iter().enumerate() {
                // The workspace's own folder can't be lost, only its time can.
                for (sub, (before, after)) in unit.pairs() {
                    let path = unit.path.join(sub);
                    if path.is_root() {
                        continue;
                    }
                    let chain = chains.entry(path).or_default();
                    let identity = before.and_then(|item| item.identity);
                    let was = || Known {
                        item: before,
                        blobs,
                        ours: false,
                        identity,
                    };
                    // Someone may have worked on it between two records.
                    if chain.last().is_none_or(|last| !is(last.item, before)) {
                        chain.push(was());
                    }
                    let identity = installed
                        .filter(|_| sub.is_root())
                        .and_then(|all| all.get(index).copied().flatten());
                    chain.push(Known {
                        item: after,
                        blobs,
                        ours: true,
                        identity,
                    });
                    if frame.aborted {
                        chain.push(was());
                    }
                }
            }
        }
        chains
    }

    fn find(&self, path: &RelPath, chain: &[Known<'_>], leftover: bool) -> Result<Finding, Error> {
        let actual = match self.root.parent(path) {
            Ok((folder, name)) => look::node(&folder, name, path, Keep::Nothing)?,
            // A folder on the way was not written back, or gave way to a file.
            Err(Error::Missing { .. } | Error::Conflict { .. }) => None,
            Err(error) => return Err(error),
        };
        let Some((last, earlier)) = chain.split_last() else {
            return Ok(Finding::Right);
        };
        if is(last.item, actual.as_ref()) {
            return Ok(Finding::Right);
        }
        let Some(actual) = actual else {
            let way = path.parent().is_none_or(|above| {
                !matches!(self.root.stat(&above), Ok(Some(stat)) if stat.kind == sys::Kind::Dir)
            });
            let known = chain.iter().any(|known| known.item.is_none());
            return Ok(if known || leftover || way {
                Finding::Repair
            } else {
                Finding::Foreign
            });
        };
        let seen = earlier.iter().any(|known| {
            is(known.item, Some(&actual)) && identified(known, last, actual.identity.as_ref())
        });
        if seen {
            return Ok(Finding::Repair);
        }
        let bytes = read_file(self.root.handle(), path);
        let torn_piece = bytes.is_some_and(|bytes| {
            // A file that is filled again is first as empty as it was long.
            is_hollow(chain, &bytes)
                || chain
                    .iter()
                    .filter(|known| known.ours)
                    .filter_map(|known| known.item.map(|item| (item, known.blobs)))
                    .any(|(item, blobs)| torn(&item.node, &bytes, blobs))
        });
        // Attributes that were not written back: the content is ours, the rest is an earlier
        // state's.
        let half = chain
            .iter()
            .any(|known| known.item.is_some_and(|item| item.node.same(&actual.node)))
            && chain.iter().any(|known| {
                known
                    .item
                    .is_some_and(|item| item.meta.satisfied_by(&actual.meta))
            });
        Ok(if torn_piece || half {
            Finding::Repair
        } else {
            Finding::Foreign
        })
    }

    /// Makes room for what shall stand under a path.
    fn clear(
        &self,
        path: &RelPath,
        wanted: Option<&Item>,
        recovery: &mut Recovery,
    ) -> Result<(), Error> {
        let Ok((folder, name)) = self.root.parent(path) else {
            return Ok(());
        };
        let Ok(stat) = sys::stat_at(&folder, name) else {
            return Ok(());
        };
        let is_dir = stat.kind == sys::Kind::Dir;
        if wanted.is_some_and(|item| item.node.is_dir() == is_dir) {
            return Ok(());
        }
        let removed = if is_dir {
            sys::rmdir(&folder, name)
        } else {
            sys::unlink(&folder, name)
        };
        match removed {
            Err(error) if sys::is_not_empty(&error) => {
                let (path, found) = (path.to_string(), Clash::FolderGrew);
                recovery.conflicts.push(ConflictPath {
                    path,
                    found,
                    kept: None,
                });
                Ok(())
            }
            Err(error) => Err(Error::io("remove", path.to_string(), error)),
            Ok(()) => Ok(()),
        }
    }

    fn install(&self, path: &RelPath, item: &Item, blobs: Blobs<'_>) -> Result<(), Error> {
        let (folder, name) = match self.root.parent(path) {
            // What stands on the way is someone else's and was reported.
            Err(Error::Missing { .. } | Error::Conflict { .. }) => return Ok(()),
            other => other?,
        };
        let doing = || at("restore", path.to_string());
        if item.node.is_dir() {
            match sys::mkdir(&folder, name, 0o700) {
                Err(error) if !sys::is_taken(&error) => return Err(doing()(error)),
                Ok(()) | Err(_) => {}
            }
            return match sys::open_dir(&folder, name) {
                Ok(opened) => make::finish(&opened, &item.meta).map_err(doing()),
                Err(error) if sys::is_not_a_folder(&error) => Ok(()),
                Err(error) => Err(doing()(error)),
            };
        }
        let temporary = b".tagout-replay";
        make::remove(&folder, temporary).map_err(doing())?;
        let top = Item {
            sub: RelPath::root(),
            ..item.clone()
        };
        let maker = make::Maker {
            root: &self.root,
            blobs,
            links: &Links::default(),
        };
        let items = std::slice::from_ref(&top);
        make::tree(maker, (&folder, temporary), (path, items))?;
        sys::rename((&folder, temporary), (&folder, name), Rename::Replace).map_err(doing())
    }
}

/// Removes what a swap left under temporary names; something foreign is kept beside its path.
fn clear_leftovers(
    engine: &Engine<'_>,
    chains: &Chains<'_>,
    (leftovers, recovery): (&mut Vec<RelPath>, &mut Recovery),
) -> Result<(), Error> {
    for (index, unit) in engine.units() {
        let Ok(spot) = engine.spot(index, unit) else {
            continue;
        };
        for name in [&spot.temporary, &spot.aside] {
            if clear_leftover((engine, chains), (&spot, name, unit), recovery)? {
                leftovers.push(unit.path.clone());
            }
        }
    }
    Ok(())
}

/// Removes what a process of this boot left that died while it made the trees.
///
/// Only a file that was filled again was ever seen under another name, and may hold someone else's
/// work.
pub(crate) fn clear_pieces(
    engine: &Engine<'_>,
    chains: &Chains<'_>,
    recovery: &mut Recovery,
) -> Result<(), Error> {
    for (index, unit) in engine.units() {
        let spot = match engine.spot(index, unit) {
            Ok(spot) => spot,
            Err(Error::Missing { .. } | Error::Conflict { .. }) => continue,
            Err(error) => return Err(error),
        };
        if may_be_again(unit) {
            let place = (&spot, spot.temporary.as_slice(), unit);
            clear_leftover((engine, chains), place, recovery)?;
        } else {
            make::remove(&spot.folder, &spot.temporary)
                .map_err(at("clean up after", unit.path.to_string()))?;
        }
    }
    Ok(())
}

/// Removes one leftover, or keeps it beside its path if it is foreign or someone may write it;
/// answers whether there was one.
///
/// A new file may be made of one that the same path had earlier, so every state of the path
/// may be found there, whole or in pieces.
fn clear_leftover(
    (engine, chains): (&Engine<'_>, &Chains<'_>),
    (spot, name, unit): (&Spot<'_>, &[u8], &Unit),
    recovery: &mut Recovery,
) -> Result<bool, Error> {
    let found = look::tree(&spot.folder, name, &unit.path, Keep::Nothing)?;
    if found.is_empty() {
        return Ok(false);
    }
    let held = writers::held(engine.options.writers, &[(&spot.folder, name)])?;
    let known = found.iter().all(|one| {
        let chain = chains.get(&unit.path.join(&one.sub));
        chain.into_iter().flatten().any(|known| {
            known.item.is_some_and(|item| {
                item.node.same(&one.node) || torn_at(&spot.folder, name, (item, one, known.blobs))
            })
        })
    });
    if known && held.is_empty() {
        make::remove(&spot.folder, name).map_err(at("clean up after", unit.path.to_string()))?;
    } else {
        let kept = engine.keep_beside(spot, name, unit)?;
        recovery.conflicts.push(kept);
    }
    Ok(true)
}

fn torn_at(
    folder: &sys::Handle,
    name: &[u8],
    (item, found, blobs): (&Item, &Item, Blobs<'_>),
) -> bool {
    let Ok(top) = RelPath::new(name) else {
        return false;
    };
    let path = top.join(&found.sub);
    read_file(folder, &path).is_some_and(|bytes| torn(&item.node, &bytes, blobs))
}

fn is(known: Option<&Item>, actual: Option<&Item>) -> bool {
    match (known, actual) {
        (None, None) => true,
        (Some(known), Some(actual)) => {
            known.node.same(&actual.node)
                && (matches!(known.node, Node::Symlink { .. })
                    || known.meta.satisfied_by(&actual.meta))
        }
        (None, Some(_)) | (Some(_), None) => false,
    }
}

/// Whether a file with an earlier state's content is that earlier file, and not one that someone
/// wrote again after the last change was installed.
///
/// The device's number may be another one after a boot.
fn identified(known: &Known<'_>, last: &Known<'_>, actual: Option<&Identity>) -> bool {
    match (known.identity, last.identity, actual) {
        (Some(known), Some(_), Some(actual)) => {
            (known.ino, known.size, known.mtime) == (actual.ino, actual.size, actual.mtime)
        }
        (None, _, _) | (_, None, _) | (_, _, None) => true,
    }
}

fn read_file(root: &sys::Handle, path: &RelPath) -> Option<Vec<u8>> {
    let file = sys::open_read(root, path.as_bytes()).ok()?;
    if sys::stat(&file).ok()?.kind != sys::Kind::File {
        return None;
    }
    let mut bytes = Vec::new();
    std::io::Read::read_to_end(&mut file.into_file(), &mut bytes).ok()?;
    Some(bytes)
}

/// Whether bytes are nothing but zeros, and no more of them than a state of the path had bytes.
fn is_hollow(chain: &[Known<'_>], bytes: &[u8]) -> bool {
    let longest = chain.iter().filter_map(|known| match &known.item?.node {
        Node::File { size, .. } => Some(*size),
        Node::Symlink { .. } | Node::Dir | Node::Pipe | Node::Socket => None,
    });
    bytes.len() as u64 <= longest.max().unwrap_or(0) && bytes.iter().all(|byte| *byte == 0)
}

/// The smallest piece that a disk writes as a whole.
const SECTOR_BYTES: usize = 512;

/// Whether bytes are what an unfinished write-back leaves of a file: nothing longer, and every
/// sector either written or still empty.
pub(crate) fn torn(node: &Node, found: &[u8], blobs: Blobs<'_>) -> bool {
    let Node::File {
        digest,
        size,
        place,
    } = node
    else {
        return false;
    };
    if found.len() as u64 > *size {
        return false;
    }
    blobs.read(digest, *size, place).is_ok_and(|whole| {
        found
            .chunks(SECTOR_BYTES)
            .zip(whole.chunks(SECTOR_BYTES))
            .all(|(found, whole)| whole.starts_with(found) || found.iter().all(|byte| *byte == 0))
    })
}
