//! Searching text line by line for a regular expression.

use grep_matcher::{Match, Matcher, NoCaptures, NoError};
use grep_searcher::{Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};
use regex::bytes::{Regex, RegexBuilder};
use tagout_vocab::limits::{
    SEARCH_CONTEXT_LINES, SEARCH_LINE_BYTES_MAX, SEARCH_PATTERN_BYTES_MAX, SEARCH_PROGRAM_BYTES_MAX,
};

use crate::fault::Fault;
use crate::near::cut;

/// One line of a result.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Found {
    /// Its number, counted from one.
    pub line: u64,
    /// The line, cut where it is long.
    pub text: String,
    /// Whether it matches; otherwise it stands beside one that does.
    pub matches: bool,
}

/// A regular expression that is looked for in one line at a time.
///
/// The matcher that ripgrep itself uses switches on parts of the automaton library that make every
/// glob of the product dearer, so this is the plain engine behind the same door.
#[derive(Clone, Debug)]
pub struct Pattern(Regex);

impl Pattern {
    /// Compiles a pattern, within bounds of time and memory.
    pub fn new(pattern: &str) -> Result<Self, Fault> {
        if pattern.is_empty() {
            return Err(Fault::invalid("the regular expression is empty"));
        }
        if pattern.len() > SEARCH_PATTERN_BYTES_MAX {
            return Err(Fault::invalid(format!(
                "the regular expression has more than {SEARCH_PATTERN_BYTES_MAX} bytes"
            )));
        }
        RegexBuilder::new(pattern)
            .multi_line(true)
            .size_limit(SEARCH_PROGRAM_BYTES_MAX)
            .dfa_size_limit(SEARCH_PROGRAM_BYTES_MAX)
            .build()
            .map(Self)
            .map_err(|error| Fault::invalid(format!("the regular expression is wrong: {error}")))
    }
}

impl Matcher for Pattern {
    type Captures = NoCaptures;
    type Error = NoError;

    fn find_at(&self, haystack: &[u8], at: usize) -> Result<Option<Match>, NoError> {
        let found = self.0.find_at(haystack, at);
        Ok(found.map(|found| Match::new(found.start(), found.end())))
    }

    fn new_captures(&self) -> Result<NoCaptures, NoError> {
        Ok(NoCaptures::new())
    }
}

/// The lines of a text that match, with the lines beside them, until `hits_max` lines matched.
/// Tells also whether there would have been more.
pub fn search(pattern: &Pattern, text: &str, hits_max: usize) -> (Vec<Found>, bool) {
    let mut searcher = SearcherBuilder::new()
        .line_number(true)
        .before_context(SEARCH_CONTEXT_LINES)
        .after_context(SEARCH_CONTEXT_LINES)
        .build();
    let mut collector = Collector {
        found: Vec::new(),
        hits: 0,
        hits_max,
        cut: false,
    };
    // Neither the matcher nor the collector can fail; a slice is always readable.
    drop(searcher.search_slice(pattern, text.as_bytes(), &mut collector));
    (collector.found, collector.cut)
}

struct Collector {
    found: Vec<Found>,
    hits: usize,
    hits_max: usize,
    cut: bool,
}

impl Collector {
    fn push(&mut self, line: Option<u64>, bytes: &[u8], matches: bool) {
        let text = String::from_utf8_lossy(bytes);
        self.found.push(Found {
            line: line.unwrap_or(0),
            text: cut(text.trim_end_matches(['\r', '\n']), SEARCH_LINE_BYTES_MAX),
            matches,
        });
    }
}

impl Sink for Collector {
    type Error = std::io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, Self::Error> {
        if self.hits >= self.hits_max {
            self.cut = true;
            return Ok(false);
        }
        self.hits += 1;
        self.push(found.line_number(), found.bytes(), true);
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, beside: &SinkContext<'_>) -> Result<bool, Self::Error> {
        if self.hits < self.hits_max || !self.found.is_empty() {
            self.push(beside.line_number(), beside.bytes(), false);
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests;
