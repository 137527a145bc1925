//! awk programs: whether they run commands, or print into files.

use super::{Scripted, is_sink};

/// Reads a program.
pub(in crate::shell) fn read(text: &str) -> Scripted {
    let tokens = match tokens(text) {
        Ok(tokens) => tokens,
        Err(Open(what)) => return Scripted::Unknown(what),
    };
    let mut depth = 0_usize;
    let mut printing: Option<usize> = None;
    let mut commands = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        let before = tokens.get(..index).unwrap_or_default();
        let behind = tokens.get(index + 1..).unwrap_or_default();
        match token {
            Token::Word("print" | "printf") => printing = Some(depth),
            Token::Word("system") => return Scripted::Runs,
            Token::Sign('|') => match command(before, behind) {
                Some(command) => commands.push(command),
                None => return Scripted::Runs,
            },
            Token::Sign('@') => return Scripted::Unknown("it loads or calls what is not shown"),
            Token::Sign('(') => depth += 1,
            Token::Sign(')') => depth = depth.saturating_sub(1),
            // A statement goes on behind a comma or an operator at the end of a line.
            Token::Sign('\n') if matches!(before.last(), Some(Token::Sign(',' | '='))) => {}
            Token::Sign(';' | '\n' | '{' | '}') => printing = None,
            Token::Sign('>') if printing == Some(depth) => {
                if let Err(found) = target(behind) {
                    return found;
                }
            }
            Token::Word("getline") => {
                if !plain_input(behind) {
                    return Scripted::Unknown("it reads a file that is known only when it runs");
                }
            }
            Token::Word(_) | Token::Text(_) | Token::Pattern | Token::Number | Token::Sign(_) => {}
        }
    }
    if commands.is_empty() {
        Scripted::Harmless
    } else {
        Scripted::Commands(commands)
    }
}

/// The command of a pipe, where it is one string and nothing is joined to it.
fn command(before: &[Token<'_>], behind: &[Token<'_>]) -> Option<String> {
    let plain = |text: &str| (!text.contains('\\')).then(|| text.to_owned());
    match (behind.first(), behind.get(1)) {
        (Some(Token::Text(text)), None | Some(Token::Sign(';' | '\n' | '}'))) => plain(text),
        (Some(Token::Word("getline")), _) => match before {
            [Token::Text(text)]
            | [
                ..,
                Token::Sign('(' | '{' | ';' | '\n' | '='),
                Token::Text(text),
            ] => plain(text),
            _ => None,
        },
        _ => None,
    }
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Token<'a> {
    Word(&'a str),
    Text(&'a str),
    Number,
    Pattern,
    /// One character; `>` stands for `>>` too, and `=` for every comparison and `||`, `&&`.
    Sign(char),
}

/// Where output goes: only to a stream, and nothing may follow that makes it another name.
fn target(rest: &[Token<'_>]) -> Result<(), Scripted> {
    let (Some(Token::Text(path)), ended) = (
        rest.first().copied(),
        matches!(rest.get(1), None | Some(Token::Sign(';' | '\n' | '}'))),
    ) else {
        return Err(Scripted::Unknown(
            "it prints into a file that is known only when it runs",
        ));
    };
    if !ended {
        Err(Scripted::Unknown(
            "it prints into a file that is known only when it runs",
        ))
    } else if is_sink(path) {
        Ok(())
    } else {
        Err(Scripted::Writes(path.to_owned()))
    }
}

/// `getline`, `getline name`, and either of them from a file that is named.
fn plain_input(rest: &[Token<'_>]) -> bool {
    let rest = match rest.first() {
        Some(Token::Word(_)) => rest.get(1..).unwrap_or_default(),
        Some(Token::Text(_) | Token::Number | Token::Pattern | Token::Sign(_)) | None => rest,
    };
    match (rest.first(), rest.get(1)) {
        (Some(Token::Sign('<')), Some(Token::Text(path))) => !path.starts_with("/inet"),
        (Some(Token::Sign('<')), _) => false,
        _ => true,
    }
}

/// What of a program is not closed.
struct Open(&'static str);

fn tokens(text: &str) -> Result<Vec<Token<'_>>, Open> {
    let mut found: Vec<Token<'_>> = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '#' => rest.find('\n').unwrap_or(rest.len()),
            ' ' | '\t' | '\r' => 1,
            '\\' if rest.starts_with("\\\n") => 2,
            '"' => {
                let length = quoted(rest, '"').ok_or(Open("a string that is not closed"))?;
                let inner = rest.get(1..length - 1).unwrap_or_default();
                found.push(Token::Text(inner));
                length
            }
            '/' if pattern_may_start(found.last()) => {
                let length = quoted(rest, '/').ok_or(Open("a pattern that is not closed"))?;
                found.push(Token::Pattern);
                length
            }
            c if c.is_ascii_alphabetic() || c == '_' => {
                let length = run(rest, |c| c.is_ascii_alphanumeric() || c == '_');
                found.push(Token::Word(rest.get(..length).unwrap_or_default()));
                length
            }
            c if c.is_ascii_digit() => {
                found.push(Token::Number);
                run(rest, |c| c.is_ascii_alphanumeric() || c == '.')
            }
            c => sign(rest, c, &mut found),
        };
        rest = rest.get(length..).unwrap_or_default();
    }
    Ok(found)
}

fn sign(rest: &str, first: char, found: &mut Vec<Token<'_>>) -> usize {
    for operator in ["||", "&&", ">=", "<=", "==", "!="] {
        if rest.starts_with(operator) {
            found.push(Token::Sign('='));
            return operator.len();
        }
    }
    found.push(Token::Sign(first));
    if rest.starts_with(">>") {
        return 2;
    }
    first.len_utf8()
}

fn run(text: &str, wanted: impl Fn(char) -> bool) -> usize {
    text.find(|c| !wanted(c)).unwrap_or(text.len())
}

/// The length of a quoted stretch, its marks included.
fn quoted(text: &str, mark: char) -> Option<usize> {
    let mut characters = text.char_indices().skip(1);
    while let Some((at, character)) = characters.next() {
        if character == '\\' {
            characters.next();
        } else if character == mark {
            return Some(at + mark.len_utf8());
        } else if character == '\n' {
            return None;
        }
    }
    None
}

/// Whether a slash here opens a pattern. In doubt it divides, so that what follows is read as code.
fn pattern_may_start(before: Option<&Token<'_>>) -> bool {
    match before {
        None => true,
        Some(Token::Sign(sign)) => "({;,!~=&|\n}?:".contains(*sign),
        Some(Token::Word(word)) => matches!(*word, "print" | "return" | "case" | "in"),
        Some(Token::Text(_) | Token::Number | Token::Pattern) => false,
    }
}
