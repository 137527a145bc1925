//! What a command gets on its standard input, where the data says what the one before it prints.

use super::{State, Walker};
use crate::shell::ast::{Command, Kind, Piece, Redirect, Word};

/// What is known of a command's standard input.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(in crate::shell) enum Input {
    /// This text.
    Text(String),
    /// Words of letters and digits.
    Hashes,
    /// Names that all start so, each ended by a NUL.
    Under(String),
}

impl Walker<'_> {
    /// What the last of some commands in a pipe hands on.
    pub(super) fn printed_into(&self, before: &[Command]) -> Option<Input> {
        let lists = self.context.knowledge.lists();
        if let Some((last, earlier)) = before.split_last()
            && let Some(words) = plain_words(last)
            && lists.passes_names.iter().any(|known| fits(known, &words))
        {
            return self
                .printed_into(earlier)
                .filter(|input| matches!(input, Input::Under(_)));
        }
        let last = self.before_passers(before).last()?;
        if self.prints_hashes(last) {
            return Some(Input::Hashes);
        }
        let direct = before
            .last()
            .is_some_and(|command| std::ptr::eq(command, last));
        if !direct {
            return None;
        }
        let Kind::Simple { words, .. } = &last.kind else {
            return None;
        };
        if let Some(head) = self.searched(words) {
            return Some(Input::Under(head));
        }
        let words = plain_words(last)?;
        let (program, rest) = words.split_first()?;
        lists.prints_arguments.contains(program).then(|| {
            let said = |word: &&String| !word.starts_with(['-', '%']);
            let said: Vec<&str> = rest.iter().filter(said).map(String::as_str).collect();
            Input::Text(said.join(" "))
        })
    }

    /// The input of a command whose redirections may give it another.
    pub(super) fn redirected(
        &mut self,
        redirects: &[Redirect],
        piped: Option<Input>,
        state: &mut State,
    ) -> Option<Input> {
        let mut input = piped;
        for redirect in redirects {
            input = match redirect {
                Redirect::Write(_) => input,
                Redirect::HereString(word) => self.single(word, state).exact.map(Input::Text),
                Redirect::HereDocument(body) => {
                    let known = |piece: &Piece| match piece {
                        Piece::Text(text) | Piece::Quoted(text) => Some(text.clone()),
                        Piece::Param { .. }
                        | Piece::Command { .. }
                        | Piece::Arithmetic { .. }
                        | Piece::Process(_) => None,
                    };
                    let text: Option<String> = body.borrow().iter().map(known).collect();
                    text.map(Input::Text)
                }
                Redirect::Read { .. } | Redirect::Duplicate { .. } => None,
            };
        }
        input
    }

    /// The commands of a pipe without those at its end that print some of the lines they get.
    pub(super) fn before_passers<'c>(&self, commands: &'c [Command]) -> &'c [Command] {
        let lists = self.context.knowledge.lists();
        let mut rest = commands;
        while let Some((last, earlier)) = rest.split_last() {
            let passes = plain_words(last)
                .is_some_and(|words| lists.passes_lines.iter().any(|known| fits(known, &words)));
            if !passes {
                break;
            }
            rest = earlier;
        }
        rest
    }

    /// Whether a command prints words of letters and digits and nothing else.
    pub(super) fn prints_hashes(&self, command: &Command) -> bool {
        let lists = self.context.knowledge.lists();
        plain_words(command)
            .is_some_and(|words| lists.prints_words.iter().any(|known| fits(known, &words)))
    }

    /// How all names start that a search prints, if it ends each with a NUL and prints nothing
    /// else.
    fn searched(&self, words: &[Word]) -> Option<String> {
        let lists = self.context.knowledge.lists();
        let (program, rest) = words.split_first()?;
        if !lists.searches.contains(&text_of(program)?) {
            return None;
        }
        let texts: Vec<String> = rest.iter().map(leading_text).collect();
        let ends = texts.iter().any(|text| lists.ends_names.contains(text));
        let other = texts
            .iter()
            .any(|text| lists.prints_otherwise.iter().any(|known| known == text));
        if !ends || other {
            return None;
        }
        let is_place = |text: &&String| !text.starts_with(['-', '(', '!', ')']);
        let places: Vec<&String> = texts.iter().take_while(is_place).collect();
        let plain = |text: &&String| {
            text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '.' || c == '/')
        };
        match places.as_slice() {
            [] => Some("./".to_owned()),
            [only] if plain(only) => Some((*only).clone()),
            // The first character alone decides whether a word can be an option.
            [first, ..] if places.iter().all(plain) => first.chars().next().map(String::from),
            _ => None,
        }
    }
}

/// The words of a simple command in which nothing expands and nothing is set; its complaints go
/// where they always go.
fn plain_words(command: &Command) -> Option<Vec<String>> {
    let Kind::Simple { assigns, words } = &command.kind else {
        return None;
    };
    let moved = |redirect: &Redirect| !matches!(redirect, Redirect::Write(_));
    if !assigns.is_empty() || command.redirects.iter().any(moved) {
        return None;
    }
    words.iter().map(text_of).collect()
}

fn text_of(word: &Word) -> Option<String> {
    let mut text = String::new();
    for piece in &word.pieces {
        match piece {
            Piece::Text(part) | Piece::Quoted(part) => text.push_str(part),
            Piece::Param { .. }
            | Piece::Command { .. }
            | Piece::Arithmetic { .. }
            | Piece::Process(_) => return None,
        }
    }
    Some(text)
}

/// The text of a word before anything in it expands.
fn leading_text(word: &Word) -> String {
    let mut text = String::new();
    for piece in &word.pieces {
        match piece {
            Piece::Quoted(part) => text.push_str(part),
            Piece::Text(part) => match part.find(['*', '?', '[', '{', '~']) {
                Some(at) => {
                    text.push_str(part.get(..at).unwrap_or_default());
                    return text;
                }
                None => text.push_str(part),
            },
            Piece::Param { .. }
            | Piece::Command { .. }
            | Piece::Arithmetic { .. }
            | Piece::Process(_) => return text,
        }
    }
    text
}

/// Whether words are a command of the data. There the first words stand as they are, and then in
/// any order what may follow: an option, one with any value (`--since=*`), one with digits (`-#`),
/// plain words (`*`). What has a `!` before it must be there.
fn fits(known: &str, words: &[String]) -> bool {
    let special = |token: &&str| token.contains(['*', '#', '!']) || token.starts_with('-');
    let tokens: Vec<&str> = known.split_ascii_whitespace().collect();
    let fixed = tokens.iter().take_while(|token| !special(token)).count();
    let (Some(start), Some(rest)) = (tokens.get(..fixed), words.get(..fixed)) else {
        return false;
    };
    if !start.iter().zip(rest).all(|(token, word)| token == word) {
        return false;
    }
    let tokens = tokens.get(fixed..).unwrap_or_default();
    let given = words.get(fixed..).unwrap_or_default();
    let needed = tokens.iter().filter_map(|token| token.strip_prefix('!'));
    needed
        .into_iter()
        .all(|token| given.iter().any(|word| fits_token(token, word)))
        && given.iter().all(|word| {
            tokens
                .iter()
                .any(|token| fits_token(token.trim_start_matches('!'), word))
        })
}

fn fits_token(token: &str, word: &str) -> bool {
    if token == "*" {
        let known = |b: u8| b.is_ascii_alphanumeric() || b"/._@^~{}-:".contains(&b);
        return !word.starts_with('-') && !word.is_empty() && word.bytes().all(known);
    }
    if let Some(start) = token.strip_suffix("=*") {
        return word
            .strip_prefix(start)
            .is_some_and(|rest| rest.starts_with('='));
    }
    if let Some(start) = token.strip_suffix('#') {
        let digits = word.strip_prefix(start).unwrap_or_default();
        return !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    }
    token == word
}
