//! The query index: derived from the segments, built by readers, thrown away without loss.
//!
//! It only says where events stand. What is shown is read from the segments and compared with the
//! hash that was indexed, so an index that lies shows nothing. No append ever looks at it.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _, Transaction, TransactionBehavior, params};
use tagout_vocab::limits::LEDGER_LOCK_WAIT_MS_MAX;

use crate::error::{At as _, LedgerError};
use crate::event::Event;
use crate::merkle::leaf_hash;
use crate::reader::{Line, Reader};
use crate::{line, place, segment};

/// Raised whenever the tables change: an index of another version is rebuilt.
const SCHEMA_VERSION: i64 = 1;

/// Lines that are indexed in one transaction.
const BATCH_LINES: usize = 20_000;

const SCHEMA: &str = "
CREATE TABLE progress (
    segment INTEGER NOT NULL, offset INTEGER NOT NULL, next_seq INTEGER NOT NULL
) STRICT;
CREATE TABLE events (
    seq INTEGER PRIMARY KEY, segment INTEGER NOT NULL, offset INTEGER NOT NULL,
    length INTEGER NOT NULL, hash BLOB NOT NULL, kind TEXT NOT NULL, time INTEGER NOT NULL,
    execution TEXT, tool TEXT, state TEXT, session TEXT, intent TEXT, duration INTEGER,
    cpu_ms INTEGER, memory_bytes INTEGER, read_bytes INTEGER, written_bytes INTEGER
) STRICT;
CREATE TABLE paths (path TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (path, seq))
    WITHOUT ROWID, STRICT;
CREATE INDEX by_intent ON events (intent, seq) WHERE intent IS NOT NULL;
CREATE INDEX by_session ON events (session, seq) WHERE session IS NOT NULL;
CREATE INDEX by_execution ON events (execution, seq) WHERE execution IS NOT NULL;
";

/// The index of one ledger, brought up to date when it is opened.
#[derive(Debug)]
pub struct Index {
    pub(crate) path: PathBuf,
    pub(crate) connection: Connection,
    pub(crate) reader: Reader,
}

/// Where the index has got to.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
struct Progress {
    segment: u64,
    offset: u64,
    next_seq: u64,
}

impl Index {
    /// Opens the index beside a ledger; builds, continues or rebuilds it as needed.
    pub fn open(dir: &Path) -> Result<Self, LedgerError> {
        let reader = Reader::open(dir)?;
        let path = dir.join("index.db");
        let first = Self::open_file(&path, reader.clone());
        let Err(LedgerError::Index { .. }) = first else {
            return first;
        };
        // Whatever is wrong with the file, a new one has everything that it had.
        if discard(dir, &path).is_ok()
            && let Ok(index) = Self::open_file(&path, reader.clone())
        {
            return Ok(index);
        }
        // Nothing can be written here: a private one does.
        let connection = Connection::open_in_memory();
        Self::start(path, connection, reader)
    }

    /// The ledger that it is the index of.
    pub const fn reader(&self) -> &Reader {
        &self.reader
    }

    fn open_file(path: &Path, reader: Reader) -> Result<Self, LedgerError> {
        // SQLite gives its other files the permissions of this one.
        let created = place::owner_only()
            .write(true)
            .create(true)
            .truncate(false)
            .open(path);
        let opened = match created {
            Ok(_) => Connection::open(path),
            Err(_) => Err(rusqlite::Error::InvalidPath(path.to_owned())),
        };
        Self::start(path.to_owned(), opened, reader)
    }

    fn start(
        path: PathBuf,
        opened: rusqlite::Result<Connection>,
        reader: Reader,
    ) -> Result<Self, LedgerError> {
        let wait = Duration::from_millis(LEDGER_LOCK_WAIT_MS_MAX);
        let ready = opened.and_then(|connection| {
            connection.busy_timeout(wait)?;
            connection.pragma_update(None, "journal_mode", "WAL")?;
            connection.pragma_update(None, "synchronous", "NORMAL")?;
            Ok(connection)
        });
        let connection = ready.map_err(|source| LedgerError::Index {
            path: path.clone(),
            source,
        })?;
        let mut index = Self {
            path,
            connection,
            reader,
        };
        index.refresh()?;
        Ok(index)
    }

    /// Brings the index up to date with the segments.
    pub fn refresh(&mut self) -> Result<(), LedgerError> {
        while self.index_some()? {}
        Ok(())
    }

    pub(crate) fn wrong(&self, source: rusqlite::Error) -> LedgerError {
        LedgerError::Index {
            path: self.path.clone(),
            source,
        }
    }

    /// Indexes the next lines; whether there may be more.
    fn index_some(&mut self) -> Result<bool, LedgerError> {
        let path = self.path.clone();
        let wrong = |source| LedgerError::Index {
            path: path.clone(),
            source,
        };
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(wrong)?;
        let known = prepare(&transaction).map_err(wrong)?;
        let mut progress = known;
        if !holds(&transaction, &self.reader, known).map_err(wrong)? {
            empty(&transaction).map_err(wrong)?;
            progress = Progress::default();
        }
        let mut count = 0;
        for found in self.reader.lines_at(progress.segment, progress.offset)? {
            let found = found?;
            insert(&transaction, &found, progress.next_seq).map_err(wrong)?;
            progress = Progress {
                segment: found.segment,
                offset: found.offset.saturating_add(found.bytes.len() as u64 + 1),
                next_seq: progress.next_seq.saturating_add(1),
            };
            count += 1;
            if count == BATCH_LINES {
                break;
            }
        }
        if progress != known {
            save(&transaction, progress).map_err(wrong)?;
        }
        transaction.commit().map_err(wrong)?;
        Ok(count == BATCH_LINES)
    }

    /// Reads the events at the given places from the segments.
    pub(crate) fn fetch(&self, places: &[Place]) -> Result<Vec<Event>, LedgerError> {
        let mut open: Option<(u64, PathBuf, File)> = None;
        let mut events = Vec::with_capacity(places.len());
        for place in places {
            if open
                .as_ref()
                .is_none_or(|(number, ..)| *number != place.segment)
            {
                let path = segment::path(self.reader.dir(), place.segment);
                let file = File::open(&path).at("open", &path)?;
                open = Some((place.segment, path, file));
            }
            let Some((_, path, file)) = &open else {
                continue;
            };
            let end = place.offset.saturating_add(place.length);
            let bytes = segment::read_span(file, place.offset, end).at("read", path)?;
            let is_same = leaf_hash(&bytes).as_slice() == place.hash;
            let event = is_same.then(|| line::decode(&bytes)).flatten();
            events.push(event.ok_or_else(|| LedgerError::Damaged {
                path: path.clone(),
                offset: place.offset,
                detail: "the line was changed after it was indexed".to_owned(),
            })?);
        }
        Ok(events)
    }
}

/// Where an event stands, and what it was when it was indexed.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) segment: u64,
    pub(crate) offset: u64,
    pub(crate) length: u64,
    pub(crate) hash: Vec<u8>,
}

/// Removes the files of an index that can't be used. One process at a time.
fn discard(dir: &Path, path: &Path) -> Result<(), LedgerError> {
    let lock_path = dir.join("index.lock");
    let lock = place::owner_only()
        .write(true)
        .create(true)
        .truncate(false)
        .open(&lock_path)
        .at("open", &lock_path)?;
    lock.lock().at("lock", &lock_path)?;
    for suffix in ["", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        match fs::remove_file(Path::new(&name)) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(LedgerError::io("remove", path, error)),
        }
    }
    Ok(())
}

/// Makes the tables if they are not there, and says how far they go.
fn prepare(transaction: &Transaction<'_>) -> rusqlite::Result<Progress> {
    let version: i64 =
        transaction.query_row("SELECT user_version FROM pragma_user_version", [], |row| {
            row.get(0)
        })?;
    if version != SCHEMA_VERSION {
        empty(transaction)?;
    }
    transaction.query_row(
        "SELECT segment, offset, next_seq FROM progress",
        [],
        |row| {
            Ok(Progress {
                segment: row.get(0)?,
                offset: row.get(1)?,
                next_seq: row.get(2)?,
            })
        },
    )
}

fn empty(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    transaction.execute_batch(
        "DROP TABLE IF EXISTS progress; DROP TABLE IF EXISTS paths; DROP TABLE IF EXISTS events;",
    )?;
    transaction.execute_batch(SCHEMA)?;
    transaction.execute("INSERT INTO progress VALUES (0, 0, 0)", [])?;
    transaction.pragma_update(None, "user_version", SCHEMA_VERSION)
}

fn save(transaction: &Transaction<'_>, progress: Progress) -> rusqlite::Result<usize> {
    transaction.execute(
        "UPDATE progress SET segment = ?1, offset = ?2, next_seq = ?3",
        params![progress.segment, progress.offset, progress.next_seq],
    )
}

/// Whether the last indexed line still stands where it stood.
fn holds(
    transaction: &Transaction<'_>,
    reader: &Reader,
    progress: Progress,
) -> rusqlite::Result<bool> {
    let Some(last) = progress.next_seq.checked_sub(1) else {
        return Ok(true);
    };
    let found: Option<(u64, u64, Vec<u8>)> = transaction
        .query_row(
            "SELECT offset, length, hash FROM events WHERE seq = ?1",
            [last],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        )
        .optional()?;
    let Some((offset, length, hash)) = found else {
        return Ok(false);
    };
    let path = segment::path(reader.dir(), progress.segment);
    let end = offset.saturating_add(length);
    let line = File::open(path).and_then(|file| segment::read_span(&file, offset, end));
    Ok(line.is_ok_and(|line| leaf_hash(&line).as_slice() == hash))
}

/// Indexes one line. One that is no event takes its place without being found by any question.
fn insert(transaction: &Transaction<'_>, found: &Line, seq: u64) -> rusqlite::Result<()> {
    let event = line::decode(&found.bytes).filter(|event| event.seq == seq);
    let body = event.as_ref().map(|event| &event.body);
    let usage = body.and_then(|body| body.usage);
    let mut statement = transaction.prepare_cached(
        "INSERT INTO events VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14,
         ?15, ?16, ?17)",
    )?;
    statement.execute(params![
        seq,
        found.segment,
        found.offset,
        found.bytes.len() as u64,
        leaf_hash(&found.bytes).as_slice(),
        body.map_or("unreadable", |body| body.kind.as_str()),
        body.map_or(0, |body| body.timestamp.as_millis()),
        body.and_then(|body| body.execution_id.as_deref()),
        body.and_then(|body| body.tool_id.as_deref()),
        body.and_then(|body| body.state)
            .map(crate::LifecycleState::as_str),
        body.and_then(|body| body.session.as_ref())
            .map(tagout_vocab::SessionId::as_str),
        body.and_then(|body| body.intent.as_ref())
            .map(tagout_vocab::IntentId::as_str),
        body.and_then(|body| body.duration),
        usage.map(|usage| usage.cpu_ms),
        usage.map(|usage| usage.memory_bytes),
        usage.map(|usage| usage.read_bytes),
        usage.map(|usage| usage.written_bytes),
    ])?;
    let paths = body.map(|body| body.paths.as_slice()).unwrap_or_default();
    for change in paths {
        transaction
            .prepare_cached("INSERT OR IGNORE INTO paths VALUES (?1, ?2)")?
            .execute(params![change.path, seq])?;
    }
    Ok(())
}
