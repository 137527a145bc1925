//! The JSON values of a text, wherever they stand: one a line, two on a line, over several lines,
//! between comments.

use serde_json::{Deserializer, Value};
use tagout_vocab::limits::{TRACE_FILE_BYTES_MAX, TRACE_LINE_BYTES_MAX};

use super::{Place, Problem};

/// What takes the values.
type Take<'f> = dyn FnMut(Place, Result<Value, Problem>) + 'f;

const MARKERS: [&[u8]; 4] = [b"<<<<<<<", b"=======", b">>>>>>>", b"|||||||"];

/// Hands every value of a text on, and every place that can't be read.
pub(super) fn values(text: &[u8], take: &mut Take<'_>) {
    let mut scan = Scan {
        text: text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text),
        at: 0,
        line: 1,
        line_start: 0,
    };
    if text.len() > TRACE_FILE_BYTES_MAX {
        take(scan.place(), Err(Problem::TooLong));
        return;
    }
    while let Some(byte) = scan.skip_blanks() {
        scan.one(byte, take);
    }
}

struct Scan<'t> {
    text: &'t [u8],
    at: usize,
    line: usize,
    line_start: usize,
}

impl Scan<'_> {
    fn rest(&self) -> &[u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn place(&self) -> Place {
        Place {
            line: self.line,
            column: self.at - self.line_start + 1,
        }
    }

    /// The first byte that is neither blank nor a comma between values.
    fn skip_blanks(&mut self) -> Option<u8> {
        loop {
            let byte = *self.text.get(self.at)?;
            if !(byte.is_ascii_whitespace() || byte == b',') {
                return Some(byte);
            }
            self.forward(1);
        }
    }

    fn forward(&mut self, count: usize) {
        let end = self.text.len().min(self.at.saturating_add(count));
        let passed = self.text.get(self.at..end).unwrap_or_default();
        for (offset, byte) in passed.iter().enumerate() {
            if *byte == b'\n' {
                self.line += 1;
                self.line_start = self.at + offset + 1;
            }
        }
        self.at = end;
    }

    fn skip_line(&mut self) {
        let length = self.rest().iter().position(|byte| *byte == b'\n');
        self.forward(length.map_or(self.rest().len(), |length| length + 1));
    }

    fn one(&mut self, byte: u8, take: &mut Take<'_>) {
        let place = self.place();
        match byte {
            b'#' => self.skip_line(),
            b'/' if self.rest().starts_with(b"//") => self.skip_line(),
            b'{' | b'[' => self.value(place, take),
            _ => {
                let is_marker = MARKERS.iter().any(|mark| self.rest().starts_with(mark));
                let problem = if is_marker {
                    Problem::ConflictMarker
                } else {
                    let message = "expected an object".to_owned();
                    Problem::Json { message }
                };
                take(place, Err(problem));
                self.skip_line();
            }
        }
    }

    fn value(&mut self, place: Place, take: &mut Take<'_>) {
        let rest = self.rest();
        let end = rest.len().min(TRACE_LINE_BYTES_MAX);
        let mut stream = Deserializer::from_slice(rest.get(..end).unwrap_or(rest)).into_iter();
        match stream.next() {
            Some(Ok(Value::Array(values))) => {
                let length = stream.byte_offset();
                values.into_iter().for_each(|value| take(place, Ok(value)));
                self.forward(length);
            }
            Some(Ok(value)) => {
                let length = stream.byte_offset();
                take(place, Ok(value));
                self.forward(length);
            }
            Some(Err(error)) => {
                let is_cut = error.is_eof() && end < rest.len();
                let at = failed_at(place, rest, &error);
                let message = words(&error);
                let problem = if is_cut {
                    Problem::TooLong
                } else {
                    Problem::Json { message }
                };
                take(at, Err(problem));
                // The next line may be whole even if this one is torn.
                self.skip_line();
            }
            None => self.skip_line(),
        }
    }
}

/// Where the parser failed, in the whole text.
fn failed_at(start: Place, rest: &[u8], error: &serde_json::Error) -> Place {
    // A line's end belongs to the line that it ends, not to the next.
    let (row, column) = match (error.line(), error.column()) {
        (row, 0) if row > 1 => {
            let line = rest.split(|byte| *byte == b'\n').nth(row - 2);
            (row - 1, line.map_or(0, <[u8]>::len) + 1)
        }
        place => place,
    };
    let shift = if row == 1 { start.column - 1 } else { 0 };
    Place {
        line: start.line + row.saturating_sub(1),
        column: column + shift,
    }
}

/// The parser's words without the place, which is relative to the value.
fn words(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rsplit_once(" at line ") {
        Some((words, _)) => words.to_owned(),
        None => text,
    }
}
