//! A command's change set before the judge: each path with what stands against it.

use std::path::Path;

use tagout_sandbox::layer::{
    self, ChangeSet, Entry, Extent, IsPrivate, Kind, LayerError, Reading, Was,
};
use tagout_vocab::limits::{RUN_TOTAL_BYTES_MAX, TRANSACTION_PATHS_MAX};
use tagout_vocab::{Code, Digest, IntentId};
use tagout_workspace::{Change, ChangeKind, RelPath, TakenBack};

use super::commits;
use super::parked::ParkedPath;
use super::settle::not_of_git;
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
    layer::read(
        upper,
        Reading {
            workspace: inner.workspace.root(),
            is_private,
            entries_max: TRANSACTION_PATHS_MAX,
            bytes_max: RUN_TOTAL_BYTES_MAX,
        },
    )
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
    let (mut paths, refused) = judged_changes(inner, intent, &changes, &|_| true);
    let beyond = commits::beyond(inner, intent, set, own);
    paths.extend(beyond.iter().map(|one| ParkedPath {
        path: one.path.to_string(),
        change: "committed".to_owned(),
        code: Some(one.code.as_str().to_owned()),
        why: Some(one.why.clone()),
    }));
    let refused = refused.and_then(|()| observed::refused(&beyond));
    if changes.len() < entries.len() {
        let message = "it would change a path that is none beneath the workspace".to_owned();
        let (kind, cause) = (FailureKind::Execution, Cause::ScopeViolated);
        let failure = Failure::new(kind, cause, Code::ScopeViolation, message);
        return (paths, Err(failure));
    }
    (paths, refused)
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
    judged_changes(inner, intent, &taken.changes, &is_folder)
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
