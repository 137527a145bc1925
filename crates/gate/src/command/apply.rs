//! A person applies what a command changed and what was not applied then.

use serde::{Deserialize, Serialize};
use serde_json::json;
use tagout_ledger::NewEvent;
use tagout_sandbox::layer::{ChangeSet, Entry};
use tagout_vocab::{CallId, Code};
use tagout_workspace::RelPath;

use super::folders::Folders;
use super::parked::{AppliedParked, Parked, ParkedPath};
use super::private::Private;
use crate::changes;
use crate::engine::{Engine, Inner};
use crate::error::GateError;
use crate::record;

/// What the journal carries for the ledger when a person applies a set.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SealedApply {
    /// The parked set, which is gone once this is told.
    pub(crate) parked: String,
    /// Nothing about it comes before this event.
    pub(crate) after: u64,
    pub(crate) event: NewEvent,
}

impl SealedApply {
    /// Tells the ledger, unless it knows, that a person applied a set before a crash.
    pub(crate) fn tell(self, inner: &Inner) -> Result<(), GateError> {
        let reader = tagout_ledger::Reader::open(inner.ledger.dir())?;
        for event in reader.events_from(self.after)? {
            if event?.body.event_id == self.event.event_id {
                return Ok(());
            }
        }
        drop(inner.ledger.append(&[self.event])?);
        inner.site.store.drop_parked(&self.parked)
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
        Ok(super::read(&self.inner, &upper, &is_private)?)
    }

    /// The paths of a parked set, judged as things stand now.
    pub(super) fn judged_paths(
        &self,
        parked: &Parked,
    ) -> Result<(Vec<ParkedPath>, usize), GateError> {
        let set = self.parked_changes(parked)?;
        let (paths, _) = super::judged(&self.inner, parked.intent.as_ref(), &set);
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
        let (paths, _) = super::judged(&self.inner, parked.intent.as_ref(), &set);
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
        let is_left = |entry: &Entry| {
            let path = RelPath::new(&entry.path).map(|path| path.to_string());
            path.is_ok_and(|path| left_out.iter().any(|one| one.path == path))
        };
        let wanted = set.only(|entry| !is_left(entry));
        let applied = self.commit_parked(&parked, &wanted, (by, &left_out))?;
        self.inner.site.store.drop_parked(id)?;
        self.discard(&parked);
        Ok(AppliedParked {
            left_out,
            ..applied
        })
    }

    fn commit_parked(
        &self,
        parked: &Parked,
        set: &ChangeSet,
        (by, left_out): (&str, &[ParkedPath]),
    ) -> Result<AppliedParked, GateError> {
        let text = self.inner.clockwork.id("x");
        let execution = CallId::new(&text).map_err(|source| GateError::Id { text, source })?;
        let upper = Folders::of(&self.inner.site.state)
            .execution(&parked.execution)
            .join("upper");
        let mut transaction = self.inner.workspace.begin(&execution)?;
        changes::stage(set, &upper, &mut transaction, &parked.mark)?;
        let changed = record::path_changes(&transaction.staged()?);
        let data = json!({
            "parked": parked.id, "applied": changed.len(), "leftOut": left_out.len(),
            "madeBy": parked.execution,
        });
        let mut event = self.parked_event(parked, data, by);
        event.execution_id = Some(execution.to_string());
        event.paths.clone_from(&changed);
        let sealed = SealedApply {
            parked: parked.id.clone(),
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
        committed.confirm();
        Ok(AppliedParked {
            applied: changed.into_iter().map(|one| one.path).collect(),
            left_out: Vec::new(),
            execution,
            undoable_until,
        })
    }
}
