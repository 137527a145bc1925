//! Segment files: their names, their ends, and finding an event in them without an index.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use tagout_vocab::Timestamp;
use tagout_vocab::limits::{LEDGER_EVENT_BYTES_MAX, LEDGER_LINE_USUAL_BYTES, LEDGER_TAIL_BYTES};

use crate::bytes;
use crate::error::{At as _, LedgerError};
use crate::line::{self, HEAD_BYTES_MAX};
use crate::merkle::{Hash, leaf_hash};

/// The file of one segment.
pub(crate) fn path(dir: &Path, number: u64) -> PathBuf {
    dir.join(format!("{number:08}.jsonl"))
}

/// The numbers of all segments, in order.
pub(crate) fn list(dir: &Path) -> Result<Vec<u64>, LedgerError> {
    let mut numbers = Vec::new();
    for entry in fs::read_dir(dir).at("list", dir)? {
        let name = entry.at("list", dir)?.file_name();
        let number: Option<u64> = name
            .to_str()
            .and_then(|name| name.strip_suffix(".jsonl"))
            .filter(|stem| stem.len() >= 8 && stem.bytes().all(|byte| byte.is_ascii_digit()))
            .and_then(|stem| stem.parse().ok());
        numbers.extend(number);
    }
    numbers.sort_unstable();
    Ok(numbers)
}

/// The last event of a segment.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Last {
    pub(crate) seq: u64,
    pub(crate) hash: Hash,
    pub(crate) timestamp: Timestamp,
}

/// The end of a segment.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Tail {
    /// The last whole event, if there is one.
    pub(crate) last: Option<Last>,
    /// Where the whole events end.
    pub(crate) end: u64,
    /// Where the file ends. Beyond `end` lies what a crash left.
    pub(crate) length: u64,
}

/// Bytes of a file from `from` to `to`.
pub(crate) fn read_span(file: &File, from: u64, to: u64) -> io::Result<Vec<u8>> {
    let length = usize::try_from(to.saturating_sub(from)).map_err(io::Error::other)?;
    let mut bytes = vec![0; length];
    file.read_exact_at(&mut bytes, from)?;
    Ok(bytes)
}

/// Looks at the end of a segment. The cost does not depend on the segment's length.
pub(crate) fn tail(file: &File, path: &Path) -> Result<Tail, LedgerError> {
    let length = file.metadata().at("read", path)?.len();
    let mut window = LEDGER_TAIL_BYTES as u64;
    loop {
        let start = length.saturating_sub(window);
        let sound = sound_until(file, start, length).at("read", path)?;
        // The last line is short as a rule, and then so is what has to be held of the segment.
        for room in [LEDGER_LINE_USUAL_BYTES as u64, window] {
            let from = sound.saturating_sub(room).max(start);
            let bytes = read_span(file, from, sound).at("read", path)?;
            if let Some(tail) = tail_in(&bytes, from, length, path)? {
                return Ok(tail);
            }
        }
        if window > 2 * LEDGER_EVENT_BYTES_MAX as u64 {
            return Err(LedgerError::Damaged {
                path: path.to_owned(),
                offset: start,
                detail: "no line ends here".to_owned(),
            });
        }
        window *= 4;
    }
}

/// Where the first zero byte from `from` on lies, or the end.
///
/// A power loss can leave zeros where a page was never written. No line holds a zero byte, and
/// nobody was told that a line behind one is durable.
fn sound_until(file: &File, from: u64, to: u64) -> io::Result<u64> {
    let mut piece = [0; LEDGER_LINE_USUAL_BYTES];
    let mut at = from;
    while at < to {
        let room = usize::try_from(to - at).unwrap_or(usize::MAX);
        let room = room.min(piece.len());
        let piece = piece.get_mut(..room).unwrap_or_default();
        file.read_exact_at(piece, at)?;
        if let Some(zero) = bytes::find(0, piece) {
            return Ok(at.saturating_add(zero as u64));
        }
        at = at.saturating_add(room as u64);
    }
    Ok(to)
}

/// The tail that sound bytes at the end of the file show; `None` if they are too few.
fn tail_in(
    bytes: &[u8],
    start: u64,
    length: u64,
    path: &Path,
) -> Result<Option<Tail>, LedgerError> {
    let Some(last_feed) = bytes::rfind(b'\n', bytes) else {
        let nothing = Tail {
            last: None,
            end: 0,
            length,
        };
        return Ok((start == 0).then_some(nothing));
    };
    let before = bytes.get(..last_feed).unwrap_or_default();
    let line_start = match bytes::rfind(b'\n', before) {
        Some(feed) => feed + 1,
        None if start == 0 => 0,
        None => return Ok(None),
    };
    let line = before.get(line_start..).unwrap_or_default();
    let Some(head) = line::head(line).filter(|_| line::is_whole(line)) else {
        return Err(LedgerError::Damaged {
            path: path.to_owned(),
            offset: start.saturating_add(line_start as u64),
            detail: "the last line is not an event".to_owned(),
        });
    };
    let last = Last {
        seq: head.seq,
        hash: leaf_hash(line),
        timestamp: head.timestamp,
    };
    Ok(Some(Tail {
        last: Some(last),
        end: start.saturating_add(last_feed as u64 + 1),
        length,
    }))
}

/// The last event of some whole lines; `None` if they are not whole, or not lines of events.
pub(crate) fn last_of(lines: &[u8]) -> Option<Last> {
    let lines = lines.strip_suffix(b"\n")?;
    let start = bytes::rfind(b'\n', lines).map_or(0, |feed| feed + 1);
    let line = lines.get(start..)?;
    let head = line::head(line).filter(|_| line::is_whole(line))?;
    bytes::find(0, lines).is_none().then(|| Last {
        seq: head.seq,
        hash: leaf_hash(line),
        timestamp: head.timestamp,
    })
}

/// The number of the first event in a segment; `None` if there is no readable one.
pub(crate) fn first_seq(file: &File) -> io::Result<Option<u64>> {
    Ok(head_at(file, 0)?.map(|(seq, _)| seq))
}

/// The number of the event whose line starts at `offset`.
fn head_at(file: &File, offset: u64) -> io::Result<Option<(u64, u64)>> {
    let mut bytes = [0; HEAD_BYTES_MAX];
    let read = read_up_to(file, &mut bytes, offset)?;
    let head = bytes.get(..read).and_then(line::head);
    Ok(head.map(|head| (head.seq, offset)))
}

/// Reads until the buffer is full or the file ends.
pub(crate) fn read_up_to(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut read = 0;
    while let Some(rest) = buffer.get_mut(read..).filter(|rest| !rest.is_empty()) {
        match file.read_at(rest, offset.saturating_add(read as u64)) {
            Ok(0) => break,
            Ok(count) => read += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(read)
}

/// Where the first line that begins after `offset` begins.
fn next_line(file: &File, offset: u64, length: u64) -> io::Result<Option<u64>> {
    let mut from = offset;
    let mut buffer = vec![0; 16 * 1024];
    while from < length {
        let read = read_up_to(file, &mut buffer, from)?;
        let bytes = buffer.get(..read).unwrap_or_default();
        if let Some(feed) = bytes::find(b'\n', bytes) {
            return Ok(Some(from.saturating_add(feed as u64 + 1)));
        }
        if read == 0 {
            break;
        }
        from = from.saturating_add(read as u64);
    }
    Ok(None)
}

/// Where the line of event `seq` starts, by halving; at or before it if the segment is damaged.
pub(crate) fn seek(file: &File, seq: u64) -> io::Result<u64> {
    let length = file.metadata()?.len();
    let (mut low, mut high) = (0, length);
    while high - low > 4 * 1024 {
        let middle = low + (high - low) / 2;
        let start = next_line(file, middle, high)?.filter(|start| *start < high);
        let found = match start {
            Some(start) => head_at(file, start)?,
            None => None,
        };
        match found {
            Some((found, start)) if found <= seq => low = start,
            Some(_) | None => high = middle,
        }
    }
    Ok(low)
}
