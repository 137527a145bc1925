//! What each intent has used up, and which session holds it (H17).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tagout_trace::lessons;
use tagout_vocab::limits::{
    CONTEXT_TRACE_COUNT_MAX, LEASE_MS_MAX, LESSON_BYTES_MAX, RECORD_BYTES_MAX,
    SESSION_LOG_BYTES_MAX,
};
use tagout_vocab::{Digest, IntentId, SessionId, Timestamp};
use tagout_workspace::files;

use super::{Locked, Store};
use crate::error::GateError;
use crate::tool::Lesson;

/// The session that holds an intent.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub(crate) struct Lease {
    pub(crate) session: SessionId,
    pub(crate) until: Timestamp,
}

/// What is kept of an intent besides its declaration.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
pub(crate) struct IntentUse {
    pub(crate) calls: u64,
    pub(crate) time_ms: u64,
    pub(crate) lease: Option<Lease>,
}

impl IntentUse {
    /// Who holds it now, and until when.
    pub(crate) fn held(&self, now: Timestamp) -> Option<&Lease> {
        self.lease.as_ref().filter(|lease| now < lease.until)
    }

    /// Who holds it now.
    pub(crate) fn holder(&self, now: Timestamp) -> Option<&SessionId> {
        self.held(now).map(|lease| &lease.session)
    }
}

/// One execution that changed something for an intent.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub(crate) struct Done {
    pub(crate) at: Timestamp,
    pub(crate) seq: u64,
    pub(crate) tool: String,
    pub(crate) paths: Vec<String>,
    pub(crate) more: usize,
}

const FOLDER: &str = "intents";

impl Store {
    fn intent_path(&self, id: &IntentId) -> PathBuf {
        self.path(FOLDER, &Self::name_of(id.as_str()))
    }

    pub(crate) fn intent_use(&self, id: &IntentId) -> Result<IntentUse, GateError> {
        let path = self.intent_path(id);
        let lines = files::read(&path, RECORD_BYTES_MAX)?.unwrap_or_default();
        last_whole(&lines).map_err(|source| GateError::Damaged { path, source })
    }

    /// Changes what is kept of an intent. Who holds it is durable before this returns. What was
    /// used up is only added, as a session's counts are: a power failure may take the last of it,
    /// never what was there before.
    fn change_intent(
        &self,
        id: &IntentId,
        change: impl FnOnce(&mut IntentUse) -> bool,
    ) -> Result<bool, GateError> {
        let _locked = self.lock(Path::new(FOLDER))?;
        let before = self.intent_use(id)?;
        let mut after = before.clone();
        let done = change(&mut after);
        if done {
            let path = self.intent_path(id);
            let grown = std::fs::metadata(&path).map_or(u64::MAX, |found| found.len());
            let holder = |one: &IntentUse| one.lease.as_ref().map(|lease| lease.session.clone());
            if holder(&before) != holder(&after) || grown > SESSION_LOG_BYTES_MAX {
                Self::write(&path, &after)?;
            } else {
                files::append_lines(&path, &Self::bytes(&path, &after)?)?;
            }
        }
        Ok(done)
    }

    fn done_path(&self, id: &IntentId) -> PathBuf {
        self.intent_path(id).with_extension("done")
    }

    /// What was done for an intent lately, oldest first.
    pub(crate) fn done_for(&self, id: &IntentId) -> Result<Vec<Done>, GateError> {
        let bytes = files::read(&self.done_path(id), RECORD_BYTES_MAX)?.unwrap_or_default();
        let lines = bytes.split(|byte| *byte == b'\n');
        Ok(lines
            .filter_map(|line| serde_json::from_slice(line).ok())
            .collect())
    }

    /// Adds to what was done for an intent; of a long list only the end is kept.
    pub(crate) fn note_done(&self, id: &IntentId, done: &Done) -> Result<(), GateError> {
        let path = self.done_path(id);
        files::append_lines(&path, &Self::bytes(&path, done)?)?;
        let grown = std::fs::metadata(&path).map_or(0, |found| found.len());
        if grown > SESSION_LOG_BYTES_MAX {
            let _locked = self.lock(Path::new(FOLDER))?;
            let all = self.done_for(id)?;
            let from = all.len().saturating_sub(CONTEXT_TRACE_COUNT_MAX);
            let mut kept = Vec::new();
            for one in all.iter().skip(from) {
                kept.extend(Self::bytes(&path, one)?);
            }
            files::write_atomic(&path, &kept, Some(0o600))?;
        }
        Ok(())
    }

    fn lessons_path(&self, id: &IntentId) -> PathBuf {
        self.intent_path(id).with_extension("lessons")
    }

    /// H14: what was learnt while working for an intent, newest last.
    pub(crate) fn lessons_for(&self, id: &IntentId) -> Result<Vec<String>, GateError> {
        let bytes = files::read(&self.lessons_path(id), RECORD_BYTES_MAX)?.unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        Ok(lessons::recall(&text, LESSON_BYTES_MAX))
    }

    /// Keeps others from adding lessons meanwhile.
    pub(crate) fn lock_lessons(&self) -> Result<Locked, GateError> {
        self.lock(Path::new(FOLDER))
    }

    /// H14: adds to what was learnt for an intent, once for each distinct failure.
    pub(crate) fn note_lesson(&self, lesson: &Lesson) -> Result<(), GateError> {
        let output = &lesson.output;
        let told = lessons::lesson(&lesson.command, lesson.exit_code, output, lesson.at);
        let (Some(intent), Some(told)) = (&lesson.intent, told) else {
            return Ok(());
        };
        let _locked = self.lock(Path::new(FOLDER))?;
        let path = self.lessons_path(intent);
        let bytes = files::read(&path, RECORD_BYTES_MAX)?.unwrap_or_default();
        match lessons::add(&String::from_utf8_lossy(&bytes), &told) {
            Some(text) => Ok(files::write_atomic(&path, text.as_bytes(), Some(0o600))?),
            None => Ok(()),
        }
    }

    /// Notes how a lesson left a file of the tree. Whoever does holds the lock of the lessons.
    pub(crate) fn note_taught(&self, name: &str, left: Digest) -> Result<(), GateError> {
        let path = self.taught_path();
        let mut all = self.taught()?;
        all.insert(name.to_owned(), left);
        Self::write(&path, &all)
    }

    /// How lessons left files of the tree.
    pub(crate) fn taught(&self) -> Result<BTreeMap<String, Digest>, GateError> {
        Ok(Self::read(&self.taught_path())?.unwrap_or_default())
    }

    fn taught_path(&self) -> PathBuf {
        self.dir.join("taught.json")
    }

    /// Gives an intent to a session, unless another one holds it.
    pub(crate) fn lease(
        &self,
        id: &IntentId,
        session: &SessionId,
        now: Timestamp,
    ) -> Result<bool, GateError> {
        self.change_intent(id, |found| {
            if found.holder(now).is_some_and(|holder| holder != session) {
                return false;
            }
            let until = now.plus_millis(LEASE_MS_MAX);
            found.lease = Some(Lease {
                session: session.clone(),
                until,
            });
            true
        })
    }

    /// Lets an intent go; with a session, only if that one holds it.
    pub(crate) fn release(
        &self,
        id: &IntentId,
        session: Option<&SessionId>,
    ) -> Result<bool, GateError> {
        self.change_intent(id, |found| {
            let held = found.lease.as_ref();
            let fits = held.is_some_and(|lease| session.is_none_or(|one| *one == lease.session));
            if fits {
                found.lease = None;
            }
            fits
        })
    }

    /// Counts a call for an intent, before it runs; its time follows when it has ended.
    pub(crate) fn count_call(&self, id: &IntentId, now: Timestamp) -> Result<(), GateError> {
        self.change_intent(id, |found| {
            found.calls = found.calls.saturating_add(1);
            if let Some(lease) = &mut found.lease {
                lease.until = now.plus_millis(LEASE_MS_MAX);
            }
            true
        })?;
        Ok(())
    }

    pub(crate) fn count_time(&self, id: &IntentId, time_ms: u64) -> Result<(), GateError> {
        if time_ms > 0 {
            self.change_intent(id, |found| {
                found.time_ms = found.time_ms.saturating_add(time_ms);
                true
            })?;
        }
        Ok(())
    }
}

/// The last whole line holds; one that a crash tore never counted. Where something was written and
/// nothing of it can be read, that is an error.
fn last_whole(lines: &[u8]) -> Result<IntentUse, serde_json::Error> {
    let mut error = None;
    for line in lines.split(|byte| *byte == b'\n').rev() {
        if line.is_empty() {
            continue;
        }
        match serde_json::from_slice(line) {
            Ok(found) => return Ok(found),
            Err(failed) => error = Some(failed),
        }
    }
    error.map_or_else(|| Ok(IntentUse::default()), Err)
}
