//! A text as lines and tokens, each a short hash: all that attribution needs to know of it.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use tagout_vocab::Digest;
use tagout_vocab::limits::{ATTRIBUTION_BYTES_MAX, ATTRIBUTION_LINES_MAX};

/// One line.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Line {
    /// The text without its ending.
    pub(crate) hash: u64,
    /// The tokens alone: the same however the line is spaced.
    pub(crate) soft: u64,
    /// How many letters and digits it has, bounded.
    pub(crate) weight: u32,
    /// Where its tokens lie.
    pub(crate) tokens: Range<usize>,
}

/// The lines of a text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sheet {
    pub(crate) lines: Vec<Line>,
    /// Token hashes; the lowest bit says whether it is an identifier. Some may belong to no line.
    pub(crate) tokens: Vec<u64>,
}

/// No line counts for more than this.
const WEIGHT_MAX: u32 = 1_000;

impl Sheet {
    /// Takes a text apart. A binary or very large one is a single line.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let breaks = || bytes.split(|byte| *byte == b'\n').skip(1).count();
        let is_whole = bytes.contains(&0)
            || bytes.len() > ATTRIBUTION_BYTES_MAX
            || breaks() > ATTRIBUTION_LINES_MAX;
        let mut sheet = Self::default();
        let mut known = HashMap::new();
        if is_whole {
            let hash = short("whole", bytes);
            sheet.push((hash, hash), WEIGHT_MAX, &[]);
            return sheet;
        }
        let mut found = Vec::new();
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            let text = line.strip_suffix(b"\n").unwrap_or(line);
            let text = text.strip_suffix(b"\r").unwrap_or(text);
            found.clear();
            for (kind, token) in Lexer(text) {
                let id = *known
                    .entry((kind, token))
                    .or_insert_with(|| token_id(kind, token));
                found.push(id);
            }
            let letters = text.iter().filter(|byte| is_word(**byte)).count();
            let weight = u32::try_from(letters).unwrap_or(WEIGHT_MAX).min(WEIGHT_MAX);
            sheet.push((short("line", text), soft(&found)), weight, &found);
        }
        sheet
    }

    /// Adds a line from its parts.
    pub(crate) fn push(&mut self, (hash, soft): (u64, u64), weight: u32, tokens: &[u64]) {
        let start = self.tokens.len();
        self.tokens.extend_from_slice(tokens);
        self.lines.push(Line {
            hash,
            soft,
            weight,
            tokens: start..self.tokens.len(),
        });
    }

    pub(crate) fn hashes(&self) -> Vec<u64> {
        self.lines.iter().map(|line| line.hash).collect()
    }

    /// All tokens of the lines.
    pub(crate) fn words(&self) -> HashSet<u64> {
        let lines = 0..self.lines.len();
        lines
            .flat_map(|line| self.tokens_of(line))
            .copied()
            .collect()
    }

    pub(crate) fn tokens_of(&self, line: usize) -> &[u64] {
        self.lines
            .get(line)
            .and_then(|line| self.tokens.get(line.tokens.clone()))
            .unwrap_or_default()
    }

    pub(crate) fn soft(&self, line: usize) -> Option<u64> {
        self.lines.get(line).map(|line| line.soft)
    }

    pub(crate) fn weight(&self, line: usize) -> u32 {
        self.lines.get(line).map_or(0, |line| line.weight)
    }
}

/// Whether a token can be renamed.
pub(crate) const fn is_identifier(token: u64) -> bool {
    token & 1 == 1
}

/// The token of a piece of code, for comparing with those of a sheet.
pub(crate) fn token(text: &str) -> u64 {
    Lexer(text.as_bytes())
        .next()
        .map_or(0, |(kind, token)| token_id(kind, token))
}

fn soft(tokens: &[u64]) -> u64 {
    let bytes: Vec<u8> = tokens
        .iter()
        .flat_map(|token| token.to_be_bytes())
        .collect();
    short("tokens", &bytes)
}

fn token_id(kind: Kind, token: &[u8]) -> u64 {
    match kind {
        Kind::Identifier => short("word", token) | 1,
        Kind::Number => short("word", token) & !1,
        Kind::Quoted => short("quoted", token) & !1,
        Kind::Sign => short("sign", token) & !1,
    }
}

fn short(domain: &str, bytes: &[u8]) -> u64 {
    let digest = Digest::of_parts(domain, [bytes]);
    digest
        .as_bytes()
        .first_chunk()
        .copied()
        .map_or(0, u64::from_be_bytes)
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, Hash)]
enum Kind {
    Identifier,
    Number,
    Quoted,
    Sign,
}

/// Tokens of one line in no language in particular: words, quoted text, single signs.
struct Lexer<'a>(&'a [u8]);

impl<'a> Iterator for Lexer<'a> {
    type Item = (Kind, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        self.0 = self.0.trim_ascii_start();
        let first = *self.0.first()?;
        let (kind, text, rest) = if is_word(first) {
            let end = self.0.iter().take_while(|byte| is_word(**byte)).count();
            let (word, rest) = self.0.split_at_checked(end)?;
            let kind = if first.is_ascii_digit() {
                Kind::Number
            } else {
                Kind::Identifier
            };
            (kind, word, rest)
        } else if let Some((text, rest)) = quoted(self.0, first) {
            (Kind::Quoted, text, rest)
        } else {
            let (sign, rest) = self.0.split_at_checked(1)?;
            (Kind::Sign, sign, rest)
        };
        self.0 = rest;
        Some((kind, text))
    }
}

/// Text between quotes that close on the same line, without them: formatters change their kind.
///
/// A single quote alone is too often something else (a lifetime, an apostrophe) to look for its
/// end.
fn quoted(text: &[u8], quote: u8) -> Option<(&[u8], &[u8])> {
    if !matches!(quote, b'"' | b'`') {
        return None;
    }
    let body = text.get(1..)?;
    let mut is_escaped = false;
    let end = body.iter().position(|byte| {
        let closes = *byte == quote && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
        closes
    })?;
    Some((body.get(..end)?, body.get(end.saturating_add(1)..)?))
}
