//! Which executions a living process is at: its log is locked as long as it lives.
//!
//! A log whose lock can be had belongs to a process that is gone; what it began and did not end was
//! never committed, or its journal record says so. The logs speak of living processes, so nobody
//! waits until they are on the disk.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use tagout_vocab::CallId;
use tagout_vocab::limits::RECORD_BYTES_MAX;
use tagout_workspace::files;

use super::Store;
use crate::error::GateError;
use crate::permit::Ticket;

const FOLDER: &str = "running";

/// How often a log is begun that others clean up before it is locked.
const BEGIN_TRIES_MAX: usize = 1_000;

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    Began(Box<Ticket>),
    Ended(CallId),
}

/// The log of this process.
#[derive(Debug)]
pub(crate) struct Running {
    path: PathBuf,
    #[expect(
        dead_code,
        reason = "held for its lock, which says that this process lives"
    )]
    lock: File,
    /// What began and did not end. Lines of one log must not be mixed by two threads, so it is
    /// held while one is added.
    open: Mutex<BTreeSet<CallId>>,
}

impl Running {
    fn open(&self) -> MutexGuard<'_, BTreeSet<CallId>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn began(&self, ticket: &Ticket) -> Result<(), GateError> {
        let line = Store::bytes(&self.path, &Line::Began(Box::new(ticket.clone())))?;
        let mut open = self.open();
        // It may be there even where this fails.
        open.insert(ticket.execution.clone());
        Ok(files::append_lines(&self.path, &line)?)
    }

    /// A line that is missing makes recovery ask the ledger, which knows the end.
    pub(crate) fn ended(&self, execution: &CallId) {
        let Ok(line) = Store::bytes(&self.path, &Line::Ended(execution.clone())) else {
            return;
        };
        let mut open = self.open();
        if files::append_lines(&self.path, &line).is_ok() {
            open.remove(execution);
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.open().is_empty() {
            drop(files::remove_note(&self.path));
            drop(files::remove_note(&self.path.with_extension("alive")));
        }
    }
}

fn unended(path: &std::path::Path) -> Result<Vec<Ticket>, GateError> {
    let bytes = files::read(path, RECORD_BYTES_MAX)?.unwrap_or_default();
    let mut open: Vec<Ticket> = Vec::new();
    for line in bytes.split(|byte| *byte == b'\n') {
        match serde_json::from_slice::<Line>(line) {
            Ok(Line::Began(ticket)) => open.push(*ticket),
            Ok(Line::Ended(id)) => open.retain(|ticket| ticket.execution != id),
            Err(_) => {}
        }
    }
    Ok(open)
}

impl Store {
    /// Begins the log of this process.
    pub(crate) fn begin_running(&self, name: &str) -> Result<Running, GateError> {
        let path = self.path(FOLDER, name);
        let failed = |source| GateError::Io {
            doing: "lock",
            path: path.clone(),
            source,
        };
        // Another file than the log says that the process lives, because every line of the log is
        // added under a lock of that.
        let place = path.with_extension("alive");
        for _ in 0..BEGIN_TRIES_MAX {
            files::touch_scratch(&path)?;
            files::touch_scratch(&place)?;
            // Someone who cleans up may take it for a dead process's until it is locked.
            let lock = match File::open(&place) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                opened => opened.map_err(failed)?,
            };
            lock.lock().map_err(failed)?;
            if place.exists() {
                return Ok(Running {
                    path,
                    lock,
                    open: Mutex::default(),
                });
            }
        }
        Err(failed(io::Error::from(io::ErrorKind::NotFound)))
    }

    /// What living processes are at.
    pub(crate) fn living(&self) -> Result<Vec<CallId>, GateError> {
        let mut found = Vec::new();
        for path in self.list(FOLDER)? {
            let is_log = path.extension().is_none();
            if is_log {
                found.extend(unended(&path)?.into_iter().map(|ticket| ticket.execution));
            }
        }
        Ok(found)
    }

    /// What processes that are gone began and did not end. Their logs go when `take` has succeeded.
    pub(crate) fn orphans(
        &self,
        mut take: impl FnMut(Vec<Ticket>) -> Result<(), GateError>,
    ) -> Result<(), GateError> {
        for path in self.list(FOLDER)? {
            if path
                .extension()
                .is_none_or(|extension| extension != "alive")
            {
                continue;
            }
            let Ok(lock) = File::open(&path) else {
                continue;
            };
            if lock.try_lock().is_err() {
                continue;
            }
            let log = path.with_extension("");
            let open = unended(&log)?;
            if !open.is_empty() {
                take(open)?;
            }
            files::remove(&log)?;
            files::remove(&path)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
