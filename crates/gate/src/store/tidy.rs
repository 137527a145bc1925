//! Which records have outlived their use, within the bounds of `vocab::limits`.

use std::path::{Path, PathBuf};

use tagout_policy::capability::grants::{Constraint, Grant};
use tagout_vocab::limits::{
    APPROVAL_KEPT_MS, GRANT_KEPT_MS, GRANT_USES_BYTES_MAX, PERMIT_OPEN_MS_MAX, RECORD_BYTES_MAX,
    SESSION_KEPT_MS, TIDY_RECORDS_MAX,
};
use tagout_vocab::{GrantId, SessionId, Timestamp};
use tagout_workspace::files;

use super::{Answer, ApprovalRequest, SessionRecord, Store, tickets};
use crate::error::GateError;
use crate::permit::Ticket;

/// Whether a moment lies further back than this.
const fn is_older(then: Timestamp, now: Timestamp, than_ms: i64) -> bool {
    now.as_millis().saturating_sub(then.as_millis()) > than_ms
}

impl Store {
    fn tidied_path(&self) -> PathBuf {
        self.dir.join("tidied")
    }

    /// Whether the last tidying was long enough ago, by whatever the clock says.
    pub(crate) fn is_tidying_due(&self, now: Timestamp, after_ms: i64) -> bool {
        let last: Option<i64> = Self::read(&self.tidied_path()).ok().flatten();
        let apart = |last: i64| now.as_millis().saturating_sub(last).saturating_abs();
        last.is_none_or(|last| apart(last) > after_ms)
    }

    pub(crate) fn note_tidied(&self, now: Timestamp) -> Result<(), GateError> {
        Self::write(&self.tidied_path(), &now.as_millis())
    }

    fn ended_path(&self) -> PathBuf {
        self.dir.join("ended")
    }

    /// The number before which every execution in the ledger is known to have ended.
    pub(crate) fn ended_before(&self) -> Result<u64, GateError> {
        Ok(Self::read(&self.ended_path())?.unwrap_or_default())
    }

    pub(crate) fn note_ended_before(&self, seq: u64) -> Result<(), GateError> {
        Self::write(&self.ended_path(), &seq)
    }

    fn some(&self, folder: &str) -> Result<Vec<PathBuf>, GateError> {
        let mut found = self.list(folder)?;
        found.truncate(TIDY_RECORDS_MAX);
        Ok(found)
    }

    /// Drops requests that nobody can use any more.
    pub(crate) fn tidy_approvals(&self, now: Timestamp) -> Result<usize, GateError> {
        let is_over = |one: &ApprovalRequest| match one.answer {
            Answer::Used { .. } | Answer::Rejected { .. } => {
                is_older(one.asked_at, now, APPROVAL_KEPT_MS)
            }
            Answer::Pending | Answer::Granted { .. } => {
                is_older(one.expires_at, now, APPROVAL_KEPT_MS)
            }
        };
        let mut dropped = 0;
        for path in self.some("approvals")? {
            let Some(found) = Self::read::<ApprovalRequest>(&path)?.filter(is_over) else {
                continue;
            };
            // The same call may come again at this very moment.
            let _locked = self.lock_session(&found.session)?;
            let again = Self::read::<ApprovalRequest>(&path)?;
            if again.is_some_and(|again| again.id == found.id && is_over(&again)) {
                files::remove(&path)?;
                dropped += 1;
            }
        }
        Ok(dropped)
    }

    /// Drops permits that were never written whole, because whoever wrote them was ended, and that
    /// nobody is writing any more.
    pub(crate) fn tidy_unwritten(&self, now: Timestamp) -> Result<usize, GateError> {
        let is_over = |path: &Path| {
            let written = files::written_at(path);
            written.is_some_and(|at| is_older(at, now, PERMIT_OPEN_MS_MAX))
        };
        let mut dropped = 0;
        for path in self.some(tickets::FOLDER)? {
            if Self::read_note::<Ticket>(&path)?.is_none() && is_over(&path) {
                files::remove_note(&path)?;
                dropped += 1;
            }
        }
        Ok(dropped)
    }

    /// Drops answered questions and proposals after a while.
    pub(crate) fn tidy_questions(&self, now: Timestamp) -> Result<usize, GateError> {
        let _locked = self.lock(Path::new("questions"))?;
        let mut dropped = 0;
        for path in self.some("questions")? {
            let over = Self::is_question_over(&path, |at| is_older(at, now, SESSION_KEPT_MS))?;
            if over {
                files::remove(&path)?;
                dropped += 1;
            }
        }
        Ok(dropped)
    }

    /// The sessions in which nothing has happened for long.
    pub(crate) fn idle_sessions(&self, now: Timestamp) -> Result<Vec<SessionId>, GateError> {
        let mut found = Vec::new();
        for folder in self.some("sessions")? {
            let record = Self::session_in(&folder)?;
            let idle = |record: &SessionRecord| {
                let touched = record.touched_at;
                touched.is_some_and(|at| is_older(at, now, SESSION_KEPT_MS))
            };
            found.extend(record.filter(idle).map(|record| record.session.id));
        }
        Ok(found)
    }

    /// Drops grants that ended long ago, and uses that no rate limit asks for.
    pub(crate) fn tidy_grants(&self, now: Timestamp) -> Result<usize, GateError> {
        let book = self.grant_book()?;
        let ended = |grant: &Grant| {
            let expired = grant.expires_at;
            let revoked = book
                .revoked
                .iter()
                .find(|one| one.grant_id == grant.grant_id);
            let revoked = revoked.map(|one| one.revoked_at);
            let ends = expired.into_iter().chain(revoked);
            ends.min()
                .is_some_and(|at| is_older(at, now, GRANT_KEPT_MS))
        };
        let mut gone: Vec<GrantId> = Vec::new();
        for grant in book.given.iter().filter(|grant| ended(grant)) {
            // What others were handed on from stays as long as they do.
            let has_heirs = book
                .given
                .iter()
                .any(|one| one.parent.as_ref() == Some(&grant.grant_id) && !ended(one));
            if !has_heirs {
                gone.push(grant.grant_id.clone());
            }
        }
        if !gone.is_empty() {
            self.change_grants(|book| {
                book.given.retain(|grant| !gone.contains(&grant.grant_id));
                book.revoked.retain(|one| !gone.contains(&one.grant_id));
                Ok(())
            })?;
        }
        self.tidy_uses(now)?;
        Ok(gone.len())
    }

    /// Keeps of the uses only what some rate limit still counts.
    fn tidy_uses(&self, now: Timestamp) -> Result<(), GateError> {
        let path = self.uses_path();
        let size = std::fs::metadata(&path).map_or(0, |found| found.len());
        if size <= GRANT_USES_BYTES_MAX {
            return Ok(());
        }
        let _locked = self.lock(Path::new("grants"))?;
        let book = self.grant_book()?;
        let window = |id: &GrantId| {
            let grant = book.given.iter().find(|grant| grant.grant_id == *id)?;
            let windows = grant.constraints.iter().filter_map(|one| match one {
                Constraint::RateLimit { window_ms, .. } => Some(*window_ms),
                Constraint::MaxFileSize { .. } => None,
            });
            windows.max()
        };
        // A rate limit counts along the whole chain, so the widest window of any grant decides.
        let widest = book
            .given
            .iter()
            .filter_map(|grant| window(&grant.grant_id));
        let widest = i64::try_from(widest.max().unwrap_or(0)).unwrap_or(i64::MAX);
        let bytes = files::read(&path, RECORD_BYTES_MAX.max(size))?.unwrap_or_default();
        let mut kept = Vec::new();
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            let used = serde_json::from_slice::<(GrantId, Timestamp)>(line);
            let known = |id: &GrantId| book.given.iter().any(|grant| grant.grant_id == *id);
            if used.is_ok_and(|(id, at)| known(&id) && !is_older(at, now, widest)) {
                kept.extend_from_slice(line);
            }
        }
        Ok(files::write_atomic(&path, &kept, Some(0o600))?)
    }
}
