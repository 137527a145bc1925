//! Which records speak of an intent, a symbol or a path, in the order they were made.

use tagout_vocab::Timestamp;
use tagout_vocab::limits::POSTINGS_PIECE_COUNT_MAX;

use super::bytes::{Reader, Writer};
use super::{HistoryError, Key, Store};

/// What records can be found by.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Topic {
    /// The intent they were made for.
    Intent,
    /// A symbol they touch.
    Symbol,
    /// A path they touch.
    Path,
    /// The conversation they belong to.
    Session,
}

impl Topic {
    const fn word(self) -> &'static str {
        match self {
            Self::Intent => "intent",
            Self::Symbol => "symbol",
            Self::Path => "path",
            Self::Session => "session",
        }
    }
}

/// A reference to one record.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Posting {
    /// When the record was made.
    pub at: Timestamp,
    /// The record's id.
    pub record: String,
}

/// The lists of references in a store. Finding costs what is found, not what there is.
#[derive(Debug)]
pub struct Postings<'a, S>(pub &'a mut S);

impl<S: Store> Postings<'_, S> {
    /// Adds a reference to the end of a list.
    pub fn add(&mut self, topic: Topic, name: &str, posting: &Posting) -> Result<(), HistoryError> {
        let count = count(self.0, topic, name)?;
        let mut writer = Writer::default();
        let mut body = Writer::default();
        body.hash(u64::from_be_bytes(posting.at.as_millis().to_be_bytes()));
        body.0.extend_from_slice(posting.record.as_bytes());
        writer.framed(&body.0);
        let piece = piece_of(count);
        self.0
            .append(&Key::posting(topic.word(), name, Some(piece)), &writer.0)?;
        let key = Key::posting(topic.word(), name, None);
        self.0.put(&key, &count.saturating_add(1).to_be_bytes())?;
        Ok(())
    }
}

/// The latest references of a list, newest first, not older than `since`, at most `max`.
pub fn find<S: Store>(
    store: &S,
    (topic, name): (Topic, &str),
    since: Timestamp,
    max: usize,
) -> Result<Vec<Posting>, HistoryError> {
    let mut found = Vec::new();
    let count = count(store, topic, name)?;
    for piece in (0..=piece_of(count)).rev() {
        let key = Key::posting(topic.word(), name, Some(piece));
        let Some(bytes) = store.get(&key)? else {
            continue;
        };
        let mut postings = read(&bytes).ok_or_else(|| HistoryError::Damaged {
            key: key.to_string(),
            what: "references to records",
        })?;
        let is_over = postings.first().is_some_and(|posting| posting.at < since);
        postings.retain(|posting| posting.at >= since);
        postings.reverse();
        found.extend(postings);
        if is_over || found.len() >= max {
            break;
        }
    }
    found.truncate(max);
    Ok(found)
}

fn read(bytes: &[u8]) -> Option<Vec<Posting>> {
    let mut reader = Reader(bytes);
    let mut postings = Vec::new();
    while !reader.0.is_empty() {
        let mut body = Reader(reader.framed()?);
        postings.push(Posting {
            at: Timestamp::from_millis(i64::from_be_bytes(body.hash()?.to_be_bytes())),
            record: std::str::from_utf8(body.0).ok()?.to_owned(),
        });
    }
    Some(postings)
}

fn count<S: Store>(store: &S, topic: Topic, name: &str) -> Result<u64, HistoryError> {
    let key = Key::posting(topic.word(), name, None);
    let Some(bytes) = store.get(&key)? else {
        return Ok(0);
    };
    let bytes: [u8; 8] = bytes.try_into().map_err(|_| HistoryError::Damaged {
        key: key.to_string(),
        what: "a number of eight bytes",
    })?;
    Ok(u64::from_be_bytes(bytes))
}

fn piece_of(count: u64) -> u32 {
    let piece = u64::try_from(POSTINGS_PIECE_COUNT_MAX).unwrap_or(1);
    u32::try_from(count / piece.max(1)).unwrap_or(u32::MAX)
}
