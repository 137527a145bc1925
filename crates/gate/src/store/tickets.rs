//! Permits of calls that begin in one process and end in another.

use std::path::PathBuf;

use tagout_vocab::CallId;
use tagout_workspace::files;

use super::Store;
use crate::error::GateError;
use crate::permit::Ticket;

const FOLDER: &str = "permits";

impl Store {
    fn ticket_path(&self, execution: &CallId) -> PathBuf {
        self.path(FOLDER, &Self::name_of(execution.as_str()))
    }

    pub(crate) fn keep_ticket(&self, ticket: &Ticket) -> Result<(), GateError> {
        Self::write(&self.ticket_path(&ticket.execution), ticket)
    }

    pub(crate) fn ticket(&self, execution: &CallId) -> Result<Option<Ticket>, GateError> {
        Self::read(&self.ticket_path(execution))
    }

    pub(crate) fn drop_ticket(&self, execution: &CallId) -> Result<(), GateError> {
        Ok(files::remove(&self.ticket_path(execution))?)
    }

    /// The permits that nobody has settled, oldest first.
    pub(crate) fn open_tickets(&self) -> Result<Vec<Ticket>, GateError> {
        let mut found: Vec<Ticket> = self.all(FOLDER)?;
        found.sort_by_key(|ticket| ticket.seq);
        Ok(found)
    }
}
