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

/// What is known of a list as a whole.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Head {
    count: u64,
    /// The time of its latest reference.
    latest: Timestamp,
    /// Whether the references stand in the order of their times. Those that were read from
    /// elsewhere may be older than what was there.
    is_ordered: bool,
}

/// The lists of references in a store. Finding costs what is found, not what there is.
#[derive(Debug)]
pub struct Postings<'a, S>(pub &'a mut S);

impl<S: Store> Postings<'_, S> {
    /// Adds a reference to the end of a list.
    pub fn add(&mut self, topic: Topic, name: &str, posting: &Posting) -> Result<(), HistoryError> {
        let head = head(self.0, topic, name)?;
        let mut writer = Writer::default();
        let mut body = Writer::default();
        body.hash(u64::from_be_bytes(posting.at.as_millis().to_be_bytes()));
        body.0.extend_from_slice(posting.record.as_bytes());
        writer.framed(&body.0);
        let piece = piece_of(head.count);
        self.0
            .append(&Key::posting(topic.word(), name, Some(piece)), &writer.0)?;
        let mut kept = Vec::with_capacity(HEAD_BYTES);
        kept.extend_from_slice(&head.count.saturating_add(1).to_be_bytes());
        let latest = head.latest.max(posting.at);
        kept.extend_from_slice(&latest.as_millis().to_be_bytes());
        kept.push(u8::from(head.is_ordered && posting.at >= head.latest));
        self.0.put(&Key::posting(topic.word(), name, None), &kept)?;
        Ok(())
    }
}

/// The latest references of a list, newest first, not older than `since`, at most `max`.
pub fn find<S: Store>(
    store: &S,
    list: (Topic, &str),
    since: Timestamp,
    max: usize,
) -> Result<Vec<Posting>, HistoryError> {
    let mut found = Vec::new();
    walk(store, list, since, |posting| {
        if found.len() < max {
            found.push(posting);
        }
        Ok::<_, HistoryError>(found.len() < max)
    })?;
    Ok(found)
}

/// Hands the references of a list on, newest first, not older than `since`, until `take` has
/// enough.
pub fn walk<S: Store, E: From<HistoryError>>(
    store: &S,
    (topic, name): (Topic, &str),
    since: Timestamp,
    mut take: impl FnMut(Posting) -> Result<bool, E>,
) -> Result<(), E> {
    let head = head(store, topic, name)?;
    let mut unordered = Vec::new();
    for piece in (0..=piece_of(head.count)).rev() {
        let mut postings = piece_at(store, (topic, name), piece)?;
        let is_over = postings.first().is_some_and(|posting| posting.at < since);
        postings.retain(|posting| posting.at >= since);
        if !head.is_ordered {
            unordered.extend(postings);
            continue;
        }
        for posting in postings.into_iter().rev() {
            if !take(posting)? {
                return Ok(());
            }
        }
        if is_over {
            return Ok(());
        }
    }
    unordered.sort_by_key(|posting| std::cmp::Reverse(posting.at));
    for posting in unordered {
        if !take(posting)? {
            break;
        }
    }
    Ok(())
}

fn piece_at<S: Store>(
    store: &S,
    (topic, name): (Topic, &str),
    piece: u32,
) -> Result<Vec<Posting>, HistoryError> {
    let key = Key::posting(topic.word(), name, Some(piece));
    let bytes = store.get(&key)?.unwrap_or_default();
    read(&bytes).ok_or_else(|| HistoryError::Damaged {
        key: key.to_string(),
        what: "references to records",
    })
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

/// Bytes of a list's head: how many, the latest time, whether they are in order.
const HEAD_BYTES: usize = 17;

fn head<S: Store>(store: &S, topic: Topic, name: &str) -> Result<Head, HistoryError> {
    let key = Key::posting(topic.word(), name, None);
    let Some(bytes) = store.get(&key)? else {
        return Ok(Head {
            count: 0,
            latest: Timestamp::from_millis(i64::MIN),
            is_ordered: true,
        });
    };
    let mut reader = Reader(&bytes);
    let mut read = || {
        let count = reader.hash()?;
        if reader.0.is_empty() {
            // An earlier form had the count alone: nothing is known of the order.
            return Some(Head {
                count,
                latest: Timestamp::from_millis(i64::MIN),
                is_ordered: false,
            });
        }
        let latest = i64::from_be_bytes(reader.hash()?.to_be_bytes());
        let is_ordered = reader.byte()? == 1;
        reader.0.is_empty().then_some(Head {
            count,
            latest: Timestamp::from_millis(latest),
            is_ordered,
        })
    };
    read().ok_or_else(|| HistoryError::Damaged {
        key: key.to_string(),
        what: "the head of a list",
    })
}

fn piece_of(count: u64) -> u32 {
    let piece = u64::try_from(POSTINGS_PIECE_COUNT_MAX).unwrap_or(1);
    u32::try_from(count / piece.max(1)).unwrap_or(u32::MAX)
}
