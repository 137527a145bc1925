//! Words to arguments: what each expansion can become.

use super::{State, Walker};
use crate::shell::arg::{Arg, Atom, Value, arguments, single};
use crate::shell::ast::{Kind, List, Param, ParamForm, Piece, Word};
use crate::shell::knowledge::listed;

impl Walker<'_> {
    /// The arguments that a word becomes.
    pub(in crate::shell) fn fields(&mut self, word: &Word, state: &mut State) -> Vec<Arg> {
        if let Some(elements) = written_out(word).and_then(|name| state.elements(name)) {
            return elements.iter().map(|element| Arg::of(element)).collect();
        }
        let atoms = self.atoms(&word.pieces, state);
        arguments(&atoms).unwrap_or_else(|| {
            self.troubles.push("braces that expand too far".to_owned());
            vec![Arg::anything()]
        })
    }

    /// The one argument that a word becomes where nothing is split.
    pub(super) fn single(&mut self, word: &Word, state: &mut State) -> Arg {
        let atoms = self.atoms(&word.pieces, state);
        single(&atoms)
    }

    fn atoms(&mut self, pieces: &[Piece], state: &mut State) -> Vec<Atom> {
        let mut atoms = Vec::new();
        for piece in pieces {
            match piece {
                Piece::Text(text) => atoms.extend(text.chars().map(Atom::Char)),
                Piece::Quoted(text) => atoms.push(Atom::Literal(text.clone())),
                Piece::Param { .. }
                | Piece::Command { .. }
                | Piece::Arithmetic { .. }
                | Piece::Process(_) => {
                    let (mut value, single) = self.value(piece, state);
                    let whole = matches!(value, Value::Known(_))
                        || self.splitting
                            && matches!(
                                value,
                                Value::Number | Value::Numbers | Value::Word | Value::Words
                            );
                    if !single && state.odd_splitting && whole {
                        value = Value::Unknown;
                    }
                    atoms.push(Atom::Value { value, single });
                }
            }
        }
        atoms
    }

    /// What an expansion becomes, and whether it stays one word.
    pub(super) fn value(&mut self, piece: &Piece, state: &mut State) -> (Value, bool) {
        match piece {
            Piece::Text(text) | Piece::Quoted(text) => (Value::Known(text.clone()), true),
            Piece::Param { param, quoted } => {
                let value = self.param(param, state);
                let all = |text: &str| matches!(text, "@" | "*");
                let array = param
                    .subscript
                    .as_deref()
                    .is_some_and(|pieces| matches!(pieces, [Piece::Text(text)] if all(text)));
                let listing = param.form == ParamForm::Names || array || all(&param.name);
                let counted = param.form == ParamForm::Length;
                (value, *quoted && (!listing || counted))
            }
            Piece::Command { list, quoted } => {
                let mut inside = state.clone();
                let outer = std::mem::take(&mut self.troubles);
                self.deeper(|walker| walker.list(list, &mut inside));
                let inner = std::mem::replace(&mut self.troubles, outer);
                self.troubles.extend(inner);
                (self.printed(list), *quoted)
            }
            Piece::Arithmetic { pieces, quoted } => {
                self.arithmetic(pieces, state);
                (Value::Number, *quoted)
            }
            Piece::Process(list) => {
                let mut inside = state.clone();
                self.deeper(|walker| walker.list(list, &mut inside));
                (Value::Headed("/dev/fd/".to_owned()), true)
            }
        }
    }

    fn param(&mut self, param: &Param, state: &mut State) -> Value {
        if let Some(subscript) = &param.subscript {
            self.subscript(&param.name, subscript, state);
        }
        let operand = if param.form == ParamForm::Substring {
            self.offsets(&param.operand, state);
            Value::Unknown
        } else {
            let atoms = self.atoms(&param.operand, state);
            single(&atoms).value()
        };
        let own = if param.subscript.is_some() {
            Value::Unknown
        } else {
            self.variable(&param.name, state)
        };
        match param.form {
            ParamForm::Plain | ParamForm::Complain => own,
            ParamForm::Length => Value::Number,
            ParamForm::Indirect => {
                self.troubles
                    .push("an expansion of a variable by another's value".to_owned());
                Value::Unknown
            }
            ParamForm::Default => match own {
                Value::Known(text) if !text.is_empty() => Value::Known(text),
                Value::Number => Value::Number,
                Value::Known(_)
                | Value::Numbers
                | Value::Headed(_)
                | Value::Word
                | Value::Words
                | Value::Unknown => Value::Unknown,
            },
            ParamForm::Assign => {
                let lists = self.context.knowledge.lists();
                if listed(&lists.influential, &param.name) {
                    let reason =
                        format!("it sets `{}`, which changes what programs do", param.name);
                    self.troubles.push(reason);
                }
                self.log.push((param.name.clone(), false));
                state.set(param.name.clone(), Value::Unknown);
                let _ = operand;
                Value::Unknown
            }
            ParamForm::Transform('P') => {
                self.troubles
                    .push("an expansion as a prompt, which runs commands".to_owned());
                Value::Unknown
            }
            // The places of an array that is written out.
            ParamForm::Names if state.elements(&param.name).is_some() => Value::Numbers,
            ParamForm::Names
            | ParamForm::Alternate
            | ParamForm::Pattern
            | ParamForm::Substring
            | ParamForm::Transform(_) => Value::Unknown,
        }
    }

    /// `offset` or `offset:length`, both arithmetic.
    fn offsets(&mut self, pieces: &[Piece], state: &mut State) {
        let mut text = String::new();
        for piece in pieces {
            match piece {
                Piece::Text(part) | Piece::Quoted(part) => text.push_str(part),
                Piece::Param { .. }
                | Piece::Command { .. }
                | Piece::Arithmetic { .. }
                | Piece::Process(_) => {
                    let (value, _) = self.value(piece, state);
                    text.push(if value.is_number() { '1' } else { '[' });
                }
            }
        }
        for part in text.splitn(2, ':') {
            self.expression(part, state);
        }
    }

    fn variable(&self, name: &str, state: &State) -> Value {
        if matches!(name, "?" | "#" | "$" | "!") {
            return Value::Number;
        }
        if state.knows(name) {
            return state.get(name);
        }
        let lists = self.context.knowledge.lists();
        let has = |list: &[String]| list.iter().any(|known| known == name);
        if has(&lists.numbers) {
            Value::Number
        } else if has(&lists.absolute) {
            Value::Headed("/".to_owned())
        } else {
            Value::Unknown
        }
    }

    /// What a substitution prints, where the data says so.
    fn printed(&self, list: &List) -> Value {
        let [item] = list.items.as_slice() else {
            return Value::Unknown;
        };
        if !item.rest.is_empty() {
            return Value::Unknown;
        }
        let commands = self.before_passers(&item.first.commands);
        let Some(command) = commands.last() else {
            return Value::Unknown;
        };
        if self.prints_hashes(command) {
            return Value::Words;
        }
        let Kind::Simple { assigns, words } = &command.kind else {
            return Value::Unknown;
        };
        let mut line = String::new();
        for word in words {
            for piece in &word.pieces {
                match piece {
                    Piece::Text(text) | Piece::Quoted(text) => line.push_str(text),
                    Piece::Param { .. }
                    | Piece::Command { .. }
                    | Piece::Arithmetic { .. }
                    | Piece::Process(_) => return Value::Unknown,
                }
            }
            line.push(' ');
        }
        let line = line.trim_end();
        let lists = self.context.knowledge.lists();
        if !assigns.is_empty() {
            Value::Unknown
        } else if matches(&lists.prints_number, line) {
            Value::Number
        } else if matches(&lists.prints_numbers, line) {
            Value::Numbers
        } else if matches(&lists.prints_path, line) {
            Value::Headed("/".to_owned())
        } else if matches(&lists.prints_word, line) {
            Value::Word
        } else {
            Value::Unknown
        }
    }
}

/// Whether a command is one of the listed; a trailing `*` stands for plain words, not options.
fn matches(list: &[String], line: &str) -> bool {
    list.iter().any(|known| match known.strip_suffix(" *") {
        None => known == line,
        Some(start) => line.strip_prefix(start).is_some_and(|rest| {
            rest.is_empty()
                || rest.starts_with(' ')
                    && rest.split_ascii_whitespace().all(|word| {
                        word.bytes()
                            .all(|b| b.is_ascii_alphanumeric() || b"/._@^~{}".contains(&b))
                    })
        }),
    })
}

/// The array of which a word is all elements, each as it stands: `"${name[@]}"`.
fn written_out(word: &Word) -> Option<&str> {
    let empty = |piece: &&Piece| !matches!(piece, Piece::Quoted(text) if text.is_empty());
    let mut pieces = word.pieces.iter().filter(empty);
    let (
        Some(Piece::Param {
            param,
            quoted: true,
        }),
        None,
    ) = (pieces.next(), pieces.next())
    else {
        return None;
    };
    let all = |text: &str| text == "@" && param.form == ParamForm::Plain;
    match param.subscript.as_deref() {
        Some([Piece::Text(text)]) if all(text) => Some(&param.name),
        Some(_) | None => None,
    }
}
