//! The bytes of a journal segment: frames whose checksum tells a whole record from a torn one.

use sha2::{Digest as _, Sha256};

use tagout_vocab::Digest;
use tagout_vocab::limits::JOURNAL_RECORD_BYTES_MAX;

use super::record::{First, Record};
use crate::error::Error;

/// The first bytes of every frame that is written; the last one is the format's version.
pub(crate) const MAGIC: &[u8; 8] = b"TAGOUTJ2";

/// The first bytes of frames of the first format, which are still read.
const FIRST: &[u8; 8] = b"TAGOUTJ1";

/// Magic, header length, blob length, checksum.
pub(crate) const PREFIX_BYTES: usize = 8 + 4 + 8 + 32;

/// Room behind the record where a later decision against it is written over zeros, so that saying
/// «aborted» needs no space on a full disk.
pub(crate) const SLOT_BYTES: usize = 64;

/// A record as found in a segment.
#[derive(Debug)]
pub(crate) struct Frame {
    /// Where it starts.
    pub offset: u64,
    /// Where its decision slot starts.
    pub slot: u64,
    /// Where the next frame starts.
    pub end: u64,
    /// Its checksum, which names it.
    pub checksum: [u8; 32],
    /// What it says.
    pub record: Record,
    /// The bytes that it carries.
    pub inline: Vec<u8>,
    /// Whether the decision slot says that it was given up.
    pub aborted: bool,
}

fn damaged(what: &'static str) -> Error {
    Error::StateDamaged {
        path: "journal".to_owned(),
        what,
    }
}

/// The record in a header, by the frame's first bytes.
fn record(magic: &[u8], header: &[u8]) -> Option<Record> {
    if magic == FIRST {
        return postcard::from_bytes::<First>(header).ok().map(Record::from);
    }
    postcard::from_bytes(header).ok()
}

fn is_magic(bytes: &[u8]) -> bool {
    bytes == MAGIC || bytes == FIRST
}

fn checksum(lengths: &[u8], header: &[u8]) -> [u8; 32] {
    let mut hasher = Sha256::new();
    hasher.update(lengths);
    hasher.update(header);
    hasher.finalize().into()
}

/// The bytes of a frame, with its checksum.
///
/// The checksum covers the record, and the record holds the digest of every piece that follows it,
/// so nothing is hashed twice.
pub(crate) fn encode(record: &Record) -> Result<(Vec<u8>, [u8; 32]), Error> {
    let (record, pieces) = record.written();
    let header = postcard::to_stdvec(&record).map_err(|_| damaged("a record can't be written"))?;
    let header_len = u32::try_from(header.len()).map_err(|_| damaged("a record is too long"))?;
    let carried: usize = pieces.iter().map(|piece| piece.len()).sum();
    let mut lengths = Vec::with_capacity(12);
    lengths.extend_from_slice(&header_len.to_le_bytes());
    lengths.extend_from_slice(&(carried as u64).to_le_bytes());
    let sum = checksum(&lengths, &header);
    let mut bytes = Vec::with_capacity(PREFIX_BYTES + header.len() + carried + SLOT_BYTES);
    for part in [&MAGIC[..], &lengths, &sum, &header] {
        bytes.extend_from_slice(part);
    }
    for piece in &pieces {
        bytes.extend_from_slice(piece);
    }
    bytes.extend_from_slice(&[0; SLOT_BYTES]);
    Ok((bytes, sum))
}

/// What the slot of an aborted record holds.
pub(crate) fn abort_mark(checksum: &[u8; 32]) -> Vec<u8> {
    let mut hasher = Sha256::new();
    hasher.update(b"tagout journal abort");
    hasher.update(checksum);
    let mut mark = b"ABORTED\n".to_vec();
    mark.extend_from_slice(&hasher.finalize());
    mark
}

/// What to do with the bytes that a frame carries.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Carried {
    /// Read them for the checksum.
    Checked,
    /// Pass them over: in a segment that nobody recovers from any more, whoever uses them checks
    /// them.
    Skipped,
}

/// The frame at a place of a file, without the bytes that it carries, which are only checked: a
/// segment need not fit into memory. `None` when there is no whole frame.
pub(crate) fn head(
    file: &mut (impl std::io::Read + std::io::Seek),
    offset: u64,
    carried: Carried,
) -> Option<Frame> {
    let mut prefix = [0; PREFIX_BYTES];
    file.read_exact(&mut prefix).ok()?;
    let (magic, rest) = prefix.split_at_checked(8)?;
    let (lengths, sum) = rest.split_at_checked(12)?;
    let header_len = u32::from_le_bytes(lengths.get(..4)?.try_into().ok()?);
    let inline_len = u64::from_le_bytes(lengths.get(4..)?.try_into().ok()?);
    if !is_magic(magic) || u64::from(header_len) > JOURNAL_RECORD_BYTES_MAX * 8 {
        return None;
    }
    let sum: [u8; 32] = sum.try_into().ok()?;
    let mut header = vec![0; usize::try_from(header_len).ok()?];
    file.read_exact(&mut header).ok()?;
    if checksum(lengths, &header) != sum {
        return None;
    }
    let record = record(magic, &header)?;
    match carried {
        Carried::Skipped => {
            let ahead = i64::try_from(inline_len).ok()?;
            file.seek(std::io::SeekFrom::Current(ahead)).ok()?;
        }
        Carried::Checked => {
            let mut piece = Vec::new();
            for (digest, size) in record.pieces() {
                piece.resize(usize::try_from(size).ok()?, 0);
                file.read_exact(&mut piece).ok()?;
                if Digest::of(&piece) != digest {
                    return None;
                }
            }
        }
    }
    let mut slot = [0; SLOT_BYTES];
    file.read_exact(&mut slot).ok()?;
    let at = offset + PREFIX_BYTES as u64 + u64::from(header_len) + inline_len;
    Some(Frame {
        offset,
        slot: at,
        end: at + SLOT_BYTES as u64,
        checksum: sum,
        record,
        inline: Vec::new(),
        aborted: slot.starts_with(&abort_mark(&sum)),
    })
}

/// Takes `count` bytes off the front.
fn take<'a>(bytes: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (front, rest) = bytes.split_at_checked(count)?;
    *bytes = rest;
    Some(front)
}

/// The frame at the start of some bytes that begin at `offset` of the segment; `None` when there is
/// no whole one.
pub(crate) fn decode(mut bytes: &[u8], offset: u64) -> Option<Frame> {
    let available = bytes.len();
    let bytes = &mut bytes;
    let magic = take(bytes, 8)?;
    if !is_magic(magic) {
        return None;
    }
    let lengths = take(bytes, 12)?;
    let sum: [u8; 32] = take(bytes, 32)?.try_into().ok()?;
    let header_len = u32::from_le_bytes(lengths.get(..4)?.try_into().ok()?);
    let inline_len = u64::from_le_bytes(lengths.get(4..)?.try_into().ok()?);
    let header = take(bytes, usize::try_from(header_len).ok()?)?;
    let inline = take(bytes, usize::try_from(inline_len).ok()?)?;
    let slot_at = available.checked_sub(bytes.len())? as u64;
    let slot = take(bytes, SLOT_BYTES)?;
    if checksum(lengths, header) != sum {
        return None;
    }
    let record = record(magic, header)?;
    let mut pieces = inline;
    for (digest, size) in record.pieces() {
        let piece = take(&mut pieces, usize::try_from(size).ok()?)?;
        if Digest::of(piece) != digest {
            return None;
        }
    }
    let aborted = slot.starts_with(&abort_mark(&sum));
    let (slot, end) = (offset + slot_at, offset + slot_at + SLOT_BYTES as u64);
    Some(Frame {
        offset,
        slot,
        end,
        checksum: sum,
        record,
        inline: inline.to_vec(),
        aborted,
    })
}

/// The whole frames of a segment, and where the last one ends.
///
/// Every frame was durable before the next one was begun, so only the last can be torn; a whole
/// frame behind a broken one is damage, which nobody may repair by cutting it off.
pub(crate) fn scan(bytes: &[u8]) -> Result<(Vec<Frame>, u64), Error> {
    let mut frames = Vec::new();
    let mut offset = 0;
    loop {
        let rest = usize::try_from(offset)
            .ok()
            .and_then(|at| bytes.get(at..))
            .unwrap_or_default();
        if rest.is_empty() {
            return Ok((frames, offset));
        }
        let Some(frame) = decode(rest, offset) else {
            let later = rest
                .windows(MAGIC.len())
                .enumerate()
                .skip(1)
                .filter(|(_, window)| is_magic(window))
                .any(|(at, _)| rest.get(at..).is_some_and(|tail| decode(tail, 0).is_some()));
            if later {
                return Err(damaged("a record in its middle does not have its checksum"));
            }
            return Ok((frames, offset));
        };
        offset = frame.end;
        frames.push(frame);
    }
}
