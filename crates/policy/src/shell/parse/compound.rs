//! Compound commands: groups, loops, conditions, functions.

use super::simple::plain_text;
use super::word::Pieces;
use super::{Parsed, Parser, Stop};
use crate::shell::ast::{Kind, List, Piece, Word};

impl Parser<'_> {
    /// A compound command, if one starts here.
    pub(super) fn compound(&mut self) -> Parsed<Option<Kind>> {
        if self.peek() == Some(b'(') {
            self.take();
            if self.peek() == Some(b'(') {
                self.take();
                return Ok(Some(Kind::Arithmetic(self.arithmetic(Some(b')'))?)));
            }
            return Ok(Some(Kind::Subshell(self.filled()?)));
        }
        let word = self.reserved();
        let kind = match word {
            "{" => {
                self.at += 1;
                Kind::Group(self.closed("}")?)
            }
            "if" => self.condition()?,
            "while" | "until" => {
                self.at += word.len();
                let condition = self.body(Stop::Words(&["do"]))?;
                let body = self.do_group()?;
                Kind::Loop { condition, body }
            }
            "for" | "select" => {
                self.at += word.len();
                self.for_loop()?
            }
            "case" => self.case()?,
            "function" => {
                self.at += word.len();
                let name = self.needed_word()?;
                let Some(name) = plain_text(&name) else {
                    return Err(self.error("an odd name of a function"));
                };
                self.blanks();
                if self.eat("(") {
                    self.blanks();
                    if !self.eat(")") {
                        return Err(self.error("a parenthesis that is not closed"));
                    }
                }
                self.function_body(name)?
            }
            "[[" => {
                self.at += word.len();
                Kind::Test(self.test()?)
            }
            "coproc" => {
                self.at += word.len();
                self.blanks();
                Kind::Coprocess(Box::new(self.command()?))
            }
            _ => return Ok(None),
        };
        Ok(Some(kind))
    }

    fn filled(&mut self) -> Parsed<List> {
        let list = self.parenthesised()?;
        if list.items.is_empty() {
            return Err(self.error("an empty list of commands"));
        }
        Ok(list)
    }

    /// A list and the reserved word that closes it.
    fn closed(&mut self, word: &'static str) -> Parsed<List> {
        let stop = match word {
            "}" => Stop::Words(&["}"]),
            "done" => Stop::Words(&["done"]),
            _ => Stop::Words(&["fi"]),
        };
        let list = self.body(stop)?;
        self.expect_reserved(word, "a compound command that is not closed")?;
        Ok(list)
    }

    fn do_group(&mut self) -> Parsed<List> {
        self.lines()?;
        if self.eat_reserved("{") {
            return self.closed("}");
        }
        self.expect_reserved("do", "a loop without its body")?;
        self.closed("done")
    }

    fn condition(&mut self) -> Parsed<Kind> {
        self.at += 2;
        let mut branches = Vec::new();
        let mut otherwise = None;
        loop {
            let condition = self.body(Stop::Words(&["then"]))?;
            self.expect_reserved("then", "a condition without `then`")?;
            let body = self.body(Stop::Words(&["elif", "else", "fi"]))?;
            branches.push((condition, body));
            if self.eat_reserved("elif") {
                continue;
            }
            if self.eat_reserved("else") {
                otherwise = Some(self.body(Stop::Words(&["fi"]))?);
            }
            self.expect_reserved("fi", "a condition without `fi`")?;
            return Ok(Kind::If {
                branches,
                otherwise,
            });
        }
    }

    fn for_loop(&mut self) -> Parsed<Kind> {
        self.blanks();
        if self.eat("((") {
            let first = self.arithmetic(Some(b';'))?;
            let second = self.arithmetic(Some(b';'))?;
            let third = self.arithmetic(Some(b')'))?;
            self.blanks();
            self.eat(";");
            let body = self.do_group()?;
            return Ok(Kind::Count {
                parts: vec![first, second, third],
                body,
            });
        }
        let name = self.needed_word()?;
        let Some(name) = plain_text(&name).filter(|name| is_name(name)) else {
            return Err(self.error("an odd name of a loop variable"));
        };
        self.lines()?;
        let mut words = None;
        if self.eat_reserved("in") {
            let mut list = Vec::new();
            loop {
                self.blanks();
                let word = self.word()?;
                if word.pieces.is_empty() {
                    break;
                }
                list.push(word);
            }
            words = Some(list);
        }
        self.blanks();
        self.eat(";");
        let body = self.do_group()?;
        Ok(Kind::For { name, words, body })
    }

    fn case(&mut self) -> Parsed<Kind> {
        self.at += 4;
        let word = self.needed_word()?;
        self.expect_reserved("in", "a case without `in`")?;
        let mut arms = Vec::new();
        loop {
            self.lines()?;
            if self.eat_reserved("esac") {
                return Ok(Kind::Case { word, arms });
            }
            self.eat("(");
            let mut patterns = vec![self.needed_word()?];
            loop {
                self.blanks();
                if !self.eat("|") {
                    break;
                }
                patterns.push(self.needed_word()?);
            }
            if !self.eat(")") {
                return Err(self.error("a pattern without its parenthesis"));
            }
            let body = self.list(Stop::Arm)?;
            arms.push((patterns, body));
            self.lines()?;
            if !(self.eat(";;&") || self.eat(";;") || self.eat(";&")) && self.reserved() != "esac" {
                return Err(self.error("an arm that does not end"));
            }
        }
    }

    /// The words of `[[ … ]]`; operators are words of their own.
    fn test(&mut self) -> Parsed<Vec<Word>> {
        let mut words: Vec<Word> = Vec::new();
        loop {
            self.lines()?;
            if self.eat_reserved("]]") {
                return Ok(words);
            }
            let operator = ["&&", "||", "(", ")", "<", ">"]
                .into_iter()
                .find(|operator| self.rest().starts_with(operator));
            let process = self.rest().starts_with("<(") || self.rest().starts_with(">(");
            if let Some(operator) = operator.filter(|_| !process) {
                self.at += operator.len();
                words.push(Word {
                    pieces: vec![Piece::Text(operator.to_owned())],
                });
                continue;
            }
            let regex = words.last().and_then(plain_text).as_deref() == Some("=~");
            let word = if regex { self.regex()? } else { self.word()? };
            if word.pieces.is_empty() {
                return Err(self.error("an odd test"));
            }
            words.push(word);
        }
    }

    /// The right side of `=~`: parentheses and bars belong to it, blanks outside of them end it.
    fn regex(&mut self) -> Parsed<Word> {
        let mut pieces = Pieces::default();
        let mut open = 0_usize;
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' | b'\n' if open == 0 => break,
                b'\n' | b';' | b'&' => return Err(self.error("an odd regular expression")),
                b'(' => {
                    open += 1;
                    self.take();
                    pieces.quoted("(");
                }
                b')' => {
                    open = open
                        .checked_sub(1)
                        .ok_or_else(|| self.error("a parenthesis too many"))?;
                    self.take();
                    pieces.quoted(")");
                }
                b'\'' => {
                    let text = self.single_quoted()?;
                    pieces.quoted(&text);
                }
                b'"' => self.double_quoted(&mut pieces)?,
                b'\\' => {
                    self.take();
                    if let Some(character) = self.take() {
                        pieces.quoted_character(character);
                    }
                }
                b'$' | b'`' => pieces.push(self.expansion(false)?),
                _ => {
                    if let Some(character) = self.take() {
                        pieces.quoted_character(character);
                    }
                }
            }
        }
        Ok(Word {
            pieces: pieces.finish(),
        })
    }
}

/// Whether a text can name a variable.
pub(super) fn is_name(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}
