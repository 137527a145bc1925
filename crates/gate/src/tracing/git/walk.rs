//! Which commits nobody has looked at yet.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use tagout_vocab::limits::{GIT_HELD_BYTES_MAX, GIT_PUSHED_COMMITS_MAX, GIT_WALK_COMMITS_MAX};

use super::{Commit, Oid, Repository};

impl Repository {
    /// The commits that the head and the branches lead to, back to those that are known or older
    /// than the workspace, each after those that it stands on. What a branch or the head itself
    /// names is always looked at.
    pub(crate) fn news<E>(
        &mut self,
        since: i64,
        mut is_known: impl FnMut(&Oid) -> Result<bool, E>,
    ) -> Result<Vec<(Oid, Commit)>, E> {
        let mut seen = BTreeSet::new();
        let mut found = Vec::new();
        let mut left = GIT_HELD_BYTES_MAX;
        let tips = self.tips();
        let mut open: Vec<(Oid, bool)> = tips.into_iter().rev().map(|tip| (tip, true)).collect();
        while let Some((id, is_tip)) = open.pop() {
            if found.len() >= GIT_WALK_COMMITS_MAX || !seen.insert(id.clone()) || is_known(&id)? {
                continue;
            }
            let Some(commit) = self.commit(&id) else {
                continue;
            };
            if commit.made < since && !is_tip {
                continue;
            }
            let bytes = commit.bytes();
            if bytes > left {
                break;
            }
            left -= bytes;
            let parents = commit.parents.iter().rev();
            open.extend(parents.map(|parent| (parent.clone(), false)));
            found.push((id, commit));
        }
        Ok(in_order(found))
    }
}

impl Repository {
    /// The commits that other repositories have, as far back as is looked.
    pub(crate) fn pushed(&mut self) -> BTreeSet<Oid> {
        let mut seen = BTreeSet::new();
        let mut open: VecDeque<Oid> = self.remote_tips().into();
        while let Some(id) = open.pop_front() {
            if seen.len() < GIT_PUSHED_COMMITS_MAX
                && !seen.contains(&id)
                && let Some(commit) = self.commit(&id)
            {
                open.extend(commit.parents);
                seen.insert(id);
            }
        }
        seen
    }
}

/// Parents first.
fn in_order(found: Vec<(Oid, Commit)>) -> Vec<(Oid, Commit)> {
    let mut left: BTreeMap<Oid, Commit> = found.iter().cloned().collect();
    let mut ordered = Vec::with_capacity(found.len());
    let mut entered = BTreeSet::new();
    // Each commit lies on the stack twice: to be entered, and to be left after its parents.
    let mut open: Vec<(Oid, bool)> = found.into_iter().rev().map(|(id, _)| (id, true)).collect();
    while let Some((id, enters)) = open.pop() {
        if !enters {
            ordered.extend(left.remove_entry(&id));
        } else if let Some(commit) = left.get(&id)
            && entered.insert(id.clone())
        {
            let parents = commit.parents.iter().rev();
            let parents: Vec<(Oid, bool)> = parents.map(|id| (id.clone(), true)).collect();
            open.push((id, false));
            open.extend(parents);
        }
    }
    ordered
}
