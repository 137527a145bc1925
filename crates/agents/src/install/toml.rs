//! The keys of a TOML text, and whether tables can be added to its end: it has to be whole, and
//! must not say already what they say.

use super::jsonc::TextError;

/// One key of a text.
pub(crate) struct Entry {
    /// The table that it stands in, as it is written.
    table: String,
    /// The key, as it is written.
    name: String,
    /// The value, as it is written.
    pub(crate) value: String,
}

impl Entry {
    /// The whole way to it.
    pub(crate) fn way(&self) -> String {
        let whole = format!("{}.{}", self.table, self.name);
        let plain = whole
            .chars()
            .filter(|letter| !" \t\"'".contains(*letter))
            .collect::<String>();
        plain.trim_start_matches('.').to_owned()
    }
}

/// Every key of a text that is whole.
pub(crate) fn entries(text: &str) -> Result<Vec<Entry>, TextError> {
    let mut entries = Vec::new();
    let mut table = String::new();
    let mut lines = text.lines().enumerate();
    while let Some((at, line)) = lines.next() {
        let wrong = |what| TextError::Syntax { line: at + 1, what };
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if line.starts_with('[') {
            header(line)
                .ok_or_else(|| wrong("a table's name does not end"))?
                .clone_into(&mut table);
            continue;
        }
        let Some((name, first)) = line.split_once('=') else {
            return Err(wrong("neither a table nor a key with a value"));
        };
        let mut value = first.to_owned();
        let mut open = Open::default();
        open.read(first).map_err(|broken| wrong(broken.0))?;
        while open.goes_on() {
            let Some((at, line)) = lines.next() else {
                return Err(wrong("a value does not end"));
            };
            open.read(line)
                .map_err(|Broken(what)| TextError::Syntax { line: at + 1, what })?;
            value.push('\n');
            value.push_str(line);
        }
        if !open.seen {
            return Err(wrong("a key has no value"));
        }
        entries.push(Entry {
            table: table.clone(),
            name: name.trim().to_owned(),
            value,
        });
    }
    Ok(entries)
}

/// The name in a table's line.
fn header(line: &str) -> Option<&str> {
    let name = line.split('#').next().unwrap_or_default().trim();
    let inner = name
        .strip_prefix("[[")
        .and_then(|rest| rest.strip_suffix("]]"));
    let inner = inner.or_else(|| name.strip_prefix('[')?.strip_suffix(']'));
    inner.map(str::trim).filter(|inner| !inner.is_empty())
}

/// How often a key stands in tables that are written as one value. Texts are looked into as well:
/// one too many is better than one too few.
pub(crate) fn inner(value: &str, key: &str) -> usize {
    let is_key = |piece: &&str| {
        let name = piece.split_once('=').map(|pair| pair.0.trim());
        name.is_some_and(|name| name.trim_matches(['"', '\'']) == key)
    };
    value
        .split(['{', '}', '[', ']', ',', '\n'])
        .filter(is_key)
        .count()
}

/// Refuses a text that is not whole, or that gives `key` a value which tables can't be added to.
pub(crate) fn is_free(text: &str, key: &str) -> Result<(), TextError> {
    let holds = |entry: &Entry| {
        let name = entry.name.trim_matches(['"', '\'']);
        let first = name.split('.').next().unwrap_or_default().trim();
        let at_top = entry.table.is_empty();
        let top = if at_top { first } else { entry.table.as_str() };
        // A table's own keys leave room for further tables; a value in their place does not.
        top == key && (at_top || !entry.value.trim_start().starts_with('"'))
    };
    if entries(text)?.iter().any(holds) {
        return Err(TextError::Shape {
            key: key.to_owned(),
        });
    }
    Ok(())
}

/// Whether a text has a table, or a value in its place.
pub(crate) fn names(text: &str, table: &str) -> bool {
    let mut top = true;
    text.lines().map(str::trim).any(|line| {
        let name = line.strip_prefix('[').map(|rest| {
            top = false;
            rest.trim_start_matches('[')
        });
        let name = name.or_else(|| line.split_once('=').filter(|_| top).map(|pair| pair.0));
        let first = name.and_then(|name| name.split(['.', ']']).next());
        first.is_some_and(|first| first.trim().trim_matches(['"', '\'']) == table)
    })
}

/// What is wrong with a value.
struct Broken(&'static str);

/// What of a value is still open at the end of a line.
#[derive(Default)]
struct Open {
    depth: usize,
    quotes: Option<&'static str>,
    seen: bool,
}

const LONG: [&str; 2] = ["\"\"\"", "'''"];
const SHORT: [&str; 2] = ["\"", "'"];

impl Open {
    const fn goes_on(&self) -> bool {
        self.depth > 0 || self.quotes.is_some()
    }

    fn read(&mut self, line: &str) -> Result<(), Broken> {
        let mut rest = line;
        while let Some(letter) = rest.chars().next() {
            if let Some(quotes) = self.quotes {
                if quotes.starts_with('"') && letter == '\\' {
                    rest = rest.get(1..).unwrap_or_default();
                    rest = skip(rest);
                } else if let Some(after) = rest.strip_prefix(quotes) {
                    self.quotes = None;
                    rest = after;
                } else {
                    rest = skip(rest);
                }
                continue;
            }
            let quotes = LONG
                .iter()
                .chain(&SHORT)
                .find(|one| rest.starts_with(**one));
            if let Some(quotes) = quotes {
                self.quotes = Some(quotes);
                self.seen = true;
                rest = rest.strip_prefix(quotes).unwrap_or_default();
                continue;
            }
            match letter {
                '#' => break,
                '[' | '{' => self.depth += 1,
                ']' | '}' => {
                    self.depth = self
                        .depth
                        .checked_sub(1)
                        .ok_or(Broken("a bracket is not open"))?;
                }
                _ => {}
            }
            self.seen |= !letter.is_whitespace();
            rest = skip(rest);
        }
        match self.quotes {
            Some(quotes) if quotes.len() == 1 => Err(Broken("a text does not end")),
            Some(_) | None => Ok(()),
        }
    }
}

/// The text after its first letter.
fn skip(text: &str) -> &str {
    let mut letters = text.chars();
    letters.next();
    letters.as_str()
}
