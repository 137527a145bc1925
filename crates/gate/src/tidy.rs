//! Records that have outlived their use: dropped now and then, by whoever opens the engine.

use tagout_vocab::Timestamp;
use tagout_vocab::limits::PERMIT_OPEN_MS_MAX;

use crate::engine::Engine;
use crate::error::GateError;
use crate::lost;
use crate::recover::{self, Recovered};

/// What a tidying did.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Tidied {
    /// Requests for a person's yes that nobody can use any more.
    pub approvals: usize,
    /// Permits that nobody reported on, settled by what the files tell, and those that were never
    /// written whole.
    pub permits: usize,
    /// Sessions in which nothing has happened for long.
    pub sessions: usize,
    /// Answered questions and proposals.
    pub questions: usize,
    /// Grants that ended long ago.
    pub grants: usize,
    /// Bytes of before-images beyond the horizon or the cap.
    pub image_bytes: u64,
}

impl Engine {
    /// Drops what has outlived its use. Opening the engine does this once an hour.
    pub fn tidy(&self) -> Result<Tidied, GateError> {
        let (store, now) = (&self.inner.site.store, self.inner.clockwork.now());
        // Noted first: what fails must not be tried again by every process.
        store.note_tidied(now)?;
        recover::release_gone(&self.inner)?;
        let mut tidied = Tidied {
            permits: self.settle_old(now)?
                + lost::close(&self.inner, now)?
                + store.tidy_unwritten(now)?,
            approvals: store.tidy_approvals(now)?,
            questions: store.tidy_questions(now)?,
            sessions: self.forget_idle(now)?,
            grants: store.tidy_grants(now)?,
            image_bytes: 0,
        };
        // Last: a journal that can't be pruned keeps nothing else from being tidied.
        let pruned = self.inner.workspace.prune(now)?;
        recover::tell(&self.inner, &Recovered::kept(&pruned.conflicts))?;
        tidied.image_bytes = pruned.bytes;
        Ok(tidied)
    }

    fn settle_old(&self, now: Timestamp) -> Result<usize, GateError> {
        let mut settled = 0;
        for ticket in self.inner.site.store.open_tickets()? {
            let age = now
                .as_millis()
                .saturating_sub(ticket.admitted_at.as_millis());
            if age > PERMIT_OPEN_MS_MAX {
                drop(self.settle_unreported(&ticket)?);
                settled += 1;
            }
        }
        Ok(settled)
    }

    fn forget_idle(&self, now: Timestamp) -> Result<usize, GateError> {
        let store = &self.inner.site.store;
        let waiting: Vec<_> = store.open_tickets()?;
        let mut forgotten = 0;
        for session in store.idle_sessions(now)? {
            if waiting.iter().any(|ticket| ticket.session == session) {
                continue;
            }
            self.inner.workspace.forget_session(&session)?;
            store.drop_session(&session)?;
            forgotten += 1;
        }
        Ok(forgotten)
    }
}
