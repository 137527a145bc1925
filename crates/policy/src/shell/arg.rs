//! Words after expansion, as far as it can be known before the line runs.

use tagout_vocab::limits::{COMMAND_BRACES_MAX, COMMAND_VALUE_BYTES_MAX};

/// Stands for text that is not known but does not start with a dash or a blank.
const PLACEHOLDER: char = '\u{1}';

/// Whether a character is one that words are split at, or that stands for names of files.
fn splits_or_globs(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '*' | '?' | '[')
}

/// What is known of a value.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Value {
    /// The text itself.
    Known(String),
    /// A whole number.
    Number,
    /// Whole numbers, one or more.
    Numbers,
    /// Text that starts so; may hold blanks.
    Headed(String),
    /// One word without blanks that does not start with a dash.
    Word,
    /// Such words, one or more, of letters and digits.
    Words,
    /// Anything.
    Unknown,
}

impl Value {
    /// Whether it is a whole number for certain.
    pub(super) fn is_number(&self) -> bool {
        match self {
            Self::Known(text) => is_integer(text),
            Self::Number | Self::Numbers => true,
            Self::Headed(_) | Self::Word | Self::Words | Self::Unknown => false,
        }
    }

    /// Whether it stays one word wherever it stands, and is no option.
    fn is_word(&self) -> bool {
        match self {
            Self::Known(text) => {
                !text.is_empty() && !text.starts_with('-') && !text.contains(splits_or_globs)
            }
            Self::Word => true,
            Self::Number | Self::Numbers | Self::Headed(_) | Self::Words | Self::Unknown => false,
        }
    }

    /// What holds of a value that is one of two.
    pub(super) fn or(self, other: &Self) -> Self {
        if self == *other {
            self
        } else if self.is_number() && other.is_number() {
            Self::Number
        } else if self.is_word() && other.is_word() {
            Self::Word
        } else {
            Self::Unknown
        }
    }
}

/// Whether a text is a decimal number that a shell takes as it stands.
pub(super) fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.len() < 19 && digits.bytes().all(|b| b.is_ascii_digit())
}

/// One argument.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one way in which the text is not known"
)]
pub(super) struct Arg {
    /// The exact text, if it is known.
    pub(super) exact: Option<String>,
    /// The text with a `1` for each unknown number and nothing for other unknown parts.
    pub(super) shown: String,
    /// The known text before the first unknown part.
    pub(super) head: String,
    /// Some part is not known.
    pub(super) holes: bool,
    /// It may become several words, or none, and those may be anything.
    pub(super) splits: bool,
    /// It may become several words that all start with `head`.
    pub(super) many: bool,
    /// It starts with an unquoted tilde.
    pub(super) tilde: bool,
    /// Whatever it becomes, each is one word without blanks that is no option.
    pub(super) word: bool,
}

impl Arg {
    /// An argument whose text is known.
    pub(super) fn of(text: &str) -> Self {
        Self {
            exact: Some(text.to_owned()),
            shown: text.to_owned(),
            head: text.to_owned(),
            ..Self::default()
        }
    }

    /// Words of which nothing is known.
    pub(super) fn anything() -> Self {
        Self {
            holes: true,
            splits: true,
            ..Self::default()
        }
    }

    /// One word that starts so.
    pub(super) fn headed(head: &str) -> Self {
        Self {
            shown: head.replace(PLACEHOLDER, ""),
            head: head.to_owned(),
            holes: true,
            ..Self::default()
        }
    }

    /// Words of letters and digits.
    pub(super) fn words() -> Self {
        Self {
            many: true,
            word: true,
            ..Self::headed(&PLACEHOLDER.to_string())
        }
    }

    /// Words that all start so.
    pub(super) fn many_headed(head: &str) -> Self {
        Self {
            many: true,
            ..Self::headed(head)
        }
    }

    /// The text, with stand-ins for unknown numbers; `None` if more than that is unknown.
    pub(super) fn text(&self) -> Option<&str> {
        (!self.holes && !self.splits && !self.many).then_some(self.shown.as_str())
    }

    /// Whether it could be read as an option.
    pub(super) fn may_be_option(&self) -> bool {
        self.splits || self.head.is_empty() && self.exact.is_none() || self.head.starts_with('-')
    }

    /// The value that a variable gets from it.
    pub(super) fn value(&self) -> Value {
        if let Some(text) = &self.exact {
            return Value::Known(text.clone());
        }
        if !self.splits && !self.holes && is_integer(&self.shown) {
            return Value::Number;
        }
        if self.word && !self.splits {
            return if self.many { Value::Words } else { Value::Word };
        }
        if !self.splits && !self.head.is_empty() && !self.head.starts_with('-') {
            return Value::Headed(self.head.clone());
        }
        Value::Unknown
    }
}

/// A word's content while braces are expanded.
#[derive(Clone, Debug)]
pub(super) enum Atom {
    /// An unquoted character.
    Char(char),
    /// Quoted text.
    Literal(String),
    /// The result of an expansion. `single` says that it stays one word.
    Value { value: Value, single: bool },
}

/// The arguments that a word becomes. `None` when it becomes too many.
pub(super) fn arguments(atoms: &[Atom]) -> Option<Vec<Arg>> {
    let braces = atoms
        .iter()
        .filter(|a| matches!(a, Atom::Char('{')))
        .count();
    if braces == 0 {
        return Some(assemble(atoms));
    }
    if braces > 32 {
        return None;
    }
    let mut budget = COMMAND_BRACES_MAX;
    let words = expand_braces(atoms, &mut budget)?;
    Some(words.iter().flat_map(|word| assemble(word)).collect())
}

/// One argument of a place where neither braces, blanks nor globs count: assignments, tests.
pub(super) fn single(atoms: &[Atom]) -> Arg {
    if let [
        Atom::Value {
            value: Value::Words,
            ..
        },
    ] = atoms
    {
        return Arg::words();
    }
    let mut builder = Builder::default();
    for atom in atoms {
        match atom {
            Atom::Char(character) => builder.text(character.encode_utf8(&mut [0; 4])),
            Atom::Literal(text) => builder.text(text),
            Atom::Value { value, .. } => builder.value(value, true),
        }
    }
    builder.finish(atoms)
}

fn expand_braces(atoms: &[Atom], budget: &mut usize) -> Option<Vec<Vec<Atom>>> {
    for (index, atom) in atoms.iter().enumerate() {
        if !matches!(atom, Atom::Char('{')) {
            continue;
        }
        let Some((alternatives, end)) = alternatives(atoms, index) else {
            continue;
        };
        let prefix = atoms.get(..index)?;
        let tails = expand_braces(atoms.get(end + 1..)?, budget)?;
        let mut words = Vec::new();
        for alternative in alternatives {
            for middle in expand_braces(&alternative, budget)? {
                for tail in &tails {
                    *budget = budget.checked_sub(1)?;
                    words.push([prefix, &middle, tail].concat());
                }
            }
        }
        return Some(words);
    }
    Some(vec![atoms.to_vec()])
}

/// The alternatives of the brace at `open`, and where it closes. `None` if it is no expansion.
fn alternatives(atoms: &[Atom], open: usize) -> Option<(Vec<Vec<Atom>>, usize)> {
    let mut depth = 0_usize;
    let mut parts: Vec<Vec<Atom>> = vec![Vec::new()];
    for (index, atom) in atoms.iter().enumerate().skip(open + 1) {
        match atom {
            Atom::Char('{') => depth += 1,
            Atom::Char('}') if depth == 0 => {
                if parts.len() > 1 {
                    return Some((parts, index));
                }
                let only = parts.first()?;
                return sequence(only).map(|range| (range, index));
            }
            Atom::Char('}') => depth -= 1,
            Atom::Char(',') if depth == 0 => {
                parts.push(Vec::new());
                continue;
            }
            Atom::Char(_) | Atom::Literal(_) | Atom::Value { .. } => {}
        }
        parts.last_mut()?.push(atom.clone());
    }
    None
}

/// `1..5` and `a..e`. Numbers become one unknown number: which ones never matters.
fn sequence(atoms: &[Atom]) -> Option<Vec<Vec<Atom>>> {
    let mut text = String::new();
    for atom in atoms {
        match atom {
            Atom::Char(character) => text.push(*character),
            Atom::Literal(_) | Atom::Value { .. } => return None,
        }
    }
    let (first, last) = text.split_once("..")?;
    let last_number = last.split_once("..").map_or(last, |(last, _)| last);
    if is_integer(first) && is_integer(last_number) {
        let value = Value::Numbers;
        return Some(vec![vec![Atom::Value {
            value,
            single: true,
        }]]);
    }
    let letter = |text: &str| -> Option<char> {
        let mut characters = text.chars();
        let only = characters.next().filter(char::is_ascii_alphabetic)?;
        characters.next().is_none().then_some(only)
    };
    let (first, last) = (letter(first)?, letter(last)?);
    let range = first.min(last)..=first.max(last);
    Some(range.map(|c| vec![Atom::Char(c)]).collect())
}

fn assemble(atoms: &[Atom]) -> Vec<Arg> {
    if let [
        Atom::Value {
            value: Value::Known(text),
            single: false,
        },
    ] = atoms
        && !text.contains(['*', '?', '['])
    {
        return text.split_ascii_whitespace().map(Arg::of).collect();
    }
    let last_bracket = atoms
        .iter()
        .rposition(|atom| matches!(atom, Atom::Char(']')));
    let mut builder = Builder::default();
    for (index, atom) in atoms.iter().enumerate() {
        match atom {
            Atom::Char('[') if last_bracket.is_some_and(|last| last > index) => builder.glob('['),
            Atom::Char(character @ ('*' | '?')) => builder.glob(*character),
            Atom::Char(character) => builder.text(character.encode_utf8(&mut [0; 4])),
            Atom::Literal(text) => builder.text(text),
            Atom::Value { value, single } => builder.value(value, *single),
        }
    }
    let arg = builder.finish(atoms);
    // What expands to nothing and is not quoted is no argument at all.
    let quoted = |atom: &Atom| match atom {
        Atom::Char(_) => false,
        Atom::Literal(_) => true,
        Atom::Value { single, .. } => *single,
    };
    if arg.exact.as_deref() == Some("") && !atoms.iter().any(quoted) {
        return Vec::new();
    }
    vec![arg]
}

/// Puts an argument together.
#[derive(Default)]
struct Builder {
    arg: Arg,
    inexact: bool,
    head_closed: bool,
    /// Something in it may be split, or is not known to be a word.
    parted: bool,
}

impl Builder {
    fn text(&mut self, text: &str) {
        self.parted |= text.contains(splits_or_globs);
        self.arg.shown.push_str(text);
        if !self.head_closed {
            self.arg.head.push_str(text);
        }
    }

    fn glob(&mut self, character: char) {
        self.arg.many = true;
        self.parted = true;
        self.inexact = true;
        self.head_closed = true;
        self.arg.shown.push(character);
    }

    fn value(&mut self, value: &Value, single: bool) {
        // Values that hold each other double in size with every step of a line.
        let room = COMMAND_VALUE_BYTES_MAX.saturating_sub(self.arg.shown.len());
        let length = match value {
            Value::Known(text) | Value::Headed(text) => text.len(),
            Value::Number | Value::Numbers | Value::Word | Value::Words | Value::Unknown => 1,
        };
        let value = if length > room {
            &Value::Unknown
        } else {
            value
        };
        match value {
            Value::Known(text) if single => return self.text(text),
            Value::Known(text) if !text.contains(splits_or_globs) => {
                return self.text(text);
            }
            Value::Number => self.arg.shown.push('1'),
            Value::Numbers => {
                self.arg.shown.push('1');
                self.arg.many = true;
            }
            Value::Headed(head) => {
                if !self.head_closed {
                    self.arg.head.push_str(head);
                }
                self.arg.shown.push_str(&head.replace(PLACEHOLDER, ""));
                self.hole(single);
            }
            Value::Words => {
                if !self.head_closed {
                    self.arg.head.push(PLACEHOLDER);
                }
                self.arg.holes = true;
                // In quotes they are one argument that holds blanks.
                self.arg.many |= !single;
                self.parted |= single;
            }
            Value::Word => {
                if !self.head_closed {
                    self.arg.head.push(PLACEHOLDER);
                }
                self.arg.holes = true;
            }
            Value::Known(_) | Value::Unknown => self.hole(single),
        }
        if !self.head_closed && value.is_number() {
            self.arg.head.push('1');
        }
        self.inexact = true;
        self.head_closed = true;
    }

    fn hole(&mut self, single: bool) {
        self.arg.holes = true;
        self.arg.splits |= !single;
        self.parted = true;
    }

    fn finish(mut self, atoms: &[Atom]) -> Arg {
        self.arg.tilde = matches!(atoms.first(), Some(Atom::Char('~')));
        self.arg.word = self.inexact && !self.parted && self.arg.head.starts_with(PLACEHOLDER);
        if !self.inexact {
            self.arg.exact = Some(self.arg.shown.clone());
        }
        self.arg
    }
}
