//! A grammar of bash, read in one pass: words are taken apart where they stand, so that no second
//! reader can disagree about where a substitution ends.
//!
//! What it does not know is an error, and an error is never SAFE. It recurses only through
//! [`Parser::enter`], which counts.

mod compound;
mod expand;
mod heredoc;
mod simple;
mod word;

pub(super) use simple::WRITTEN_ARRAY;

use std::cell::RefCell;
use std::rc::Rc;

use tagout_vocab::limits::COMMAND_DEPTH_MAX;
use thiserror::Error;

use super::ast::{AndOr, Join, List, Piece, Pipeline};

/// Why a line can't be read.
#[derive(Clone, Debug, Eq, PartialEq, Error)]
pub(super) enum ParseError {
    #[error("it can't be read as a shell command at byte {at}: {what}")]
    Syntax { at: usize, what: &'static str },
    #[error("it is nested deeper than {COMMAND_DEPTH_MAX} levels")]
    Depth,
}

pub(super) type Parsed<T> = Result<T, ParseError>;

/// A here-document whose body has not come yet.
pub(super) struct Pending {
    delimiter: String,
    quoted: bool,
    strip_tabs: bool,
    body: Rc<RefCell<Vec<Piece>>>,
}

/// The reader: a text and a place in it.
pub(super) struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    pending: Vec<Pending>,
}

/// Where a list of commands ends.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Stop {
    /// At the end of the text.
    End,
    /// At a closing parenthesis.
    Parenthesis,
    /// At one of these reserved words.
    Words(&'static [&'static str]),
    /// At `;;`, `;&`, `;;&` or `esac`.
    Arm,
}

/// Reads a whole text that already lies `depth` levels deep in another one.
pub(super) fn parse(text: &str, depth: usize) -> Parsed<List> {
    let mut parser = Parser::new(text, depth);
    let list = parser.list(Stop::End)?;
    if parser.pending.is_empty() {
        Ok(list)
    } else {
        Err(parser.error("a here-document without its end"))
    }
}

impl<'a> Parser<'a> {
    pub(super) const fn new(text: &'a str, depth: usize) -> Self {
        Self {
            text,
            at: 0,
            depth,
            pending: Vec::new(),
        }
    }

    fn error(&self, what: &'static str) -> ParseError {
        ParseError::Syntax { at: self.at, what }
    }

    fn enter(&mut self) -> Parsed<()> {
        self.depth += 1;
        if self.depth > COMMAND_DEPTH_MAX {
            return Err(ParseError::Depth);
        }
        Ok(())
    }

    fn leave(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    fn byte(&self, offset: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + offset).copied()
    }

    /// The next byte. An escaped newline is nothing at all outside of single quotes, wherever it
    /// stands.
    fn peek(&mut self) -> Option<u8> {
        while self.byte(0) == Some(b'\\') && self.byte(1) == Some(b'\n') {
            self.at += 2;
        }
        self.byte(0)
    }

    /// The byte after the next one.
    fn peek_second(&mut self) -> Option<u8> {
        self.peek()?;
        let mut offset = 1;
        while self.byte(offset) == Some(b'\\') && self.byte(offset + 1) == Some(b'\n') {
            offset += 2;
        }
        self.byte(offset)
    }

    /// Takes one character as it stands.
    fn take(&mut self) -> Option<char> {
        let character = self.text.get(self.at..)?.chars().next()?;
        self.at += character.len_utf8();
        Some(character)
    }

    /// Takes one character of unquoted or double-quoted text.
    fn take_joined(&mut self) -> Option<char> {
        self.peek();
        self.take()
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn eat(&mut self, operator: &str) -> bool {
        self.peek();
        let there = self.rest().starts_with(operator);
        if there {
            self.at += operator.len();
        }
        there
    }

    fn since(&self, start: usize) -> String {
        self.text
            .get(start..self.at)
            .unwrap_or_default()
            .trim()
            .to_owned()
    }

    /// Skips blanks and a comment, but no newline.
    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.at += 1;
        }
        if self.byte(0) == Some(b'#') {
            while !matches!(self.byte(0), None | Some(b'\n')) {
                self.at += 1;
            }
        }
    }

    /// Skips blanks, comments and newlines; the bodies of here-documents come after a newline.
    fn lines(&mut self) -> Parsed<()> {
        loop {
            self.blanks();
            if self.byte(0) != Some(b'\n') {
                return Ok(());
            }
            self.newline()?;
        }
    }

    fn newline(&mut self) -> Parsed<()> {
        self.at += 1;
        self.here_documents()
    }

    /// The unquoted word that starts here, if nothing in it is quoted or expanded.
    fn reserved(&mut self) -> &'a str {
        self.peek();
        let rest = self.rest();
        let end = rest
            .bytes()
            .position(|byte| b" \t\n;&|()<>\"'\\$`".contains(&byte))
            .unwrap_or(rest.len());
        let cut_short = rest
            .as_bytes()
            .get(end)
            .is_some_and(|byte| b"\"'\\$`".contains(byte));
        if cut_short {
            ""
        } else {
            rest.get(..end).unwrap_or_default()
        }
    }

    fn eat_reserved(&mut self, word: &str) -> bool {
        let there = self.reserved() == word;
        if there {
            self.at += word.len();
        }
        there
    }

    fn expect_reserved(&mut self, word: &str, what: &'static str) -> Parsed<()> {
        self.lines()?;
        if self.eat_reserved(word) {
            Ok(())
        } else {
            Err(self.error(what))
        }
    }

    fn stops(&mut self, stop: Stop) -> bool {
        match stop {
            Stop::End => self.peek().is_none(),
            Stop::Parenthesis => self.peek() == Some(b')'),
            Stop::Words(words) => {
                let word = self.reserved();
                words.contains(&word)
            }
            Stop::Arm => {
                self.reserved() == "esac"
                    || self.rest().starts_with(";;")
                    || self.rest().starts_with(";&")
            }
        }
    }

    /// Commands up to the stop, which is left standing.
    fn list(&mut self, stop: Stop) -> Parsed<List> {
        self.enter()?;
        let mut list = List::default();
        loop {
            self.lines()?;
            if self.stops(stop) {
                break;
            }
            if self.peek().is_none() {
                return Err(self.error("the line ends too early"));
            }
            let mut item = self.and_or()?;
            self.blanks();
            if self.stops(stop) && stop != Stop::End {
                list.items.push(item);
                break;
            }
            match self.peek() {
                None => {}
                Some(b'\n') => self.newline()?,
                Some(b';') if self.byte(1) != Some(b';') => self.at += 1,
                Some(b'&') if self.byte(1) != Some(b'&') => {
                    self.at += 1;
                    item.background = true;
                }
                Some(_) => return Err(self.error("something that no command can continue with")),
            }
            list.items.push(item);
        }
        self.leave();
        Ok(list)
    }

    /// Commands up to the stop; at least one.
    fn body(&mut self, stop: Stop) -> Parsed<List> {
        let list = self.list(stop)?;
        if list.items.is_empty() {
            return Err(self.error("an empty list of commands"));
        }
        Ok(list)
    }

    fn and_or(&mut self) -> Parsed<AndOr> {
        let first = self.pipeline()?;
        let mut rest = Vec::new();
        loop {
            self.blanks();
            let join = if self.eat("&&") {
                Join::And
            } else if self.eat("||") {
                Join::Or
            } else {
                break;
            };
            self.lines()?;
            rest.push((join, self.pipeline()?));
        }
        Ok(AndOr {
            first,
            rest,
            background: false,
        })
    }

    fn pipeline(&mut self) -> Parsed<Pipeline> {
        loop {
            self.blanks();
            if self.eat_reserved("!") {
                continue;
            }
            if self.eat_reserved("time") {
                self.blanks();
                self.eat_reserved("-p");
                continue;
            }
            break;
        }
        let mut commands = vec![self.command()?];
        loop {
            self.blanks();
            if self.peek() != Some(b'|') || self.byte(1) == Some(b'|') {
                break;
            }
            self.at += 1;
            if self.byte(0) == Some(b'&') {
                self.at += 1;
            }
            self.lines()?;
            commands.push(self.command()?);
        }
        Ok(Pipeline { commands })
    }
}
