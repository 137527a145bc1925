//! Here-documents: the bodies that follow the line of their operator.

use std::cell::RefCell;
use std::rc::Rc;

use super::{Parsed, Parser, Pending};
use crate::shell::ast::{Piece, Redirect};

impl Parser<'_> {
    /// After `<<` or `<<-`: the delimiter, and a promise of the body.
    pub(super) fn here_document(&mut self, strip_tabs: bool) -> Parsed<Redirect> {
        self.blanks();
        let mut delimiter = String::new();
        let mut quoted = false;
        loop {
            match self.peek() {
                None => break,
                Some(byte) if b" \t\n;&|()<>".contains(&byte) => break,
                Some(b'$' | b'`') => return Err(self.error("an expansion in a delimiter")),
                Some(quote @ (b'\'' | b'"')) => {
                    quoted = true;
                    self.take();
                    while self.byte(0) != Some(quote) {
                        let inner = self.take();
                        match inner {
                            None | Some('\n' | '\\') => {
                                return Err(self.error("an odd delimiter of a here-document"));
                            }
                            Some(character) => delimiter.push(character),
                        }
                    }
                    self.take();
                }
                Some(b'\\') => {
                    quoted = true;
                    self.take();
                    delimiter.extend(self.take());
                }
                Some(_) => delimiter.extend(self.take()),
            }
        }
        if delimiter.is_empty() {
            return Err(self.error("a here-document without a delimiter"));
        }
        let body = Rc::new(RefCell::new(Vec::new()));
        self.pending.push(Pending {
            delimiter,
            quoted,
            strip_tabs,
            body: Rc::clone(&body),
        });
        Ok(Redirect::HereDocument(body))
    }

    /// Reads the bodies that the line just ended has promised.
    pub(super) fn here_documents(&mut self) -> Parsed<()> {
        for pending in std::mem::take(&mut self.pending) {
            let start = self.at;
            let mut ended = None;
            while self.at < self.text.len() {
                let line_start = self.at;
                let rest = self.rest();
                let length = rest.find('\n').unwrap_or(rest.len());
                let line = rest.get(..length).unwrap_or_default();
                let line = if pending.strip_tabs {
                    line.trim_start_matches('\t')
                } else {
                    line
                };
                self.at = (self.at + length + 1).min(self.text.len());
                if line == pending.delimiter {
                    ended = Some(line_start);
                    break;
                }
            }
            let Some(end) = ended else {
                return Err(self.error("a here-document without its end"));
            };
            let body = self.text.get(start..end).unwrap_or_default();
            *pending.body.borrow_mut() = if pending.quoted {
                vec![Piece::Quoted(body.to_owned())]
            } else {
                Parser::new(body, self.depth).here_body()?
            };
        }
        Ok(())
    }

    /// The pieces of an unquoted body: quotes are ordinary, expansions are not.
    fn here_body(mut self) -> Parsed<Vec<Piece>> {
        let mut pieces = Vec::new();
        let mut text = String::new();
        while let Some(byte) = self.peek() {
            match byte {
                b'\\' => {
                    self.take();
                    if matches!(self.byte(0), Some(b'$' | b'`' | b'\\')) {
                        text.extend(self.take());
                    } else {
                        text.push('\\');
                    }
                }
                b'$' | b'`' => {
                    pieces.push(Piece::Quoted(std::mem::take(&mut text)));
                    pieces.push(self.expansion(true)?);
                }
                _ => text.extend(self.take()),
            }
        }
        pieces.push(Piece::Quoted(text));
        Ok(pieces)
    }
}
