//! A repository of git, read from its files; nothing of git is run.
//!
//! Whatever can't be read (a shallow or partial clone, another form of refs, damage) is as if it
//! were not there: a commit that nobody can look into is tied to nothing.

mod commit;
mod object;
mod pack;
mod refs;
mod tree;
mod walk;

use std::path::{Path, PathBuf};

use tagout_vocab::limits::{
    GIT_ALTERNATES_MAX, GIT_READ_BYTES_MAX, GIT_SMALL_BYTES_MAX, GIT_TREE_BYTES_MAX,
};
use tagout_workspace::files;

pub(super) use object::Oid;
pub(super) use tree::{Blob, Brought};

use commit::Commit;
use object::{Kind, Object};
use pack::Pack;

fn text(path: &Path, max: u64) -> Option<String> {
    let bytes = files::read(path, max).ok().flatten()?;
    String::from_utf8(bytes).ok()
}

/// An open repository.
#[derive(Debug)]
pub(super) struct Repository {
    /// The folder of this worktree.
    folder: PathBuf,
    /// The folder that all worktrees share.
    common: PathBuf,
    stores: Vec<PathBuf>,
    /// The workspace's folder within the worktree; empty if they are the same.
    within: String,
    packs: Option<Vec<Pack>>,
    trees: tree::Trees,
    left: Left,
}

/// How many bytes may still be made from what the repository holds. Little in a file may be much
/// when it is put together: compressed, as differences to itself, as folders in each other.
#[derive(Clone, Copy, Debug)]
struct Left(usize);

impl Left {
    /// Takes so many, if there are so many.
    fn take(&mut self, bytes: usize) -> Option<()> {
        self.0 = self.0.checked_sub(bytes)?;
        Some(())
    }
}

impl Repository {
    /// The repository that a folder lies in; `None` if it lies in none.
    pub(super) fn open(root: &Path) -> Option<Self> {
        let mut above = root.ancestors();
        let (top, folder) = above.find_map(|top| Some((top, folder(top)?)))?;
        let within = root.strip_prefix(top).ok()?.to_str()?.to_owned();
        let common = text(&folder.join("commondir"), GIT_SMALL_BYTES_MAX)
            .map_or_else(|| folder.clone(), |name| folder.join(name.trim_end()));
        let stores = stores(common.join("objects"));
        Some(Self {
            folder,
            common,
            stores,
            within,
            packs: None,
            trees: tree::Trees::default(),
            left: Left(GIT_READ_BYTES_MAX),
        })
    }

    fn packs(&mut self) -> &mut Vec<Pack> {
        let stores = &self.stores;
        self.packs
            .get_or_insert_with(|| stores.iter().flat_map(|store| pack::all(store)).collect())
    }

    /// An object of at most so many bytes.
    fn object(&mut self, id: &Oid, max: usize) -> Option<Object> {
        let loose = self
            .stores
            .iter()
            .find_map(|one| object::loose(one, id, max));
        if let Some(found) = loose {
            self.left.take(found.bytes.len())?;
            return Some(found);
        }
        let mut left = self.left;
        let found = pack::object(self.packs(), id, max, &mut left);
        self.left = left;
        found
    }

    fn whole(&mut self, id: &Oid, kind: Kind, max: usize) -> Option<Vec<u8>> {
        let found = self.object(id, max)?;
        (found.kind == kind).then_some(found.bytes)
    }

    /// A commit.
    pub(super) fn commit(&mut self, id: &Oid) -> Option<Commit> {
        Commit::read(&self.whole(id, Kind::Commit, GIT_TREE_BYTES_MAX)?)
    }

    /// The content of a file.
    pub(super) fn blob(&mut self, id: &Oid, max: usize) -> Option<Vec<u8>> {
        self.whole(id, Kind::Blob, max)
    }
}

/// The folder of the repository whose worktree is here, also where a file points to it.
fn folder(top: &Path) -> Option<PathBuf> {
    let there = top.join(".git");
    if there.is_dir() {
        return Some(there);
    }
    let pointer = text(&there, GIT_SMALL_BYTES_MAX)?;
    let target = pointer.trim_end().strip_prefix("gitdir:")?;
    Some(top.join(target.trim_start()))
}

/// The object store, and those that it names beside itself.
fn stores(own: PathBuf) -> Vec<PathBuf> {
    let mut found = vec![own];
    let mut at = 0;
    while let Some(store) = found.get(at).cloned() {
        at += 1;
        let others = text(&store.join("info/alternates"), GIT_SMALL_BYTES_MAX).unwrap_or_default();
        for line in others.lines().filter(|line| !line.starts_with('#')) {
            let other = store.join(line);
            if found.len() <= GIT_ALTERNATES_MAX && !found.contains(&other) {
                found.push(other);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests;
