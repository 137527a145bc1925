//! The bytes of a journal segment: frames whose checksum tells a whole record from a torn one.

use sha2::{Digest as _, Sha256};

use super::record::Record;
use crate::error::Error;

/// The first bytes of every frame; the last one is the format's version.
pub(crate) const MAGIC: &[u8; 8] = b"TAGOUTJ1";

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

fn checksum(lengths: &[u8], header: &[u8], inline: &[u8]) -> [u8; 32] {
    let mut hasher = Sha256::new();
    for part in [lengths, header, inline] {
        hasher.update(part);
    }
    hasher.finalize().into()
}

/// The bytes of a frame, with its checksum.
pub(crate) fn encode(record: &Record, inline: &[u8]) -> Result<(Vec<u8>, [u8; 32]), Error> {
    let header = postcard::to_stdvec(record).map_err(|_| damaged("a record can't be written"))?;
    let header_len = u32::try_from(header.len()).map_err(|_| damaged("a record is too long"))?;
    let mut lengths = Vec::with_capacity(12);
    lengths.extend_from_slice(&header_len.to_le_bytes());
    lengths.extend_from_slice(&(inline.len() as u64).to_le_bytes());
    let sum = checksum(&lengths, &header, inline);
    let total = PREFIX_BYTES + header.len() + inline.len() + SLOT_BYTES;
    let mut bytes = Vec::with_capacity(total);
    for part in [
        &MAGIC[..],
        &lengths,
        &sum,
        &header,
        inline,
        &[0; SLOT_BYTES],
    ] {
        bytes.extend_from_slice(part);
    }
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
    if take(bytes, 8)? != MAGIC {
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
    if checksum(lengths, header, inline) != sum {
        return None;
    }
    let aborted = slot.starts_with(&abort_mark(&sum));
    let (slot, end) = (offset + slot_at, offset + slot_at + SLOT_BYTES as u64);
    let record = postcard::from_bytes(header).ok()?;
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
                .filter(|(_, window)| window == MAGIC)
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
