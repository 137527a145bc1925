//! The journal: numbered segments of records, one durable append per transaction.
//!
//! A segment with a higher number exists only once everything in the lower ones is durable in the
//! workspace, so recovery looks at the highest alone. The lower ones stay as the undo store.

pub(crate) mod done;
pub(crate) mod frame;
pub(crate) mod record;

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};

use self::done::Done;
use self::frame::{Carried, Frame};
use crate::error::{Error, at};
use crate::options::SyncPoint;
use crate::sys::{self, Handle};

/// The journal's folder.
#[derive(Debug)]
pub(crate) struct Journal {
    folder: Handle,
    skip: Option<SyncPoint>,
}

/// The segment that is written to.
#[derive(Debug)]
pub(crate) struct Segment {
    /// Its number.
    pub number: u64,
    file: File,
    companion: File,
    length: u64,
}

fn name(number: u64, ending: &str) -> Vec<u8> {
    format!("{number:08}.{ending}").into_bytes()
}

const NAME: &str = "the journal";

impl Journal {
    pub(crate) const fn new(folder: Handle, skip: Option<SyncPoint>) -> Self {
        Self { folder, skip }
    }

    /// The numbers of all segments, lowest first.
    pub(crate) fn numbers(&self) -> Result<Vec<u64>, Error> {
        let mut numbers: Vec<u64> = sys::names(&self.folder)
            .map_err(at("list", NAME))?
            .iter()
            .filter_map(|name| {
                std::str::from_utf8(name)
                    .ok()?
                    .strip_suffix(".wal")?
                    .parse()
                    .ok()
            })
            .collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// The segment that is written to; the first one is made when there is none.
    pub(crate) fn active(&self) -> Result<Segment, Error> {
        match self.numbers()?.last() {
            Some(number) => self.open(*number),
            None => self.start(1),
        }
    }

    /// Whether nothing was written since the last checkpoint.
    pub(crate) fn is_empty(&self) -> Result<bool, Error> {
        let Some(number) = self.numbers()?.last().copied() else {
            return Ok(true);
        };
        for ending in ["wal", "done"] {
            match sys::stat_at(&self.folder, &name(number, ending)) {
                Ok(stat) if stat.size > 0 => return Ok(false),
                Ok(_) => {}
                Err(error) if sys::is_missing(&error) => {}
                Err(error) => return Err(Error::io("look at", NAME, error)),
            }
        }
        Ok(true)
    }

    fn open(&self, number: u64) -> Result<Segment, Error> {
        let file = sys::open_or_create(&self.folder, &name(number, "wal"), 0o600);
        let file = file.map_err(at("open", NAME))?.into_file();
        let companion = sys::open_append(&self.folder, &name(number, "done"), 0o600);
        let companion = companion.map_err(at("open", NAME))?.into_file();
        let length = sys::stat(&file).map_err(at("look at", NAME))?.size;
        Ok(Segment {
            number,
            file,
            companion,
            length,
        })
    }

    /// Begins a segment. From here on nobody looks at the ones before when recovering.
    pub(crate) fn start(&self, number: u64) -> Result<Segment, Error> {
        let segment = self.open(number)?;
        sys::sync_data(&segment.file).map_err(at("sync", NAME))?;
        if self.skip != Some(SyncPoint::JournalFolder) {
            sys::sync_all(&self.folder).map_err(at("sync", NAME))?;
        }
        Ok(segment)
    }

    /// The frames of a segment that is not written to any more.
    pub(crate) fn kept(&self, number: u64) -> Result<Vec<Frame>, Error> {
        Ok(self.open(number)?.frames()?.0)
    }

    /// The same without the bytes that the frames carry.
    pub(crate) fn kept_heads(&self, number: u64) -> Result<Vec<Frame>, Error> {
        Ok(self.open(number)?.heads_with(Carried::Skipped)?.0)
    }

    /// The bytes of a segment.
    pub(crate) fn size(&self, number: u64) -> Result<u64, Error> {
        let stat = sys::stat_at(&self.folder, &name(number, "wal"));
        Ok(stat.map_err(at("look at", NAME))?.size)
    }

    /// Drops a segment that is past its time.
    pub(crate) fn drop_segment(&self, number: u64) -> Result<(), Error> {
        for ending in ["done", "wal"] {
            match sys::unlink(&self.folder, &name(number, ending)) {
                Err(error) if !sys::is_missing(&error) => {
                    return Err(Error::io("remove", NAME, error));
                }
                Ok(()) | Err(_) => {}
            }
        }
        Ok(())
    }

    /// Appends a frame behind the last whole one and makes it durable: the commit point.
    pub(crate) fn append(
        &self,
        segment: &mut Segment,
        at_end: u64,
        bytes: &[u8],
    ) -> Result<(), Error> {
        let file = &mut segment.file;
        if segment.length != at_end {
            file.set_len(at_end).map_err(at("repair", NAME))?;
        }
        let written = file
            .seek(SeekFrom::Start(at_end))
            .and_then(|_| file.write_all(bytes))
            .and_then(|()| self.sync(file));
        if let Err(error) = written {
            // Nobody was told yet, so the record may go again; if even that fails it is a torn
            // tail.
            drop(file.set_len(at_end));
            return Err(Error::io("write", NAME, error));
        }
        segment.length = at_end + bytes.len() as u64;
        Ok(())
    }

    fn sync(&self, file: &File) -> std::io::Result<()> {
        if self.skip == Some(SyncPoint::Journal) {
            return Ok(());
        }
        sys::sync_data(file)
    }

    /// Makes what is in the segment durable before anything is done on its word.
    pub(crate) fn secure(&self, segment: &Segment) -> Result<(), Error> {
        self.sync(&segment.file).map_err(at("sync", NAME))
    }

    /// Decides durably that a record is given up.
    pub(crate) fn abort(&self, segment: &mut Segment, frame: &Frame) -> Result<(), Error> {
        let file = &mut segment.file;
        file.seek(SeekFrom::Start(frame.slot))
            .and_then(|_| file.write_all(&frame::abort_mark(&frame.checksum)))
            .and_then(|()| self.sync(file))
            .map_err(at("write", NAME))
    }
}

impl Segment {
    /// The bytes it has, whole or not.
    pub(crate) const fn length(&self) -> u64 {
        self.length
    }

    /// Its whole frames and where they end.
    pub(crate) fn frames(&mut self) -> Result<(Vec<Frame>, u64), Error> {
        let mut bytes = Vec::new();
        let read = self
            .file
            .seek(SeekFrom::Start(0))
            .and_then(|_| self.file.read_to_end(&mut bytes));
        read.map_err(at("read", NAME))?;
        frame::scan(&bytes)
    }

    /// Its whole frames without the bytes that they carry, and where they end.
    pub(crate) fn heads(&mut self) -> Result<(Vec<Frame>, u64), Error> {
        let (frames, offset) = self.heads_with(Carried::Checked)?;
        if offset == self.length {
            return Ok((frames, offset));
        }
        // What follows is torn or damaged; the slower look can tell which.
        self.frames()
    }

    /// The frame at a place, without the bytes that it carries; `None` when there is no whole one.
    pub(crate) fn head(&mut self, offset: u64) -> Option<Frame> {
        self.file.seek(SeekFrom::Start(offset)).ok()?;
        frame::head(
            &mut std::io::BufReader::new(&self.file),
            offset,
            Carried::Skipped,
        )
    }

    fn heads_with(&mut self, carried: Carried) -> Result<(Vec<Frame>, u64), Error> {
        let start = self.file.seek(SeekFrom::Start(0));
        start.map_err(at("read", NAME))?;
        let mut reader = std::io::BufReader::new(&self.file);
        let (mut frames, mut offset) = (Vec::new(), 0);
        while let Some(frame) = frame::head(&mut reader, offset, carried) {
            offset = frame.end;
            frames.push(frame);
        }
        Ok((frames, offset))
    }

    fn companion_text(&mut self) -> Result<String, Error> {
        let mut bytes = Vec::new();
        self.companion
            .seek(SeekFrom::Start(0))
            .and_then(|_| self.companion.read_to_end(&mut bytes))
            .map_err(at("read", NAME))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// What its companion says.
    pub(crate) fn done(&mut self) -> Result<Vec<Done>, Error> {
        Ok(done::read(&self.companion_text()?))
    }

    /// The inodes of the files that were made for a record, one per unit; `None` when not all were.
    pub(crate) fn staged(&mut self, offset: u64) -> Result<Option<Vec<Option<u64>>>, Error> {
        Ok(done::staged(&self.companion_text()?, offset))
    }

    /// Adds a line to the companion; not durable, and never needed.
    pub(crate) fn note(&mut self, line: &str) -> Result<(), Error> {
        self.companion
            .write_all(line.as_bytes())
            .map_err(at("write", NAME))
    }
}
