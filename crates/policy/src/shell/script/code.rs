//! Code in a language that is not known: what its texts say that it removes or has a shell run.
//!
//! No language is parsed. Names, brackets and quoted texts look alike in all of them, and a text
//! that is handed to a function by its name tells what is meant. What code puts together while it
//! runs is not seen.

/// More findings than these are not looked at: what comes then is taken for the worst.
const FOUND_MAX: usize = 64;

/// Brackets around a text that are looked at, and characters behind it.
const AROUND_MAX: usize = 32;
const BEHIND_MAX: usize = 64;

/// Names of functions and values, from the data.
#[derive(Clone, Copy, Debug)]
pub(in crate::shell) struct Names<'a> {
    /// Functions that remove whole trees.
    pub(in crate::shell) removes: &'a [String],
    /// Functions that give back the path that they are given.
    pub(in crate::shell) same: &'a [String],
    /// Functions that start a program or a shell.
    pub(in crate::shell) runs: &'a [String],
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
pub(in crate::shell) fn read(code: &str, names: Names<'_>) -> Vec<Does> {
    let mut reader = Reader {
        rest: code,
        names,
        inside: Vec::new(),
        last: "",
        spaced: false,
        bare: "",
        joined: false,
        list: Vec::new(),
        found: Vec::new(),
    };
    reader.run();
    reader.found
}

struct Reader<'a> {
    rest: &'a str,
    names: Names<'a>,
    /// The name before each open bracket, or nothing.
    inside: Vec<&'a str>,
    /// The name that was read last, if nothing but blanks came since.
    last: &'a str,
    /// Whether blanks came since.
    spaced: bool,
    /// The function that is called without brackets, until its arguments end.
    bare: &'a str,
    /// Whether what comes next is joined to something before it.
    joined: bool,
    /// Texts in a row.
    list: Vec<String>,
    found: Vec<Does>,
}

fn has(list: &[String], name: &str) -> bool {
    list.iter().any(|known| known == name)
}

fn in_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

impl<'a> Reader<'a> {
    fn run(&mut self) {
        while let Some(first) = self.rest.chars().next() {
            if self.found.len() >= FOUND_MAX {
                self.found.push(Does::Removes("/".to_owned()));
                return;
            }
            if in_name(first) {
                let name = self.cut(self.rest.find(|c| !in_name(c)));
                if !self.list.is_empty() {
                    self.end_list();
                }
                if has(self.names.homes, name) && self.is_removed(self.bare) {
                    self.found.push(Does::Removes("~".to_owned()));
                }
                (self.last, self.spaced) = (name, false);
                // A prefix of a text is no word of its own.
                self.joined &= self.rest.starts_with(['\'', '"']);
                continue;
            }
            match first {
                '\'' | '"' | '`' => self.text(first),
                '#' if self.last.is_empty() => {
                    self.cut(self.rest.find('\n'));
                }
                _ => {
                    self.cut(Some(first.len_utf8()));
                    self.mark(first);
                }
            }
        }
        self.end_list();
    }

    /// Takes the start of what is left.
    fn cut(&mut self, at: Option<usize>) -> &'a str {
        let at = at.unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at_checked(at).unwrap_or((self.rest, ""));
        self.rest = rest;
        taken
    }

    fn mark(&mut self, mark: char) {
        match mark {
            '\n' => {
                (self.spaced, self.bare) = (true, "");
                return;
            }
            ' ' | '\t' | '\r' => {
                self.spaced = true;
                return;
            }
            '(' | '[' | '{' => {
                if mark == '[' && self.spaced && !self.last.is_empty() {
                    self.bare = self.last;
                }
                let name = if mark == '(' && !self.spaced {
                    self.last
                } else {
                    ""
                };
                self.inside.push(name);
            }
            ')' | ']' | '}' => {
                self.inside.pop();
            }
            _ => {}
        }
        self.joined = matches!(mark, '+' | '-' | '*' | '/' | '%' | '&' | '|' | '.');
        if !matches!(mark, ',' | '[') {
            self.end_list();
        }
        if !matches!(mark, ',' | '[' | ']' | '.' | ':') {
            self.bare = "";
        }
        self.last = "";
    }

    fn end_list(&mut self) {
        let list = std::mem::take(&mut self.list);
        if list.len() > 1 {
            self.found.push(Does::Starts(list));
        }
    }

    /// A quoted text, and what is done with it.
    fn text(&mut self, quote: char) {
        let text = self.quoted(quote);
        // A name right before it is a prefix of the text, one behind a blank a function.
        if self.spaced && !self.last.is_empty() {
            self.bare = self.last;
        }
        (self.last, self.spaced) = ("", false);
        let called = self.bare;
        let home = has(self.names.homes, &text);
        if !std::mem::take(&mut self.joined) && self.is_removed(called) {
            let path = if home { "~".to_owned() } else { text.clone() };
            self.found.push(Does::Removes(path));
        }
        let around = self.inside.iter().rev().take(AROUND_MAX);
        let mut around = around.chain([&called]);
        if quote == '`' || around.any(|name| has(self.names.runs, name)) {
            self.found.push(Does::Runs(text.clone()));
            self.list.push(text);
        }
    }

    /// The text between two quotes, which are taken with it.
    fn quoted(&mut self, quote: char) -> String {
        let mut long = [0; 4];
        let long = quote.encode_utf8(&mut long).repeat(3);
        let end = if self.rest.starts_with(&long) {
            long
        } else {
            quote.to_string()
        };
        self.cut(Some(end.len()));
        let mut text = String::new();
        while let Some(first) = self.rest.chars().next() {
            if self.rest.starts_with(&end) {
                self.cut(Some(end.len()));
                break;
            }
            self.cut(Some(first.len_utf8()));
            if first != '\\' {
                text.push(first);
                continue;
            }
            let Some(second) = self.rest.chars().next() else {
                break;
            };
            self.cut(Some(second.len_utf8()));
            text.push(match second {
                'n' => '\n',
                't' => '\t',
                other => other,
            });
        }
        text
    }

    /// Whether what was just read is the path that a function removes: alone, and handed to it
    /// directly or through functions that leave a path what it is.
    fn is_removed(&self, called: &str) -> bool {
        if has(self.names.removes, called) {
            return !self.rest.trim_start().starts_with(['+', '.', '/']);
        }
        let passed = |name: &&&str| name.is_empty() || has(self.names.same, name);
        let around = self.inside.iter().rev().take(AROUND_MAX);
        let through = around.take_while(passed).count();
        let depth = self.inside.len() - through;
        let by = depth.checked_sub(1).and_then(|at| self.inside.get(at));
        let handed = by.is_some_and(|name| has(self.names.removes, name));
        self.ends_alone(self.inside.len(), handed.then_some(depth))
    }

    /// Follows the brackets behind a path. It is removed if the function at `depth` gets nothing
    /// joined to it, or if one that removes is called on it.
    fn ends_alone(&self, from: usize, depth: Option<usize>) -> bool {
        let mut open = from;
        let mut rest = self.rest;
        for _ in 0..BEHIND_MAX {
            let Some(first) = rest.chars().next() else {
                return false;
            };
            rest = rest.get(first.len_utf8()..).unwrap_or_default();
            match first {
                '(' | '[' | '{' => open += 1,
                ')' | ']' | '}' => {
                    if depth == Some(open) {
                        return true;
                    }
                    open = open.saturating_sub(1);
                }
                ',' => return depth == Some(open),
                '.' => {
                    let end = rest.find(|c| !in_name(c)).unwrap_or(rest.len());
                    let (name, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
                    if has(self.names.removes, name) {
                        return true;
                    }
                    if !has(self.names.same, name) {
                        return false;
                    }
                    rest = after;
                }
                ' ' | '\n' | '\t' | '"' | '\'' => {}
                _ => return false,
            }
        }
        false
    }
}

#[cfg(test)]
mod tests;
