//! What starts with `$` or a backtick.

use super::word::Pieces;
use super::{Parsed, Parser, Stop, parse};
use crate::shell::ast::{List, Param, ParamForm, Piece};

impl Parser<'_> {
    /// The expansion that starts here. `quoted` says whether it stands in double quotes.
    pub(super) fn expansion(&mut self, quoted: bool) -> Parsed<Piece> {
        if self.peek() == Some(b'`') {
            return self.backquoted(quoted);
        }
        let second = self.peek_second();
        self.take();
        self.peek();
        match second {
            Some(b'\'') if !quoted => self.ansi_quoted(),
            Some(b'"') if !quoted => {
                let mut pieces = Pieces::default();
                self.double_quoted(&mut pieces)?;
                translated(pieces.finish(), self)
            }
            Some(b'(') => {
                self.take();
                if self.peek() == Some(b'(') {
                    self.take();
                    let pieces = self.arithmetic(Some(b')'))?;
                    return Ok(Piece::Arithmetic { pieces, quoted });
                }
                let list = self.parenthesised()?;
                Ok(Piece::Command { list, quoted })
            }
            Some(b'[') => Err(self.error("the old form `$[…]`")),
            Some(b'{') => {
                self.take();
                self.enter()?;
                let param = self.braced(quoted)?;
                self.leave();
                Ok(Piece::Param { param, quoted })
            }
            Some(byte) if byte.is_ascii_alphabetic() || byte == b'_' => {
                let name = self.name();
                Ok(plain(name, quoted))
            }
            Some(byte) if byte.is_ascii_digit() || b"@*#?-$!".contains(&byte) => {
                self.take();
                Ok(plain(char::from(byte).to_string(), quoted))
            }
            Some(_) | None => Ok(Piece::Quoted("$".to_owned())),
        }
    }

    /// A list of commands and its closing parenthesis; the opening one is behind us.
    pub(super) fn parenthesised(&mut self) -> Parsed<List> {
        let outer = std::mem::take(&mut self.pending);
        let list = self.list(Stop::Parenthesis)?;
        if !self.pending.is_empty() {
            return Err(self.error("a here-document that its substitution cuts off"));
        }
        self.pending = outer;
        if self.eat(")") {
            Ok(list)
        } else {
            Err(self.error("a parenthesis that is not closed"))
        }
    }

    fn name(&mut self) -> String {
        let mut name = String::new();
        while let Some(byte) = self.peek() {
            if !(byte.is_ascii_alphanumeric() || byte == b'_') {
                break;
            }
            name.push(char::from(byte));
            self.at += 1;
        }
        name
    }

    fn backquoted(&mut self, quoted: bool) -> Parsed<Piece> {
        self.take();
        let mut inner = String::new();
        loop {
            match self.take() {
                None => return Err(self.error("a backtick that is not closed")),
                Some('`') => break,
                Some('\\') => match self.take() {
                    Some(c @ ('`' | '\\' | '$')) => inner.push(c),
                    Some('"') if quoted => inner.push('"'),
                    Some(c) => inner.extend(['\\', c]),
                    None => return Err(self.error("a backtick that is not closed")),
                },
                Some(character) => inner.push(character),
            }
        }
        let list = parse(&inner, self.depth)?;
        Ok(Piece::Command { list, quoted })
    }

    /// The text of `$((…))`, `((…))` or a part of `for ((…))`, up to its end, which is taken too.
    ///
    /// With `)` as the end two of them close; with any other byte that one closes.
    pub(super) fn arithmetic(&mut self, end: Option<u8>) -> Parsed<Vec<Piece>> {
        self.enter()?;
        let mut pieces = Pieces::default();
        let mut open = 0_usize;
        loop {
            let Some(byte) = self.peek() else {
                return Err(self.error("an arithmetic expression that is not closed"));
            };
            match byte {
                b')' if open == 0 && end == Some(b')') => {
                    self.take();
                    if !self.eat(")") {
                        return Err(self.error("an arithmetic expression that is not closed"));
                    }
                    break;
                }
                b';' if open == 0 && end == Some(b';') => {
                    self.take();
                    break;
                }
                b')' if open == 0 => return Err(self.error("a parenthesis too many")),
                b'(' => open += 1,
                b')' => open -= 1,
                b'\'' | b'"' | b'\\' | b';' => {
                    return Err(self.error("a quote in an arithmetic expression"));
                }
                b'$' | b'`' => {
                    pieces.push(self.expansion(true)?);
                    continue;
                }
                _ => {}
            }
            if let Some(character) = self.take() {
                pieces.text(character);
            }
        }
        self.leave();
        Ok(pieces.finish())
    }

    /// `${…}` behind its opening brace.
    fn braced(&mut self, quoted: bool) -> Parsed<Param> {
        let second = self.peek_second();
        let mut form = ParamForm::Plain;
        if self.peek() == Some(b'#') && second != Some(b'}') {
            self.take();
            form = ParamForm::Length;
        } else if self.peek() == Some(b'!') && second != Some(b'}') {
            self.take();
            form = ParamForm::Indirect;
        }
        let name = self.parameter_name()?;
        let subscript = if self.peek() == Some(b'[') {
            self.take();
            Some(self.subscript()?)
        } else {
            None
        };
        let mut param = Param {
            name,
            subscript,
            form,
            operand: Vec::new(),
        };
        if self.eat("}") {
            if form == ParamForm::Indirect && param.subscript.is_some() {
                param.form = ParamForm::Names;
            }
            return Ok(param);
        }
        if form == ParamForm::Indirect && (self.eat("@}") || self.eat("*}")) {
            param.form = ParamForm::Names;
            return Ok(param);
        }
        if form != ParamForm::Plain {
            return Err(self.error("an odd expansion"));
        }
        param.form = self.operator()?;
        param.operand = self.operand(quoted, param.form == ParamForm::Pattern)?;
        Ok(param)
    }

    fn parameter_name(&mut self) -> Parsed<String> {
        match self.peek() {
            Some(byte) if byte.is_ascii_alphabetic() || byte == b'_' => Ok(self.name()),
            Some(byte) if byte.is_ascii_digit() => {
                let name = self.name();
                if name.bytes().all(|b| b.is_ascii_digit()) {
                    Ok(name)
                } else {
                    Err(self.error("an odd expansion"))
                }
            }
            Some(byte) if b"@*#?-$!".contains(&byte) => {
                self.take();
                Ok(char::from(byte).to_string())
            }
            Some(_) | None => Err(self.error("an odd expansion")),
        }
    }

    fn subscript(&mut self) -> Parsed<Vec<Piece>> {
        let mut pieces = Pieces::default();
        loop {
            match self.peek() {
                None => return Err(self.error("a subscript that is not closed")),
                Some(b']') => {
                    self.take();
                    return Ok(pieces.finish());
                }
                Some(b'$' | b'`') => pieces.push(self.expansion(true)?),
                Some(b'\'' | b'"' | b'\\' | b'[' | b'\n') => {
                    return Err(self.error("an odd subscript"));
                }
                Some(_) => {
                    if let Some(character) = self.take() {
                        pieces.text(character);
                    }
                }
            }
        }
    }

    fn operator(&mut self) -> Parsed<ParamForm> {
        let colon = self.eat(":");
        let form = match self.peek() {
            Some(b'-') => ParamForm::Default,
            Some(b'=') => ParamForm::Assign,
            Some(b'?') => ParamForm::Complain,
            Some(b'+') => ParamForm::Alternate,
            Some(_) if colon => return Ok(ParamForm::Substring),
            Some(b'#' | b'%' | b'/' | b'^' | b',') => ParamForm::Pattern,
            Some(b'@') => {
                self.take();
                let Some(operator) = self.take_joined().filter(char::is_ascii_alphabetic) else {
                    return Err(self.error("an odd expansion"));
                };
                return Ok(ParamForm::Transform(operator));
            }
            Some(_) | None => return Err(self.error("an odd expansion")),
        };
        self.take();
        Ok(form)
    }

    /// The rest of `${…}` up to its closing brace, which is taken too.
    fn operand(&mut self, quoted: bool, pattern: bool) -> Parsed<Vec<Piece>> {
        let mut pieces = Pieces::default();
        loop {
            match self.peek() {
                None => return Err(self.error("an expansion that is not closed")),
                Some(b'$' | b'\'') if quoted && pattern && self.quotes_nothing() => {
                    self.eat("$");
                    self.take();
                    while let Some(character) = self.take() {
                        if character == '\'' {
                            break;
                        }
                        pieces.quoted_character(character);
                    }
                }
                Some(b'}') => {
                    self.take();
                    return Ok(pieces.finish());
                }
                // In double quotes a single quote quotes in some of these forms and not in others.
                Some(b'\'') if quoted => return Err(self.error("a quote in a quoted expansion")),
                Some(b'\'') => {
                    let text = self.single_quoted()?;
                    pieces.quoted(&text);
                }
                Some(b'"') => self.double_quoted(&mut pieces)?,
                Some(b'\\') => {
                    self.take();
                    if let Some(character) = self.take() {
                        pieces.quoted_character(character);
                    }
                }
                Some(b'$' | b'`') => pieces.push(self.expansion(quoted)?),
                Some(b'<' | b'>') if !quoted && self.peek_second() == Some(b'(') => {
                    self.at += 1;
                    self.eat("(");
                    pieces.push(Piece::Process(self.parenthesised()?));
                }
                Some(_) => {
                    if let Some(character) = self.take() {
                        pieces.text(character);
                    }
                }
            }
        }
    }

    /// Whether `'…'` or `$'…'` stands here and holds nothing that means something, so that it does
    /// not matter whether the quotes are quotes or characters.
    fn quotes_nothing(&self) -> bool {
        let rest = self.rest();
        let rest = rest.strip_prefix('$').unwrap_or(rest);
        let inner = rest
            .strip_prefix('\'')
            .and_then(|rest| rest.split_once('\''));
        inner.is_some_and(|(inner, _)| {
            let known = |c: char| c.is_ascii_alphanumeric() || " ,.:;/_+=@%-".contains(c);
            let text = inner.strip_prefix('\\').unwrap_or(inner);
            text.chars().all(known)
        })
    }

    /// `$'…'`.
    fn ansi_quoted(&mut self) -> Parsed<Piece> {
        self.take();
        let mut text = String::new();
        loop {
            match self.take() {
                None => return Err(self.error("a quote that is not closed")),
                Some('\'') => return Ok(Piece::Quoted(text)),
                Some('\\') => text.push(self.ansi_escape()?),
                Some(character) => text.push(character),
            }
        }
    }

    fn ansi_escape(&mut self) -> Parsed<char> {
        let Some(letter) = self.take() else {
            return Err(self.error("a quote that is not closed"));
        };
        let code = match letter {
            'n' => return Ok('\n'),
            't' => return Ok('\t'),
            'r' => return Ok('\r'),
            'a' => return Ok('\u{7}'),
            'b' => return Ok('\u{8}'),
            'e' | 'E' => return Ok('\u{1b}'),
            'f' => return Ok('\u{c}'),
            'v' => return Ok('\u{b}'),
            '\\' | '\'' | '"' | '?' => return Ok(letter),
            'x' => self.digits(2, 16),
            'u' => self.digits(4, 16),
            'U' => self.digits(8, 16),
            '0'..='7' => {
                self.at -= 1;
                self.digits(3, 8)
            }
            _ => None,
        };
        // A byte above 127 is half of a character for the shell, and a NUL ends its text.
        code.filter(|code| *code != 0 && (*code < 128 || matches!(letter, 'u' | 'U')))
            .and_then(char::from_u32)
            .ok_or_else(|| self.error("an odd escape"))
    }

    fn digits(&mut self, most: usize, radix: u32) -> Option<u32> {
        let mut value = None;
        for _ in 0..most {
            let Some(digit) = self
                .byte(0)
                .and_then(|byte| char::from(byte).to_digit(radix))
            else {
                break;
            };
            value = Some(
                value
                    .unwrap_or(0_u32)
                    .checked_mul(radix)?
                    .checked_add(digit)?,
            );
            self.at += 1;
        }
        value
    }
}

fn plain(name: String, quoted: bool) -> Piece {
    Piece::Param {
        param: Param {
            name,
            subscript: None,
            form: ParamForm::Plain,
            operand: Vec::new(),
        },
        quoted,
    }
}

/// `$"…"`: only plain text is taken, since a message catalogue could put another text in its place.
fn translated(pieces: Vec<Piece>, parser: &Parser<'_>) -> Parsed<Piece> {
    let mut whole = String::new();
    for piece in pieces {
        match piece {
            Piece::Quoted(text) | Piece::Text(text) => whole.push_str(&text),
            Piece::Param { .. }
            | Piece::Command { .. }
            | Piece::Arithmetic { .. }
            | Piece::Process(_) => return Err(parser.error("an expansion in translated text")),
        }
    }
    Ok(Piece::Quoted(whole))
}
