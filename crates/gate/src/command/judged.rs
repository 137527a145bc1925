//! A command's change set before the judge: each path with what stands against it.

use std::path::Path;

use tagout_sandbox::layer::{
    self, ChangeSet, Entry, Extent, IsPrivate, Kind, LayerError, Reading, Was,
};
use tagout_vocab::limits::{RUN_TOTAL_BYTES_MAX, TRANSACTION_PATHS_MAX};
use tagout_vocab::{Code, Digest, IntentId};
use tagout_workspace::{Change, ChangeKind, RelPath, TakenBack};

use super::parked::ParkedPath;
use super::settle::not_of_git;
use super::{bare, commits, planted};
use crate::changes::git::{self, GitPath};
use crate::engine::Inner;
use crate::failure::{Failure, FailureKind};
use crate::lifecycle::Cause;
use crate::observed;

/// Reads a layer against the workspace.
pub(crate) fn read(
    inner: &Inner,
    upper: &Path,
    is_private: IsPrivate<'_>,
) -> Result<ChangeSet, LayerError> {
    let how = Reading {
        workspace: inner.workspace.root(),
        is_private,
        entries_max: TRANSACTION_PATHS_MAX,
        bytes_max: RUN_TOTAL_BYTES_MAX,
    };
    let set = layer::read(upper, how)?;
    if set.entries.iter().any(|entry| is_rewritten(inner, entry)) {
        return Ok(set.only(|entry| !is_rewritten(inner, entry)));
    }
    Ok(set)
}

/// Whether git wrote what it obeys once more as it was: `git branch -D` does that with its
/// configuration. Only the time would change, and that decides nothing.
fn is_rewritten(inner: &Inner, entry: &Entry) -> bool {
    let is_file = matches!(entry.kind, Kind::File { .. }) && entry.was == Was::File;
    let of_git = git::what(&entry.path) == GitPath::Authority;
    if !is_file || !of_git || entry.extent != Extent::Attributes {
        return false;
    }
    let Ok(path) = RelPath::new(&entry.path) else {
        return false;
    };
    let attributes = &entry.attributes;
    let stands = inner.workspace.stands(&path, 0);
    stands.ok().flatten().is_some_and(|there| {
        there.mode == attributes.mode
            && there.facts.owner == Some((attributes.uid, attributes.gid))
            && attributes.xattrs.is_empty()
    })
}

/// Whether an intent owns a path and nothing else stands against it.
pub(crate) fn owns(inner: &Inner, intent: Option<&IntentId>, path: &[u8]) -> bool {
    RelPath::new(path).is_ok_and(|path| {
        let change = Change {
            path,
            kind: ChangeKind::Modified,
            before: None,
            after: None,
            link_broken: false,
        };
        observed::beyond(inner, intent, &[change], |_| false).is_empty()
    })
}

fn kind_of(entry: &Entry) -> ChangeKind {
    match (&entry.kind, entry.was, entry.extent) {
        (Kind::Deleted, _, _) => ChangeKind::Deleted,
        (_, Was::Nothing, _) => ChangeKind::Created,
        (_, _, Extent::Attributes | Extent::FolderTime) => ChangeKind::Attributes,
        (_, _, Extent::Whole) => ChangeKind::Modified,
    }
}

const fn word(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Created => "created",
        ChangeKind::Modified => "modified",
        ChangeKind::Deleted => "deleted",
        ChangeKind::Attributes => "attributes",
    }
}

/// The change as the judge knows it. Digests are not needed here: only whether it is a folder.
fn change(entry: &Entry) -> Option<Change> {
    let folder = matches!(entry.kind, Kind::Folder { .. } | Kind::Deleted);
    Some(Change {
        path: RelPath::new(&entry.path).ok()?,
        kind: kind_of(entry),
        before: None,
        after: (!folder).then(|| Digest::of(b"")),
        link_broken: false,
    })
}

/// Every path of a set with what stands against it, and the refusal that follows.
pub(crate) fn judged(
    inner: &Inner,
    intent: Option<&IntentId>,
    (set, own): (&ChangeSet, &Path),
) -> (Vec<ParkedPath>, Result<(), Failure>) {
    let entries: Vec<&Entry> = set.judged().collect();
    let changes: Vec<Change> = entries.iter().filter_map(|entry| change(entry)).collect();
    // Only folders come without a digest here.
    let (mut paths, mut refused) = judged_changes(inner, intent, &changes, &|_| true);
    let mut planted = planted::beyond(inner, set, own);
    planted.extend(bare::beyond(inner, set, own));
    for one in &planted {
        let name = one.path.to_string();
        for path in paths.iter_mut().filter(|path| path.path == name) {
            path.code = Some(one.code.as_str().to_owned());
            path.why = Some(one.why.clone());
        }
    }
    refused = refused.and_then(|()| observed::refused(&planted));
    let further = [
        ("named", named_again(inner, intent, &entries)),
        ("committed", commits::beyond(inner, intent, set, own)),
    ];
    for (change, beyond) in further {
        paths.extend(beyond.iter().map(|one| ParkedPath {
            path: one.path.to_string(),
            change: change.to_owned(),
            code: Some(one.code.as_str().to_owned()),
            why: Some(one.why.clone()),
        }));
        refused = refused.and_then(|()| observed::refused(&beyond));
    }
    if changes.len() < entries.len() {
        let message = "it would change a path that is none beneath the workspace".to_owned();
        let (kind, cause) = (FailureKind::Execution, Cause::ScopeViolated);
        let failure = Failure::new(kind, cause, Code::ScopeViolation, message);
        return (paths, Err(failure));
    }
    (paths, refused)
}

/// The files that would get another name (a hard link) and may not be changed: whoever writes to
/// the new name changes them.
fn named_again(
    inner: &Inner,
    intent: Option<&IntentId>,
    entries: &[&Entry],
) -> Vec<observed::Beyond> {
    let mut beyond = Vec::new();
    for entry in entries {
        let Kind::Link { to } = &entry.kind else {
            continue;
        };
        // Git names its own objects twice for a moment.
        if git::what(&entry.path) == GitPath::Object && git::what(to) == GitPath::Object {
            continue;
        }
        let Ok(path) = RelPath::new(to) else {
            continue;
        };
        let change = [Change {
            path,
            kind: ChangeKind::Modified,
            before: None,
            after: Some(Digest::of(b"")),
            link_broken: false,
        }];
        beyond.extend(of_git(inner, &change));
        beyond.extend(observed::beyond(inner, intent, &change, |_| false));
    }
    for one in &mut beyond {
        one.why = format!("it would get another name; {}", one.why);
    }
    beyond
}

/// The same for changes that come from elsewhere, with who tells folders from links.
pub(crate) fn judged_changes(
    inner: &Inner,
    intent: Option<&IntentId>,
    changes: &[Change],
    is_folder: &dyn Fn(&RelPath) -> bool,
) -> (Vec<ParkedPath>, Result<(), Failure>) {
    let mut beyond = of_git(inner, changes);
    let own = not_of_git(changes, true);
    beyond.extend(observed::beyond(inner, intent, &own, is_folder));
    let paths = changes
        .iter()
        .map(|change| {
            let against = beyond.iter().find(|one| one.path == change.path);
            ParkedPath {
                path: change.path.to_string(),
                change: word(change.kind).to_owned(),
                code: against.map(|one| one.code.as_str().to_owned()),
                why: against.map(|one| one.why.clone()),
            }
        })
        .collect();
    (paths, observed::refused(&beyond))
}

/// The same for what was done in place and taken back.
pub(crate) fn judged_taken(
    inner: &Inner,
    intent: Option<&IntentId>,
    taken: &TakenBack,
) -> (Vec<ParkedPath>, Result<(), Failure>) {
    let is_folder = |path: &RelPath| taken.is_folder(path);
    let (mut paths, refused) = judged_changes(inner, intent, &taken.changes, &is_folder);
    let mut unseen: Vec<observed::Beyond> = taken.changes.iter().filter_map(unjudged).collect();
    let made = taken.changes.iter();
    let made = made.filter(|change| change.kind != ChangeKind::Deleted);
    let made = made.map(|change| change.path.as_bytes());
    unseen.extend(bare::beyond_written(inner, made));
    for one in &unseen {
        let name = one.path.to_string();
        for path in paths.iter_mut().filter(|path| path.path == name) {
            path.code = Some(one.code.as_str().to_owned());
            path.why = Some(one.why.clone());
        }
    }
    (paths, refused.and_then(|()| observed::refused(&unseen)))
}

/// What a command did in place to a repository within its scope. Git can be asked about commits
/// and objects only where they lie apart, so none of that can be judged here.
fn unjudged(change: &Change) -> Option<observed::Beyond> {
    let of_git = matches!(
        git::what(change.path.as_bytes()),
        GitPath::Object | GitPath::Ref | GitPath::Bookkeeping
    );
    of_git.then(|| observed::Beyond {
        path: change.path.clone(),
        code: Code::ScopeViolation,
        why: "what git commits can't be judged where commands write in place; a person commits"
            .to_owned(),
    })
}

/// What git runs or obeys gives authority, although git's folder belongs to no intent.
fn of_git(inner: &Inner, changes: &[Change]) -> Vec<observed::Beyond> {
    let catalogue = &inner.shelf.books.catalogue;
    let against = |change: &Change| {
        let known = change.path.to_workspace().ok();
        let known = known.and_then(|path| catalogue.is_authority(&path).map(ToOwned::to_owned));
        let worktrees = |name: &[u8]| name == b"worktrees";
        match git::what(change.path.as_bytes()) {
            GitPath::Worktree => None,
            GitPath::Authority if change.path.segments().any(worktrees) => {
                Some("a worktree is another workspace; a person makes it".to_owned())
            }
            GitPath::Authority => known.or_else(|| Some("git runs or obeys it".to_owned())),
            GitPath::Object | GitPath::Ref | GitPath::Bookkeeping => known,
        }
    };
    let beyond = |change: &Change| {
        against(change).map(|why| observed::Beyond {
            path: change.path.clone(),
            code: Code::AuthorityFile,
            why,
        })
    };
    changes.iter().filter_map(beyond).collect()
}
