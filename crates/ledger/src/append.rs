//! Appending: one durable write for all events of a step, shared by concurrent processes.
//!
//! The lines are written under an advisory lock and synced after it is released. That is right
//! for a chain in a file that only grows: whoever syncs later makes the earlier lines durable too,
//! and nobody is answered before their own sync has returned.

use std::fs::{File, TryLockError};
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::json;
use tagout_vocab::limits::{
    LEDGER_LOCK_WAIT_MS_MAX, LEDGER_SEAL_EVENTS_MAX, LEDGER_SEAL_MS_MAX, LEDGER_SEGMENT_BYTES_MAX,
    LEDGER_STEP_EVENTS_MAX,
};
use tagout_vocab::{Digest, Timestamp};

use crate::error::{At as _, LedgerError};
use crate::event::{Kind, NewEvent, Stamp};
use crate::format::{self, Access};
use crate::keys::{KeySource, is_key_name};
use crate::merkle::leaf_hash;
use crate::note::SignedCheckpoint;
use crate::place::FileId;
use crate::position::Position;
use crate::{line, place, segment, texts};

/// How long the lock is asked for without sleeping, about; and then how long each sleep is.
const SPIN: Duration = Duration::from_micros(100);

/// When the process whose append crosses a bound writes a seal.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SealPolicy {
    /// At most this many events without a seal.
    pub events_max: u64,
    /// At most this long without one, while there are new events.
    pub ms_max: i64,
}

impl Default for SealPolicy {
    fn default() -> Self {
        Self {
            events_max: LEDGER_SEAL_EVENTS_MAX,
            ms_max: LEDGER_SEAL_MS_MAX,
        }
    }
}

/// A place where something is made durable.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SyncPoint {
    /// The events of a step, before they are acknowledged.
    Events,
    /// A closed segment, before a line of the next one links to it.
    Closed,
    /// The folder that holds a new segment.
    Folder,
    /// The event of a seal, before a checkpoint counts it.
    Seal,
    /// The checkpoint's bytes, before they take the place of the last one.
    Checkpoint,
}

/// How a ledger is used by this process.
#[derive(Clone, Debug)]
pub struct Options {
    /// The key for seals; without one, nothing is sealed.
    pub key: Option<KeySource>,
    /// When an append seals; without this, only a call of [`Ledger::seal`] does.
    pub seal: Option<SealPolicy>,
    /// When to begin a new segment.
    pub segment_bytes_max: u64,
    /// How long to wait for other processes.
    pub lock_wait_ms_max: u64,
    /// A sync that is left out: only the tests that must see the damage set it.
    pub skip_sync: Option<SyncPoint>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            key: None,
            seal: Some(SealPolicy::default()),
            segment_bytes_max: LEDGER_SEGMENT_BYTES_MAX,
            lock_wait_ms_max: LEDGER_LOCK_WAIT_MS_MAX,
            skip_sync: None,
        }
    }
}

/// Proof that some events are durable. Only a successful durable append, or a sync of an event
/// that is already there, makes one.
#[must_use]
#[derive(Debug)]
pub struct Durable {
    first: u64,
    hashes: Vec<Digest>,
}

impl Durable {
    /// The number of the first event that it covers.
    pub const fn first_seq(&self) -> u64 {
        self.first
    }

    /// The number of the last event that it covers.
    pub fn last_seq(&self) -> u64 {
        let rest = self.hashes.len().saturating_sub(1) as u64;
        self.first.saturating_add(rest)
    }

    /// The hash of an event that it covers.
    pub fn hash_of(&self, seq: u64) -> Option<Digest> {
        let place = usize::try_from(seq.checked_sub(self.first)?).ok()?;
        self.hashes.get(place).copied()
    }
}

/// What a crash had left at the end of the ledger, and what was done about it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Repair {
    /// The number of the event that records the repair.
    pub seq: u64,
    /// How many bytes were dropped.
    pub dropped_bytes: u64,
    /// Their digest.
    pub dropped: Digest,
}

/// Whether the append also sealed.
#[derive(Debug)]
pub enum Sealing {
    /// No seal was due.
    NotDue,
    /// A seal was written.
    Sealed(SignedCheckpoint),
    /// A seal was due and could not be written. The events are durable all the same.
    Failed(LedgerError),
}

/// What a durable append did.
#[derive(Debug)]
pub struct Appended {
    /// Proof of it.
    pub token: Durable,
    /// The numbers of the events of the step.
    pub seqs: Range<u64>,
    /// Their hashes.
    pub hashes: Vec<Digest>,
    /// A torn tail that was dropped on the way.
    pub repair: Option<Repair>,
    /// Whether a seal followed.
    pub sealing: Sealing,
    /// Why the readable texts could not be kept, if they could not. The events are durable.
    pub texts_failure: Option<LedgerError>,
}

/// The ledger of one workspace, opened for appending. Cheap to open, however long the ledger is.
#[derive(Debug)]
pub struct Ledger {
    pub(crate) dir: PathBuf,
    pub(crate) origin: String,
    pub(crate) options: Options,
    format: Option<format::Identity>,
    lock: File,
    lock_id: FileId,
    poisoned: AtomicBool,
    /// Threads of one process share the lock file's lock, so they need one of their own.
    state: Mutex<Option<Position>>,
}

/// Lines that are in the file but not yet known to be durable.
struct Written {
    file: Arc<File>,
    file_id: FileId,
    number: u64,
    first: u64,
    hashes: Vec<Digest>,
}

/// The lock, given back when it goes.
pub(crate) struct Locked<'a> {
    file: &'a File,
    pub(crate) position: MutexGuard<'a, Option<Position>>,
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        // A lock that can't be released goes with the process.
        self.file.unlock().unwrap_or_default();
    }
}

impl Ledger {
    /// Starts a new, empty ledger in a folder, which is created.
    ///
    /// The origin names the ledger to the world: visible ASCII without `+`.
    pub fn create(dir: &Path, origin: &str) -> Result<(), LedgerError> {
        if !is_key_name(origin) {
            return Err(LedgerError::NotALedger {
                path: dir.to_owned(),
                detail: "its name must be visible ASCII without `+`".to_owned(),
            });
        }
        place::create_folder(dir)?;
        place::check_folder(dir)?;
        if dir.join("format").exists() {
            return Err(LedgerError::AlreadyThere {
                path: dir.to_owned(),
            });
        }
        format::create(dir, origin)?;
        place::sync_folder(dir)?;
        dir.parent().map_or(Ok(()), place::sync_folder)
    }

    /// Opens the ledger in a folder. Nothing is created and nothing is repaired here.
    pub fn open(dir: &Path, options: Options) -> Result<Self, LedgerError> {
        place::check_folder(dir)?;
        // Looked at before it is read: if it changes in between, it is read again.
        let identity = format::identity(dir);
        let format = format::load(dir, Access::Write)?;
        let path = dir.join("lock");
        let lock = place::owner_only()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .at("open", &path)?;
        let lock_id = FileId::of(&lock.metadata().at("look at", &path)?);
        Ok(Self {
            dir: dir.to_owned(),
            origin: format.origin,
            options,
            format: identity,
            lock,
            lock_id,
            poisoned: AtomicBool::new(false),
            state: Mutex::new(None),
        })
    }

    /// The ledger's name.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// The folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// How many events there are now. Others may append at any moment: it is a lower bound.
    pub fn size(&self) -> Result<u64, LedgerError> {
        let mut locked = self.lock()?;
        Ok(self.refresh(&mut locked)?.size)
    }

    /// L10: appends the events of one step and returns when they are durable.
    pub fn append(&self, events: &[NewEvent]) -> Result<Appended, LedgerError> {
        if events.is_empty() || events.len() > LEDGER_STEP_EVENTS_MAX {
            return Err(LedgerError::StepSize {
                count: events.len(),
            });
        }
        events.iter().try_for_each(NewEvent::check)?;
        let redacted: Vec<NewEvent> = events.iter().map(NewEvent::redacted).collect();
        let now = redacted.last().map(|event| event.timestamp);
        let now = now.unwrap_or_default();

        let mut locked = self.lock()?;
        let position = self.refresh(&mut locked)?;
        let (written, repair) = self.write_step(position, redacted, now)?;
        let due = self.is_seal_due(position, now);
        drop(locked);

        let first = written.first.saturating_add(u64::from(repair.is_some()));
        let texts_failure = texts::keep(&self.dir, first, events).err();
        let token = self.make_durable(written)?;
        let hashes: Vec<Digest> = (first..=token.last_seq())
            .filter_map(|seq| token.hash_of(seq))
            .collect();
        let sealing = if due {
            self.seal_if_due(now)
        } else {
            Sealing::NotDue
        };
        Ok(Appended {
            seqs: first..token.last_seq().saturating_add(1),
            hashes,
            token,
            repair,
            sealing,
            texts_failure,
        })
    }

    /// Makes sure that an event that is already in the file is durable, for a later process.
    pub fn confirm(&self, seq: u64) -> Result<(crate::Event, Durable), LedgerError> {
        self.refuse_if_poisoned()?;
        let event = crate::Reader::open(&self.dir)?.event(seq)?;
        let mut locked = self.lock()?;
        let position = self.refresh(&mut locked)?;
        // Older segments were synced before the one after them was begun.
        let file = Arc::clone(&position.file);
        let (number, file_id) = (position.number, position.file_id);
        drop(locked);
        let token = self.make_durable(Written {
            file,
            file_id,
            number,
            first: seq,
            hashes: vec![event.hash],
        })?;
        Ok((event, token))
    }

    /// Takes the lock of this process's threads and then that of all processes, for a bounded time.
    pub(crate) fn lock(&self) -> Result<Locked<'_>, LedgerError> {
        self.refuse_if_poisoned()?;
        let position = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let path = self.dir.join("lock");
        let mut waited = Duration::ZERO;
        let mut pause = Duration::ZERO;
        loop {
            match self.lock.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => {
                    return Err(LedgerError::io("lock", &path, error));
                }
            }
            if waited > Duration::from_millis(self.options.lock_wait_ms_max) {
                return Err(LedgerError::Busy {
                    path,
                    waited_ms: self.options.lock_wait_ms_max,
                });
            }
            // The lock is held for microseconds: giving way is mostly enough.
            if pause < SPIN {
                std::thread::yield_now();
                pause += Duration::from_micros(1);
            } else {
                std::thread::sleep(pause);
                waited += pause;
            }
        }
        let locked = Locked {
            file: &self.lock,
            position,
        };
        // A newer program may have taken the ledger over since it was opened.
        if self.format.is_none() || format::identity(&self.dir) != self.format {
            format::load(&self.dir, Access::Write)?;
        }
        // A lock that nobody else can find keeps nobody out.
        if place::still_named(&path, self.lock_id)?.is_none() {
            return Err(LedgerError::Moved { path });
        }
        Ok(locked)
    }

    pub(crate) const fn lock_file(&self) -> &File {
        &self.lock
    }

    pub(crate) fn refuse_if_poisoned(&self) -> Result<(), LedgerError> {
        if self.poisoned.load(Ordering::Acquire) {
            return Err(LedgerError::Poisoned {
                path: self.dir.clone(),
            });
        }
        Ok(())
    }

    /// Writes the lines of a step, and before them what a crash makes necessary.
    fn write_step(
        &self,
        position: &mut Position,
        events: Vec<NewEvent>,
        now: Timestamp,
    ) -> Result<(Written, Option<Repair>), LedgerError> {
        let repair = self.repair_event(position, now)?;
        let (record, repair) = repair.unzip();
        let events: Vec<NewEvent> = record.into_iter().chain(events).collect();
        let written = self.write_events(position, events)?;
        Ok((written, repair))
    }

    /// The event that says what is dropped, if a crash left something behind the last whole line.
    fn repair_event(
        &self,
        position: &Position,
        now: Timestamp,
    ) -> Result<Option<(NewEvent, Repair)>, LedgerError> {
        if position.length == position.end {
            return Ok(None);
        }
        let path = segment::path(&self.dir, position.number);
        let torn =
            segment::read_span(&position.file, position.end, position.length).at("read", &path)?;
        let repair = Repair {
            seq: position.size,
            dropped_bytes: torn.len() as u64,
            dropped: Digest::of(&torn),
        };
        let stamp = Stamp {
            event_id: format!("repair-{}", repair.seq),
            timestamp: now,
        };
        let mut event = NewEvent::new(stamp, Kind::Repair);
        event.data = Some(json!({
            "droppedBytes": repair.dropped_bytes,
            "dropped": repair.dropped,
            "segment": position.number,
            "offset": position.end,
        }));
        Ok(Some((event, repair)))
    }

    /// Writes some events at the end, under the lock, without waiting for the disk.
    fn write_events(
        &self,
        position: &mut Position,
        events: Vec<NewEvent>,
    ) -> Result<Written, LedgerError> {
        let first = position.size;
        let (mut seq, mut hash, mut time) = (first, position.hash, position.timestamp);
        let (mut bytes, mut hashes) = (Vec::new(), Vec::new());
        for mut event in events {
            let back = time.map_or(0, |time| {
                time.as_millis().saturating_sub(event.timestamp.as_millis())
            });
            event.clock_back_ms = u64::try_from(back).ok().filter(|back| *back > 0);
            time = Some(event.timestamp);
            let line = line::encode(seq, &hash, &event)?;
            hash = leaf_hash(&line);
            hashes.push(Digest::from_bytes(hash));
            seq = seq.saturating_add(1);
            bytes.extend(line);
            bytes.push(b'\n');
        }
        let grown = position.end.saturating_add(bytes.len() as u64);
        let is_clean = position.length == position.end;
        if grown > self.options.segment_bytes_max && position.end > 0 && is_clean {
            self.rotate(position)?;
        }
        self.write_bytes(position, &bytes)?;
        (position.size, position.hash, position.timestamp) = (seq, hash, time);
        Ok(Written {
            file: Arc::clone(&position.file),
            file_id: position.file_id,
            number: position.number,
            first,
            hashes,
        })
    }

    fn write_bytes(&self, position: &mut Position, bytes: &[u8]) -> Result<(), LedgerError> {
        let path = segment::path(&self.dir, position.number);
        let end = position.end.saturating_add(bytes.len() as u64);
        let file = &position.file;
        // What a crash left is written over first and cut afterwards: there is no moment at which
        // it is gone and the record of it is not there.
        let written = file.write_all_at(bytes, position.end).and_then(|()| {
            let torn = position.length > end;
            if torn { file.set_len(end) } else { Ok(()) }
        });
        if let Err(error) = written {
            // Half a line would be taken for a crash; if it can't be cut, the next append does it.
            if position.length == position.end {
                file.set_len(position.end).unwrap_or_default();
            }
            return Err(LedgerError::io("write", &path, error));
        }
        (position.end, position.length) = (end, end);
        Ok(())
    }

    /// Waits until a segment is on the disk. After a failure nothing is known any more, so this
    /// process appends nothing again.
    pub(crate) fn sync(
        &self,
        point: SyncPoint,
        file: &File,
        number: u64,
    ) -> Result<(), LedgerError> {
        if self.options.skip_sync == Some(point) {
            return Ok(());
        }
        let path = segment::path(&self.dir, number);
        let synced = rustix::fs::fdatasync(file).at("sync", &path);
        if synced.is_err() {
            self.poisoned.store(true, Ordering::Release);
        }
        synced
    }

    fn make_durable(&self, written: Written) -> Result<Durable, LedgerError> {
        self.sync(SyncPoint::Events, &written.file, written.number)?;
        // What is durable where nobody looks is lost.
        self.refuse_if_moved(written.file_id, written.number)?;
        Ok(Durable {
            first: written.first,
            hashes: written.hashes,
        })
    }

    /// Repairs and syncs what is there, under the lock: nothing is signed that could still be lost.
    pub(crate) fn settle(
        &self,
        position: &mut Position,
        now: Timestamp,
    ) -> Result<(), LedgerError> {
        let torn = self.repair_event(position, now)?;
        let record: Vec<NewEvent> = torn.into_iter().map(|(event, _)| event).collect();
        if !record.is_empty() {
            self.write_events(position, record)?;
        }
        self.sync(SyncPoint::Seal, &position.file, position.number)
    }

    /// Writes one event of the ledger's own and waits until it is durable, under the lock.
    pub(crate) fn write_own(
        &self,
        position: &mut Position,
        event: NewEvent,
    ) -> Result<(), LedgerError> {
        let written = self.write_events(position, vec![event])?;
        self.sync(SyncPoint::Seal, &written.file, written.number)
    }
}

#[cfg(test)]
mod tests;
