//! Invariant 7: what a run would change is judged before any of it is applied.
//!
//! It takes the changes of a set and the intent that they are for, wherever the set comes from: a
//! tool's transaction, or the layer that a command has written to.

use std::collections::BTreeSet;

use tagout_policy::scope::{Scope, Subject};
use tagout_vocab::limits::REFUSAL_PATHS_MAX;
use tagout_vocab::{Code, Gate, IntentId, WorkspacePath};
use tagout_workspace::{Change, ChangeKind, RelPath};

use crate::engine::Inner;
use crate::failure::{Failure, FailureKind};
use crate::lifecycle::Cause;

/// One change that is beyond what an intent permits.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Beyond {
    pub(crate) path: RelPath,
    pub(crate) code: Code,
    pub(crate) why: String,
}

/// What an intent owns, read once for all paths of a set.
struct Bounds<'a> {
    inner: &'a Inner,
    intent: Option<&'a IntentId>,
    /// Every one of them has to own a path. One that can't be read owns nothing.
    scopes: Vec<Option<Scope>>,
}

impl<'a> Bounds<'a> {
    fn new(inner: &'a Inner, intent: Option<&'a IntentId>) -> Self {
        let books = &inner.shelf.books;
        let known = intent.and_then(|id| books.intents.get(id));
        let waiting = known.and_then(|intent| inner.shelf.also_within.get(&intent.id));
        let scopes = known.map(|intent| &intent.owned_scope).into_iter();
        let scopes = scopes
            .chain(waiting)
            .map(|scope| Scope::parse(scope).ok())
            .collect();
        Self {
            inner,
            intent: known.map(|intent| &intent.id),
            scopes,
        }
    }

    /// What stands against changing a path, or against making a folder there.
    fn against(&self, path: &WorkspacePath, makes_folder: bool) -> Option<(Code, String)> {
        let books = &self.inner.shelf.books;
        let case = self.inner.case;
        if let Some(why) = books.catalogue.is_authority(path) {
            return Some((Code::AuthorityFile, why.to_owned()));
        }
        let violation = |why: String| Some((Code::ScopeViolation, why));
        if let Some(line) = books.ignored(path, case) {
            return violation(format!("protected by the ignore file: `{line}`"));
        }
        if let Some(denied) = books.law.protected(path, case) {
            return violation(format!("protected by the policy: `{}`", denied.entry));
        }
        let Some(intent) = self.intent else {
            return violation("no intent was active".to_owned());
        };
        let path = Subject::new(path, case);
        let owns = |scope: &Option<Scope>| {
            scope.as_ref().is_some_and(|scope| {
                scope.owns_subject(&path).is_yes() || (makes_folder && scope.lies_beneath(&path))
            })
        };
        if self.scopes.iter().all(owns) {
            return None;
        }
        violation(format!("outside the scope of {intent}"))
    }
}

/// Says of one path after the other whether an intent may change it.
pub(crate) fn owner<'a>(
    inner: &'a Inner,
    intent: Option<&'a IntentId>,
) -> impl Fn(&WorkspacePath) -> bool + 'a {
    let bounds = Bounds::new(inner, intent);
    move |path| bounds.against(path, false).is_none()
}

/// Says of one path after the other what stands against an intent's changing it.
pub(crate) fn against<'a>(
    inner: &'a Inner,
    intent: Option<&'a IntentId>,
) -> impl Fn(&WorkspacePath) -> Option<String> + 'a {
    let bounds = Bounds::new(inner, intent);
    move |path| bounds.against(path, false).map(|(_, why)| why)
}

/// Every folder that leads to a change.
fn ways(changes: &[Change]) -> BTreeSet<RelPath> {
    let mut found = BTreeSet::new();
    for change in changes {
        let mut above = change.path.parent();
        while let Some(folder) = above {
            above = folder.parent();
            if !found.insert(folder) {
                break;
            }
        }
    }
    found
}

/// The changes of a set that an intent does not permit, in the set's order.
///
/// A folder that is made on the way to a path is part of making that path, which is judged itself.
/// One that is made without anything in it may lead to what the intent owns. `is_folder` is asked
/// about what has no content, which may be a link as well.
pub(crate) fn beyond(
    inner: &Inner,
    intent: Option<&IntentId>,
    changes: &[Change],
    is_folder: impl Fn(&RelPath) -> bool,
) -> Vec<Beyond> {
    let bounds = Bounds::new(inner, intent);
    let ways = ways(changes);
    let is_made = |change: &Change| change.kind == ChangeKind::Created && change.after.is_none();
    let is_way = |change: &Change| is_made(change) && ways.contains(&change.path);
    let judged = |change: &Change| {
        let against = match change.path.to_workspace() {
            Ok(path) => bounds.against(&path, is_made(change) && is_folder(&change.path)),
            Err(_) => Some((Code::ScopeViolation, "its name is not text".to_owned())),
        };
        against.map(|(code, why)| Beyond {
            path: change.path.clone(),
            code,
            why,
        })
    };
    let own = changes.iter().filter(|change| !is_way(change));
    own.filter_map(judged).collect()
}

/// Refuses a set of which any part is beyond what was permitted. Nothing of it was applied.
pub(crate) fn permitted(
    inner: &Inner,
    intent: Option<&IntentId>,
    changes: &[Change],
    is_folder: impl Fn(&RelPath) -> bool,
) -> Result<(), Failure> {
    refused(&beyond(inner, intent, changes, is_folder))
}

/// The refusal that follows from what was found; authority is named before scope.
pub(crate) fn refused(found: &[Beyond]) -> Result<(), Failure> {
    let authority = found.iter().find(|one| one.code == Code::AuthorityFile);
    let Some(first) = authority.or_else(|| found.first()) else {
        return Ok(());
    };
    let gate = if first.code == Code::AuthorityFile {
        Gate::Authority
    } else {
        Gate::Scope
    };
    let message = format!(
        "it would change {}: {} ({})",
        first.path,
        first.why,
        gate.as_str()
    );
    let (kind, cause) = (FailureKind::Execution, Cause::ScopeViolated);
    let mut failure = Failure::new(kind, cause, first.code, message);
    let named = found.iter().take(REFUSAL_PATHS_MAX);
    failure.more.paths = named.map(|one| one.path.to_string()).collect();
    Err(failure)
}
