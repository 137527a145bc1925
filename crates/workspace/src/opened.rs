//! A file of which parts are read when they are needed.

use std::io;
use std::ops::Range;
use std::path::Path;

use crate::sys::{self, Handle, Kind};

/// An open file. Whoever replaces it meanwhile replaces the name, not what is read here.
#[derive(Debug)]
pub struct Opened {
    file: Handle,
    length: usize,
}

impl Opened {
    /// Opens a plain file of at most `max` bytes; `None` where something else is there.
    pub fn plain(path: &Path, max: u64) -> io::Result<Option<Self>> {
        let file = sys::open_unlinked(path)?;
        let stat = sys::stat(&file)?;
        let length = usize::try_from(stat.size).ok();
        let length = length.filter(|_| stat.kind == Kind::File && stat.size <= max);
        Ok(length.map(|length| Self { file, length }))
    }

    /// How long it was when it was opened.
    pub const fn length(&self) -> usize {
        self.length
    }

    /// All of a range of bytes; `None` where some are missing or can't be read.
    pub fn read(&self, range: Range<usize>) -> Option<Vec<u8>> {
        if range.start > range.end || range.end > self.length {
            return None;
        }
        let mut bytes = Vec::with_capacity(range.len());
        while bytes.len() < range.len() {
            let at = u64::try_from(range.start + bytes.len()).ok()?;
            // The room may be larger than what is wanted, and nothing is lost by that.
            let found = sys::read_once_at(&self.file, &mut bytes, at).ok()?;
            if found == 0 {
                return None;
            }
        }
        bytes.truncate(range.len());
        Some(bytes)
    }
}
