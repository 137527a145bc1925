//! Which files a commit brings: what differs from every commit that it stands on.

use std::collections::{BTreeMap, HashMap};

use tagout_vocab::limits::{
    GIT_HELD_BYTES_MAX, GIT_TIE_FILES_MAX, GIT_TREE_BYTES_MAX, GIT_TREE_DEPTH_MAX,
};

use super::object::Kind;
use super::{Commit, Oid, Repository};

/// Bytes that looking at an entry once more counts as.
const ENTRY_BYTES: usize = 64;

/// One entry of a folder.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Entry {
    name: Vec<u8>,
    kind: EntryKind,
    id: Oid,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum EntryKind {
    Folder,
    File,
    /// A link, or a repository of its own: neither has lines.
    Other,
}

/// A file that a commit brings.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Blob {
    /// Its path, from the root of the repository.
    pub(crate) path: Vec<u8>,
    pub(crate) id: Oid,
    /// What was there in the first commit that this one stands on.
    pub(crate) parent: Option<Oid>,
}

/// All that a commit brings.
#[derive(Debug, Default)]
pub(crate) struct Brought {
    pub(crate) files: Vec<Blob>,
    /// Whether there was more than is looked at, or something that could not be read.
    pub(crate) is_cut: bool,
}

fn entries(bytes: &[u8], wide: usize) -> Option<Vec<Entry>> {
    let mut rest = bytes;
    let mut found = Vec::new();
    while !rest.is_empty() {
        let blank = rest.iter().position(|byte| *byte == b' ')?;
        let (mode, left) = rest.split_at_checked(blank)?;
        let left = left.get(1..)?;
        let end = left.iter().position(|byte| *byte == 0)?;
        let (name, left) = left.split_at_checked(end)?;
        let (id, left) = left.get(1..)?.split_at_checked(wide)?;
        rest = left;
        found.push(Entry {
            name: name.to_vec(),
            kind: match mode {
                b"40000" | b"040000" => EntryKind::Folder,
                b"120000" | b"160000" => EntryKind::Other,
                _ => EntryKind::File,
            },
            id: Oid::from_bytes(id)?,
        });
    }
    Some(found)
}

/// Lists of folders that may be wanted again.
#[derive(Debug, Default)]
pub(super) struct Trees {
    held: HashMap<Oid, Vec<Entry>>,
    /// Bytes that they take.
    bytes: usize,
}

impl Trees {
    fn keep(&mut self, id: &Oid, list: &[Entry]) {
        let bytes: usize = list.iter().map(Entry::bytes).sum();
        if self.held.len() >= GIT_TIE_FILES_MAX
            || self.bytes.saturating_add(bytes) > GIT_HELD_BYTES_MAX
        {
            *self = Self::default();
        }
        if bytes <= GIT_HELD_BYTES_MAX {
            self.bytes = self.bytes.saturating_add(bytes);
            self.held.insert(id.clone(), list.to_vec());
        }
    }
}

impl Entry {
    /// Bytes that it takes.
    fn bytes(&self) -> usize {
        size_of::<Self>()
            .saturating_add(self.name.len())
            .saturating_add(self.id.as_bytes().len())
    }
}

/// One folder in a commit and in those that it stands on.
struct Folder {
    path: Vec<u8>,
    now: Oid,
    before: Vec<Option<Oid>>,
    depth: usize,
}

impl Repository {
    fn entries(&mut self, id: &Oid) -> Option<Vec<Entry>> {
        if let Some(known) = self.trees.held.get(id) {
            // A folder may be the same as many others, and they as many more.
            self.left
                .take((known.len() + 1).saturating_mul(ENTRY_BYTES))?;
            return Some(known.clone());
        }
        let bytes = self.whole(id, Kind::Tree, GIT_TREE_BYTES_MAX)?;
        let found = entries(&bytes, id.as_bytes().len())?;
        // The trees of a commit are wanted again for the one that stands on it.
        self.trees.keep(id, &found);
        Some(found)
    }

    fn named(&mut self, tree: Option<&Oid>) -> Option<BTreeMap<Vec<u8>, Entry>> {
        let Some(tree) = tree else {
            return Some(BTreeMap::new());
        };
        let all = self.entries(tree)?.into_iter();
        Some(all.map(|entry| (entry.name.clone(), entry)).collect())
    }

    /// What a commit brings, of no more than so many files; `None` if nobody can tell, because what
    /// it stands on is not here.
    pub(crate) fn brought(&mut self, commit: &Commit, files_max: usize) -> Option<Brought> {
        let mut before = Vec::new();
        for parent in &commit.parents {
            let parent = self.commit(parent)?;
            before.push(self.root(&parent));
        }
        let mut brought = Brought::default();
        let Some(now) = self.root(commit) else {
            return Some(brought);
        };
        if before.iter().flatten().any(|before| *before == now) {
            return Some(brought);
        }
        let mut folders = vec![Folder {
            path: Vec::new(),
            now,
            before,
            depth: 0,
        }];
        while let Some(folder) = folders.pop() {
            // Nobody wants to know how large the rest of a large commit is.
            if brought.files.len() >= files_max {
                brought.is_cut = true;
                break;
            }
            let found = self.look(&folder, (&mut folders, &mut brought), files_max);
            if found.is_none() {
                brought.is_cut = true;
            }
        }
        Some(brought)
    }

    fn look(
        &mut self,
        folder: &Folder,
        (folders, brought): (&mut Vec<Folder>, &mut Brought),
        files_max: usize,
    ) -> Option<()> {
        if folder.depth > GIT_TREE_DEPTH_MAX {
            return None;
        }
        let now = self.entries(&folder.now)?;
        let mut olds = Vec::with_capacity(folder.before.len());
        for old in &folder.before {
            olds.push(self.named(old.as_ref())?);
        }
        for entry in now {
            let was: Vec<Option<&Entry>> = olds.iter().map(|old| old.get(&entry.name)).collect();
            let is_same = |old: &&Entry| old.id == entry.id && old.kind == entry.kind;
            if was.iter().any(|old| old.as_ref().is_some_and(is_same)) {
                continue;
            }
            let mut path = folder.path.clone();
            path.extend_from_slice(&entry.name);
            let id_of = |kind| {
                move |old: Option<&Entry>| {
                    old.filter(|old| old.kind == kind).map(|old| old.id.clone())
                }
            };
            match entry.kind {
                EntryKind::Other => {}
                EntryKind::File if brought.files.len() >= files_max => {
                    brought.is_cut = true;
                }
                EntryKind::File => brought.files.push(Blob {
                    path,
                    parent: was.first().copied().and_then(id_of(EntryKind::File)),
                    id: entry.id,
                }),
                EntryKind::Folder => {
                    path.push(b'/');
                    folders.push(Folder {
                        path,
                        before: was.iter().copied().map(id_of(EntryKind::Folder)).collect(),
                        now: entry.id,
                        depth: folder.depth + 1,
                    });
                }
            }
        }
        Some(())
    }

    /// The workspace's folder in a commit.
    fn root(&mut self, commit: &Commit) -> Option<Oid> {
        let within = self.within.clone();
        self.descend(&commit.tree, &within, EntryKind::Folder)
    }

    /// A file of the workspace in a commit.
    pub(crate) fn at(&mut self, commit: &Commit, path: &str) -> Option<Oid> {
        let root = self.root(commit)?;
        self.descend(&root, path, EntryKind::File)
    }

    fn descend(&mut self, from: &Oid, path: &str, kind: EntryKind) -> Option<Oid> {
        let mut here = (EntryKind::Folder, from.clone());
        for name in path.split('/').filter(|name| !name.is_empty()) {
            if here.0 != EntryKind::Folder {
                return None;
            }
            let all = self.entries(&here.1)?;
            let entry = all.into_iter().find(|one| one.name == name.as_bytes())?;
            here = (entry.kind, entry.id);
        }
        (here.0 == kind).then_some(here.1)
    }
}
