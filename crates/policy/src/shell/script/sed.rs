//! sed scripts: which of their commands write, run or read files.

use super::{Scripted, is_sink};

/// Reads a script.
pub(in crate::shell) fn read(text: &str) -> Scripted {
    let mut reader = Reader {
        rest: text,
        files: Vec::new(),
    };
    match reader.script() {
        Ok(()) if reader.files.is_empty() => Scripted::Harmless,
        Ok(()) => Scripted::Reads(reader.files),
        Err(found) => found,
    }
}

type Step = Result<(), Scripted>;

struct Reader<'a> {
    rest: &'a str,
    files: Vec<String>,
}

fn odd(what: &'static str) -> Scripted {
    Scripted::Unknown(what)
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn take(&mut self) -> Option<char> {
        let mut characters = self.rest.chars();
        let character = characters.next();
        self.rest = characters.as_str();
        character
    }

    fn skip(&mut self, wanted: impl Fn(char) -> bool) {
        self.rest = self.rest.trim_start_matches(wanted);
    }

    fn line(&mut self) -> String {
        let length = self.rest.find('\n').unwrap_or(self.rest.len());
        let line = self
            .rest
            .get(..length)
            .unwrap_or_default()
            .trim()
            .to_owned();
        self.rest = self.rest.get(length..).unwrap_or_default();
        line
    }

    fn script(&mut self) -> Step {
        loop {
            self.skip(|c| c.is_ascii_whitespace() || c == ';' || c == '}');
            match self.peek() {
                None => return Ok(()),
                Some('#') => {
                    self.line();
                }
                Some(_) => {
                    self.addresses()?;
                    self.command()?;
                }
            }
        }
    }

    fn addresses(&mut self) -> Step {
        self.address()?;
        self.skip(|c| c == ' ' || c == '\t');
        if self.peek() == Some(',') {
            self.take();
            self.skip(|c| c == ' ' || c == '\t');
            if matches!(self.peek(), Some('+' | '~')) {
                self.take();
            }
            self.address()?;
        }
        self.skip(|c| c == ' ' || c == '\t' || c == '!');
        Ok(())
    }

    fn address(&mut self) -> Step {
        match self.peek() {
            Some('$') => {
                self.take();
            }
            Some(c) if c.is_ascii_digit() => self.skip(|c| c.is_ascii_digit() || c == '~'),
            Some('/') => {
                self.take();
                self.pattern('/')?;
                self.skip(|c| c == 'I' || c == 'M');
            }
            Some('\\') => {
                self.take();
                let delimiter = self.take().ok_or(odd("an address without its end"))?;
                self.pattern(delimiter)?;
                self.skip(|c| c == 'I' || c == 'M');
            }
            Some(_) | None => {}
        }
        Ok(())
    }

    /// Skips a pattern. Not every sed agrees on a delimiter in brackets.
    fn pattern(&mut self, delimiter: char) -> Step {
        let start = self.rest;
        self.until(delimiter)?;
        let length = start.len() - self.rest.len() - delimiter.len_utf8();
        let pattern = start.get(..length).unwrap_or_default().replace("\\[", "");
        let opened = pattern
            .rfind('[')
            .filter(|at| !pattern.get(*at..).unwrap_or_default().contains(']'));
        if opened.is_some() {
            return Err(odd("a delimiter in brackets"));
        }
        Ok(())
    }

    /// Skips to a delimiter that is not escaped.
    fn until(&mut self, delimiter: char) -> Step {
        if matches!(delimiter, '\n' | '\\') {
            return Err(odd("an odd delimiter"));
        }
        loop {
            match self.take() {
                None => return Err(odd("a pattern without its end")),
                Some('\\') => {
                    self.take();
                }
                Some(c) if c == delimiter => return Ok(()),
                Some(_) => {}
            }
        }
    }

    fn command(&mut self) -> Step {
        match self.take() {
            None => Err(odd("an address without a command")),
            Some('{') => Ok(()),
            Some(
                '=' | 'd' | 'D' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x' | 'z' | 'F',
            ) => self.end(),
            Some('q' | 'Q' | 'l' | 'L') => {
                self.skip(|c| c == ' ' || c.is_ascii_digit());
                self.end()
            }
            Some('a' | 'i' | 'c') => {
                self.text();
                Ok(())
            }
            Some(':' | 'b' | 't' | 'T') => {
                self.skip(|c| c == ' ');
                self.skip(|c| c.is_ascii_alphanumeric() || c == '_');
                self.end()
            }
            Some('r' | 'R') => {
                let file = self.line();
                self.files.push(file);
                Ok(())
            }
            Some('w' | 'W') => self.write(),
            Some('e') => Err(Scripted::Runs),
            Some('s') => self.substitute(),
            Some('y') => {
                let delimiter = self.take().ok_or(odd("a command without its end"))?;
                self.until(delimiter)?;
                self.until(delimiter)?;
                self.end()
            }
            Some(_) => Err(odd("a sed command that is not known")),
        }
    }

    fn end(&mut self) -> Step {
        self.skip(|c| c == ' ' || c == '\t');
        match self.peek() {
            None | Some(';' | '\n' | '}' | '#') => Ok(()),
            Some(_) => Err(odd("something behind a sed command")),
        }
    }

    /// The text of `a`, `i` and `c`: to the end of the line, and on where that is escaped.
    fn text(&mut self) {
        loop {
            match self.take() {
                None | Some('\n') => return,
                Some('\\') => {
                    self.take();
                }
                Some(_) => {}
            }
        }
    }

    fn write(&mut self) -> Step {
        let file = self.line();
        if is_sink(&file) {
            Ok(())
        } else {
            Err(Scripted::Writes(file))
        }
    }

    fn substitute(&mut self) -> Step {
        let delimiter = self.take().ok_or(odd("a command without its end"))?;
        self.pattern(delimiter)?;
        self.until(delimiter)?;
        loop {
            match self.peek() {
                Some('g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9') => {
                    self.take();
                }
                Some('e') => return Err(Scripted::Runs),
                Some('w') => {
                    self.take();
                    return self.write();
                }
                Some(_) | None => return self.end(),
            }
        }
    }
}
