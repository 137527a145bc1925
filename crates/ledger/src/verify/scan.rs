//! The fast reading: every line hashed once, in pieces, on all cores. It only says whether the
//! chain is whole; what broke it is found by the slow reading.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use data_encoding::HEXLOWER;
use tagout_vocab::limits::LEDGER_EVENT_BYTES_MAX;

use crate::error::{At as _, LedgerError};
use crate::merkle::{Hash, Range, leaf_hash};
use crate::reader::Reader;
use crate::{format, line, segment};

/// Bytes that one thread takes at a time.
const PIECE_BYTES: u64 = 8 * 1024 * 1024;

/// Small enough to stay in a core's own cache between the reading and the hashing.
const BUFFER_BYTES: usize = 256 * 1024;

/// A seal in the chain, with the root over the events before it.
#[derive(Debug)]
pub(super) struct SealFound {
    pub(super) seq: u64,
    pub(super) line: Vec<u8>,
    pub(super) root: Option<Hash>,
}

/// What the fast reading found.
#[derive(Debug, Default)]
pub(super) struct Scan {
    tree: Range,
    is_broken: bool,
    roots: Vec<(u64, Hash)>,
    pub(super) seals: Vec<SealFound>,
    pub(super) torn_bytes: u64,
}

impl Scan {
    /// Whether every line follows from the one before.
    pub(super) const fn is_whole(&self) -> bool {
        !self.is_broken
    }

    pub(super) const fn size(&self) -> u64 {
        self.tree.end()
    }

    /// The root at one of the sizes that were asked for.
    pub(super) fn root_at(&self, size: u64) -> Option<Hash> {
        if size == 0 {
            return Range::starting_at(0).root();
        }
        let found = self.roots.iter().find(|(at, _)| *at == size);
        found.map(|(_, root)| *root)
    }
}

/// A run of bytes of one segment; it owns the lines that start in it.
#[derive(Debug)]
struct Piece {
    path: PathBuf,
    start: u64,
    end: u64,
    length: u64,
    is_last: bool,
}

/// What one piece holds.
#[derive(Debug, Default)]
struct Found {
    /// The first line's link, as it stands there.
    first_link: Option<[u8; 64]>,
    last: Hash,
    range: Range,
    seals: Vec<(Range, Vec<u8>)>,
    marks: Vec<Range>,
    is_broken: bool,
    torn_bytes: u64,
}

/// Reads everything; `sizes` (ascending) are the sizes whose roots are wanted.
pub(super) fn scan(reader: &Reader, sizes: &[u64], threads: usize) -> Result<Scan, LedgerError> {
    let pieces = plan(reader)?;
    let results: Vec<Mutex<Option<Result<Found, LedgerError>>>> =
        pieces.iter().map(|_| Mutex::new(None)).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let (Some(piece), Some(slot)) = (pieces.get(place), results.get(place)) else {
                break;
            };
            let found = read_piece(piece, sizes).at("read", &piece.path);
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(found);
        }
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = if threads == 0 { cores } else { threads };
    std::thread::scope(|scope| {
        for _ in 1..threads.min(pieces.len()) {
            scope.spawn(work);
        }
        work();
    });
    let mut scan = Scan::default();
    let mut link = format::genesis(reader.origin());
    for (slot, piece) in results.into_iter().zip(&pieces) {
        let found = slot.into_inner().unwrap_or_else(PoisonError::into_inner);
        let found = found.unwrap_or_else(|| Ok(Found::broken()))?;
        scan.join(found, &mut link, piece.is_last);
    }
    Ok(scan)
}

/// Cuts the segments into pieces. The lengths are taken once: what is written later is not looked at.
fn plan(reader: &Reader) -> Result<Vec<Piece>, LedgerError> {
    let numbers = segment::list(reader.dir())?;
    let last = numbers.last().copied();
    let mut pieces = Vec::new();
    for number in numbers {
        let path = segment::path(reader.dir(), number);
        let length = std::fs::metadata(&path).at("read", &path)?.len();
        let mut start = 0;
        while start < length {
            let end = length.min(start.saturating_add(PIECE_BYTES));
            pieces.push(Piece {
                path: path.clone(),
                start,
                end,
                length,
                is_last: Some(number) == last,
            });
            start = end;
        }
    }
    Ok(pieces)
}

fn read_piece(piece: &Piece, sizes: &[u64]) -> io::Result<Found> {
    let file = File::open(&piece.path)?;
    let mut found = Found::default();
    let mut buffer = vec![0; BUFFER_BYTES];
    // The line that crosses into this piece belongs to the one before.
    let mut is_inside = piece.start == 0;
    let mut at = piece.start.saturating_sub(1);
    let mut kept = 0;
    loop {
        let most = usize::try_from(piece.length.saturating_sub(at).saturating_sub(kept as u64))
            .unwrap_or(usize::MAX);
        let room = buffer.len().saturating_sub(kept).min(most);
        let free = buffer.get_mut(kept..kept.saturating_add(room));
        let read = segment::read_up_to(&file, free.unwrap_or_default(), at + kept as u64)?;
        let filled = kept + read;
        let mut from = 0;
        let bytes = buffer.get(..filled).unwrap_or_default();
        for feed in memchr::memchr_iter(b'\n', bytes) {
            let line = bytes.get(from..feed).unwrap_or_default();
            if is_inside {
                if at + from as u64 >= piece.end {
                    return Ok(found);
                }
                found.take(line, sizes);
                if found.is_broken {
                    return Ok(found);
                }
            }
            is_inside = true;
            from = feed + 1;
        }
        if at + from as u64 >= piece.end && is_inside {
            return Ok(found);
        }
        if read == 0 {
            found.end_unfinished(filled - from, is_inside);
            return Ok(found);
        }
        kept = filled - from;
        at += from as u64;
        buffer.copy_within(from..filled, 0);
        if kept == buffer.len() {
            if kept > LEDGER_EVENT_BYTES_MAX {
                found.is_broken = true;
                return Ok(found);
            }
            buffer.resize(kept * 2, 0);
        }
    }
}

impl Found {
    fn broken() -> Self {
        Self {
            is_broken: true,
            ..Self::default()
        }
    }

    /// The segment ends without a line feed.
    fn end_unfinished(&mut self, bytes: usize, is_inside: bool) {
        if is_inside {
            self.torn_bytes = bytes as u64;
        }
    }

    fn take(&mut self, line: &[u8], sizes: &[u64]) {
        let Some(head) = line::head(line).filter(|_| line::is_whole(line)) else {
            self.is_broken = true;
            return;
        };
        if self.first_link.is_some() {
            let mut expected = [0; 64];
            HEXLOWER.encode_mut(&self.last, &mut expected);
            if head.seq != self.range.end() || head.prev_hex != expected {
                self.is_broken = true;
                return;
            }
        } else {
            self.first_link = head.prev_hex.try_into().ok();
            self.range = Range::starting_at(head.seq);
        }
        if head.kind == b"seal" {
            self.seals.push((self.range.clone(), line.to_vec()));
        }
        self.last = leaf_hash(line);
        self.range.push(self.last);
        if sizes.binary_search(&self.range.end()).is_ok() {
            self.marks.push(self.range.clone());
        }
    }
}

impl Scan {
    fn join(&mut self, found: Found, link: &mut Hash, is_last: bool) {
        if self.is_broken || found.is_broken {
            self.is_broken = true;
            return;
        }
        if found.torn_bytes > 0 {
            self.torn_bytes = found.torn_bytes;
            // Only the last segment can be unfinished: the others were closed at a line feed.
            self.is_broken = !is_last;
        }
        let Some(first) = found.first_link else {
            return;
        };
        let before = self.tree.clone();
        let root_after = |range: &Range| {
            let mut tree = before.clone();
            tree.join(range).then(|| tree.root()).flatten()
        };
        for (range, line) in found.seals {
            self.seals.push(SealFound {
                seq: range.end(),
                line,
                root: root_after(&range),
            });
        }
        for range in &found.marks {
            self.roots
                .extend(root_after(range).map(|root| (range.end(), root)));
        }
        let linked = HEXLOWER.encode(link.as_slice()).as_bytes() == first;
        if !linked || !self.tree.join(&found.range) {
            self.is_broken = true;
        }
        *link = found.last;
    }
}
