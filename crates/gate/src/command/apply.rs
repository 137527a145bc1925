//! A person applies what a command changed and what was not applied then.

use serde::{Deserialize, Serialize};
use serde_json::json;
use tagout_ledger::NewEvent;
use tagout_sandbox::layer::{ChangeSet, Entry};
use tagout_vocab::{CallId, Code};
use tagout_workspace::{Error, Mark, RelPath};

use super::again::{self, Agreed};
use super::folders::Folders;
use super::parked::{AppliedParked, Parked, ParkedPath};
use super::private::Private;
use crate::changes::{self, StageError};
use crate::engine::{Engine, Inner};
use crate::error::GateError;
use crate::record;

/// What the journal carries for the ledger when a person applies a set.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SealedApply {
    /// The parked set, which is gone or smaller once this is told.
    pub(crate) parked: String,
    /// What of it still waits, if anything does.
    #[serde(default)]
    pub(crate) remaining: Option<Vec<String>>,
    /// Nothing about it comes before this event.
    pub(crate) after: u64,
    pub(crate) event: NewEvent,
}

impl SealedApply {
    /// Tells the ledger, unless it knows, that a person applied a set before a crash. The set does
    /// not wait any more, whether the ledger knew or not.
    pub(crate) fn tell(self, inner: &Inner) -> Result<(), GateError> {
        let reader = tagout_ledger::Reader::open(inner.ledger.dir())?;
        let mut is_told = false;
        for event in reader.events_from(self.after)? {
            is_told |= event?.body.event_id == self.event.event_id;
        }
        if !is_told {
            drop(inner.ledger.append(&[self.event])?);
        }
        match inner.site.store.shrink_parked(&self.parked, self.remaining) {
            // Its process got as far as that.
            Err(GateError::Unknown { .. }) => Ok(()),
            shrunk => shrunk,
        }
    }
}

impl Engine {
    /// What a parked set holds, read again from its layer.
    fn parked_changes(&self, parked: &Parked) -> Result<ChangeSet, GateError> {
        let folders = Folders::of(&self.inner.site.state);
        let upper = folders.execution(&parked.execution).join("upper");
        let words = super::Words::read()?;
        let private = Private::of(self.inner.workspace.root(), &words);
        let intent = parked.intent.as_ref();
        let is_private = |path: &[u8], folder: bool| {
            private.holds(path, folder, || super::owns(&self.inner, intent, path))
        };
        let set = super::read(&self.inner, &upper, &is_private)?;
        let Some(remaining) = &parked.remaining else {
            return Ok(set);
        };
        Ok(set.only(|entry| name_of(entry).is_some_and(|path| remaining.contains(&path))))
    }

    /// The paths of a parked set, judged as things stand now.
    pub(super) fn judged_paths(
        &self,
        parked: &Parked,
    ) -> Result<(Vec<ParkedPath>, usize), GateError> {
        let set = self.parked_changes(parked)?;
        let own = Folders::of(&self.inner.site.state).execution(&parked.execution);
        let (paths, _) = super::judged(&self.inner, parked.intent.as_ref(), (&set, &own));
        let total = paths.len();
        Ok((paths, total))
    }

    /// A person applies a parked set: all of it, or only what the intent owns. It is judged again;
    /// what gives authority is never applied this way, and someone else's work is not overwritten.
    pub fn apply_parked(
        &self,
        id: &str,
        by: &str,
        in_scope: bool,
    ) -> Result<AppliedParked, GateError> {
        let parked = self.inner.site.store.one_parked(id)?;
        let set = self.parked_changes(&parked)?;
        let own = Folders::of(&self.inner.site.state).execution(&parked.execution);
        let (paths, _) = super::judged(&self.inner, parked.intent.as_ref(), (&set, &own));
        let authority =
            |one: &&ParkedPath| one.code.as_deref() == Some(Code::AuthorityFile.as_str());
        if let Some(path) = paths.iter().find(authority).filter(|_| !in_scope) {
            return Err(GateError::NotApplied {
                id: id.to_owned(),
                why: format!("{} decides about agents; change it by hand", path.path),
                code: Code::AuthorityFile,
            });
        }
        let left_out: Vec<ParkedPath> = paths
            .iter()
            .filter(|one| in_scope && one.code.is_some())
            .cloned()
            .collect();
        refuse_a_bad_part(id, &paths, &left_out)?;
        let is_left = |entry: &Entry| {
            name_of(entry).is_some_and(|path| left_out.iter().any(|one| one.path == path))
        };
        let wanted = set.only(|entry| !is_left(entry));
        let applied = self.commit_or_meet(&parked, &wanted, (by, &left_out))?;
        if left_out.is_empty() {
            self.discard(&parked);
        }
        Ok(AppliedParked {
            left_out,
            ..applied
        })
    }

    /// Commits a set; where someone else changed the same since, tries again with what both did.
    fn commit_or_meet(
        &self,
        parked: &Parked,
        set: &ChangeSet,
        told: (&str, &[ParkedPath]),
    ) -> Result<AppliedParked, GateError> {
        let alone = (parked.mark, Agreed::new());
        let conflicts = match self.commit_parked(parked, (set, &alone), told) {
            Err(
                GateError::Workspace {
                    source: Error::Conflict { paths },
                }
                | GateError::Stage(StageError::Workspace(Error::Conflict { paths })),
            ) => paths,
            other => return other,
        };
        let own = Folders::of(&self.inner.site.state).execution(&parked.execution);
        let met = again::meet(&self.inner, (parked, &own), set, &conflicts)?;
        self.commit_parked(parked, (set, &met), told)
    }

    fn commit_parked(
        &self,
        parked: &Parked,
        (set, (mark, agreed)): (&ChangeSet, &(Mark, Agreed)),
        (by, left_out): (&str, &[ParkedPath]),
    ) -> Result<AppliedParked, GateError> {
        let text = self.inner.clockwork.id("x");
        let execution = CallId::new(&text).map_err(|source| GateError::Id { text, source })?;
        let upper = Folders::of(&self.inner.site.state)
            .execution(&parked.execution)
            .join("upper");
        let mut transaction = self.inner.workspace.begin(&execution)?;
        let own = set.only(|entry| !agreed.contains_key(&entry.path));
        changes::stage(&own, &upper, &mut transaction, mark)?;
        for (path, both) in agreed {
            let path = RelPath::new(path)?;
            if let Some(text) = &both.text {
                transaction.write(&path, text)?;
            }
            if let Some(mode) = both.mode {
                transaction.set_mode(&path, mode)?;
            }
        }
        let changed = record::path_changes(&transaction.staged()?);
        let merged = agreed.values().filter(|both| both.text.is_some()).count();
        let data = json!({
            "parked": parked.id, "applied": changed.len(), "leftOut": left_out.len(),
            "madeBy": parked.execution, "merged": merged,
        });
        let mut event = self.parked_event(parked, data, by);
        event.execution_id = Some(execution.to_string());
        event.paths.clone_from(&changed);
        let sealed = SealedApply {
            parked: parked.id.clone(),
            remaining: remaining(left_out),
            after: tagout_ledger::Reader::open(self.inner.ledger.dir())?.size()?,
            event: event.clone(),
        };
        let bytes = serde_json::to_vec(&sealed).map_err(|source| GateError::Damaged {
            path: "the journal's record".into(),
            source,
        })?;
        let committed = transaction.commit(self.inner.clockwork.now(), &bytes)?;
        let undoable_until = committed.undoable_until;
        event.undoable_until = Some(undoable_until);
        drop(self.inner.ledger.append(&[event])?);
        // Until it is confirmed, whoever comes after a crash does this.
        let store = &self.inner.site.store;
        store.shrink_parked(&parked.id, remaining(left_out))?;
        committed.confirm();
        Ok(AppliedParked {
            applied: changed.into_iter().map(|one| one.path).collect(),
            left_out: Vec::new(),
            execution,
            undoable_until,
        })
    }
}

fn name_of(entry: &Entry) -> Option<String> {
    let path = RelPath::new(&entry.path).ok()?;
    Some(path.to_string())
}

/// What still waits after a part was applied.
fn remaining(left_out: &[ParkedPath]) -> Option<Vec<String>> {
    let names = || left_out.iter().map(|one| one.path.clone()).collect();
    (!left_out.is_empty()).then(names)
}

/// A part that is nothing, or that would leave git's own records telling of files that are not
/// there, is not applied.
fn refuse_a_bad_part(
    id: &str,
    paths: &[ParkedPath],
    left_out: &[ParkedPath],
) -> Result<(), GateError> {
    let refused = |why: &str| {
        Err(GateError::NotApplied {
            id: id.to_owned(),
            why: why.to_owned(),
            code: Code::ScopeViolation,
        })
    };
    if left_out.is_empty() {
        return Ok(());
    }
    if left_out.len() == paths.len() {
        return refused("nothing of it is in scope; it stays parked");
    }
    let of_git = |one: &ParkedPath| one.path.split('/').any(|name| name == ".git");
    if paths.iter().any(of_git) {
        return refused("git's own records belong to the whole of it; it stays parked");
    }
    Ok(())
}
