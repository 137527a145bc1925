//! Arithmetic, which in a shell runs commands when a variable holds the wrong text.

use super::{State, Walker};
use crate::shell::arg::Value;
use crate::shell::ast::{Piece, Word};
use crate::shell::knowledge::listed;

impl Walker<'_> {
    /// Checks an expression: every variable in it must hold a number for certain.
    pub(super) fn arithmetic(&mut self, pieces: &[Piece], state: &mut State) {
        let mut text = String::new();
        for piece in pieces {
            match piece {
                Piece::Text(part) | Piece::Quoted(part) => text.push_str(part),
                Piece::Param { .. }
                | Piece::Command { .. }
                | Piece::Arithmetic { .. }
                | Piece::Process(_) => {
                    let (value, _) = self.value(piece, state);
                    if !value.is_number() {
                        self.doubt_arithmetic();
                    }
                    text.push('1');
                }
            }
        }
        self.expression(&text, state);
    }

    /// Checks the text of an expression.
    pub(in crate::shell) fn expression(&mut self, text: &str, state: &mut State) {
        let odd = |c: char| !(c.is_ascii_alphanumeric() || " \t\n_+-*/%<>=!&|^~?:,()#".contains(c));
        if text.contains(odd) {
            return self.doubt_arithmetic();
        }
        let mut rest = text;
        while let Some(start) = rest.find(|c: char| c.is_ascii_alphanumeric() || c == '_') {
            let tail = rest.get(start..).unwrap_or_default();
            let end = tail
                .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '#'))
                .unwrap_or(tail.len());
            let word = tail.get(..end).unwrap_or_default();
            rest = tail.get(end..).unwrap_or_default();
            if word.starts_with(|c: char| c.is_ascii_digit()) {
                continue;
            }
            self.operand(word, rest, state);
        }
    }

    fn operand(&mut self, name: &str, after: &str, state: &mut State) {
        let lists = self.context.knowledge.lists();
        let after = after.trim_start();
        let assigned = after.starts_with('=') && !after.starts_with("==");
        if assigned && listed(&lists.influential, name) {
            return self.doubt_arithmetic();
        }
        let number = lists.numbers.iter().any(|known| known == name) && !state.knows(name)
            || state.get(name).is_number();
        if !assigned && !number {
            return self.doubt_arithmetic();
        }
        let changed = assigned || after.starts_with("++") || after.starts_with("--") || {
            let mut characters = after.chars();
            characters.next().is_some_and(|c| "+-*/%&|^<>".contains(c))
                && (after.contains("+=") || after.contains("-=") || after.contains("*="))
        };
        if changed {
            self.log.push((name.to_owned(), true));
        }
        if changed || state.knows(name) {
            state.set(name.to_owned(), Value::Number);
        }
    }

    fn doubt_arithmetic(&mut self) {
        let reason = "arithmetic over text that is not certain to be a number";
        self.troubles.push(reason.to_owned());
    }

    /// The subscript of an array: a number, `@` or `*`.
    pub(super) fn subscript(&mut self, name: &str, pieces: &[Piece], state: &mut State) {
        if let [Piece::Text(text)] = pieces
            && matches!(text.as_str(), "@" | "*")
        {
            return;
        }
        if state.maps.contains(name) && self.is_key(pieces, state) {
            return;
        }
        self.arithmetic(pieces, state);
    }

    /// Whether a subscript is a plain key, which an array with names for its elements takes as it
    /// stands.
    fn is_key(&mut self, pieces: &[Piece], state: &mut State) -> bool {
        let plain = |text: &str| {
            let known = |b: u8| b.is_ascii_alphanumeric() || b"_-./:+".contains(&b);
            !text.is_empty() && text.bytes().all(known)
        };
        pieces.iter().all(|piece| match piece {
            Piece::Text(text) | Piece::Quoted(text) => plain(text),
            Piece::Param { .. } => {
                matches!(self.value(piece, state).0, Value::Known(text) if plain(&text))
            }
            Piece::Command { .. } | Piece::Arithmetic { .. } | Piece::Process(_) => false,
        })
    }

    /// `[[ … ]]`: comparisons of numbers evaluate their sides, `-v` evaluates a subscript.
    pub(super) fn test(&mut self, words: &[Word], state: &mut State) {
        const NUMERIC: [&str; 6] = ["-eq", "-ne", "-lt", "-le", "-gt", "-ge"];
        let mut args = Vec::new();
        for word in words {
            args.push(self.single(word, state));
        }
        for (index, arg) in args.iter().enumerate() {
            let Some(operator) = arg.exact.as_deref() else {
                continue;
            };
            if NUMERIC.contains(&operator) {
                let sides = [index.checked_sub(1), index.checked_add(1)];
                for side in sides
                    .into_iter()
                    .flatten()
                    .filter_map(|side| args.get(side))
                {
                    match side.text() {
                        Some(text) => self.expression(text, state),
                        None => self.doubt_arithmetic(),
                    }
                }
            }
            if matches!(operator, "-v" | "-R") {
                let name = args.get(index + 1).and_then(|arg| arg.exact.as_deref());
                if !name.is_some_and(|name| {
                    name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
                }) {
                    self.troubles
                        .push("a test of a variable whose name is not plain".to_owned());
                }
            }
        }
    }
}
