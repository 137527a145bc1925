//! The readable side of the commitments: redacted, owner-only, and free to be emptied.
//!
//! A file holds the texts of [`EVENTS_PER_FILE`] events. Nothing here is synced and nothing is
//! proved by it: losing it costs readers the words, never the ledger a proof.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};

use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tagout_vocab::limits::TEXT_STRING_BYTES_MAX;

use crate::error::{At as _, LedgerError};
use crate::event::{Commitment, NewEvent};
use crate::place;
use crate::reader::Reader;
use crate::redact::{Strength, map_json, redact};

const EVENTS_PER_FILE: u64 = 1_024;

/// The texts of one event as they are kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TextRecord {
    /// The event's number.
    pub seq: u64,
    /// The event's id.
    pub event: String,
    /// The salt of the commitments, in hexadecimal.
    pub salt: String,
    /// The arguments, redacted.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub input: Option<Value>,
    /// The result, redacted.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub output: Option<Value>,
}

impl TextRecord {
    /// The commitment that this salt makes to some bytes, to compare with the event's.
    pub fn commitment_to(&self, bytes: &[u8]) -> Option<Commitment> {
        let salt = HEXLOWER.decode(self.salt.as_bytes()).ok()?;
        Some(Commitment::new(salt.try_into().ok()?, bytes))
    }
}

fn folder(dir: &Path) -> PathBuf {
    dir.join("texts")
}

fn file(dir: &Path, seq: u64) -> PathBuf {
    let first = seq / EVENTS_PER_FILE;
    folder(dir).join(format!("{first:08}.jsonl"))
}

/// Keeps the texts of a step whose first event has number `first`.
pub(crate) fn keep(dir: &Path, first: u64, events: &[NewEvent]) -> Result<(), LedgerError> {
    let mut open: Option<(PathBuf, Vec<u8>)> = None;
    for (seq, event) in (first..).zip(events) {
        let Some(texts) = &event.texts else { continue };
        let record = TextRecord {
            seq,
            event: event.event_id.clone(),
            salt: HEXLOWER.encode(&texts.salt),
            input: texts.input.as_ref().map(readable),
            output: texts.output.as_ref().map(readable),
        };
        let line =
            serde_json::to_vec(&record).map_err(|source| LedgerError::Json { seq, source })?;
        let path = file(dir, seq);
        if open.as_ref().is_some_and(|(current, _)| *current != path) {
            open.take()
                .map_or(Ok(()), |(path, bytes)| add(dir, &path, &bytes))?;
        }
        let (_, bytes) = open.get_or_insert_with(|| (path, Vec::new()));
        // A line that a crash left unfinished must not swallow this one.
        bytes.push(b'\n');
        bytes.extend(line);
        bytes.push(b'\n');
    }
    open.map_or(Ok(()), |(path, bytes)| add(dir, &path, &bytes))
}

fn add(dir: &Path, path: &Path, bytes: &[u8]) -> Result<(), LedgerError> {
    let mut options = place::owner_only();
    options.append(true).create(true);
    let opened = options.open(path).or_else(|error| {
        if error.kind() != std::io::ErrorKind::NotFound {
            return Err(error);
        }
        place::create_folder(&folder(dir)).map_err(std::io::Error::other)?;
        options.open(path)
    });
    opened
        .and_then(|mut file| file.write_all(bytes))
        .at("write", path)
}

/// How far beyond the cut a string is looked at, so that no secret is cut in half and kept.
const SLACK_BYTES: usize = 4 * 1024;

/// Redacted, and with very long strings cut so that the rest stays readable as JSON.
fn readable(value: &Value) -> Value {
    map_json(value, &|text| {
        let clean = redact(
            up_to(text, TEXT_STRING_BYTES_MAX + SLACK_BYTES),
            Strength::Full,
        );
        let rest = text.len().saturating_sub(TEXT_STRING_BYTES_MAX);
        if rest == 0 {
            return clean;
        }
        format!(
            "{}[{rest} bytes more]",
            up_to(&clean, TEXT_STRING_BYTES_MAX)
        )
    })
}

/// The beginning of a text, not cut inside a character.
fn up_to(text: &str, bytes: usize) -> &str {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

impl Reader {
    /// The readable texts of one event, if they are still kept.
    pub fn texts(&self, seq: u64) -> Result<Option<TextRecord>, LedgerError> {
        let mut found = None;
        self.each_text(seq, |record| {
            let wanted = record.seq == seq;
            found = wanted.then_some(record);
            !wanted
        })?;
        Ok(found)
    }

    /// The readable texts of an event and of its neighbours, which lie in one file: for those who
    /// look at many.
    pub fn texts_beside(&self, seq: u64) -> Result<Vec<TextRecord>, LedgerError> {
        let mut found = Vec::new();
        self.each_text(seq, |record| {
            found.push(record);
            true
        })?;
        Ok(found)
    }

    /// Goes through the file that holds an event's texts, as long as the caller wants more. Lines
    /// that can't be read are passed over: the store may be emptied or torn without loss of proof.
    fn each_text(
        &self,
        seq: u64,
        mut more: impl FnMut(TextRecord) -> bool,
    ) -> Result<(), LedgerError> {
        let path = file(self.dir(), seq);
        let opened = match fs::File::open(&path) {
            Ok(opened) => opened,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(LedgerError::io("open", &path, error)),
        };
        for line in BufReader::new(opened).split(b'\n') {
            let line = line.at("read", &path)?;
            if let Ok(record) = serde_json::from_slice::<TextRecord>(&line)
                && !more(record)
            {
                break;
            }
        }
        Ok(())
    }

    /// Empties the store of readable texts. Every proof stays what it was.
    pub fn forget_texts(&self) -> Result<(), LedgerError> {
        let path = folder(self.dir());
        match fs::remove_dir_all(&path) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(LedgerError::io("empty", &path, error)),
        }
    }
}
