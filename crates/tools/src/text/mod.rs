//! A file's text, taken apart so that it can be put together again byte for byte.
//!
//! Callers speak in lines that end in `\n`. A file may spell them otherwise: this type remembers
//! the encoding and how each line ends, and gives back exactly what was not changed.

mod encoding;

use std::ops::Range;

pub use encoding::Encoding;

use crate::fault::Fault;

/// How a line ends.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Break {
    /// `\n`.
    #[default]
    Lf,
    /// `\r\n`.
    CrLf,
}

impl Break {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Lf => "\n",
            Self::CrLf => "\r\n",
        }
    }
}

/// One line and how it ends; only the last line of a file may have no end.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Line {
    /// The line without its end.
    pub text: String,
    /// Its end.
    pub ending: Option<Break>,
}

/// A replacement of a range of [`Text::flat`].
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Splice {
    /// What is replaced, in bytes of the flat text.
    pub range: Range<usize>,
    /// What stands there instead.
    pub text: String,
}

/// The text of a file.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Text {
    flat: String,
    breaks: Vec<Break>,
    encoding: Encoding,
}

impl Text {
    /// The text of a file's bytes, unless the file is binary.
    pub fn decode(bytes: &[u8]) -> Result<Self, Fault> {
        let (spelled, encoding) = encoding::decode(bytes).ok_or(Fault::Binary)?;
        Ok(Self::spelled(&spelled, encoding))
    }

    /// A text as it is spelled, line ends included.
    pub fn spelled(spelled: &str, encoding: Encoding) -> Self {
        let mut flat = String::with_capacity(spelled.len());
        let mut breaks = Vec::new();
        for piece in spelled.split_inclusive('\n') {
            let Some(line) = piece.strip_suffix('\n') else {
                flat.push_str(piece);
                continue;
            };
            let (line, ending) = match line.strip_suffix('\r') {
                Some(line) => (line, Break::CrLf),
                None => (line, Break::Lf),
            };
            flat.push_str(line);
            flat.push('\n');
            breaks.push(ending);
        }
        Self {
            flat,
            breaks,
            encoding,
        }
    }

    /// The bytes of the file. Fails when the encoding has no room for a character.
    pub fn encode(&self) -> Result<Vec<u8>, Fault> {
        let mut spelled = String::with_capacity(self.flat.len() + self.breaks.len());
        let mut breaks = self.breaks.iter();
        for piece in self.flat.split_inclusive('\n') {
            match piece.strip_suffix('\n') {
                Some(line) => {
                    spelled.push_str(line);
                    spelled.push_str(breaks.next().copied().unwrap_or_default().as_str());
                }
                None => spelled.push_str(piece),
            }
        }
        encoding::encode(&spelled, self.encoding)
    }

    /// The text with every line ending in `\n`.
    pub fn flat(&self) -> &str {
        &self.flat
    }

    /// How the bytes spell the characters.
    pub const fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// How the lines end: `None` when the file has no line end at all.
    pub fn endings(&self) -> Option<&'static str> {
        let crlf = self.breaks.contains(&Break::CrLf);
        let lf = self.breaks.contains(&Break::Lf);
        match (lf, crlf) {
            (false, false) => None,
            (true, false) => Some("lf"),
            (false, true) => Some("crlf"),
            (true, true) => Some("mixed"),
        }
    }

    /// The end that most lines have, for new lines.
    pub fn usual_break(&self) -> Break {
        let crlf = self
            .breaks
            .iter()
            .filter(|ending| **ending == Break::CrLf)
            .count();
        if crlf > self.breaks.len().saturating_sub(crlf) {
            Break::CrLf
        } else {
            Break::Lf
        }
    }

    /// The lines. A file that ends in a line end has no empty line after it.
    pub fn lines(&self) -> Vec<Line> {
        let mut breaks = self.breaks.iter();
        self.flat
            .split_inclusive('\n')
            .map(|piece| match piece.strip_suffix('\n') {
                Some(line) => Line {
                    text: line.to_owned(),
                    ending: Some(breaks.next().copied().unwrap_or_default()),
                },
                None => Line {
                    text: piece.to_owned(),
                    ending: None,
                },
            })
            .collect()
    }

    /// The text of lines, in this text's encoding.
    pub fn with_lines(&self, lines: &[Line]) -> Self {
        let mut flat = String::new();
        let mut breaks = Vec::new();
        for line in lines {
            flat.push_str(&line.text);
            if let Some(ending) = line.ending {
                flat.push('\n');
                breaks.push(ending);
            }
        }
        Self {
            flat,
            breaks,
            encoding: self.encoding,
        }
    }

    /// The text with ranges replaced, which must be in order and apart from each other.
    ///
    /// A new line takes the end of the old line in its place, and the usual end where there is
    /// none.
    pub fn spliced(&self, splices: &[Splice]) -> Result<Self, Fault> {
        let usual = self.usual_break();
        let mut built = Self {
            encoding: self.encoding,
            ..Self::default()
        };
        let mut breaks = self.breaks.iter().copied();
        let mut at = 0;
        for splice in splices {
            let kept = self.flat.get(at..splice.range.start);
            let old = self.flat.get(splice.range.clone());
            let (Some(kept), Some(old)) = (kept, old) else {
                return Err(Fault::invalid("two changes overlap"));
            };
            built.flat.push_str(kept);
            built
                .breaks
                .extend(breaks.by_ref().take(count_breaks(kept)));
            let mut replaced = Vec::new();
            replaced.extend(breaks.by_ref().take(count_breaks(old)));
            let mut replaced = replaced.into_iter();
            let new = splice.text.replace("\r\n", "\n");
            for _ in 0..count_breaks(&new) {
                built.breaks.push(replaced.next().unwrap_or(usual));
            }
            built.flat.push_str(&new);
            at = splice.range.end;
        }
        built.flat.push_str(self.flat.get(at..).unwrap_or_default());
        built.breaks.extend(breaks);
        Ok(built)
    }

    /// A whole new content in the manner of this text: its encoding, and `\r\n` where every line of
    /// it ends so and the new content knows only `\n`.
    pub fn rewritten(&self, content: &str) -> Self {
        let mut new = Self::spelled(content, self.encoding);
        let all_crlf = self.endings() == Some("crlf");
        if all_crlf && new.endings() == Some("lf") {
            new.breaks.fill(Break::CrLf);
        }
        new
    }
}

fn count_breaks(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

#[cfg(test)]
mod tests;
