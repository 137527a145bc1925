//! Invariant 7: what was observed after running is judged again.

use tagout_policy::scope::{Owned, Scope};
use tagout_vocab::{CallId, Code, Gate, WorkspacePath};
use tagout_workspace::{Change, ChangeKind, Committed, Follow, ResolvedKind};

use crate::engine::Inner;
use crate::failure::{Failure, FailureKind};
use crate::lifecycle::Cause;
use crate::permit::Ticket;
use crate::run::Job;

/// Why a changed path is beyond what was permitted, if it is.
fn beyond(inner: &Inner, ticket: &Ticket, path: &WorkspacePath) -> Option<(Code, String)> {
    let books = &inner.shelf.books;
    if let Some(why) = books.catalogue.is_authority(path) {
        return Some((Code::AuthorityFile, why.to_owned()));
    }
    let violation = |why: String| Some((Code::ScopeViolation, why));
    if let Some(line) = books.ignored(path, inner.case) {
        return violation(format!("protected by the ignore file: `{line}`"));
    }
    if let Some(denied) = books.law.protected(path, inner.case) {
        return violation(format!("protected by the policy: `{}`", denied.entry));
    }
    let Some(intent) = ticket.intent.as_ref().and_then(|id| books.intents.get(id)) else {
        return violation("no intent was active".to_owned());
    };
    let waiting = inner.shelf.also_within.get(&intent.id);
    for scope in std::iter::once(&intent.owned_scope).chain(waiting) {
        let owned = Scope::parse(scope)
            .is_ok_and(|scope| matches!(scope.owns(path, inner.case), Owned::Yes(_)));
        if !owned {
            return violation(format!("outside the scope of {}", intent.id));
        }
    }
    None
}

/// A folder that was made on the way to a path is part of making that path.
fn is_way(inner: &Inner, change: &Change, all: &[Change]) -> bool {
    let made = change.kind == ChangeKind::Created && change.after.is_none();
    let leads = all
        .iter()
        .any(|other| other.path != change.path && other.path.is_beneath(&change.path));
    let folder = || {
        let path = change.path.to_workspace().ok()?;
        let found = inner.workspace.resolve(&path, Follow::Parents).ok()?;
        Some(found.kind == ResolvedKind::Folder)
    };
    made && leads && folder() == Some(true)
}

/// The first change that is beyond what was permitted.
fn first_beyond(job: &Job, changes: &[Change]) -> Option<(Code, String, String)> {
    let inner = &job.inner;
    changes
        .iter()
        .filter(|change| !is_way(inner, change, changes))
        .find_map(|change| {
            let shown = change.path.to_string();
            let Ok(path) = change.path.to_workspace() else {
                return Some((
                    Code::ScopeViolation,
                    shown,
                    "its name is not text".to_owned(),
                ));
            };
            beyond(inner, &job.ticket, &path).map(|(code, why)| (code, shown, why))
        })
}

/// Takes a committed change back if any part of it is beyond what was permitted.
pub(crate) fn judge_again(job: &Job, committed: Committed) -> Result<Committed, Failure> {
    let Some((code, path, why)) = first_beyond(job, &committed.changes) else {
        return Ok(committed);
    };
    let gate = if code == Code::AuthorityFile {
        Gate::Authority
    } else {
        Gate::Scope
    };
    let message = format!("the tool changed {path}: {why} ({})", gate.as_str());
    let mut failure = Failure::new(FailureKind::Execution, Cause::ScopeViolated, code, message);
    failure.more.paths = vec![path];
    if let Err(error) = take_back(job) {
        failure.more.left = committed
            .changes
            .iter()
            .map(|one| one.path.to_string())
            .collect();
        failure.more.context = Some(format!("it could not be taken back: {error}"));
    }
    // The ledger hears of the abort from whoever gets this failure; the record itself is closed.
    committed.confirm();
    Err(failure)
}

fn take_back(job: &Job) -> Result<(), tagout_workspace::Error> {
    let undo = CallId::new(&format!("{}.undo", job.ticket.execution));
    let undo = undo.unwrap_or_else(|_| job.ticket.execution.clone());
    let mut transaction = job.inner.workspace.begin(&undo)?;
    transaction.revert(&job.ticket.execution)?;
    let undone = transaction.commit(job.inner.clockwork.now(), b"")?;
    undone.confirm();
    Ok(())
}
