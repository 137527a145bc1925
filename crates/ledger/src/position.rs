//! Where the ledger ends: found in constant time, followed as others append, moved on by rotation.

use std::fs::File;
use std::sync::Arc;

use tagout_vocab::Timestamp;
use tagout_vocab::limits::LEDGER_TAIL_BYTES;

use crate::append::{Ledger, Locked, SyncPoint};
use crate::error::{At as _, LedgerError};
use crate::hint::{self, Hint};
use crate::merkle::Hash;
use crate::place::FileId;
use crate::seal::{self, Mark};
use crate::{format, place, segment};

/// The end of the ledger as this process last saw it.
#[derive(Clone, Debug)]
pub(crate) struct Position {
    pub(crate) number: u64,
    pub(crate) file: Arc<File>,
    pub(crate) file_id: FileId,
    /// Where the whole lines of the segment end.
    pub(crate) end: u64,
    /// Where the segment's file ends: beyond `end` only after a crash.
    pub(crate) length: u64,
    /// How many events there are.
    pub(crate) size: u64,
    pub(crate) hash: Hash,
    pub(crate) timestamp: Option<Timestamp>,
    pub(crate) sealed: Mark,
}

impl Ledger {
    /// Brings this process's view of the end up to date, under the lock.
    pub(crate) fn refresh<'a>(
        &self,
        locked: &'a mut Locked<'_>,
    ) -> Result<&'a mut Position, LedgerError> {
        // What was known stays known when this fails, so that it fails again.
        let known = locked.position.clone();
        let caught_up = known
            .clone()
            .map(|known| self.catch_up(known))
            .transpose()?;
        let current = match caught_up.flatten() {
            Some(position) => position,
            None => self.look()?,
        };
        if let Some(known) = known {
            self.refuse_if_cut(&known, &current)?;
        }
        Ok(locked.position.insert(current))
    }

    /// A ledger only grows: events that this process has seen can't be gone.
    fn refuse_if_cut(&self, known: &Position, current: &Position) -> Result<(), LedgerError> {
        let replaced = current.size == known.size && current.hash != known.hash;
        if current.size < known.size || replaced {
            return Err(self.moved(current.number));
        }
        Ok(())
    }

    fn moved(&self, number: u64) -> LedgerError {
        LedgerError::Moved {
            path: segment::path(&self.dir, number),
        }
    }

    /// Refuses to go on with a segment that others would not find: its handle outlives its name.
    /// Answers how long it is.
    pub(crate) fn refuse_if_moved(&self, file: FileId, number: u64) -> Result<u64, LedgerError> {
        let named = place::still_named(&segment::path(&self.dir, number), file)?;
        named.ok_or_else(|| self.moved(number))
    }

    /// Reads what others have added since; `None` if that is not just some more whole lines.
    fn catch_up(&self, mut position: Position) -> Result<Option<Position>, LedgerError> {
        let path = segment::path(&self.dir, position.number);
        let length = self.refuse_if_moved(position.file_id, position.number)?;
        let next = segment::path(&self.dir, position.number.saturating_add(1));
        let grown = length.checked_sub(position.end);
        let is_little = grown.is_some_and(|grown| grown <= LEDGER_TAIL_BYTES as u64);
        if !is_little || position.length != position.end || next.exists() {
            return Ok(None);
        }
        if length == position.end {
            return Ok(Some(position));
        }
        let added = segment::read_span(&position.file, position.end, length).at("read", &path)?;
        let Some(last) = segment::last_of(&added) else {
            return Ok(None);
        };
        position.end = length;
        position.length = length;
        position.size = last.seq.saturating_add(1);
        position.hash = last.hash;
        position.timestamp = Some(last.timestamp);
        Ok(Some(position))
    }

    /// Finds the end of the ledger. The cost depends on the number of segments, not of events, and
    /// mostly not even on that.
    fn look(&self) -> Result<Position, LedgerError> {
        if let Some(position) = self.look_where_it_was() {
            return Ok(position);
        }
        let numbers = segment::list(&self.dir)?;
        let sealed = seal::read_mark(&self.dir)?;
        let Some((number, earlier)) = numbers.split_last() else {
            self.refuse_if_missing(sealed.size, 0)?;
            return self.begin_segment(1);
        };
        let mut position = self.open_segment(*number)?;
        let mut earlier = earlier.iter().rev();
        while position.timestamp.is_none()
            && let Some(number) = earlier.next()
        {
            let before = self.open_segment(*number)?;
            position.size = before.size;
            position.hash = before.hash;
            position.timestamp = before.timestamp;
        }
        self.refuse_if_missing(sealed.size, position.size)?;
        let number = *number;
        hint::note(self.lock_file(), &self.dir, Hint { number, sealed });
        Ok(Position { sealed, ..position })
    }

    /// The same by what an earlier look noted; `None` where that does not tell, or is not so.
    fn look_where_it_was(&self) -> Option<Position> {
        let Hint { number, sealed } = hint::read(self.lock_file(), &self.dir)?;
        let next = segment::path(&self.dir, number.checked_add(1)?);
        if next.exists() {
            return None;
        }
        let position = self.open_segment(number).ok()?;
        let is_sound = position.timestamp.is_some() && position.size >= sealed.size;
        is_sound.then_some(Position { sealed, ..position })
    }

    /// Refuses to build on a ledger that has lost what a seal vouches for.
    fn refuse_if_missing(&self, sealed: u64, present: u64) -> Result<(), LedgerError> {
        if present < sealed {
            return Err(LedgerError::SealedEventsMissing {
                path: self.dir.clone(),
                sealed,
                present,
            });
        }
        Ok(())
    }

    fn open_segment(&self, number: u64) -> Result<Position, LedgerError> {
        let path = segment::path(&self.dir, number);
        let mut options = place::owner_only();
        let file = options
            .read(true)
            .write(true)
            .open(&path)
            .at("open", &path)?;
        let file_id = FileId::of(&file.metadata().at("look at", &path)?);
        let tail = segment::tail(&file, &path)?;
        let last = tail.last;
        Ok(Position {
            number,
            file: Arc::new(file),
            file_id,
            end: tail.end,
            length: tail.length,
            size: last.map_or(0, |last| last.seq.saturating_add(1)),
            hash: last.map_or_else(|| format::genesis(&self.origin), |last| last.hash),
            timestamp: last.map(|last| last.timestamp),
            sealed: Mark::default(),
        })
    }

    fn begin_segment(&self, number: u64) -> Result<Position, LedgerError> {
        let path = segment::path(&self.dir, number);
        place::owner_only()
            .write(true)
            .create_new(true)
            .open(&path)
            .at("create", &path)?;
        if self.options.skip_sync != Some(SyncPoint::Folder) {
            place::sync_folder(&self.dir)?;
        }
        self.open_segment(number)
    }

    /// Closes a segment and begins the next one.
    pub(crate) fn rotate(&self, position: &mut Position) -> Result<(), LedgerError> {
        // A line in the new segment must not be durable before the line it links to.
        self.sync(SyncPoint::Closed, &position.file, position.number)?;
        let next = self.begin_segment(position.number.saturating_add(1))?;
        let (number, sealed) = (next.number, position.sealed);
        hint::note(self.lock_file(), &self.dir, Hint { number, sealed });
        *position = Position {
            number,
            file: next.file,
            file_id: next.file_id,
            end: 0,
            length: 0,
            ..position.clone()
        };
        Ok(())
    }
}
