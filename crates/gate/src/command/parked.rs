//! Changes of commands that were not applied: kept, looked at, applied by a person, dropped.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::json;
use tagout_ledger::{Kind, NewEvent};
use tagout_vocab::limits::PARKED_MAX;
use tagout_vocab::{CallId, Code, IntentId, SessionId, Timestamp};
use tagout_workspace::{Mark, files};

use super::folders::Folders;
use crate::engine::Engine;
use crate::error::GateError;
use crate::record;
use crate::store::Store;

/// One path of a parked set.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct ParkedPath {
    /// The path in the workspace; odd bytes are replaced.
    pub path: String,
    /// What the command did to it.
    pub change: String,
    /// The code of what stands against it, if something does.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub code: Option<String>,
    /// The same in words.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub why: Option<String>,
}

/// A set of changes that was not applied.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct Parked {
    /// Its id.
    pub id: String,
    /// The execution that made it.
    pub execution: CallId,
    /// The conversation.
    pub session: SessionId,
    /// The intent it was made for.
    pub intent: Option<IntentId>,
    /// The command line, without what looks like a secret.
    pub command: String,
    /// Since when it waits.
    pub at: Timestamp,
    /// Why it was not applied.
    pub code: String,
    /// The same in words.
    pub reason: String,
    /// What it would change, as many as are named.
    pub paths: Vec<ParkedPath>,
    /// How many paths it has in all.
    pub paths_total: usize,
    /// From when on changes in the workspace are someone else's.
    pub mark: Mark,
    /// The paths that still wait, where a person applied only a part; all of them without it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub remaining: Option<Vec<String>>,
}

/// What applying a parked set came to.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AppliedParked {
    /// The paths that changed.
    pub applied: Vec<String>,
    /// The paths that were left out.
    pub left_out: Vec<ParkedPath>,
    /// The execution under which it can be undone.
    pub execution: CallId,
    /// Until when.
    pub undoable_until: Timestamp,
}

const FOLDER: &str = "parked";

impl Store {
    fn parked_path(&self, id: &str) -> PathBuf {
        self.path(FOLDER, &format!("{}.json", Self::name_of(id)))
    }

    /// Keeps a set; refused when too many wait already.
    pub(crate) fn keep_parked(&self, parked: &Parked) -> Result<(), GateError> {
        let path = self.parked_path(&parked.id);
        if let Some(folder) = path.parent() {
            files::ensure_dir_private(folder)?;
        }
        let waiting = self.list(FOLDER)?.len();
        if waiting >= PARKED_MAX {
            return Err(GateError::TooMany {
                what: "parked sets of changes",
                max: PARKED_MAX,
            });
        }
        Self::write(&path, parked)
    }

    /// Every parked set, oldest first.
    pub(crate) fn parked(&self) -> Result<Vec<Parked>, GateError> {
        if !self.path(FOLDER, "").is_dir() {
            return Ok(Vec::new());
        }
        let mut all: Vec<Parked> = self.all(FOLDER)?;
        all.sort_by(|one, other| (one.at, &one.id).cmp(&(other.at, &other.id)));
        Ok(all)
    }

    pub(crate) fn one_parked(&self, id: &str) -> Result<Parked, GateError> {
        let unknown = || GateError::Unknown {
            what: "parked set of changes",
            id: id.to_owned(),
        };
        let path = self.parked_path(id);
        if !path.is_file() {
            return Err(unknown());
        }
        Self::read(&path)?.ok_or_else(unknown)
    }

    /// What is left of a set once a part of it was applied: nothing, or a smaller set.
    pub(crate) fn shrink_parked(
        &self,
        id: &str,
        remaining: Option<Vec<String>>,
    ) -> Result<(), GateError> {
        if remaining.is_none() {
            return self.drop_parked(id);
        }
        let parked = self.one_parked(id)?;
        let smaller = Parked {
            remaining,
            ..parked
        };
        Self::write(&self.parked_path(id), &smaller)
    }

    pub(crate) fn drop_parked(&self, id: &str) -> Result<(), GateError> {
        Ok(files::remove(&self.parked_path(id))?)
    }
}

impl Engine {
    /// Every set of changes that was not applied, oldest first.
    pub fn parked(&self) -> Result<Vec<Parked>, GateError> {
        self.inner.site.store.parked()
    }

    /// One of them, judged as things stand now.
    pub fn parked_set(&self, id: &str) -> Result<Parked, GateError> {
        let mut parked = self.inner.site.store.one_parked(id)?;
        let (paths, total) = self.judged_paths(&parked)?;
        parked.paths = paths;
        parked.paths_total = total;
        Ok(parked)
    }

    /// A person throws a set away.
    pub fn drop_parked(&self, id: &str, by: &str) -> Result<(), GateError> {
        let parked = self.inner.site.store.one_parked(id)?;
        let event = self.parked_event(&parked, json!({ "parked": id, "dropped": true }), by);
        drop(self.inner.ledger.append(&[event])?);
        self.inner.site.store.drop_parked(id)?;
        self.discard(&parked);
        Ok(())
    }

    /// The event of what a person does with a set.
    pub(super) fn parked_event(
        &self,
        parked: &Parked,
        data: serde_json::Value,
        by: &str,
    ) -> NewEvent {
        let now = self.inner.clockwork.now();
        let (clock, session) = ((&self.inner.clockwork, now), Some(&parked.session));
        let mut event = record::other(clock, Kind::Recovery, session, data);
        event.user_id = Some(by.to_owned());
        event.intent.clone_from(&parked.intent);
        event
    }

    /// The layer is of no use any more. One that stays is removed by the next cleaning.
    pub(super) fn discard(&self, parked: &Parked) {
        let folders = Folders::of(&self.inner.site.state);
        drop(tagout_sandbox::layer::remove(
            &folders.execution(&parked.execution),
        ));
    }
}

/// What a refusal of a parked set says about itself.
pub(crate) fn told(id: &str, code: Code) -> String {
    let what = if code == Code::Conflict {
        "someone else changed the same files"
    } else if code == Code::AuthorityFile {
        "it touches what decides about agents"
    } else if matches!(code, Code::ScopeViolation) {
        "not all of it is permitted"
    } else {
        "the command did not end well"
    };
    format!("nothing of it was applied ({what}); it is kept as `{id}` until a person decides")
}
