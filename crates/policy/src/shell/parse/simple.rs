//! Simple commands, assignments and redirections.

use super::{Parsed, Parser};
use crate::shell::ast::{Assign, AssignValue, Command, Descriptor, Kind, Piece, Redirect, Word};

/// Words that close something; none of them starts a command.
const CLOSERS: [&str; 8] = ["then", "do", "done", "fi", "esac", "elif", "else", "}"];

impl Parser<'_> {
    /// One command of any kind, with its redirections.
    pub(super) fn command(&mut self) -> Parsed<Command> {
        self.enter()?;
        self.blanks();
        let start = self.at;
        let mut redirects = Vec::new();
        let kind = match self.compound()? {
            Some(kind) => {
                while let Some(redirect) = self.redirect()? {
                    redirects.push(redirect);
                }
                kind
            }
            None => self.simple(&mut redirects)?,
        };
        self.leave();
        Ok(Command {
            text: self.since(start),
            kind,
            redirects,
        })
    }

    fn simple(&mut self, redirects: &mut Vec<Redirect>) -> Parsed<Kind> {
        if CLOSERS.contains(&self.reserved()) {
            return Err(self.error("a word that closes nothing"));
        }
        let mut assigns = Vec::new();
        let mut words: Vec<Word> = Vec::new();
        loop {
            if let Some(redirect) = self.redirect()? {
                redirects.push(redirect);
                continue;
            }
            self.blanks();
            if self.peek() == Some(b'(') {
                return self.function_of(&assigns, &words, redirects);
            }
            let word = self.word()?;
            if word.pieces.is_empty() {
                break;
            }
            match self.assignment(word)? {
                Ok(assign) if words.is_empty() => assigns.push(assign),
                Ok(assign) => words.push(self.as_argument(assign)?),
                Err(word) => words.push(word),
            }
        }
        if assigns.is_empty() && words.is_empty() && redirects.is_empty() {
            return Err(self.error("a command is missing"));
        }
        Ok(Kind::Simple { assigns, words })
    }

    fn function_of(
        &mut self,
        assigns: &[Assign],
        words: &[Word],
        redirects: &[Redirect],
    ) -> Parsed<Kind> {
        let name = match words {
            [only] if assigns.is_empty() && redirects.is_empty() => plain_text(only),
            _ => None,
        };
        let Some(name) = name else {
            return Err(self.error("a parenthesis that opens nothing"));
        };
        self.take();
        self.blanks();
        if !self.eat(")") {
            return Err(self.error("a parenthesis that opens nothing"));
        }
        self.function_body(name)
    }

    pub(super) fn function_body(&mut self, name: String) -> Parsed<Kind> {
        self.lines()?;
        let body = self.command()?;
        match body.kind {
            Kind::Simple { .. } | Kind::Function { .. } | Kind::Coprocess(_) => {
                Err(self.error("a function without a body"))
            }
            Kind::Subshell(_)
            | Kind::Group(_)
            | Kind::If { .. }
            | Kind::Loop { .. }
            | Kind::For { .. }
            | Kind::Count { .. }
            | Kind::Case { .. }
            | Kind::Arithmetic(_)
            | Kind::Test(_) => Ok(Kind::Function {
                name,
                body: Box::new(body),
            }),
        }
    }

    /// Takes a word apart if it is an assignment; gives it back if it is none.
    fn assignment(&mut self, word: Word) -> Parsed<Result<Assign, Word>> {
        let Some(Piece::Text(first)) = word.pieces.first() else {
            return Ok(Err(word));
        };
        let length = first
            .bytes()
            .take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
            .count();
        let named = length > 0 && !first.starts_with(|c: char| c.is_ascii_digit());
        let rest = first.get(length..).unwrap_or_default();
        if !named {
            return Ok(Err(word));
        }
        let name = first.get(..length).unwrap_or_default().to_owned();
        let append = rest.starts_with("+=");
        if append || rest.starts_with('=') {
            let skip = length + 1 + usize::from(append);
            let value = split_after(word, skip);
            return self.valued(name, None, append, value).map(Ok);
        }
        if !rest.starts_with('[') {
            return Ok(Err(word));
        }
        match split_subscript(word, length + 1) {
            Ok((subscript, append, value)) => {
                self.valued(name, Some(subscript), append, value).map(Ok)
            }
            Err(word) => Ok(Err(word)),
        }
    }

    fn valued(
        &mut self,
        name: String,
        subscript: Option<Vec<Piece>>,
        append: bool,
        value: Word,
    ) -> Parsed<Assign> {
        let value = if value.pieces.is_empty() && self.peek() == Some(b'(') {
            self.take();
            AssignValue::Array(self.array()?)
        } else {
            AssignValue::Scalar(value)
        };
        Ok(Assign {
            name,
            subscript,
            append,
            value,
        })
    }

    fn array(&mut self) -> Parsed<Vec<Word>> {
        let mut words = Vec::new();
        loop {
            self.lines()?;
            if self.eat(")") {
                return Ok(words);
            }
            words.push(self.needed_word()?);
        }
    }

    /// An assignment behind the command's name is an argument. Only declarations take arrays there;
    /// the words of one follow the name as data.
    fn as_argument(&self, assign: Assign) -> Parsed<Word> {
        let mut pieces = Vec::new();
        let mut head = assign.name;
        if let Some(subscript) = assign.subscript {
            head.push('[');
            pieces.push(Piece::Text(std::mem::take(&mut head)));
            pieces.extend(subscript);
            head.push(']');
        }
        head.push_str(if assign.append { "+=" } else { "=" });
        match assign.value {
            AssignValue::Scalar(word) => {
                pieces.push(Piece::Text(head));
                pieces.extend(word.pieces);
            }
            AssignValue::Array(words) => {
                head.push(WRITTEN_ARRAY);
                head.push('(');
                pieces.push(Piece::Quoted(head));
                for word in words {
                    let keyed =
                        matches!(word.pieces.first(), Some(Piece::Text(t)) if t.starts_with('['));
                    if keyed {
                        return Err(self.error("an array with keys"));
                    }
                    pieces.extend(word.pieces.into_iter().map(quote));
                    pieces.push(Piece::Quoted(" ".to_owned()));
                }
            }
        }
        Ok(Word { pieces })
    }

    /// One redirection, if it starts here.
    fn redirect(&mut self) -> Parsed<Option<Redirect>> {
        self.blanks();
        let start = self.at;
        let into = self.descriptor();
        let process = matches!(self.peek(), Some(b'<' | b'>'))
            && self.peek_second() == Some(b'(')
            && self.at == start;
        let operator = matches!(self.peek(), Some(b'<' | b'>'))
            || self.at == start && self.rest().starts_with("&>");
        if process || !operator {
            self.at = start;
            return Ok(None);
        }
        let redirect = if self.eat("&>>") || self.eat("&>") {
            Redirect::Write(self.needed_word()?)
        } else if self.eat("<<<") {
            Redirect::HereString(self.needed_word()?)
        } else if self.eat("<<-") {
            self.here_document(true)?
        } else if self.eat("<<") {
            self.here_document(false)?
        } else if self.eat("<&") || self.eat(">&") {
            let output = self.text.as_bytes().get(self.at - 2) == Some(&b'>');
            Redirect::Duplicate {
                word: self.needed_word()?,
                output,
                into,
            }
        } else if self.eat("<>") || self.eat(">>") || self.eat(">|") || self.eat(">") {
            Redirect::Write(self.needed_word()?)
        } else if self.eat("<") {
            Redirect::Read {
                word: self.needed_word()?,
                into,
            }
        } else {
            return Err(self.error("an odd redirection"));
        };
        Ok(Some(redirect))
    }

    /// Digits or `{name}` directly before a redirection.
    fn descriptor(&mut self) -> Descriptor {
        let start = self.at;
        let rest = self.rest();
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let braced = rest
            .strip_prefix('{')
            .and_then(|inner| inner.split_once('}'))
            .filter(|(name, _)| {
                !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
            })
            .map_or(0, |(name, _)| name.len() + 2);
        let given = rest
            .get(..digits.max(braced))
            .unwrap_or_default()
            .to_owned();
        self.at += given.len();
        if self.at > start && !matches!(self.peek(), Some(b'<' | b'>')) {
            self.at = start;
            return Descriptor::Usual;
        }
        match given.strip_prefix('{') {
            Some(name) => Descriptor::Named(name.trim_end_matches('}').to_owned()),
            None if given.is_empty() => Descriptor::Usual,
            None => Descriptor::Number(given),
        }
    }
}

/// Stands before an array that is written as one, so that no text in quotes looks like it. A value
/// that really begins so is no array to a shell either.
pub(in crate::shell) const WRITTEN_ARRAY: char = '\u{2}';

/// The text of a word in which nothing expands.
pub(super) fn plain_text(word: &Word) -> Option<String> {
    match word.pieces.as_slice() {
        [Piece::Text(text)] => Some(text.clone()),
        _ => None,
    }
}

fn quote(piece: Piece) -> Piece {
    match piece {
        Piece::Text(text) => Piece::Quoted(text),
        Piece::Quoted(_)
        | Piece::Param { .. }
        | Piece::Command { .. }
        | Piece::Arithmetic { .. }
        | Piece::Process(_) => piece,
    }
}

/// The word without the first bytes of its first piece.
fn split_after(word: Word, skip: usize) -> Word {
    let mut pieces = word.pieces;
    if let Some(Piece::Text(text)) = pieces.first_mut() {
        let rest = text.get(skip..).unwrap_or_default().to_owned();
        if rest.is_empty() {
            pieces.remove(0);
        } else {
            *text = rest;
        }
    }
    Word { pieces }
}

/// Splits `name[…]=value` behind its bracket; gives the word back when no `]=` follows.
fn split_subscript(word: Word, skip: usize) -> Result<(Vec<Piece>, bool, Word), Word> {
    let closes = |piece: &Piece, from: usize| match piece {
        Piece::Text(text) => {
            let rest = text.get(from..)?;
            let at = rest.find(']')? + from;
            let tail = text.get(at + 1..)?;
            (tail.starts_with('=') || tail.starts_with("+=")).then_some(at)
        }
        Piece::Quoted(_)
        | Piece::Param { .. }
        | Piece::Command { .. }
        | Piece::Arithmetic { .. }
        | Piece::Process(_) => None,
    };
    let found = word.pieces.iter().enumerate().find_map(|(index, piece)| {
        closes(piece, if index == 0 { skip } else { 0 }).map(|at| (index, at))
    });
    let Some((index, at)) = found else {
        return Err(word);
    };
    let mut subscript: Vec<Piece> = Vec::new();
    let mut value: Vec<Piece> = Vec::new();
    let mut append = false;
    for (position, piece) in word.pieces.into_iter().enumerate() {
        if position > index {
            value.push(piece);
            continue;
        }
        let Piece::Text(text) = piece else {
            subscript.push(piece);
            continue;
        };
        let from = if position == 0 { skip } else { 0 };
        let to = if position == index { at } else { text.len() };
        subscript.push(Piece::Text(
            text.get(from..to).unwrap_or_default().to_owned(),
        ));
        if position == index {
            let tail = text.get(at + 1..).unwrap_or_default();
            append = tail.starts_with('+');
            let tail = tail.trim_start_matches('+');
            let tail = tail.strip_prefix('=').unwrap_or(tail);
            if !tail.is_empty() {
                value.push(Piece::Text(tail.to_owned()));
            }
        }
    }
    Ok((subscript, append, Word { pieces: value }))
}
