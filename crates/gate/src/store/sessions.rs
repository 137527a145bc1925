//! Sessions, which outlive the process that they were begun in.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tagout_trace::lessons;
use tagout_vocab::limits::{
    DELEGATION_DEPTH_MAX, LESSONS_MAX, RECORD_BYTES_MAX, SESSION_LOG_BYTES_MAX, SESSION_TAIL_BYTES,
};
use tagout_vocab::{Digest, Session, SessionId, State, Timestamp};
use tagout_workspace::files;

use super::{Locked, Store};
use crate::error::GateError;
use crate::tool::Lesson;

/// One session with what the gate counts in it.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct SessionRecord {
    /// The session.
    pub session: Session,
    /// The last call, as a digest.
    pub last: Option<Digest>,
    /// How many times in a row it came.
    pub repeats: u32,
    /// The mode that the agent says it works in.
    pub mode: Option<String>,
    /// The agent's own list of things to do.
    pub todos: Option<String>,
    /// H14: what failed verifications taught, oldest first.
    #[serde(default)]
    pub lessons: Vec<Lesson>,
    /// When something last happened in it.
    #[serde(default)]
    pub touched_at: Option<Timestamp>,
}

impl SessionRecord {
    /// A session that nothing happened in yet.
    pub const fn new(id: SessionId) -> Self {
        Self {
            session: Session::new(id),
            last: None,
            repeats: 0,
            mode: None,
            todos: None,
            lessons: Vec::new(),
            touched_at: None,
        }
    }

    /// H14: keeps a lesson, once per distinct failure. Says whether it is a new one.
    pub(crate) fn learn(&mut self, lesson: &Lesson) -> bool {
        let mark = |one: &Lesson| {
            let told = lessons::lesson(&one.command, one.exit_code, &one.output, one.at);
            told.map(|told| told.signature)
        };
        let own = mark(lesson);
        // The same failure at another time and line is no new one.
        let same = |known: &Lesson| match own {
            Some(own) => mark(known) == Some(own),
            None => (&known.command, &known.output) == (&lesson.command, &lesson.output),
        };
        if self.lessons.iter().any(same) {
            return false;
        }
        if self.lessons.len() >= LESSONS_MAX {
            self.lessons.remove(0);
        }
        self.lessons.push(lesson.clone());
        true
    }

    /// How often exactly this call came in a row before.
    pub(crate) fn repeats_of(&self, call: &Digest) -> u32 {
        if self.last.as_ref() == Some(call) {
            self.repeats
        } else {
            0
        }
    }

    /// Counts a call.
    pub(crate) fn count(&mut self, call: Digest) {
        self.repeats = self.repeats_of(&call).saturating_add(1);
        self.last = Some(call);
    }
}

const FOLDER: &str = "sessions";
const FILE: &str = "session.jsonl";

impl Store {
    fn session_folder(&self, id: &SessionId) -> PathBuf {
        self.path(FOLDER, &Self::name_of(id.as_str()))
    }

    /// Two processes in one session come one after the other.
    pub(crate) fn lock_session(&self, id: &SessionId) -> Result<Locked, GateError> {
        let folder = self.session_folder(id);
        match self.lock(&folder) {
            Err(GateError::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {
                files::ensure_dir_private(&folder)?;
                self.lock(&folder)
            }
            locked => locked,
        }
    }

    /// Whether anything happened in a session.
    pub(crate) fn has_session(&self, id: &SessionId) -> bool {
        self.session_folder(id).join(FILE).exists()
    }

    /// A session; one that nobody has seen yet is new.
    pub(crate) fn session(&self, id: &SessionId) -> Result<SessionRecord, GateError> {
        let found = Self::session_in(&self.session_folder(id))?;
        Ok(found.unwrap_or_else(|| SessionRecord::new(id.clone())))
    }

    /// The session that a folder holds, if it holds a whole one.
    pub(super) fn session_in(folder: &Path) -> Result<Option<SessionRecord>, GateError> {
        let path = folder.join(FILE);
        let end = files::read_end(&path, SESSION_TAIL_BYTES)?.unwrap_or_default();
        // What the piece begins with is the rest of a line.
        let lines = end.iter().position(|byte| *byte == b'\n');
        let lines = lines.and_then(|feed| end.get(feed + 1..));
        if let Some(found) = lines.and_then(last_whole) {
            return Ok(Some(found));
        }
        if !path.exists() {
            return Ok(None);
        }
        let bytes = files::read(&path, RECORD_BYTES_MAX)?.unwrap_or_default();
        Ok(last_whole(&bytes))
    }

    /// Forgets a session. If it comes back, it is new.
    pub(crate) fn drop_session(&self, id: &SessionId) -> Result<(), GateError> {
        let folder = self.session_folder(id);
        let _locked = self.lock(&folder)?;
        files::remove(&folder.join(FILE))?;
        Ok(files::remove_dir(&folder)?)
    }

    /// Keeps a session. A change of its state is durable; a mere count may be lost with the power.
    pub(crate) fn keep_session(
        &self,
        before: &SessionRecord,
        after: &SessionRecord,
    ) -> Result<(), GateError> {
        let path = self.session_folder(&after.session.id).join(FILE);
        let line = Self::bytes(&path, after)?;
        let grown = std::fs::metadata(&path).map_or(u64::MAX, |found| found.len());
        if before.session != after.session || grown > SESSION_LOG_BYTES_MAX {
            return Ok(files::write_atomic(&path, &line, Some(0o600))?);
        }
        Ok(files::append_lines(&path, &line)?)
    }

    /// Stores that a session leaves its intent before that is recorded. Whoever dies in between
    /// leaves a session that may do less than the ledger says, never more.
    pub(crate) fn leave_first(
        &self,
        before: &SessionRecord,
        after: &SessionRecord,
    ) -> Result<(), GateError> {
        let intent = before.session.active_intent();
        if intent.is_none() || intent == after.session.active_intent() {
            return Ok(());
        }
        let mut between = before.clone();
        between.session.state = State::Reasoning;
        self.keep_session(before, &between)
    }

    /// The ancestors of a session, nearest first.
    pub(crate) fn ancestors(&self, session: &Session) -> Result<Vec<Session>, GateError> {
        let mut found: Vec<Session> = Vec::new();
        let mut parent = session.parent.clone();
        while let Some(id) = parent.take() {
            if found.len() >= DELEGATION_DEPTH_MAX {
                return Err(GateError::Unknown {
                    what: "session near enough to its root",
                    id: id.to_string(),
                });
            }
            let record = self.session(&id)?;
            parent.clone_from(&record.session.parent);
            found.push(record.session);
        }
        Ok(found)
    }
}

/// The last whole line holds; a line that a crash tore never counted.
fn last_whole(lines: &[u8]) -> Option<SessionRecord> {
    let whole = lines.split_inclusive(|byte| *byte == b'\n');
    let mut whole = whole.filter(|line| line.ends_with(b"\n")).rev();
    whole.find_map(|line| serde_json::from_slice(line).ok())
}
