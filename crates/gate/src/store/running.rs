//! Which executions a living process is at: its log is locked as long as it lives.
//!
//! A log whose lock can be had belongs to a process that is gone; what it began and did not end was
//! never committed, or its journal record says so. The logs speak of living processes, so nobody
//! waits until they are on the disk.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use tagout_vocab::CallId;
use tagout_vocab::limits::RECORD_BYTES_MAX;
use tagout_workspace::files::{self, Log};

use super::Store;
use crate::error::GateError;
use crate::permit::Ticket;

const FOLDER: &str = "running";

const LOG: &str = "log";

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
pub(crate) struct Running(Mutex<Open>);

#[derive(Debug)]
struct Open {
    log: Log,
    /// What began and did not end.
    began: BTreeSet<CallId>,
}

impl Running {
    fn open(&self) -> MutexGuard<'_, Open> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn began(&self, ticket: &Ticket) -> Result<(), GateError> {
        let mut open = self.open();
        // The line may be there even where writing it fails.
        open.began.insert(ticket.execution.clone());
        open.add(&Line::Began(Box::new(ticket.clone())))
    }

    /// A line that is missing makes recovery ask the ledger, which knows the end.
    pub(crate) fn ended(&self, execution: &CallId) {
        let mut open = self.open();
        if open.add(&Line::Ended(execution.clone())).is_ok() {
            open.began.remove(execution);
        }
    }
}

impl Open {
    fn add(&mut self, line: &Line) -> Result<(), GateError> {
        let bytes = Store::bytes(self.log.path(), line)?;
        Ok(self.log.add(&bytes)?)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        if self.began.is_empty() {
            // One that stays is found to say nothing.
            drop(self.log.remove());
        }
    }
}

fn is_log(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == LOG)
}

fn unended(path: &Path) -> Result<Vec<Ticket>, GateError> {
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
        let path = self.path(FOLDER, name).with_extension(LOG);
        for _ in 0..BEGIN_TRIES_MAX {
            if let Some(log) = Log::begin(&path)? {
                let began = BTreeSet::new();
                return Ok(Running(Mutex::new(Open { log, began })));
            }
        }
        Err(GateError::Io {
            doing: "lock",
            path,
            source: io::ErrorKind::NotFound.into(),
        })
    }

    /// What living processes are at.
    pub(crate) fn living(&self) -> Result<Vec<CallId>, GateError> {
        let mut found = Vec::new();
        for path in self.list(FOLDER)? {
            if is_log(&path) {
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
            if !is_log(&path) {
                continue;
            }
            let Ok(lock) = File::open(&path) else {
                continue;
            };
            if lock.try_lock().is_err() {
                continue;
            }
            let open = unended(&path)?;
            if !open.is_empty() {
                take(open)?;
            }
            files::remove(&path)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
