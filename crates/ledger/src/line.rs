//! The exact bytes of an event, written once; their beginning can be read without JSON.

use data_encoding::HEXLOWER;
use tagout_vocab::limits::{LEDGER_EVENT_BYTES_MAX, LEDGER_SEQ_MAX};
use tagout_vocab::{Digest, Timestamp};

use crate::bytes;
use crate::error::LedgerError;
use crate::event::{Event, NewEvent};
use crate::format::FORMAT_VERSION;
use crate::merkle::{Hash, leaf_hash};

/// The longest beginning that [`head`] needs to see.
pub(crate) const HEAD_BYTES_MAX: usize = 256;

/// Most events are not longer.
const USUAL_BYTES: usize = 1_536;

/// The fixed beginning of a line, still as bytes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Head<'a> {
    /// The event's number.
    pub(crate) seq: u64,
    /// The 64 hexadecimal characters of the link.
    pub(crate) prev_hex: &'a [u8],
    /// The format.
    pub(crate) version: u32,
    /// The word for its kind.
    pub(crate) kind: &'a [u8],
    /// Its time.
    pub(crate) timestamp: Timestamp,
}

/// The bytes of one line, without its line feed.
pub(crate) fn encode(seq: u64, prev: &Hash, event: &NewEvent) -> Result<Vec<u8>, LedgerError> {
    let mut body = Vec::with_capacity(USUAL_BYTES);
    serde_json::to_writer(&mut body, event).map_err(|source| LedgerError::Json { seq, source })?;
    let prev = HEXLOWER.encode(prev);
    let start = format!("{{\"seq\":{seq},\"prev\":\"{prev}\",\"v\":{FORMAT_VERSION},");
    let mut line = start.into_bytes();
    line.extend_from_slice(body.get(1..).unwrap_or_default());
    if line.len() > LEDGER_EVENT_BYTES_MAX {
        return Err(LedgerError::EventTooLarge { bytes: line.len() });
    }
    Ok(line)
}

/// Reads the fixed beginning of a line; `None` if it has another form.
pub(crate) fn head(line: &[u8]) -> Option<Head<'_>> {
    let (seq, rest) = number(line.strip_prefix(b"{\"seq\":")?)?;
    if seq > LEDGER_SEQ_MAX {
        return None;
    }
    let rest = rest.strip_prefix(b",\"prev\":\"")?;
    let (prev_hex, rest) = rest.split_at_checked(64)?;
    let (version, rest) = number(rest.strip_prefix(b"\",\"v\":")?)?;
    let rest = rest.strip_prefix(b",\"kind\":\"")?;
    let (kind, rest) = rest.split_at_checked(bytes::find(b'"', rest)?)?;
    let rest = rest.strip_prefix(b"\",\"timestamp\":")?;
    let (negative, rest) = match rest.strip_prefix(b"-") {
        Some(rest) => (true, rest),
        None => (false, rest),
    };
    let (millis, _) = number(rest)?;
    let millis = i64::try_from(millis).ok()?;
    Some(Head {
        seq,
        prev_hex,
        version: u32::try_from(version).ok()?,
        kind,
        timestamp: Timestamp::from_millis(if negative { -millis } else { millis }),
    })
}

/// A decimal number without leading zeros, and what follows it.
fn number(text: &[u8]) -> Option<(u64, &[u8])> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = text.split_at_checked(digits)?;
    if digits.is_empty() || (digits.len() > 1 && digits.first() == Some(&b'0')) {
        return None;
    }
    let mut value: u64 = 0;
    for digit in digits {
        value = value
            .checked_mul(10)?
            .checked_add(u64::from(digit - b'0'))?;
    }
    Some((value, rest))
}

/// Whether a complete line has the outer form that every line has.
pub(crate) fn is_whole(line: &[u8]) -> bool {
    line.last() == Some(&b'}')
}

/// Reads a whole event.
pub(crate) fn decode(line: &[u8]) -> Option<Event> {
    let head = head(line)?;
    let mut prev = [0; 32];
    HEXLOWER.decode_mut(head.prev_hex, &mut prev).ok()?;
    let body: NewEvent = serde_json::from_slice(line).ok()?;
    Some(Event {
        seq: head.seq,
        prev: Digest::from_bytes(prev),
        hash: Digest::from_bytes(leaf_hash(line)),
        version: head.version,
        body,
        line: line.to_vec(),
    })
}
