//! JSON with comments, with the place of every value, so that a text can be changed and the rest of
//! it stays as its owner wrote it.

use serde_json::{Map, Value};
use tagout_vocab::limits::{DOCUMENT_DEPTH_MAX, SIDECAR_BYTES_MAX};
use thiserror::Error;

/// Why a configuration file can't be changed.
#[derive(Clone, Debug, Eq, PartialEq, Error)]
pub enum TextError {
    /// Not JSON, not even with comments.
    #[error("line {line}: {what}")]
    Syntax {
        /// Where.
        line: usize,
        /// What is wrong there.
        what: &'static str,
    },
    /// A value of another kind than the client reads there.
    #[error("`{key}` is not what the client reads there")]
    Shape {
        /// The key.
        key: String,
    },
    /// A table that somebody else wrote lacks a setting which ours would hold.
    #[error(
        "`[{table}]` has no `{key} = true`, without which a repository can switch hooks off: write \
         it there, then run `tagout install` again"
    )]
    NotHeld {
        /// The table.
        table: &'static str,
        /// The setting.
        key: &'static str,
    },
    /// Larger than any configuration file.
    #[error("the file is larger than {SIDECAR_BYTES_MAX} bytes")]
    TooLarge,
}

/// A value and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// Its first byte.
    pub(crate) start: usize,
    /// The byte after it.
    pub(crate) end: usize,
    /// What it is.
    pub(crate) body: Body,
}

/// What a value is.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    /// Members in order.
    Object(Vec<Member>),
    /// Items in order.
    Array(Vec<Node>),
    /// Anything else.
    Plain(Value),
}

/// A member of an object.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    /// Where its key starts.
    pub(crate) start: usize,
    /// The key.
    pub(crate) key: String,
    /// The value.
    pub(crate) value: Node,
}

impl Node {
    /// The value without its places.
    pub(crate) fn to_value(&self) -> Value {
        match &self.body {
            Body::Object(members) => {
                let entry = |member: &Member| (member.key.clone(), member.value.to_value());
                Value::Object(members.iter().map(entry).collect::<Map<_, _>>())
            }
            Body::Array(items) => Value::Array(items.iter().map(Self::to_value).collect()),
            Body::Plain(value) => value.clone(),
        }
    }

    /// A member of an object.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        match &self.body {
            Body::Object(members) => members
                .iter()
                .find(|member| member.key == key)
                .map(|member| &member.value),
            Body::Array(_) | Body::Plain(_) => None,
        }
    }

    /// Where each child starts and ends; keys belong to their members.
    pub(crate) fn children(&self) -> Vec<(usize, usize)> {
        match &self.body {
            Body::Object(members) => members
                .iter()
                .map(|member| (member.start, member.value.end))
                .collect(),
            Body::Array(items) => items.iter().map(|item| (item.start, item.end)).collect(),
            Body::Plain(_) => Vec::new(),
        }
    }
}

/// Reads a whole text. `None` where there is nothing but white space.
pub(crate) fn read(text: &str) -> Result<Option<Node>, TextError> {
    if text.len() > SIDECAR_BYTES_MAX {
        return Err(TextError::TooLarge);
    }
    let mut reader = Reader { text, at: 0 };
    reader.at += if text.starts_with('\u{feff}') {
        '\u{feff}'.len_utf8()
    } else {
        0
    };
    reader.skip()?;
    if reader.peek().is_none() {
        return Ok(None);
    }
    let node = reader.value(DOCUMENT_DEPTH_MAX)?;
    reader.skip()?;
    match reader.peek() {
        None => Ok(Some(node)),
        Some(_) => Err(reader.error("there is something after the end")),
    }
}

/// The position after white space and comments.
pub(crate) fn after_space(text: &str, at: usize) -> usize {
    let mut reader = Reader { text, at };
    // The text was read before, so its comments are whole.
    match reader.skip() {
        Ok(()) => reader.at,
        Err(_) => at,
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn error(&self, what: &'static str) -> TextError {
        let before = self.text.get(..self.at).unwrap_or(self.text);
        TextError::Syntax {
            line: before.matches('\n').count() + 1,
            what,
        }
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn eat(&mut self, letter: char) -> bool {
        let found = self.peek() == Some(letter);
        self.at += if found { letter.len_utf8() } else { 0 };
        found
    }

    fn skip(&mut self) -> Result<(), TextError> {
        loop {
            let rest = self.rest();
            let spaces = rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
            let rest = rest.get(spaces..).unwrap_or_default();
            let comment = if rest.starts_with("//") {
                rest.find('\n').unwrap_or(rest.len())
            } else if let Some(inner) = rest.strip_prefix("/*") {
                let end = inner.find("*/");
                end.ok_or_else(|| self.error("a comment does not end"))? + 4
            } else {
                0
            };
            self.at += spaces + comment;
            if comment == 0 {
                return Ok(());
            }
        }
    }

    fn value(&mut self, depth: usize) -> Result<Node, TextError> {
        let depth = depth
            .checked_sub(1)
            .ok_or_else(|| self.error("nested too deeply"))?;
        let start = self.at;
        let body = match self.peek() {
            Some('{') => self.object(depth)?,
            Some('[') => self.array(depth)?,
            Some('"') => Body::Plain(Value::String(self.string()?)),
            Some(_) => self.word()?,
            None => return Err(self.error("a value is missing")),
        };
        Ok(Node {
            start,
            end: self.at,
            body,
        })
    }

    fn object(&mut self, depth: usize) -> Result<Body, TextError> {
        self.at += 1;
        let mut members: Vec<Member> = Vec::new();
        loop {
            self.skip()?;
            if self.eat('}') {
                return Ok(Body::Object(members));
            }
            let start = self.at;
            let key = self.string()?;
            if members.iter().any(|member| member.key == key) {
                return Err(self.error("a key is there twice"));
            }
            self.skip()?;
            if !self.eat(':') {
                return Err(self.error("a colon is missing"));
            }
            self.skip()?;
            let value = self.value(depth)?;
            members.push(Member { start, key, value });
            self.skip()?;
            if !self.eat(',') && self.peek() != Some('}') {
                return Err(self.error("a comma or `}` is missing"));
            }
        }
    }

    fn array(&mut self, depth: usize) -> Result<Body, TextError> {
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.skip()?;
            if self.eat(']') {
                return Ok(Body::Array(items));
            }
            items.push(self.value(depth)?);
            self.skip()?;
            if !self.eat(',') && self.peek() != Some(']') {
                return Err(self.error("a comma or `]` is missing"));
            }
        }
    }

    fn string(&mut self) -> Result<String, TextError> {
        let mut escaped = false;
        let rest = self.rest();
        if !rest.starts_with('"') {
            return Err(self.error("a quote is missing"));
        }
        let end = rest.char_indices().skip(1).find(|(_, letter)| {
            let ends = *letter == '"' && !escaped;
            escaped = *letter == '\\' && !escaped;
            ends
        });
        let (end, _) = end.ok_or_else(|| self.error("a text does not end"))?;
        let raw = rest.get(..=end).unwrap_or_default();
        let text = serde_json::from_str(raw).map_err(|_| self.error("a text can't be read"))?;
        self.at += end + 1;
        Ok(text)
    }

    fn word(&mut self) -> Result<Body, TextError> {
        let rest = self.rest();
        let ends = |letter: char| letter.is_whitespace() || ",:]}/[{\"".contains(letter);
        let word = rest.split(ends).next().unwrap_or_default();
        let value = serde_json::from_str(word).map_err(|_| self.error("a value can't be read"))?;
        self.at += word.len();
        Ok(Body::Plain(value))
    }
}
