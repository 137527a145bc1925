//! Reading events straight from the segments, without a lock and without the index.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use tagout_vocab::limits::LEDGER_EVENT_BYTES_MAX;

use crate::error::{At as _, LedgerError};
use crate::event::Event;
use crate::format::{self, Access};
use crate::merkle::Hash;
use crate::{line, place, segment};

/// A ledger opened for looking.
#[derive(Clone, Debug)]
pub struct Reader {
    dir: PathBuf,
    origin: String,
}

/// One whole line and where it stands.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Line {
    pub(crate) segment: u64,
    pub(crate) offset: u64,
    pub(crate) bytes: Vec<u8>,
}

impl Reader {
    /// Opens the ledger in a folder.
    pub fn open(dir: &Path) -> Result<Self, LedgerError> {
        place::check_folder(dir)?;
        let format = format::load(dir, Access::Read)?;
        Ok(Self {
            dir: dir.to_owned(),
            origin: format.origin,
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

    /// How many whole events there are.
    pub fn size(&self) -> Result<u64, LedgerError> {
        Ok(self.end()?.0)
    }

    /// How many whole events there are, and the hash of the last one.
    pub(crate) fn end(&self) -> Result<(u64, Hash), LedgerError> {
        for number in segment::list(&self.dir)?.into_iter().rev() {
            let path = segment::path(&self.dir, number);
            let file = File::open(&path).at("open", &path)?;
            if let Some(last) = segment::tail(&file, &path)?.last {
                return Ok((last.seq.saturating_add(1), last.hash));
            }
        }
        Ok((0, format::genesis(&self.origin)))
    }

    /// One event.
    pub fn event(&self, seq: u64) -> Result<Event, LedgerError> {
        let found = self.events_from(seq)?.next().transpose()?;
        match found {
            Some(event) if event.seq == seq => Ok(event),
            Some(_) | None => Err(LedgerError::NoSuchEvent {
                seq,
                present: self.size()?,
            }),
        }
    }

    /// The events from number `seq` on, as long as they can be read.
    pub fn events_from(&self, seq: u64) -> Result<Events, LedgerError> {
        Ok(Events {
            lines: self.lines_from(seq)?,
            from: seq,
        })
    }

    pub(crate) fn lines_from(&self, seq: u64) -> Result<Lines, LedgerError> {
        let numbers = segment::list(&self.dir)?;
        let mut first = 0;
        for (position, number) in numbers.iter().enumerate().skip(1).rev() {
            let path = segment::path(&self.dir, *number);
            let file = File::open(&path).at("open", &path)?;
            let begins = segment::first_seq(&file).at("read", &path)?;
            if begins.is_some_and(|begins| begins <= seq) {
                first = position;
                break;
            }
        }
        let numbers = numbers.get(first..).unwrap_or_default().to_vec();
        let mut lines = Lines::new(&self.dir, numbers);
        if let Some(number) = lines.numbers.first().copied() {
            let path = segment::path(&self.dir, number);
            let file = File::open(&path).at("open", &path)?;
            lines.start = segment::seek(&file, seq).at("read", &path)?;
        }
        Ok(lines)
    }

    /// Every line from a byte of a segment on.
    pub(crate) fn lines_at(&self, number: u64, offset: u64) -> Result<Lines, LedgerError> {
        let numbers = segment::list(&self.dir)?;
        let numbers = numbers.into_iter().filter(|n| *n >= number).collect();
        let mut lines = Lines::new(&self.dir, numbers);
        if lines.numbers.first() == Some(&number) {
            lines.start = offset;
        }
        Ok(lines)
    }
}

/// The whole lines of some segments, in order. An unfinished line at the end of one is left out.
#[derive(Debug)]
pub(crate) struct Lines {
    dir: PathBuf,
    numbers: Vec<u64>,
    start: u64,
    open: Option<Open>,
}

#[derive(Debug)]
struct Open {
    number: u64,
    path: PathBuf,
    reader: BufReader<File>,
    offset: u64,
}

impl Lines {
    fn new(dir: &Path, mut numbers: Vec<u64>) -> Self {
        numbers.sort_unstable();
        Self {
            dir: dir.to_owned(),
            numbers,
            start: 0,
            open: None,
        }
    }

    fn open_next(&mut self) -> Result<bool, LedgerError> {
        if self.numbers.is_empty() {
            return Ok(false);
        }
        let number = self.numbers.remove(0);
        let path = segment::path(&self.dir, number);
        let mut file = File::open(&path).at("open", &path)?;
        let offset = std::mem::take(&mut self.start);
        file.seek(SeekFrom::Start(offset)).at("read", &path)?;
        self.open = Some(Open {
            number,
            path,
            reader: BufReader::with_capacity(256 * 1024, file),
            offset,
        });
        Ok(true)
    }

    fn next_line(&mut self) -> Result<Option<Line>, LedgerError> {
        loop {
            if self.open.is_none() && !self.open_next()? {
                return Ok(None);
            }
            let Some(open) = &mut self.open else {
                return Ok(None);
            };
            let mut bytes = Vec::new();
            let most = LEDGER_EVENT_BYTES_MAX as u64 + 1;
            (&mut open.reader)
                .take(most)
                .read_until(b'\n', &mut bytes)
                .at("read", &open.path)?;
            if bytes.last() != Some(&b'\n') {
                if bytes.len() as u64 == most {
                    return Err(LedgerError::Damaged {
                        path: open.path.clone(),
                        offset: open.offset,
                        detail: "the line is too long".to_owned(),
                    });
                }
                self.open = None;
                continue;
            }
            let offset = open.offset;
            open.offset = offset.saturating_add(bytes.len() as u64);
            bytes.pop();
            return Ok(Some(Line {
                segment: open.number,
                offset,
                bytes,
            }));
        }
    }
}

impl Iterator for Lines {
    type Item = Result<Line, LedgerError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_line().transpose()
    }
}

/// The events of a ledger, in order.
#[derive(Debug)]
pub struct Events {
    lines: Lines,
    from: u64,
}

impl Iterator for Events {
    type Item = Result<Event, LedgerError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let line = match self.lines.next()? {
                Ok(line) => line,
                Err(error) => return Some(Err(error)),
            };
            let Some(event) = line::decode(&line.bytes) else {
                return Some(Err(LedgerError::Damaged {
                    path: segment::path(&self.lines.dir, line.segment),
                    offset: line.offset,
                    detail: "the line is not an event".to_owned(),
                }));
            };
            if event.seq >= self.from {
                return Some(Ok(event));
            }
        }
    }
}
