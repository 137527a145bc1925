//! A part of a file that is too large to be held: it is read once, piece by piece.

use std::io::{self, Read};

use tagout_vocab::limits::{READ_BYTES_MAX, READ_LINE_BYTES_MAX, READ_LINES_MAX};

use super::{Excerpt, begins, shown};
use crate::fault::Fault;
use crate::text::Encoding;

/// A part of a file and what is said about the whole.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Scanned {
    /// The part.
    pub excerpt: Excerpt,
    /// Lines of the whole file.
    pub lines: usize,
    /// Its bytes.
    pub bytes: u64,
    /// How it spells its characters; `binary` when it is not text.
    pub encoding: &'static str,
    /// How its lines end, if one does.
    pub endings: Option<&'static str>,
    /// Whether the last line ends.
    pub final_newline: bool,
}

impl Scanned {
    /// What is said of a file that is not text: nothing of it is shown.
    pub const fn binary(bytes: u64) -> Self {
        Self {
            excerpt: Excerpt {
                content: String::new(),
                start_line: 0,
                end_line: 0,
                truncated: true,
            },
            lines: 0,
            bytes,
            encoding: "binary",
            endings: None,
            final_newline: false,
        }
    }
}

/// Bytes that are held at once, beside the lines that are shown.
const PIECE_BYTES: usize = 64 * 1024;

/// Lines from `offset` on, counted from one, at most `limit` of them, as [`super::slice`] shows
/// them. A large file in an encoding of two bytes counts as binary.
pub fn scan(
    mut file: impl Read,
    offset: usize,
    limit: Option<usize>,
) -> io::Result<Result<Scanned, Fault>> {
    let mut scan = Scan {
        first: offset.saturating_sub(1),
        is_utf8: true,
        ..Scan::default()
    };
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        let count = match file.read(&mut piece) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        scan.take(piece.get(..count).unwrap_or_default());
    }
    Ok(scan.end(offset, limit))
}

/// What a file in UTF-8 may begin with.
const MARK: &str = "\u{feff}";

#[derive(Default)]
struct Scan {
    /// The first bytes, as many as a mark has.
    head: Vec<u8>,
    /// The first line that is shown, counted from zero.
    first: usize,
    /// Lines that have ended.
    ended: usize,
    bytes: u64,
    last: u8,
    has_nul: bool,
    is_utf8: bool,
    /// The front of a character that the next piece ends.
    split: Vec<u8>,
    /// Of these, the ones that ended in `\r\n`.
    crlf: usize,
    /// The lines that are shown, each as far as it can be.
    kept: Vec<Vec<u8>>,
    kept_bytes: usize,
    line: Vec<u8>,
}

impl Scan {
    fn take(&mut self, piece: &[u8]) {
        self.bytes += piece.len() as u64;
        let lacking = MARK.len().saturating_sub(self.head.len());
        self.head.extend(piece.iter().take(lacking));
        self.has_nul |= piece.contains(&0);
        self.check(piece);
        for part in piece.split_inclusive(|byte| *byte == b'\n') {
            let (line, ends) = match part.strip_suffix(b"\n") {
                Some(line) => (line, true),
                None => (part, false),
            };
            if self.wants() {
                // More than is shown, so that what is cut is known to be.
                let room = (READ_LINE_BYTES_MAX + 8).saturating_sub(self.line.len());
                self.line.extend(line.iter().take(room));
            }
            self.last = line.last().copied().unwrap_or(self.last);
            if ends {
                self.ends();
            }
        }
    }

    /// Whether the line that is being read is shown.
    fn wants(&self) -> bool {
        self.ended >= self.first
            && self.kept.len() <= READ_LINES_MAX
            && self.kept_bytes <= READ_BYTES_MAX
    }

    fn ends(&mut self) {
        let is_crlf = self.last == b'\r';
        self.crlf += usize::from(is_crlf);
        if is_crlf && self.line.last() == Some(&b'\r') {
            self.line.pop();
        }
        self.keep();
        self.ended += 1;
        self.last = b'\n';
    }

    fn keep(&mut self) {
        if self.wants() {
            self.kept_bytes += self.line.len();
            self.kept.push(std::mem::take(&mut self.line));
        }
    }

    /// Goes on looking whether the file is UTF-8.
    fn check(&mut self, piece: &[u8]) {
        if !self.is_utf8 {
            return;
        }
        let mut rest = piece;
        while !self.split.is_empty() && !rest.is_empty() {
            let (next, more) = rest.split_at(1);
            self.split.extend(next);
            rest = more;
            match std::str::from_utf8(&self.split) {
                Ok(_) => self.split.clear(),
                Err(error) => self.is_utf8 &= error.error_len().is_none(),
            }
            if !self.is_utf8 {
                return;
            }
        }
        if let Err(error) = std::str::from_utf8(rest) {
            self.is_utf8 = error.error_len().is_none();
            self.split = rest.get(error.valid_up_to()..).unwrap_or_default().to_vec();
        }
    }

    fn end(mut self, offset: usize, limit: Option<usize>) -> Result<Scanned, Fault> {
        if self.has_nul {
            return Ok(Scanned::binary(self.bytes));
        }
        let final_newline = self.last == b'\n';
        let mut lines = self.ended;
        if self.bytes > 0 && !final_newline {
            self.keep();
            lines += 1;
        }
        begins(offset, lines)?;
        let is_utf8 = self.is_utf8 && self.split.is_empty();
        let mut texts: Vec<String> = self
            .kept
            .iter()
            .map(|line| spelled(line, is_utf8))
            .collect();
        let mut encoding = if is_utf8 {
            Encoding::Utf8
        } else {
            Encoding::Latin1
        };
        if is_utf8 && self.head == MARK.as_bytes() {
            encoding = Encoding::Utf8Bom;
            // The mark is a character of the first line, which may not be among those shown.
            let first = texts.first_mut().filter(|_| self.first == 0);
            if let Some(first) = first {
                *first = first.strip_prefix(MARK).unwrap_or(first).to_owned();
            }
        }
        let end = self
            .first
            .saturating_add(limit.unwrap_or(usize::MAX))
            .min(lines);
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let mut excerpt = shown(&texts, 0, end - self.first.min(end));
        if excerpt.start_line > 0 {
            excerpt.start_line += self.first;
            excerpt.end_line += self.first;
        }
        Ok(Scanned {
            excerpt,
            lines,
            bytes: self.bytes,
            encoding: encoding.as_str(),
            endings: match (self.ended, self.crlf) {
                (0, _) => None,
                (_, 0) => Some("lf"),
                (all, crlf) if all == crlf => Some("crlf"),
                _ => Some("mixed"),
            },
            final_newline,
        })
    }
}

/// A line in the file's encoding; of a character that was cut, nothing.
fn spelled(line: &[u8], is_utf8: bool) -> String {
    if !is_utf8 {
        return line.iter().copied().map(char::from).collect();
    }
    let whole = match std::str::from_utf8(line) {
        Ok(whole) => Some(whole),
        Err(error) => line
            .get(..error.valid_up_to())
            .and_then(|line| std::str::from_utf8(line).ok()),
    };
    whole.unwrap_or_default().to_owned()
}
