//! The fast reading: every line hashed once, in pieces, on all cores. It only says whether the
//! chain is whole; what broke it is found by the slow reading.
//!
//! The tree is built on the way only if it is asked for. Mostly it is not needed: a signed root
//! that holds the last seal's event vouches, through the chain, for everything before it.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use data_encoding::HEXLOWER;
use tagout_vocab::limits::LEDGER_EVENT_BYTES_MAX;

use crate::error::{At as _, LedgerError};
use crate::merkle::{Hash, Range, leaf_hash_in_place, leaf_hashes_in_place};
use crate::reader::Reader;
use crate::{format, line, segment};

/// Bytes that one thread takes at a time.
const PIECE_BYTES: u64 = 4 * 1024 * 1024;

/// Small enough to stay in a core's own cache between the reading and the hashing.
const BUFFER_BYTES: usize = 256 * 1024;

/// What the reading is to find out.
#[derive(Clone, Copy, Debug)]
pub(super) enum Depth<'a> {
    /// Whether the chain is whole.
    Chain,
    /// Also the roots at every seal and at these sizes, ascending.
    Tree(&'a [u64]),
}

/// A seal in the chain, with the root over the events before it if the tree was asked for.
#[derive(Debug)]
pub(super) struct SealFound {
    pub(super) seq: u64,
    pub(super) line: Vec<u8>,
    pub(super) root: Option<Hash>,
}

/// What the fast reading found.
#[derive(Debug, Default)]
pub(super) struct Scan {
    size: u64,
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
        self.size
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
    /// The number and the link of the first line, as they stand there.
    first: Option<(u64, [u8; 64])>,
    /// The number that the next line must have.
    next: u64,
    /// The beginning that the next line must have.
    expected: Expected,
    last: Hash,
    tree: Range,
    seals: Vec<(u64, Range, Vec<u8>)>,
    marks: Vec<Range>,
    is_broken: bool,
    torn_bytes: u64,
}

/// The beginning of a line up to its kind, kept from line to line so that only what differs is
/// written anew.
#[derive(Debug, Default)]
struct Expected {
    /// Up to the link.
    head: Vec<u8>,
    digits: usize,
    link: Hash,
}

/// Eight hexadecimal characters of four bytes, the first one highest. Arithmetic on whole words:
/// what is never stored need not be read back.
const fn hex(word: u32) -> u64 {
    const NINES: u64 = 0x0606_0606_0606_0606;
    const ONES: u64 = 0x0101_0101_0101_0101;
    const ZEROS: u64 = 0x3030_3030_3030_3030;
    let mut spread = word as u64;
    spread = (spread | spread << 16) & 0x0000_ffff_0000_ffff;
    spread = (spread | spread << 8) & 0x00ff_00ff_00ff_00ff;
    spread = (spread | spread << 4) & 0x0f0f_0f0f_0f0f_0f0f;
    let letters = ((spread + NINES) >> 4) & ONES;
    spread + ZEROS + letters * 0x27
}

/// Whether 64 characters are a hash in hexadecimal.
fn is_hex_of(text: &[u8], hash: &Hash) -> bool {
    let (words, _) = hash.as_chunks::<4>();
    let (texts, rest) = text.as_chunks::<8>();
    let differs = words.iter().zip(texts).fold(0, |differs, (word, text)| {
        differs | (hex(u32::from_be_bytes(*word)) ^ u64::from_be_bytes(*text))
    });
    differs == 0 && texts.len() == words.len() && rest.is_empty()
}

const BEFORE_SEQ: &[u8] = b"{\"seq\":";
const BEFORE_PREV: &[u8] = b",\"prev\":\"";
const AFTER_PREV: &[u8] = b"\",\"v\":1,\"kind\":\"";

impl Expected {
    /// Sets the number and the link.
    fn set(&mut self, seq: u64, link: &Hash) {
        if !self.count_up() {
            let digits = seq.to_string();
            self.digits = digits.len();
            self.head = [BEFORE_SEQ, digits.as_bytes(), BEFORE_PREV].concat();
        }
        self.link = *link;
    }

    /// Adds one to the number as it is written; `false` if it needs another digit.
    fn count_up(&mut self) -> bool {
        let from = BEFORE_SEQ.len();
        let digits = self.head.get_mut(from..from + self.digits);
        for digit in digits.unwrap_or_default().iter_mut().rev() {
            if *digit != b'9' {
                *digit += 1;
                return true;
            }
            *digit = b'0';
        }
        false
    }

    /// What follows the beginning, if the line has it.
    fn strip<'l>(&self, line: &'l [u8]) -> Option<&'l [u8]> {
        let rest = line.strip_prefix(self.head.as_slice())?;
        let (before, rest) = rest.split_at_checked(64)?;
        let rest = rest.strip_prefix(AFTER_PREV)?;
        is_hex_of(before, &self.link).then_some(rest)
    }
}

/// Reads everything.
pub(super) fn scan(reader: &Reader, depth: Depth<'_>, threads: usize) -> Result<Scan, LedgerError> {
    let pieces = plan(reader)?;
    let results: Vec<Mutex<Option<Result<Found, LedgerError>>>> =
        pieces.iter().map(|_| Mutex::new(None)).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut buffer = vec![0; BUFFER_BYTES];
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let (Some(piece), Some(slot)) = (pieces.get(place), results.get(place)) else {
                break;
            };
            let found = read_piece(piece, depth, &mut buffer).at("read", &piece.path);
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

/// Cuts the segments into pieces, as long as they are now: what is written later is not read.
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

/// Reads a piece line by line.
///
/// The first byte of the buffer is spare: with the byte before a line set to zero, the line and the
/// zero that its hash begins with lie together, and nothing has to be copied.
fn read_piece(piece: &Piece, depth: Depth<'_>, buffer: &mut Vec<u8>) -> io::Result<Found> {
    let file = File::open(&piece.path)?;
    let mut found = Found::default();
    // The line that crosses into this piece belongs to the one before.
    let mut is_inside = piece.start == 0;
    let mut at = piece.start.saturating_sub(1);
    let mut kept = 0;
    loop {
        let most = usize::try_from(piece.length.saturating_sub(at).saturating_sub(kept as u64))
            .unwrap_or(usize::MAX);
        let room = buffer.len().saturating_sub(1 + kept).min(most);
        let free = buffer.get_mut(1 + kept..1 + kept.saturating_add(room));
        let read = segment::read_up_to(&file, free.unwrap_or_default(), at + kept as u64)?;
        let filled = kept + read;
        let mut from = 0;
        if !is_inside && let Some(length) = feed_in(buffer, 1, 1 + filled) {
            is_inside = true;
            from = length + 1;
        }
        if is_inside {
            let own = usize::try_from(piece.end.saturating_sub(at)).unwrap_or(usize::MAX);
            let mut lines = Lines {
                buffer,
                from,
                filled,
                own,
            };
            found.take_all(&mut lines, depth);
            from = lines.from;
            if found.is_broken || from >= own {
                return Ok(found);
            }
        }
        if read == 0 {
            found.end_unfinished(filled - from, is_inside);
            return Ok(found);
        }
        kept = filled - from;
        at += from as u64;
        buffer.copy_within(1 + from..=filled, 1);
        if 1 + kept == buffer.len() {
            if kept > LEDGER_EVENT_BYTES_MAX {
                found.is_broken = true;
                return Ok(found);
            }
            buffer.resize(kept * 2, 0);
        }
    }
}

/// The whole lines of a buffer that belong to a piece.
struct Lines<'b> {
    buffer: &'b mut [u8],
    /// Where the next line begins, not counting the spare byte.
    from: usize,
    filled: usize,
    /// Lines that begin from here on belong to the next piece.
    own: usize,
}

impl Lines<'_> {
    /// Where the next line and the zero byte before it lie.
    fn next(&mut self) -> Option<std::ops::RangeInclusive<usize>> {
        if self.from >= self.own {
            return None;
        }
        let length = feed_in(self.buffer, 1 + self.from, 1 + self.filled)?;
        *self.buffer.get_mut(self.from)? = 0;
        let place = self.from..=self.from + length;
        self.from += length + 1;
        Some(place)
    }
}

/// How many bytes there are up to the next line feed.
fn feed_in(buffer: &[u8], from: usize, to: usize) -> Option<usize> {
    memchr::memchr(b'\n', buffer.get(from..to)?)
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

    /// Takes lines two at a time, until there are none or one does not follow.
    fn take_all(&mut self, lines: &mut Lines<'_>, depth: Depth<'_>) {
        while !self.is_broken
            && let Some(first) = lines.next()
        {
            let second = lines.next();
            let first = lines.buffer.get(first).unwrap_or_default();
            let Some(second) = second.and_then(|place| lines.buffer.get(place)) else {
                return self.take(first, leaf_hash_in_place(first), depth);
            };
            let [one, two] = leaf_hashes_in_place(first, second);
            self.take(first, one, depth);
            self.take(second, two, depth);
        }
    }

    /// Takes a line that stands behind a zero byte, and the hash of both.
    fn take(&mut self, zero_and_line: &[u8], hash: Hash, depth: Depth<'_>) {
        let line = zero_and_line.get(1..).unwrap_or_default();
        if self.first.is_none() {
            self.start(line);
        }
        let rest = self.expected.strip(line);
        let Some(rest) = rest.filter(|_| !self.is_broken && line::is_whole(line)) else {
            self.is_broken = true;
            return;
        };
        if rest.starts_with(b"seal\"") {
            self.seals
                .push((self.next, self.tree.clone(), line.to_vec()));
        }
        self.last = hash;
        self.next = self.next.saturating_add(1);
        self.expected.set(self.next, &self.last);
        if let Depth::Tree(sizes) = depth {
            self.tree.push(self.last);
            if sizes.binary_search(&self.next).is_ok() {
                self.marks.push(self.tree.clone());
            }
        }
    }

    /// Takes number and link of the first line as they are; whether they are right shows later.
    fn start(&mut self, line: &[u8]) {
        let head = line::head(line);
        let start = head.and_then(|head| {
            let mut before = [0; 32];
            HEXLOWER.decode_mut(head.prev_hex, &mut before).ok()?;
            Some((head.seq, head.prev_hex.try_into().ok()?, before))
        });
        let Some((seq, hex, before)) = start else {
            self.is_broken = true;
            return;
        };
        self.first = Some((seq, hex));
        self.next = seq;
        self.tree = Range::starting_at(seq);
        self.expected.set(seq, &before);
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
        let Some((first, first_link)) = found.first else {
            return;
        };
        let before = self.tree.clone();
        let root_after = |range: &Range| {
            let mut tree = before.clone();
            tree.join(range).then(|| tree.root()).flatten()
        };
        for (seq, range, line) in found.seals {
            let root = (range.end() == seq).then(|| root_after(&range)).flatten();
            self.seals.push(SealFound { seq, line, root });
        }
        for range in &found.marks {
            self.roots
                .extend(root_after(range).map(|root| (range.end(), root)));
        }
        let is_linked = HEXLOWER.encode(link.as_slice()).as_bytes() == first_link;
        if !is_linked || first != self.size {
            self.is_broken = true;
            return;
        }
        if found.tree.end() == found.next {
            self.is_broken |= !self.tree.join(&found.tree);
        }
        self.size = found.next;
        *link = found.last;
    }
}
