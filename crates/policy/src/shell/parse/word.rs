//! Words and their quotes.

use super::{Parsed, Parser};
use crate::shell::ast::{Piece, Word};

/// Collects pieces, joining neighbours of the same kind.
#[derive(Default)]
pub(super) struct Pieces(Vec<Piece>);

impl Pieces {
    pub(super) fn text(&mut self, character: char) {
        if let Some(Piece::Text(text)) = self.0.last_mut() {
            text.push(character);
        } else {
            self.0.push(Piece::Text(character.to_string()));
        }
    }

    pub(super) fn quoted(&mut self, more: &str) {
        if let Some(Piece::Quoted(text)) = self.0.last_mut() {
            text.push_str(more);
        } else {
            self.0.push(Piece::Quoted(more.to_owned()));
        }
    }

    pub(super) fn quoted_character(&mut self, character: char) {
        self.quoted(character.encode_utf8(&mut [0; 4]));
    }

    pub(super) fn push(&mut self, piece: Piece) {
        match piece {
            Piece::Quoted(text) => self.quoted(&text),
            Piece::Text(_)
            | Piece::Param { .. }
            | Piece::Command { .. }
            | Piece::Arithmetic { .. }
            | Piece::Process(_) => self.0.push(piece),
        }
    }

    pub(super) fn finish(self) -> Vec<Piece> {
        self.0
    }

    fn ends_with_extglob_sign(&self) -> bool {
        let sign = ['@', '?', '*', '+', '!'];
        matches!(self.0.last(), Some(Piece::Text(text)) if text.ends_with(sign))
    }
}

impl Parser<'_> {
    /// One word. Empty when none starts here.
    pub(super) fn word(&mut self) -> Parsed<Word> {
        let mut pieces = Pieces::default();
        while let Some(byte) = self.peek() {
            match byte {
                b'<' | b'>' if self.peek_second() == Some(b'(') => {
                    self.at += 1;
                    self.eat("(");
                    pieces.push(Piece::Process(self.parenthesised()?));
                }
                b'(' if pieces.ends_with_extglob_sign() => self.extended_glob(&mut pieces)?,
                b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>' => break,
                b'\'' => {
                    let text = self.single_quoted()?;
                    pieces.quoted(&text);
                }
                b'"' => self.double_quoted(&mut pieces)?,
                b'\\' => {
                    self.take();
                    let Some(character) = self.take() else {
                        return Err(self.error("a backslash at the end"));
                    };
                    pieces.quoted_character(character);
                }
                b'$' | b'`' => pieces.push(self.expansion(false)?),
                _ => {
                    if let Some(character) = self.take() {
                        pieces.text(character);
                    }
                }
            }
        }
        Ok(Word {
            pieces: pieces.finish(),
        })
    }

    /// A word that must be there.
    pub(super) fn needed_word(&mut self) -> Parsed<Word> {
        self.blanks();
        let word = self.word()?;
        if word.pieces.is_empty() {
            return Err(self.error("a word is missing"));
        }
        Ok(word)
    }

    /// `'…'`, raw.
    pub(super) fn single_quoted(&mut self) -> Parsed<String> {
        self.take();
        let rest = self.rest();
        let Some(length) = rest.find('\'') else {
            return Err(self.error("a single quote that is not closed"));
        };
        let text = rest.get(..length).unwrap_or_default().to_owned();
        self.at += length + 1;
        Ok(text)
    }

    /// `"…"`.
    pub(super) fn double_quoted(&mut self, pieces: &mut Pieces) -> Parsed<()> {
        self.take();
        pieces.quoted("");
        loop {
            match self.peek() {
                None => return Err(self.error("a double quote that is not closed")),
                Some(b'"') => {
                    self.take();
                    return Ok(());
                }
                Some(b'\\') => {
                    self.take();
                    if !matches!(self.byte(0), Some(b'$' | b'`' | b'"' | b'\\')) {
                        pieces.quoted("\\");
                    }
                    if let Some(character) = self.take() {
                        pieces.quoted_character(character);
                    }
                }
                Some(b'$' | b'`') => {
                    let piece = self.expansion(true)?;
                    pieces.push(piece);
                }
                Some(_) => {
                    if let Some(character) = self.take() {
                        pieces.quoted_character(character);
                    }
                }
            }
        }
    }

    /// `?(…)` and its kin, when they hold nothing but plain pattern characters. Where the shell has
    /// them switched off it is a syntax error, so nothing runs either way.
    fn extended_glob(&mut self, pieces: &mut Pieces) -> Parsed<()> {
        let rest = self.rest();
        let Some(length) = rest.find(')') else {
            return Err(self.error("a pattern that is not closed"));
        };
        let inner = rest.get(1..length).unwrap_or_default();
        let plain = |c: char| c.is_ascii_alphanumeric() || "._-*?/|".contains(c);
        if !inner.chars().all(plain) {
            return Err(self.error("a pattern that is not plain"));
        }
        pieces.text('*');
        self.at += length + 1;
        Ok(())
    }
}
