//! Code in other languages: what its texts say that it removes or has a shell run.
//!
//! No language is parsed. Comments and texts are told apart by its rules; names, brackets and texts
//! look alike in all of them, and a text that is handed to a function by its name tells what is
//! meant. Where a language might read something otherwise, every place is looked at where one of
//! these names stands, be it in a text or a comment. What code puts together while it runs is not
//! seen.

mod lex;
mod rules;

pub(in crate::shell) use rules::Language;

use lex::{Text, Token, in_name, lex};
use rules::Rules;

/// More findings than these are not looked at: what comes then is taken for the worst.
const FOUND_MAX: usize = 256;

/// The same for places that are looked at where code is not surely read.
const PLACES_MAX: usize = 1024;

/// What is looked at from such a place on.
const PLACE_BYTES_MAX: usize = 512;

/// Tokens behind a text that are looked at.
const BEHIND_MAX: usize = 64;

/// Code in texts in code is read this deep.
const DEPTH_MAX: usize = 3;

/// Names of functions and values, from the data.
#[derive(Clone, Copy, Debug)]
pub(in crate::shell) struct Names<'a> {
    /// Functions that remove whole trees.
    pub(in crate::shell) removes: &'a [String],
    /// Functions that give back the path that they are given.
    pub(in crate::shell) same: &'a [String],
    /// Functions that start a program or a shell.
    pub(in crate::shell) runs: &'a [String],
    /// Functions that run a text as code of their own language.
    pub(in crate::shell) evaluates: &'a [String],
    /// Names below a function that are the function again: `rimraf.sync`.
    pub(in crate::shell) again: &'a [String],
    /// Names of the home folder.
    pub(in crate::shell) homes: &'a [String],
}

/// What a piece of code would do.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(in crate::shell) enum Does {
    /// Removes a tree; the home folder is `~`.
    Removes(String),
    /// Has a shell run a text.
    Runs(String),
    /// Starts a program with its arguments.
    Starts(Vec<String>),
}

/// Everything that is found in a piece of code.
pub(in crate::shell) fn read(code: &str, language: Language, names: Names<'_>) -> Vec<Does> {
    let mut found = Found::default();
    for rules in language.rules() {
        found.read(code, Way { rules, names }, 0);
    }
    if found.is_too_much {
        found.list.push(Does::Removes("/".to_owned()));
    }
    found.list
}

fn has(list: &[String], name: &str) -> bool {
    list.iter().any(|known| known == name)
}

impl<'a> Names<'a> {
    /// A function that is looked for, under the name in the data.
    fn known(self, name: &str) -> Option<&'a str> {
        let mut all = self.removes.iter().chain(self.runs).chain(self.evaluates);
        all.find(|known| *known == name).map(String::as_str)
    }
}

/// How code is read.
#[derive(Clone, Copy)]
struct Way<'a> {
    rules: &'static Rules,
    names: Names<'a>,
}

#[derive(Default)]
struct Found {
    list: Vec<Does>,
    places_count: usize,
    is_too_much: bool,
}

impl Found {
    fn add(&mut self, does: Does) {
        if self.list.contains(&does) {
            return;
        }
        if self.list.len() < FOUND_MAX {
            self.list.push(does);
        } else {
            self.is_too_much = true;
        }
    }

    fn read(&mut self, code: &str, way: Way<'_>, depth: usize) {
        let lexed = lex(code, way.rules);
        Reader::new(&lexed.tokens, way, self, depth).run();
        if !lexed.sure {
            self.look_around(code, way, depth);
        }
    }

    /// Looks at every place where a known name stands, whatever stands before it.
    fn look_around(&mut self, code: &str, way: Way<'_>, depth: usize) {
        let mut rest = code;
        while let Some(start) = rest.find(in_name) {
            let place = rest.get(start..).unwrap_or_default();
            let end = place.find(|c| !in_name(c)).unwrap_or(place.len());
            let (name, behind) = place.split_at_checked(end).unwrap_or((place, ""));
            rest = behind;
            if way.names.known(name).is_none() && !has(way.names.homes, name) {
                continue;
            }
            if self.is_too_much || self.places_count >= PLACES_MAX {
                self.is_too_much = true;
                return;
            }
            self.places_count += 1;
            let mut end = PLACE_BYTES_MAX.min(place.len());
            while !place.is_char_boundary(end) {
                end -= 1;
            }
            let lexed = lex(place.get(..end).unwrap_or_default(), way.rules);
            Reader::new(&lexed.tokens, way, self, depth.saturating_add(1)).run();
        }
    }
}

/// An open bracket.
#[derive(Clone, Copy, Default)]
struct Bracket {
    /// How many brackets are open at the function that removes what stands here.
    removed_by: Option<usize>,
    /// Whether what stands here is run, and whether as code.
    is_run: bool,
    is_code: bool,
}

struct Reader<'a, 't> {
    tokens: &'t [Token<'a>],
    /// The token that is read next.
    at: usize,
    names: Names<'a>,
    rules: &'static Rules,
    inside: Vec<Bracket>,
    /// The name that was read last, if nothing but blanks came since.
    last: &'a str,
    /// Whether blanks came since.
    spaced: bool,
    /// A known function below which a name is looked for.
    owner: &'a str,
    /// The function that is called without brackets, until its arguments end.
    bare: &'a str,
    /// Whether what comes next is joined to something before it.
    joined: bool,
    /// Texts in a row.
    list: Vec<String>,
    found: &'t mut Found,
    depth: usize,
}

impl<'a, 't> Reader<'a, 't> {
    fn new(tokens: &'t [Token<'a>], way: Way<'a>, found: &'t mut Found, depth: usize) -> Self {
        Self {
            tokens,
            at: 0,
            names: way.names,
            rules: way.rules,
            inside: Vec::new(),
            last: "",
            spaced: false,
            owner: "",
            bare: "",
            joined: false,
            list: Vec::new(),
            found,
            depth,
        }
    }

    fn run(&mut self) {
        let tokens = self.tokens;
        for token in tokens {
            self.at += 1;
            match token {
                Token::Name(name) => self.name(name),
                Token::Text(text) => self.text(text),
                Token::Mark(mark) => self.mark(*mark),
                Token::Code(code) => self.hole(code),
                Token::Blank => self.spaced = true,
                Token::Line => (self.spaced, self.bare) = (true, ""),
            }
        }
        self.end_list();
    }

    /// The tokens that follow, without blanks.
    fn behind(&self) -> impl Iterator<Item = &'t Token<'a>> {
        let rest = self.tokens.get(self.at..).unwrap_or_default();
        rest.iter()
            .filter(|token| !matches!(token, Token::Blank | Token::Line))
    }

    fn way(&self) -> Way<'a> {
        Way {
            rules: self.rules,
            names: self.names,
        }
    }

    fn name(&mut self, name: &'a str) {
        if !self.list.is_empty() {
            self.end_list();
        }
        if has(self.names.homes, name) && self.is_removed(self.bare) {
            self.found.add(Does::Removes("~".to_owned()));
        }
        let owner = std::mem::take(&mut self.owner);
        let again = !owner.is_empty() && has(self.names.again, name);
        (self.last, self.spaced) = (if again { owner } else { name }, false);
        // A prefix of a text is no word of its own.
        self.joined &= matches!(self.tokens.get(self.at), Some(Token::Text(_)));
    }

    fn mark(&mut self, mark: char) {
        let mut last = "";
        let owner = std::mem::take(&mut self.owner);
        match mark {
            '(' | '[' | '{' => self.open(mark, owner),
            ')' | ']' | '}' => {
                self.inside.pop();
                last = self.called().unwrap_or_default();
            }
            '.' => self.owner = self.names.known(self.last).unwrap_or_default(),
            _ => {}
        }
        self.joined = matches!(mark, '+' | '-' | '*' | '/' | '%' | '&' | '|' | '.');
        if !matches!(mark, ',' | '[') {
            self.end_list();
        }
        if !matches!(mark, ',' | '[' | ']' | '.' | ':') {
            self.bare = "";
        }
        (self.last, self.spaced) = (last, self.spaced && last.is_empty());
    }

    fn open(&mut self, mark: char, owner: &'a str) {
        if mark == '[' && self.spaced && !self.last.is_empty() {
            self.bare = self.last;
        }
        let known = self.names.known(self.last).is_some();
        let name = match mark {
            '(' if self.last.is_empty() => owner,
            '(' if !self.spaced || known => self.last,
            _ => "",
        };
        let outer = self.inside.last().copied().unwrap_or_default();
        let open = self.inside.len() + 1;
        let removed_by = if has(self.names.removes, name) {
            Some(open)
        } else if name.is_empty() || has(self.names.same, name) {
            outer.removed_by
        } else {
            None
        };
        self.inside.push(Bracket {
            removed_by,
            is_run: outer.is_run || has(self.names.runs, name),
            is_code: outer.is_code || has(self.names.evaluates, name),
        });
    }

    /// A known function that stood last in brackets which are called now: `require("rimraf")(…)`.
    fn called(&self) -> Option<&'a str> {
        let calls = matches!(self.behind().next(), Some(Token::Mark('(' | '.' | '[')));
        let before = self.at.checked_sub(2).and_then(|at| self.tokens.get(at))?;
        let name = match before {
            Token::Name(name) => *name,
            Token::Text(text) => text.said.as_str(),
            Token::Mark(_) | Token::Code(_) | Token::Blank | Token::Line => return None,
        };
        self.names.known(name).filter(|_| calls)
    }

    fn end_list(&mut self) {
        let list = std::mem::take(&mut self.list);
        if list.len() > 1 {
            self.found.add(Does::Starts(list));
        }
    }

    /// A quoted text, and what is done with it.
    fn text(&mut self, read: &Text) {
        let text = &read.said;
        // A name right before it is a prefix of the text, one behind a blank a function.
        if self.spaced && !self.last.is_empty() {
            self.bare = self.last;
        }
        (self.last, self.spaced, self.owner) = ("", false, "");
        let called = self.bare;
        let home = has(self.names.homes, text);
        if !std::mem::take(&mut self.joined) && self.is_removed(called) {
            let path = if home { "~" } else { text.as_str() };
            self.found.add(Does::Removes(path.to_owned()));
        }
        let outer = self.inside.last().copied().unwrap_or_default();
        if read.runs || outer.is_run || has(self.names.runs, called) {
            self.found.add(Does::Runs(text.clone()));
            self.list.push(text.clone());
        }
        if outer.is_code || has(self.names.evaluates, called) {
            self.code(text);
        }
        if read.holes {
            self.hole(text);
        }
    }

    fn code(&mut self, code: &str) {
        if self.depth < DEPTH_MAX {
            self.found.read(code, self.way(), self.depth + 1);
        }
    }

    /// Code somewhere in a text.
    fn hole(&mut self, text: &str) {
        if self.depth < DEPTH_MAX {
            self.found.look_around(text, self.way(), self.depth + 1);
        }
    }

    /// Whether what was just read is the path that a function removes: alone, and handed to it
    /// directly or through functions that leave a path what it is.
    fn is_removed(&self, called: &str) -> bool {
        if has(self.names.removes, called) {
            return !matches!(self.behind().next(), Some(Token::Mark('+' | '.' | '/')));
        }
        let by = self.inside.last().and_then(|bracket| bracket.removed_by);
        self.ends_alone(by)
    }

    /// Follows the brackets behind a path. It is removed if the function at `depth` gets nothing
    /// joined to it, or if one that removes is called on it.
    fn ends_alone(&self, depth: Option<usize>) -> bool {
        let mut open = self.inside.len();
        let mut behind = self.behind().peekable();
        for _ in 0..BEHIND_MAX {
            match behind.next() {
                Some(Token::Mark('(' | '[' | '{')) => open += 1,
                Some(Token::Mark(')' | ']' | '}')) => {
                    if depth == Some(open) {
                        return true;
                    }
                    open = open.saturating_sub(1);
                }
                Some(Token::Mark(',')) => return depth == Some(open),
                Some(Token::Mark('.')) => match behind.next() {
                    Some(Token::Name(name)) if has(self.names.removes, name) => return true,
                    Some(Token::Name(name)) if has(self.names.same, name) => {}
                    _ => return false,
                },
                Some(Token::Text(text)) if text.said.is_empty() => {}
                None => return depth.is_some(),
                Some(_) => return false,
            }
        }
        depth.is_some()
    }
}

#[cfg(test)]
mod tests;
