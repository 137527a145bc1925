//! What people and agents ask of the trace.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;

use serde_json::Value;
use tagout_trace::blame::{Authorship, Blame, Commits, Outside};
use tagout_trace::dialects::{self, Reading};
use tagout_trace::history::{Topic, walk};
use tagout_trace::ranges;
use tagout_trace::record::{ModifiedRange, Record};
use tagout_vocab::limits::{
    ATTRIBUTION_BYTES_MAX, TRACE_HELD_RECORDS_MAX, TRACE_QUERY_RECORDS_MAX,
};
use tagout_vocab::{CallId, IntentId, Timestamp, WorkspacePath};
use tagout_workspace::RelPath;

use super::book::{Book, Pages};
use super::git::Repository;
use super::{catch_up, note, publish, ties};
use crate::engine::Engine;
use crate::error::GateError;

/// Which records are wanted. What is not said does not matter.
#[derive(Clone, Debug, Default)]
pub struct TraceQuery {
    /// Made for this intent.
    pub intent: Option<IntentId>,
    /// Touching this symbol: its whole path of names.
    pub symbol: Option<String>,
    /// Touching this file, now or under an earlier name.
    pub file: Option<String>,
    /// Not older than this.
    pub since: Option<Timestamp>,
    /// Only the newest so many.
    pub limit: Option<usize>,
}

impl TraceQuery {
    fn topic(&self) -> Option<(Topic, &str)> {
        let symbol = self.symbol.as_deref().map(|name| (Topic::Symbol, name));
        let file = self.file.as_deref().map(|name| (Topic::Path, name));
        let intent = self.intent.as_ref();
        let intent = intent.map(|id| (Topic::Intent, id.as_str()));
        symbol.or(file).or(intent)
    }

    fn fits(&self, record: &Record) -> bool {
        let intent = self.intent.as_ref();
        let is_for = intent.is_none_or(|id| record.intent_id.as_deref() == Some(id.as_str()));
        let has = |range: &ModifiedRange| {
            let file = self.file.as_deref();
            let in_file = file
                .is_none_or(|file| range.file == file || range.old_file.as_deref() == Some(file));
            let symbol = self.symbol.as_deref();
            let touches = symbol
                .is_none_or(|symbol| range.ast_nodes.iter().any(|node| node.symbol == symbol));
            in_file && touches
        };
        is_for && record.modified_ranges.iter().any(has)
    }
}

/// A file with the author of each line.
#[derive(Debug)]
pub struct Blamed {
    /// The authors.
    pub blame: Blame,
    /// The file as it is.
    pub bytes: Vec<u8>,
    /// What version control has of it.
    pub commits: Commits,
}

/// Which lines of a file the commit that is checked out holds.
fn committed(root: &Path, path: &WorkspacePath, now: &[u8]) -> Option<Vec<bool>> {
    let mut repository = Repository::open(root)?;
    let head = repository.head()?;
    let head = repository.commit(&head)?;
    let there = repository.at(&head, path.as_str());
    let then = match there {
        Some(id) => repository.blob(&id, ATTRIBUTION_BYTES_MAX)?,
        None => Vec::new(),
    };
    let (then, now) = (unended(&then), unended(now));
    let mut lines = vec![true; now.split_inclusive(|byte| *byte == b'\n').count()];
    for hunk in ranges::diff(&then, &now) {
        let (start, end) = (hunk.after.start as usize, hunk.after.end as usize);
        if let Some(new) = lines.get_mut(start..end) {
            new.fill(false);
        }
    }
    Some(lines)
}

/// A text whose lines all end alike: version control may keep other ends than the tree has.
fn unended(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        match line.strip_suffix(b"\r\n") {
            Some(line) => {
                out.extend_from_slice(line);
                out.push(b'\n');
            }
            None => out.extend_from_slice(line),
        }
    }
    out
}

fn read(body: &str) -> Result<Record, GateError> {
    serde_json::from_str(body).map_err(|source| GateError::Damaged {
        path: "the trace's records".into(),
        source,
    })
}

fn found(pages: &Pages<'_>, query: &TraceQuery) -> Result<Vec<Record>, GateError> {
    let max = query.limit.unwrap_or(TRACE_QUERY_RECORDS_MAX);
    let since = query.since.unwrap_or(Timestamp::from_millis(i64::MIN));
    let mut records = Vec::new();
    let Some(topic) = query.topic() else {
        for body in pages.latest(since, max)? {
            records.push(read(&body)?);
        }
        return Ok(records);
    };
    walk(&pages, topic, since, |posting| {
        if records.len() < max {
            let body = pages.record(&posting.record)?;
            let record = body.map(|body| read(&body)).transpose()?;
            records.extend(record.filter(|record| query.fits(record)));
        }
        Ok::<_, GateError>(records.len() < max)
    })?;
    Ok(records)
}

/// Every record that was there when it was asked for, in the order in which they were taken in.
/// Holds few at a time, and no lock between them.
#[derive(Debug)]
pub struct TraceRecords {
    book: Book,
    held: VecDeque<String>,
    after: i64,
    last: i64,
}

impl TraceRecords {
    fn one(&mut self) -> Result<Option<Record>, GateError> {
        if self.held.is_empty() {
            let range = (self.after, self.last);
            let more = self
                .book
                .look()?
                .records_after(range, TRACE_HELD_RECORDS_MAX)?;
            for (number, body) in more {
                self.after = number;
                self.held.push_back(body);
            }
        }
        let body = self.held.pop_front();
        body.map(|body| read(&body)).transpose()
    }
}

impl Iterator for TraceRecords {
    type Item = Result<Record, GateError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.one().transpose()
    }
}

impl Engine {
    /// Takes in what the ledger knows and the trace does not. Gives what should be looked at.
    pub fn catch_up(&self) -> Result<Vec<String>, GateError> {
        catch_up(&self.inner, None)
    }

    /// B3: who put each line of a file there.
    pub fn blame(&self, path: &WorkspacePath) -> Result<Blamed, GateError> {
        drop(self.catch_up()?);
        let max = u64::try_from(ATTRIBUTION_BYTES_MAX).unwrap_or(u64::MAX);
        let bytes = self.inner.workspace.read(&RelPath::from(path), max)?;
        let mut book = Book::open(&self.inner.site)?;
        let pages = book.look()?;
        let outside = self.someone_outside(path)?;
        let blame = Authorship::new(&pages).blame(path, &bytes, outside)?;
        let mut of = BTreeMap::new();
        for origin in blame.origins.values() {
            let call = origin.execution.clone();
            of.insert(call, ties::commits(&pages, &origin.execution)?);
        }
        let lines = committed(self.inner.workspace.root(), path, &bytes);
        Ok(Blamed {
            blame,
            bytes,
            commits: Commits { lines, of },
        })
    }

    /// B6: the commits that hold lines of some calls, the latest last.
    pub fn commits_of<'c>(
        &self,
        calls: impl IntoIterator<Item = &'c CallId>,
    ) -> Result<BTreeMap<CallId, Vec<String>>, GateError> {
        let mut book = Book::open(&self.inner.site)?;
        let pages = book.look()?;
        let tied = |call: &CallId| Ok((call.clone(), ties::commits(&pages, call)?));
        calls.into_iter().map(tied).collect()
    }

    fn someone_outside(&self, path: &WorkspacePath) -> Result<Outside, GateError> {
        let open = self.inner.site.store.open_tickets()?;
        Ok(if open.iter().any(|ticket| ticket.mutated.contains(path)) {
            Outside::Unknown
        } else {
            Outside::Human
        })
    }

    /// Records of what was changed, newest first.
    pub fn trace_query(&self, query: &TraceQuery) -> Result<Vec<Record>, GateError> {
        drop(self.catch_up()?);
        let mut book = Book::open(&self.inner.site)?;
        let pages = book.look()?;
        found(&pages, query)
    }

    /// Every record, in the order in which they were taken in.
    pub fn trace_records(&self) -> Result<TraceRecords, GateError> {
        drop(self.catch_up()?);
        let mut book = Book::open(&self.inner.site)?;
        let last = book.look()?.last_number()?;
        Ok(TraceRecords {
            book,
            held: VecDeque::new(),
            after: 0,
            last,
        })
    }

    /// Takes in records that others wrote, of whatever dialect. Gives what was read and how many of
    /// it were new.
    pub fn trace_import(&self, text: &[u8]) -> Result<(Reading, usize), GateError> {
        drop(self.catch_up()?);
        let mut reading = dialects::read(text);
        let mut damaged = Vec::new();
        let mut book = Book::open(&self.inner.site)?;
        let pages = book.begin()?;
        let mut new = Vec::new();
        for (place, record) in reading.placed_records() {
            let mut record = record.clone();
            // What others say about this ledger proves nothing here.
            if let Some(event) = record.ledger_event.take() {
                let text = Value::from(event.to_string());
                record
                    .extra
                    .insert("imported_ledger_event".to_owned(), text);
            }
            // What could not be read again would stand in the way of all others.
            if let Err(error) = read(&record.to_line()) {
                damaged.push((place, error.to_string()));
            } else if note(&pages, &record, true)? {
                new.push(record);
            }
        }
        publish::map_all(&pages, &new)?;
        pages.commit()?;
        for (place, message) in damaged {
            reading.refuse(place, message);
        }
        Ok((reading, new.len()))
    }
}
