//! Where records and authorship are kept: a database in the state folder, derived from the ledger.
//!
//! Losing it loses no proof. Nothing on the way to a verdict looks at it.

use std::path::PathBuf;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OptionalExtension as _, Transaction, TransactionBehavior, params};
use tagout_trace::history::{Key, Store, StoreError};
use tagout_vocab::limits::{LOCK_WAIT_MS_MAX, TRACE_LOG_PAGES_MAX};
use tagout_vocab::{CallId, Timestamp};
use tagout_workspace::files;

use crate::error::GateError;
use crate::site::Site;

const SCHEMA: &str = "
CREATE TABLE IF NOT EXISTS pages (key TEXT PRIMARY KEY, value BLOB NOT NULL)
    WITHOUT ROWID, STRICT;
CREATE TABLE IF NOT EXISTS records (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, at INTEGER NOT NULL,
    is_published INTEGER NOT NULL, body TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS unpublished ON records (number) WHERE is_published = 0;
CREATE INDEX IF NOT EXISTS by_time ON records (at, number);
CREATE TABLE IF NOT EXISTS links (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, at INTEGER NOT NULL,
    is_published INTEGER NOT NULL, body TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS unpublished_links ON links (number) WHERE is_published = 0;
CREATE TABLE IF NOT EXISTS steps (
    seq INTEGER PRIMARY KEY, execution TEXT NOT NULL, session TEXT, intent TEXT,
    undoes TEXT NOT NULL, effects TEXT
) STRICT;
CREATE INDEX IF NOT EXISTS by_execution ON steps (execution, seq);
CREATE INDEX IF NOT EXISTS by_session ON steps (session, seq) WHERE session IS NOT NULL;
CREATE INDEX IF NOT EXISTS by_intent ON steps (intent, seq) WHERE intent IS NOT NULL;
CREATE TABLE IF NOT EXISTS images (
    digest TEXT PRIMARY KEY, at INTEGER NOT NULL, bytes BLOB NOT NULL
) WITHOUT ROWID, STRICT;
CREATE INDEX IF NOT EXISTS images_by_time ON images (at);
";

/// Versions only ever add tables and indexes, so that a later one makes what is missing.
const SCHEMA_VERSION: i64 = 5;

/// The first version that keeps every step of a call whose id is used again.
const STEPS_BY_SEQ: i64 = 5;

/// Steps that an earlier version kept by their call, taken over.
const STEPS_AGAIN: &str = "
BEGIN;
ALTER TABLE steps RENAME TO steps_by_call;
DROP INDEX IF EXISTS by_session;
DROP INDEX IF EXISTS by_intent;
CREATE TABLE steps (
    seq INTEGER PRIMARY KEY, execution TEXT NOT NULL, session TEXT, intent TEXT,
    undoes TEXT NOT NULL, effects TEXT
) STRICT;
INSERT INTO steps SELECT seq, execution, session, intent, undoes, effects FROM steps_by_call;
DROP TABLE steps_by_call;
COMMIT;
";

fn version(connection: &Connection) -> Result<i64, rusqlite::Error> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}

fn is_set_up(connection: &Connection) -> Result<bool, rusqlite::Error> {
    Ok(version(connection)? >= SCHEMA_VERSION)
}

fn set_up(connection: &Connection) -> Result<(), rusqlite::Error> {
    if is_set_up(connection)? {
        return Ok(());
    }
    connection.pragma_update(None, "journal_mode", "WAL")?;
    if (1..STEPS_BY_SEQ).contains(&version(connection)?) {
        connection.execute_batch(STEPS_AGAIN)?;
    }
    connection.execute_batch(SCHEMA)?;
    connection.pragma_update(None, "user_version", SCHEMA_VERSION)
}

/// One settled execution that changed files.
#[derive(Clone, Debug)]
pub(crate) struct Taken {
    pub(crate) execution: CallId,
    /// The executions that it took back, if it was an undo.
    pub(crate) undoes: Vec<CallId>,
    /// What it did, where the journal does not know.
    pub(crate) effects: Option<String>,
}

/// One line of the list of records in the tree.
#[derive(Clone, Debug, Eq, PartialEq, Ord, PartialOrd)]
pub(crate) struct Shown {
    pub(crate) at: i64,
    pub(crate) id: String,
    pub(crate) line: String,
}

/// The open database.
#[derive(Debug)]
pub(crate) struct Book {
    path: PathBuf,
    connection: Connection,
}

impl Book {
    /// Opens it, or begins it.
    pub(crate) fn open(site: &Site) -> Result<Self, GateError> {
        let folder = site.state.join("trace");
        files::ensure_dir_private(&folder)?;
        let path = folder.join("trace.db");
        let opened = Connection::open(&path).and_then(|connection| {
            connection.busy_timeout(Duration::from_millis(LOCK_WAIT_MS_MAX))?;
            connection.pragma_update(None, "synchronous", "NORMAL")?;
            // Everything here can be made again from the ledger and the journal, so nobody waits
            // for the disk after each call: what was added lies in the log beside the database
            // until that has grown. The order in which it reaches the disk then is kept, and so
            // the database is whole after a power failure, if a little behind.
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
            connection.pragma_update(None, "wal_autocheckpoint", TRACE_LOG_PAGES_MAX)?;
            Ok((is_set_up(&connection)?, connection))
        });
        let opened = match opened {
            Ok((true, connection)) => Ok(connection),
            Ok((false, connection)) => {
                // Changing the journal's mode waits for nobody, so whoever begins it is alone.
                let _alone = files::lock(&folder.join("lock"))?;
                set_up(&connection).map(|()| connection)
            }
            Err(error) => Err(error),
        };
        match opened {
            Ok(connection) => Ok(Self { path, connection }),
            Err(source) => Err(GateError::Book { path, source }),
        }
    }

    /// Begins a change; one process at a time.
    pub(crate) fn begin(&mut self) -> Result<Pages<'_>, GateError> {
        self.pages(TransactionBehavior::Immediate)
    }

    /// Begins to look; keeps nobody from changing it, and sees none of that.
    pub(crate) fn look(&mut self) -> Result<Pages<'_>, GateError> {
        self.pages(TransactionBehavior::Deferred)
    }

    fn pages(&mut self, behavior: TransactionBehavior) -> Result<Pages<'_>, GateError> {
        let path = &self.path;
        let begun = self.connection.transaction_with_behavior(behavior);
        let transaction = begun.map_err(|source| GateError::Book {
            path: path.clone(),
            source,
        })?;
        Ok(Pages { path, transaction })
    }
}

/// The database within one change. Dropped without [`Self::commit`], nothing of it stays.
#[derive(Debug)]
pub(crate) struct Pages<'a> {
    path: &'a PathBuf,
    transaction: Transaction<'a>,
}

/// How many bytes the images have.
const IMAGE_BYTES: &str = "image_bytes";

/// Where the reading of the ledger has got to.
const READ_TO: &str = "read_to";

impl Pages<'_> {
    fn wrong(&self, source: rusqlite::Error) -> GateError {
        GateError::Book {
            path: self.path.clone(),
            source,
        }
    }

    pub(crate) fn commit(self) -> Result<(), GateError> {
        let path = self.path;
        self.transaction.commit().map_err(|source| GateError::Book {
            path: path.clone(),
            source,
        })
    }

    /// Does something wholly or not at all: if it fails, nothing of it stays, and what was done
    /// before does.
    pub(crate) fn whole<T>(
        &self,
        doing: impl FnOnce() -> Result<T, GateError>,
    ) -> Result<T, GateError> {
        let say = |sql: &str| {
            let said = self.transaction.execute_batch(sql);
            said.map_err(|source| self.wrong(source))
        };
        say("SAVEPOINT whole")?;
        let done = doing();
        if done.is_err() {
            say("ROLLBACK TO whole")?;
        }
        say("RELEASE whole")?;
        done
    }

    pub(crate) fn text(&self, name: &str) -> Result<Option<String>, GateError> {
        let found = self.page(name).map_err(|source| self.wrong(source))?;
        Ok(found.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    pub(crate) fn set_text(&self, name: &str, text: &str) -> Result<(), GateError> {
        self.set_page(name, text.as_bytes())
            .map_err(|source| self.wrong(source))
    }

    pub(crate) fn cursor(&self) -> Result<u64, GateError> {
        let text = self.text(READ_TO)?;
        Ok(text.and_then(|text| text.parse().ok()).unwrap_or_default())
    }

    pub(crate) fn set_cursor(&self, seq: u64) -> Result<(), GateError> {
        self.set_text(READ_TO, &seq.to_string())
    }

    fn page(&self, key: &str) -> rusqlite::Result<Option<Vec<u8>>> {
        let sql = "SELECT value FROM pages WHERE key = ?1";
        let mut found = self.transaction.prepare_cached(sql)?;
        found.query_row([key], |row| row.get(0)).optional()
    }

    fn set_page(&self, key: &str, value: &[u8]) -> rusqlite::Result<()> {
        let sql = "INSERT INTO pages (key, value) VALUES (?1, ?2)
            ON CONFLICT (key) DO UPDATE SET value = excluded.value";
        let mut put = self.transaction.prepare_cached(sql)?;
        put.execute(params![key, value]).map(|_| ())
    }

    /// Keeps a record; one that is known stays as it is. Whether it is new.
    pub(crate) fn keep(
        &self,
        (id, at): (&str, Timestamp),
        body: &str,
        is_published: bool,
    ) -> Result<bool, GateError> {
        let sql = "INSERT OR IGNORE INTO records (id, at, is_published, body)
            VALUES (?1, ?2, ?3, ?4)";
        let kept = self
            .transaction
            .execute(sql, params![id, at.as_millis(), is_published, body]);
        Ok(kept.map_err(|source| self.wrong(source))? > 0)
    }

    pub(crate) fn record(&self, id: &str) -> Result<Option<String>, GateError> {
        let sql = "SELECT body FROM records WHERE id = ?1";
        let one = || {
            let mut found = self.transaction.prepare_cached(sql)?;
            found.query_row([id], |row| row.get(0)).optional()
        };
        one().map_err(|source| self.wrong(source))
    }

    /// The latest records since a time, newest first.
    pub(crate) fn latest(&self, since: Timestamp, max: usize) -> Result<Vec<String>, GateError> {
        let sql = "SELECT body FROM records WHERE at >= ?1 ORDER BY at DESC, number DESC LIMIT ?2";
        let max = i64::try_from(max).unwrap_or(i64::MAX);
        self.bodies(sql, params![since.as_millis(), max])
    }

    /// The number of the record that was taken in last.
    pub(crate) fn last_number(&self) -> Result<i64, GateError> {
        let sql = "SELECT coalesce(max(number), 0) FROM records";
        let found = self.transaction.query_row(sql, [], |row| row.get(0));
        found.map_err(|source| self.wrong(source))
    }

    /// The records behind a number up to another one, in the order in which they were taken in; at
    /// most `max`, each with its number.
    pub(crate) fn records_after(
        &self,
        (after, last): (i64, i64),
        max: usize,
    ) -> Result<Vec<(i64, String)>, GateError> {
        let sql = "SELECT number, body FROM records WHERE number > ?1 AND number <= ?2
            ORDER BY number LIMIT ?3";
        let max = i64::try_from(max).unwrap_or(i64::MAX);
        let all = || {
            let mut found = self.transaction.prepare_cached(sql)?;
            let rows = found.query_map(params![after, last, max], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?;
            rows.collect::<rusqlite::Result<Vec<(i64, String)>>>()
        };
        all().map_err(|source| self.wrong(source))
    }

    /// Records that the files in the tree do not show yet, oldest first.
    pub(crate) fn unpublished(&self) -> Result<Vec<String>, GateError> {
        let sql = "SELECT body FROM records WHERE is_published = 0 ORDER BY number";
        self.bodies(sql, params![])
    }

    /// Keeps the link of a commit to its records; one that is known stays as it is.
    pub(crate) fn keep_link(
        &self,
        (id, at): (&str, Timestamp),
        body: &str,
    ) -> Result<(), GateError> {
        let sql = "INSERT OR IGNORE INTO links (id, at, is_published, body)
            VALUES (?1, ?2, 0, ?3)";
        let kept = self
            .transaction
            .execute(sql, params![id, at.as_millis(), body]);
        kept.map(|_| ()).map_err(|source| self.wrong(source))
    }

    /// Links that the files in the tree do not show yet, oldest first.
    pub(crate) fn unpublished_links(&self) -> Result<Vec<String>, GateError> {
        let sql = "SELECT body FROM links WHERE is_published = 0 ORDER BY number";
        self.bodies(sql, params![])
    }

    /// Every record and link of this state that the files in the tree are to show.
    pub(crate) fn published(&self) -> Result<Vec<Shown>, GateError> {
        // What was read from others has no event of this ledger, and is theirs to show.
        let sql = "SELECT at, id, body FROM records
            WHERE is_published = 1 AND json_extract(body, '$.ledger_event') IS NOT NULL UNION ALL
            SELECT at, id, body FROM links WHERE is_published = 1";
        let all = || {
            let mut found = self.transaction.prepare(sql)?;
            let rows = found.query_map([], |row| {
                Ok(Shown {
                    at: row.get(0)?,
                    id: row.get(1)?,
                    line: row.get(2)?,
                })
            })?;
            rows.collect::<rusqlite::Result<Vec<Shown>>>()
        };
        all().map_err(|source| self.wrong(source))
    }

    fn bodies(&self, sql: &str, with: &[&dyn rusqlite::ToSql]) -> Result<Vec<String>, GateError> {
        let all = || {
            let mut found = self.transaction.prepare(sql)?;
            let rows = found.query_map(with, |row| row.get(0))?;
            rows.collect::<rusqlite::Result<Vec<String>>>()
        };
        all().map_err(|source| self.wrong(source))
    }

    pub(crate) fn note_published(&self) -> Result<(), GateError> {
        for sql in [
            "UPDATE records SET is_published = 1 WHERE is_published = 0",
            "UPDATE links SET is_published = 1 WHERE is_published = 0",
        ] {
            let done = self.transaction.execute(sql, []);
            done.map_err(|source| self.wrong(source))?;
        }
        Ok(())
    }

    pub(crate) fn add_step(
        &self,
        (seq, taken): (u64, &Taken),
        (session, intent): (Option<&str>, Option<&str>),
    ) -> Result<(), GateError> {
        let sql = "INSERT OR REPLACE INTO steps (seq, execution, session, intent, undoes, effects)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        let undoes: Vec<&str> = taken.undoes.iter().map(CallId::as_str).collect();
        let done = self.transaction.execute(
            sql,
            params![
                seq,
                taken.execution.as_str(),
                session,
                intent,
                undoes.join("\n"),
                taken.effects
            ],
        );
        done.map(|_| ()).map_err(|source| self.wrong(source))
    }

    /// The steps of a call, a session or an intent, by the column that names them.
    pub(crate) fn chosen(&self, by: By, name: &str) -> Result<Vec<(u64, CallId)>, GateError> {
        let sql = match by {
            By::Call => "SELECT seq, execution FROM steps WHERE execution = ?1 ORDER BY seq",
            By::Session => "SELECT seq, execution FROM steps WHERE session = ?1 ORDER BY seq",
            By::Intent => "SELECT seq, execution FROM steps WHERE intent = ?1 ORDER BY seq",
        };
        let all = || {
            let mut found = self.transaction.prepare(sql)?;
            let rows = found.query_map([name], |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect::<rusqlite::Result<Vec<(u64, String)>>>()
        };
        let all: Vec<(u64, String)> = all().map_err(|source| self.wrong(source))?;
        all.into_iter()
            .map(|(seq, text)| Ok((seq, call(text)?)))
            .collect()
    }

    /// The first calls with changes whose ids begin like this.
    pub(crate) fn begun_like(&self, start: &str, count: usize) -> Result<Vec<CallId>, GateError> {
        // Not `LIKE`, to which some characters of ids mean others.
        let sql = "SELECT DISTINCT execution FROM steps \
                   WHERE substr(execution, 1, length(?1)) = ?1 ORDER BY execution LIMIT ?2";
        let all = || {
            let mut found = self.transaction.prepare(sql)?;
            let count = i64::try_from(count).unwrap_or(i64::MAX);
            let rows = found.query_map((start, count), |row| row.get(0))?;
            rows.collect::<rusqlite::Result<Vec<String>>>()
        };
        let all = all().map_err(|source| self.wrong(source))?;
        all.into_iter().map(call).collect()
    }

    /// The intent that a call served last.
    pub(crate) fn intent_of(&self, call: &CallId) -> Result<Option<String>, GateError> {
        let sql = "SELECT intent FROM steps WHERE execution = ?1 ORDER BY seq DESC LIMIT 1";
        let found = self
            .transaction
            .query_row(sql, [call.as_str()], |row| row.get(0));
        let found: Option<Option<String>> = found.optional().map_err(|error| self.wrong(error))?;
        Ok(found.flatten())
    }

    /// Every step from one on, oldest first.
    pub(crate) fn steps_from(&self, seq: u64) -> Result<Vec<Taken>, GateError> {
        let sql = "SELECT execution, undoes, effects FROM steps WHERE seq >= ?1 ORDER BY seq";
        let all = || {
            let mut found = self.transaction.prepare(sql)?;
            let rows = found.query_map([seq], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
            rows.collect::<rusqlite::Result<Vec<(String, String, Option<String>)>>>()
        };
        let all = all().map_err(|source| self.wrong(source))?;
        all.into_iter()
            .map(|(execution, undoes, effects)| {
                Ok(Taken {
                    execution: call(execution)?,
                    undoes: undoes
                        .lines()
                        .map(|one| call(one.to_owned()))
                        .collect::<Result<_, _>>()?,
                    effects,
                })
            })
            .collect()
    }

    pub(crate) fn keep_image(
        &self,
        digest: &str,
        at: Timestamp,
        bytes: &[u8],
    ) -> Result<(), GateError> {
        let held = self.image_bytes()?;
        let sql = "INSERT OR IGNORE INTO images (digest, at, bytes) VALUES (?1, ?2, ?3)";
        let with = params![digest, at.as_millis(), bytes];
        let made = self.transaction.execute(sql, with);
        if made.map_err(|source| self.wrong(source))? > 0 {
            let more = i64::try_from(bytes.len()).unwrap_or(i64::MAX);
            return self.set_text(IMAGE_BYTES, &held.saturating_add(more).to_string());
        }
        let sql = "UPDATE images SET at = ?2 WHERE digest = ?1";
        let done = self
            .transaction
            .execute(sql, params![digest, at.as_millis()]);
        done.map(|_| ()).map_err(|source| self.wrong(source))
    }

    /// Bytes of all images. Counted once, and known from then on.
    fn image_bytes(&self) -> Result<i64, GateError> {
        let known = self.text(IMAGE_BYTES)?;
        if let Some(known) = known.and_then(|text| text.parse().ok()) {
            return Ok(known);
        }
        let sql = "SELECT coalesce(sum(length(bytes)), 0) FROM images";
        let found = self.transaction.query_row(sql, [], |row| row.get(0));
        found.map_err(|source| self.wrong(source))
    }

    /// Drops images from before a time, and then the oldest until all together have no more than so
    /// many bytes.
    pub(crate) fn drop_images(&self, before: Timestamp, max: u64) -> Result<(), GateError> {
        let max = i64::try_from(max).unwrap_or(i64::MAX);
        let mut held = self.image_bytes()?;
        let mut dropped = || {
            let sql = "SELECT digest, at, length(bytes) FROM images ORDER BY at, digest";
            let mut oldest = self.transaction.prepare_cached(sql)?;
            let mut rows = oldest.query([])?;
            let mut gone: Vec<String> = Vec::new();
            while let Some(row) = rows.next()? {
                let at: i64 = row.get(1)?;
                if at >= before.as_millis() && held <= max {
                    break;
                }
                held = held.saturating_sub(row.get(2)?);
                gone.push(row.get(0)?);
            }
            for digest in &gone {
                let sql = "DELETE FROM images WHERE digest = ?1";
                self.transaction.prepare_cached(sql)?.execute([digest])?;
            }
            Ok(gone.len())
        };
        let gone: rusqlite::Result<usize> = dropped();
        if gone.map_err(|source| self.wrong(source))? > 0 {
            self.set_text(IMAGE_BYTES, &held.to_string())?;
        }
        Ok(())
    }

    pub(crate) fn image(&self, digest: &str) -> Result<Option<Vec<u8>>, GateError> {
        let sql = "SELECT bytes FROM images WHERE digest = ?1";
        let found = self.transaction.query_row(sql, [digest], |row| row.get(0));
        found.optional().map_err(|source| self.wrong(source))
    }
}

/// What steps are chosen by.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum By {
    Call,
    Session,
    Intent,
}

fn call(text: String) -> Result<CallId, GateError> {
    CallId::new(&text).map_err(|source| GateError::Id { text, source })
}

fn failed(source: rusqlite::Error) -> StoreError {
    StoreError {
        source: Box::new(source),
    }
}

impl Store for &Pages<'_> {
    fn get(&self, key: &Key) -> Result<Option<Vec<u8>>, StoreError> {
        self.page(key.as_str()).map_err(failed)
    }

    fn put(&mut self, key: &Key, value: &[u8]) -> Result<(), StoreError> {
        self.set_page(key.as_str(), value).map_err(failed)
    }

    fn append(&mut self, key: &Key, more: &[u8]) -> Result<(), StoreError> {
        let mut value = self.page(key.as_str()).map_err(failed)?.unwrap_or_default();
        value.extend_from_slice(more);
        self.set_page(key.as_str(), &value).map_err(failed)
    }
}

#[cfg(test)]
mod tests;
