//! The slow reading of a broken ledger: which event was touched first, and how.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};

use data_encoding::HEXLOWER;
use tagout_vocab::limits::LEDGER_EVENT_BYTES_MAX;

use super::{Problem, ProblemKind, add};
use crate::error::{At as _, LedgerError};
use crate::merkle::{Hash, leaf_hash};
use crate::reader::Reader;
use crate::{format, line, segment};

/// One physical line, as far as it can be read.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// Number and link, if the line has the form of an event.
    parsed: Option<(u64, Hash)>,
    hash: Hash,
    /// The beginning of a second event inside the line: a line feed was taken away.
    is_merged: bool,
}

/// Lists what is wrong with the chain; returns how many events there should be.
pub(super) fn diagnose(reader: &Reader, problems: &mut Vec<Problem>) -> Result<u64, LedgerError> {
    let entries = read(reader)?;
    let claimed = entries.iter().filter_map(|entry| entry.parsed);
    let claimed = claimed.map(|(seq, _)| seq).collect();
    let mut walk = Walk {
        problems,
        claimed,
        expected: 0,
        link: Some(format::genesis(reader.origin())),
        junk: None,
        seen: BTreeSet::new(),
        before: None,
    };
    for (place, entry) in entries.iter().enumerate() {
        walk.step(*entry, entries.get(place + 1));
    }
    walk.settle_junk(ProblemKind::Edited);
    let expected = walk.expected;
    if problems.is_empty() {
        let detail = "bytes that belong to no event".to_owned();
        add(problems, Some(expected), ProblemKind::Inserted, detail);
    }
    Ok(expected)
}

fn read(reader: &Reader) -> Result<Vec<Entry>, LedgerError> {
    let mut entries = Vec::new();
    let numbers = segment::list(reader.dir())?;
    let last = numbers.last().copied();
    for number in numbers {
        let path = segment::path(reader.dir(), number);
        let mut source = BufReader::new(File::open(&path).at("open", &path)?);
        loop {
            let mut bytes = Vec::new();
            let most = LEDGER_EVENT_BYTES_MAX as u64 + 1;
            let read = (&mut source).take(most).read_until(b'\n', &mut bytes);
            if read.at("read", &path)? == 0 {
                break;
            }
            let is_finished = bytes.last() == Some(&b'\n');
            if is_finished {
                bytes.pop();
            } else if Some(number) == last && (bytes.len() as u64) < most {
                break;
            }
            entries.push(entry(&bytes, is_finished));
        }
    }
    Ok(entries)
}

fn entry(bytes: &[u8], is_finished: bool) -> Entry {
    let parsed = line::head(bytes)
        .filter(|_| is_finished && line::is_whole(bytes))
        .and_then(|head| {
            let mut link = [0; 32];
            HEXLOWER.decode_mut(head.prev_hex, &mut link).ok()?;
            Some((head.seq, link))
        });
    let starts = memchr::memmem::find_iter(bytes, b"{\"seq\":");
    Entry {
        parsed,
        hash: leaf_hash(bytes),
        is_merged: starts
            .skip(1)
            .any(|at| bytes.get(at..).and_then(line::head).is_some()),
    }
}

/// Lines without the form of an event.
#[derive(Clone, Copy, Debug)]
struct Junk {
    /// The hash of the line before them.
    link: Option<Hash>,
}

struct Walk<'a> {
    problems: &'a mut Vec<Problem>,
    /// The numbers that some line has.
    claimed: BTreeSet<u64>,
    expected: u64,
    /// The hash of the line before; `None` after a line that was already reported.
    link: Option<Hash>,
    /// Lines without the form of an event, not yet reported.
    junk: Option<Junk>,
    seen: BTreeSet<u64>,
    before: Option<Entry>,
}

impl Walk<'_> {
    fn add(&mut self, event: u64, kind: ProblemKind, detail: &str) {
        add(self.problems, Some(event), kind, detail.to_owned());
    }

    fn step(&mut self, entry: Entry, next: Option<&Entry>) {
        let Some((seq, prev)) = entry.parsed else {
            self.junk.get_or_insert(Junk { link: self.link });
            self.link = None;
            self.before = Some(entry);
            return;
        };
        if let Some(Junk { link }) = self.junk {
            let is_extra = seq == self.expected && link == Some(prev);
            self.settle_junk(if is_extra {
                ProblemKind::Inserted
            } else {
                ProblemKind::Edited
            });
            self.link = is_extra.then_some(prev);
            if seq == self.expected.saturating_add(1) {
                self.expected = seq;
            }
        }
        self.step_event(seq, prev, entry, next);
        self.seen.insert(seq);
        self.before = Some(entry);
    }

    fn step_event(&mut self, seq: u64, prev: Hash, entry: Entry, next: Option<&Entry>) {
        let is_linked = self.link.is_none_or(|link| link == prev);
        if seq == self.expected {
            if !is_linked {
                self.report_broken_link(seq, entry, next);
            }
            self.expected = seq.saturating_add(1);
            self.link = Some(entry.hash);
        } else if is_linked && self.link.is_some() {
            self.add(self.expected, ProblemKind::Edited, "its number was changed");
            self.expected = self.expected.saturating_add(1);
            self.link = None;
        } else if seq > self.expected {
            self.report_gap(seq);
            self.expected = seq.saturating_add(1);
            self.link = Some(entry.hash);
        } else {
            if self.seen.contains(&seq) {
                self.add(seq, ProblemKind::Inserted, "its number is already taken");
            }
            // What follows continues from wherever the true order was left.
            self.link = None;
        }
    }

    /// The number is right and the link is not: this line or the one before was edited.
    fn report_broken_link(&mut self, seq: u64, entry: Entry, next: Option<&Entry>) {
        let follows = next
            .and_then(|next| next.parsed)
            .is_none_or(|(_, link)| link == entry.hash);
        let event = if follows { seq.saturating_sub(1) } else { seq };
        let detail = "its bytes are not those that the next event links to";
        self.add(event, ProblemKind::Edited, detail);
    }

    fn report_gap(&mut self, seq: u64) {
        let missing = self.expected;
        let is_merged = self.before.is_some_and(|before| before.is_merged);
        if is_merged {
            let event = missing.saturating_sub(1);
            let detail = "the line feed after it was taken away";
            self.add(event, ProblemKind::Edited, detail);
        } else if self.claimed.contains(&missing) {
            let detail = "it stands elsewhere";
            self.add(missing, ProblemKind::Reordered, detail);
        } else {
            let detail = format!("events {missing} to {} are gone", seq.saturating_sub(1));
            self.add(missing, ProblemKind::Deleted, &detail);
        }
    }

    fn settle_junk(&mut self, kind: ProblemKind) {
        if self.junk.take().is_some() {
            let detail = "a line that is not an event";
            self.add(self.expected, kind, detail);
        }
    }
}
