//! Options as getopt reads them: clusters, values, long names and their short forms, `--`.

use super::Findings;
use crate::shell::arg::Arg;
use crate::shell::knowledge::{Entry, OptionTable, Role, Style};
use crate::shell::walk::Walker;

/// Whether an option takes a value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Arity {
    /// None.
    Flag,
    /// Always.
    Value,
    /// Only directly attached.
    Attached,
}

/// One option that was given.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) name: String,
    pub(super) value: Option<Arg>,
    /// The words of a command that ends in `;` or `+`.
    pub(super) rest: Vec<Arg>,
}

/// A command's arguments, taken apart.
#[derive(Debug, Default)]
pub(super) struct Parsed {
    pub(super) options: Vec<Found>,
    pub(super) operands: Vec<Arg>,
}

impl Parsed {
    fn push(&mut self, name: &str, value: Option<Arg>) {
        self.options.push(Found {
            name: name.to_owned(),
            value,
            rest: Vec::new(),
        });
    }
}

/// Finds an option in tables by its whole name.
pub(super) fn lookup(tables: &[OptionTable<'_>], name: &str) -> Option<(Role, Arity)> {
    tables.iter().find_map(|table| {
        let token = table
            .options
            .split_ascii_whitespace()
            .find(|token| bare(token) == name)?;
        let arity = match token.as_bytes().last() {
            Some(b'=') => Arity::Value,
            Some(b'~') => Arity::Attached,
            Some(_) | None => Arity::Flag,
        };
        Some((table.role, arity))
    })
}

fn bare(token: &str) -> &str {
    // A mark alone is no mark.
    if token.len() > 2 {
        token.strip_suffix(['=', '~']).unwrap_or(token)
    } else {
        token
    }
}

impl Walker<'_> {
    /// The role and arity of an option, from the entry, its modes and the groups it uses.
    pub(super) fn option_role(&self, entry: &Entry<'_>, name: &str) -> Option<(Role, Arity)> {
        lookup(&entry.options, name)
            .or_else(|| {
                entry
                    .modes
                    .iter()
                    .find_map(|mode| lookup(&mode.options, name))
            })
            .or_else(|| {
                let mut groups = entry.uses.iter();
                groups.find_map(|group| lookup(&self.context.knowledge.group(group), name))
            })
    }

    /// The one long option that a shortened name stands for.
    fn abbreviated(&self, entry: &Entry<'_>, name: &str) -> Option<String> {
        let own = entry.options.iter();
        let modes = entry.modes.iter().flat_map(|mode| &mode.options);
        let groups: Vec<OptionTable<'_>> = entry
            .uses
            .iter()
            .flat_map(|group| self.context.knowledge.group(group))
            .collect();
        let mut found: Option<&str> = None;
        for table in own.chain(modes).chain(&groups) {
            for token in table.options.split_ascii_whitespace().map(bare) {
                if token.starts_with(name) && token.starts_with("--") {
                    if found.is_some_and(|other| other != token) {
                        return None;
                    }
                    found = Some(token);
                }
            }
        }
        found.map(str::to_owned)
    }

    pub(super) fn parse_options(
        &self,
        entry: &Entry<'_>,
        args: &[Arg],
        whole: bool,
        findings: &mut Findings,
    ) -> Parsed {
        let mut reader = Reader {
            whole,
            walker: self,
            entry,
            findings,
            parsed: Parsed::default(),
            rest: args,
        };
        match entry.style {
            Style::Gnu | Style::Posix => reader.getopt(),
            Style::Exact | Style::Leading => reader.exact(),
            Style::Keyed => reader.keyed(),
            Style::Bundled => reader.bundled(),
        }
        reader.parsed
    }
}

struct Reader<'a, 'b> {
    /// Options are looked for behind the first operand too.
    whole: bool,
    walker: &'a Walker<'b>,
    entry: &'a Entry<'a>,
    findings: &'a mut Findings,
    parsed: Parsed,
    rest: &'a [Arg],
}

impl Reader<'_, '_> {
    fn next(&mut self) -> Option<Arg> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(first.clone())
    }

    fn role(&self, name: &str) -> Option<(Role, Arity)> {
        self.walker.option_role(self.entry, name)
    }

    fn getopt(&mut self) {
        let stops = self.entry.style == Style::Posix || !self.whole;
        while let Some(arg) = self.next() {
            if arg.exact.as_deref() == Some("--") {
                break;
            }
            let dashed = arg.head.starts_with('-') && arg.exact.as_deref() != Some("-");
            if dashed {
                self.dashed(&arg);
            } else if arg.may_be_option() && arg.exact.is_none() && !self.entry.any {
                self.doubt(&arg);
                self.parsed.operands.push(arg);
            } else {
                // A command that prints nothing leaves no word behind: options may still follow.
                if stops && arg.word && self.rest.iter().any(Arg::may_be_option) {
                    self.doubt(&arg);
                }
                self.parsed.operands.push(arg);
                if stops {
                    break;
                }
            }
        }
        self.parsed.operands.extend_from_slice(self.rest);
        self.rest = &[];
    }

    fn doubt(&mut self, arg: &Arg) {
        let shown = &arg.shown;
        self.findings.unknown(format!(
            "an argument (`{shown}…`) that may be read as an option; put `--` or `./` before it"
        ));
    }

    fn dashed(&mut self, arg: &Arg) {
        if arg.splits && !self.entry.any {
            return self.doubt(arg);
        }
        let known = arg.text().map_or(arg.head.as_str(), |text| text);
        let hole = arg.text().is_none();
        if known.starts_with("--") {
            return self.long(arg, known, hole);
        }
        let digits = known.strip_prefix('-').unwrap_or_default();
        let number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        if self.entry.digits && number && !hole {
            return self.parsed.push("-1", None);
        }
        self.cluster(arg, digits, hole);
    }

    fn long(&mut self, arg: &Arg, known: &str, hole: bool) {
        let (name, value) = match known.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (known, None),
        };
        if value.is_none() && hole && !self.entry.any {
            return self.doubt(arg);
        }
        let mut full = name.to_owned();
        if self.role(name).is_none()
            && let Some(long) = self.walker.abbreviated(self.entry, name)
        {
            if !self.entry.abbreviate {
                self.findings
                    .unknown(format!("the shortened option `{name}`"));
            }
            full = long;
        }
        let Some((role, arity)) = self.role(&full) else {
            return self.unlisted(name);
        };
        if role == Role::Until {
            return self.until(&full, value);
        }
        let value = match (value, arity) {
            (Some(text), _) => Some(part_of(arg, text, hole)),
            (None, Arity::Value) => self.value(&full),
            (None, Arity::Flag | Arity::Attached) => None,
        };
        self.parsed.push(&full, value);
    }

    fn unlisted(&mut self, name: &str) {
        if !self.entry.any {
            self.findings
                .unknown(format!("the option `{name}` is not known to be harmless"));
        }
    }

    fn value(&mut self, name: &str) -> Option<Arg> {
        let value = self.next();
        if let Some(value) = &value
            && self.goes_on(value)
        {
            // A pattern that fits several names: the first is the value, the others are operands.
            self.parsed.operands.push(value.clone());
        } else if value
            .as_ref()
            .is_some_and(|value| value.splits || value.many)
            && !self.entry.any
        {
            self.findings
                .unknown(format!("the value of `{name}` may become several words"));
        }
        value
    }

    /// Whether a word becomes names that all start in the same way, none of them like an option,
    /// where operands may stand between options.
    fn goes_on(&self, value: &Arg) -> bool {
        let anywhere = match self.entry.style {
            Style::Gnu | Style::Exact => self.whole,
            Style::Posix | Style::Leading | Style::Keyed | Style::Bundled => false,
        };
        let plain = value
            .head
            .starts_with(|c: char| c.is_ascii_alphanumeric() || c == '/');
        anywhere && plain && value.many && !value.splits
    }

    fn cluster(&mut self, arg: &Arg, letters: &str, hole: bool) {
        let mut rest = letters;
        while let Some(letter) = rest.chars().next() {
            rest = rest.get(letter.len_utf8()..).unwrap_or_default();
            let name = format!("-{letter}");
            let Some((role, arity)) = self.role(&name) else {
                self.unlisted(&name);
                if self.entry.any {
                    return;
                }
                continue;
            };
            if role == Role::Until {
                let first = (!rest.is_empty()).then_some(rest);
                return self.until(&name, first);
            }
            match arity {
                Arity::Flag => self.parsed.push(&name, None),
                Arity::Value if rest.is_empty() && !hole => {
                    let value = self.value(&name);
                    return self.parsed.push(&name, value);
                }
                Arity::Value | Arity::Attached => {
                    let value = (!rest.is_empty() || hole).then(|| part_of(arg, rest, hole));
                    return self.parsed.push(&name, value);
                }
            }
        }
        if hole && !self.entry.any {
            self.doubt(arg);
        }
    }

    /// Whole words: `-name`, `(`, `!`.
    fn exact(&mut self) {
        let stops = self.entry.style == Style::Leading || !self.whole;
        while let Some(arg) = self.next() {
            if arg.exact.as_deref() == Some("--") && self.role("--").is_none() {
                break;
            }
            let Some(text) = arg.text() else {
                if arg.may_be_option() && !self.entry.any {
                    self.doubt(&arg);
                }
                self.parsed.operands.push(arg);
                if stops {
                    break;
                }
                continue;
            };
            let (name, attached) = match text.split_once('=') {
                Some((name, value)) if text.starts_with('-') && self.role(text).is_none() => {
                    (name, Some(value))
                }
                Some(_) | None => (text, None),
            };
            match (self.role(name), attached) {
                (Some((Role::Until, _)), first) => self.until(name, first),
                (Some((_, Arity::Value)), None) => {
                    let value = self.value(name);
                    self.parsed.push(name, value);
                }
                (Some(_), value) => self.parsed.push(name, value.map(Arg::of)),
                (None, _) if text.starts_with('-') && text.len() > 1 => {
                    let digits = text.bytes().skip(1).all(|b| b.is_ascii_digit());
                    if !(digits && self.entry.digits) {
                        self.unlisted(text);
                    }
                }
                (None, _) => {
                    self.parsed.operands.push(arg);
                    if stops {
                        break;
                    }
                }
            }
        }
        self.parsed.operands.extend_from_slice(self.rest);
        self.rest = &[];
    }

    /// The words of a command up to `;`, or to a `+` right behind the mark for the paths. Anywhere
    /// else, and where paths are appended without a mark, a `+` is a word like others.
    fn until(&mut self, name: &str, first: Option<&str>) {
        let mut words: Vec<Arg> = first.map(Arg::of).into_iter().collect();
        while let Some(arg) = self.next() {
            let marked = words.last().and_then(|word| word.exact.as_deref()) == Some("{}");
            let plus = arg.exact.as_deref() == Some("+") && marked && !self.entry.appends;
            if plus || arg.exact.as_deref() == Some(";") {
                break;
            }
            words.push(arg);
        }
        self.parsed.options.push(Found {
            name: name.to_owned(),
            value: None,
            rest: words,
        });
    }

    /// `key=value`.
    fn keyed(&mut self) {
        while let Some(arg) = self.next() {
            let Some((key, _)) = arg.head.split_once('=') else {
                self.findings
                    .unknown(format!("the operand `{}` is not known", arg.shown));
                continue;
            };
            if arg.splits || self.role(key).is_none() {
                self.findings
                    .unknown(format!("the operand `{key}=` is not known"));
                continue;
            }
            let key = key.to_owned();
            let hole = arg.text().is_none();
            let text = if hole {
                arg.head.clone()
            } else {
                arg.shown.clone()
            };
            let value = text.split_once('=').map_or("", |(_, value)| value);
            let value = part_of(&arg, value, hole);
            self.parsed.push(&key, Some(value));
        }
    }

    /// A first word of letters without a dash, whose values follow in order; then as usual.
    fn bundled(&mut self) {
        if let Some(first) = self.rest.first().cloned()
            && let Some(letters) = first.exact.as_deref()
            && !letters.starts_with('-')
        {
            self.next();
            for letter in letters.chars() {
                let name = format!("-{letter}");
                match self.role(&name) {
                    None => self.unlisted(&name),
                    Some((_, Arity::Value)) => {
                        let value = self.value(&name);
                        self.parsed.push(&name, value);
                    }
                    Some((_, Arity::Flag | Arity::Attached)) => self.parsed.push(&name, None),
                }
            }
        }
        self.getopt();
    }
}

/// The end of an argument as an argument of its own.
fn part_of(arg: &Arg, known: &str, hole: bool) -> Arg {
    if hole {
        Arg {
            splits: arg.splits,
            many: arg.many,
            ..Arg::headed(known)
        }
    } else if arg.exact.is_some() {
        Arg::of(known)
    } else {
        Arg {
            exact: None,
            ..Arg::of(known)
        }
    }
}
