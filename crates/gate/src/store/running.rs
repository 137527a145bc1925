//! Which executions a living process is at: its log is locked as long as it lives.
//!
//! A log whose lock can be had belongs to a process that is gone; what it began and did not end was
//! never committed, or its journal record says so. The logs speak of living processes, so nobody
//! waits until they are on the disk.
//!
//! Older builds lock a second file beside the log. Such a process may still run when a new build
//! comes, so that file is asked where there is one.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt as _;
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

/// The ending of the file that older builds lock.
const BESIDE: &str = "alive";

/// A log that is longer is begun anew with what is still going on. Should that be longer by itself,
/// the log may double before the next time, so that not every end costs a whole log.
const LOG_BYTES_MAX: u64 = 1 << 20;

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
    /// What began and did not end, and the line of each.
    began: BTreeMap<CallId, Vec<u8>>,
    /// How long the log was when it was begun.
    begun_bytes: u64,
}

impl Running {
    fn open(&self) -> MutexGuard<'_, Open> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn began(&self, ticket: &Ticket) -> Result<(), GateError> {
        let mut open = self.open();
        let line = open.line(&Line::Began(Box::new(ticket.clone())))?;
        // The line may be there even where writing it fails.
        open.began.insert(ticket.execution.clone(), line.clone());
        Ok(open.log.add(&line)?)
    }

    /// A line that is missing makes recovery ask the ledger, which knows the end.
    pub(crate) fn ended(&self, execution: &CallId) {
        let mut open = self.open();
        let line = open.line(&Line::Ended(execution.clone()));
        if line.is_ok_and(|line| open.log.add(&line).is_ok()) {
            open.began.remove(execution);
        }
        // One that can't be begun anew grows on.
        drop(open.renew());
    }
}

impl Open {
    fn line(&self, line: &Line) -> Result<Vec<u8>, GateError> {
        Store::bytes(self.log.path(), line)
    }

    fn renew(&mut self) -> Result<(), GateError> {
        let bound = LOG_BYTES_MAX.max(self.begun_bytes.saturating_mul(2));
        if self.log.size()? > bound {
            let lines: Vec<u8> = self.began.values().flatten().copied().collect();
            self.log.renew(&lines)?;
            self.begun_bytes = lines.len() as u64;
        }
        Ok(())
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
    path.extension().is_none()
}

fn unended(path: &Path) -> Result<Vec<Ticket>, GateError> {
    let bytes = files::read(path, RECORD_BYTES_MAX)?.unwrap_or_default();
    Ok(unended_of(&bytes))
}

fn unended_of(log: &[u8]) -> Vec<Ticket> {
    let mut open: Vec<Ticket> = Vec::new();
    for line in log.split(|byte| *byte == b'\n') {
        match serde_json::from_slice::<Line>(line) {
            Ok(Line::Began(ticket)) => open.push(*ticket),
            Ok(Line::Ended(id)) => open.retain(|ticket| ticket.execution != id),
            Err(_) => {}
        }
    }
    open
}

/// A log whose process is gone, locked so that nobody else takes it up; nothing if it lives, or if
/// the log was taken up meanwhile.
fn orphaned(log: &Path) -> Option<File> {
    let beside = log.with_extension(BESIDE);
    let place = if beside.exists() { &beside } else { log };
    let lock = File::open(place).ok()?;
    lock.try_lock().ok()?;
    // A new log may stand where the one that is locked here was removed.
    let (locked, named) = (lock.metadata().ok()?, std::fs::metadata(place).ok()?);
    (locked.ino() == named.ino() && locked.dev() == named.dev()).then_some(lock)
}

impl Store {
    /// Begins the log of this process.
    pub(crate) fn begin_running(&self, name: &str) -> Result<Running, GateError> {
        let path = self.path(FOLDER, name);
        for _ in 0..BEGIN_TRIES_MAX {
            if let Some(log) = Log::begin(&path)? {
                return Ok(Running(Mutex::new(Open {
                    log,
                    began: BTreeMap::new(),
                    begun_bytes: 0,
                })));
            }
        }
        Err(GateError::Io {
            doing: "lock",
            path,
            source: io::ErrorKind::NotFound.into(),
        })
    }

    /// What living processes are at.
    pub(crate) fn living(&self) -> Result<Vec<Ticket>, GateError> {
        let mut found = Vec::new();
        for path in self.list(FOLDER)?.iter().filter(|path| is_log(path)) {
            found.extend(unended(path)?);
        }
        Ok(found)
    }

    /// What processes that are gone began and did not end. Their logs go when `take` has succeeded.
    pub(crate) fn orphans(
        &self,
        mut take: impl FnMut(Vec<Ticket>) -> Result<(), GateError>,
    ) -> Result<(), GateError> {
        for path in self.list(FOLDER)?.iter().filter(|path| is_log(path)) {
            let Some(_lock) = orphaned(path) else {
                continue;
            };
            let open = unended(path)?;
            if !open.is_empty() {
                take(open)?;
            }
            files::remove_note(&Log::next(path))?;
            files::remove(path)?;
            files::remove(&path.with_extension(BESIDE))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
