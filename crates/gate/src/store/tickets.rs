//! Permits of calls that begin in one process and end in another.

use std::path::PathBuf;

use tagout_vocab::CallId;
use tagout_workspace::files;

use super::Store;
use crate::error::GateError;
use crate::permit::Ticket;

pub(super) const FOLDER: &str = "permits";

impl Store {
    fn ticket_path(&self, execution: &CallId) -> PathBuf {
        self.path(FOLDER, &Self::name_of(execution.as_str()))
    }

    /// Keeps a permit for the process that settles it. The ledger's entry is what is durable: a
    /// permit that a power failure took is one that nobody can settle any more.
    pub(crate) fn keep_ticket(&self, ticket: &Ticket) -> Result<(), GateError> {
        let path = self.ticket_path(&ticket.execution);
        let bytes = Self::bytes(&path, ticket)?;
        Ok(files::write_new_note(&path, &bytes)?)
    }

    pub(crate) fn ticket(&self, execution: &CallId) -> Result<Option<Ticket>, GateError> {
        Self::read_note(&self.ticket_path(execution))
    }

    /// Takes a permit away. One that a power failure brings back is found to have ended.
    pub(crate) fn drop_ticket(&self, execution: &CallId) -> Result<(), GateError> {
        Ok(files::remove_note(&self.ticket_path(execution))?)
    }

    /// The permits that nobody has settled, oldest first.
    pub(crate) fn open_tickets(&self) -> Result<Vec<Ticket>, GateError> {
        let mut found: Vec<Ticket> = Vec::new();
        for path in self.list(FOLDER)? {
            found.extend(Self::read_note(&path)?);
        }
        found.sort_by_key(|ticket| ticket.seq);
        Ok(found)
    }
}
