//! Commands that change the shell they run in.

use super::{Findings, has_word};
use crate::shell::arg::{Arg, Value};
use crate::shell::knowledge::{Builtin, Entry};
use crate::shell::parse::WRITTEN_ARRAY;
use crate::shell::walk::{State, Walker};

impl Walker<'_> {
    pub(super) fn builtin(
        &mut self,
        builtin: Builtin,
        entry: &Entry<'_>,
        args: &[Arg],
        state: &mut State,
        findings: &mut Findings,
    ) {
        match builtin {
            Builtin::ChangeFolder => {
                let operand = args.iter().find(|arg| !arg.head.starts_with('-'));
                let dash = args.iter().any(|arg| arg.exact.as_deref() == Some("-"));
                state.folder = match operand {
                    Some(arg) => Self::joined(arg, state),
                    None if dash || !args.is_empty() => None,
                    None => Some("~".to_owned()),
                };
            }
            Builtin::LeaveFolder => state.folder = None,
            Builtin::Declare => self.declare(args, false, state, findings),
            Builtin::Export => self.declare(args, true, state, findings),
            Builtin::Evaluate => {
                let texts: Option<Vec<&str>> =
                    args.iter().map(|arg| arg.exact.as_deref()).collect();
                match texts {
                    Some(texts) => self.script(&texts.join(" "), state, findings),
                    None => findings.exec("it runs text that is known only when it runs"),
                }
            }
            Builtin::Arithmetic => {
                for arg in args {
                    match arg.text() {
                        Some(text) => self.expression(text, state),
                        None => findings.unknown("arithmetic over text that is not known"),
                    }
                }
            }
            Builtin::Test => test(args, findings),
            Builtin::Options => options(entry, args, findings),
        }
    }

    /// `declare`, `local`, `export` and the like.
    fn declare(&mut self, args: &[Arg], export: bool, state: &mut State, findings: &mut Findings) {
        let mut export = export;
        let mut shows = false;
        let mut folds = false;
        let mut array = false;
        let mut map = false;
        for arg in args {
            let option = arg
                .exact
                .as_deref()
                .filter(|text| text.starts_with(['-', '+']));
            if let Some(letters) = option {
                export |= letters.starts_with('-') && letters.contains('x');
                if letters.contains('i') {
                    // Whatever is assigned to such a variable later is evaluated, subscripts
                    // included.
                    findings.unknown("an integer variable evaluates what it is given");
                }
                folds |= letters.contains(['l', 'u', 'c']);
                array |= letters.contains(['a', 'A']);
                map |= letters.starts_with('-') && letters.contains('A');
                shows |= letters.contains(['p', 'f', 'F']);
                let known = |c: char| "-+aAgIlurxipfFt".contains(c);
                if !letters.chars().all(known) {
                    findings.unknown(format!(
                        "the option `{letters}` is not known to be harmless"
                    ));
                }
                continue;
            }
            let name = arg
                .head
                .split(['=', '+'])
                .next()
                .unwrap_or_default()
                .to_owned();
            let plain = !name.is_empty()
                && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
                && (arg.exact.is_some() || arg.head.contains('='));
            if !plain {
                findings.unknown(format!("`{}` is not a plain declaration", arg.shown));
                continue;
            }
            if shows && arg.exact.as_deref() == Some(name.as_str()) {
                continue;
            }
            let declaration = Declaration {
                // What is an array of another kind already stays one.
                map: map && !self.is_array(&name),
                name,
                export,
                folds,
                array,
            };
            self.declared(arg, declaration, state, findings);
        }
    }

    fn declared(
        &mut self,
        arg: &Arg,
        declaration: Declaration,
        state: &mut State,
        findings: &mut Findings,
    ) {
        let name = declaration.name;
        self.check_elements(arg, &name, declaration.array);
        let value = match arg.exact.as_deref().map(|text| text.split_once('=')) {
            Some(Some((left, text)))
                if !left.ends_with('+')
                    && !text.starts_with(['(', WRITTEN_ARRAY])
                    && !declaration.folds =>
            {
                Value::Known(text.to_owned())
            }
            Some(None) if !declaration.folds => state.get(&name),
            Some(_) | None => Value::Unknown,
        };
        if declaration.export {
            self.check_environment(&name, &value, findings);
            state.exported.insert(name.clone());
        }
        self.set_plain(name.clone(), value, state, findings);
        if declaration.map {
            state.maps.insert(name.clone());
        }
        state.freeze(name);
    }

    /// To an array, text in parentheses is given as elements, which are expanded, also where the
    /// text was quoted or came out of a variable.
    fn check_elements(&mut self, arg: &Arg, name: &str, array: bool) {
        let known = arg.head.split_once('=').map(|(_, value)| value);
        let written = known.is_some_and(|value| value.starts_with(WRITTEN_ARRAY));
        let text = match known {
            Some(value) if !value.trim_start().is_empty() => value.trim_start().starts_with('('),
            Some(_) | None => arg.exact.is_none(),
        };
        if array || written {
            self.array(name);
        }
        if text {
            self.declared_with_text(name);
        }
    }
}

/// One variable that is declared.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of its own"
)]
struct Declaration {
    name: String,
    /// For every later program.
    export: bool,
    /// In another case, so that its value changes.
    folds: bool,
    /// As an array.
    array: bool,
    /// As an array with names for its elements.
    map: bool,
}

/// `test` and `[`: a unary operator that is not known may be one that evaluates a subscript.
fn test(args: &[Arg], findings: &mut Findings) {
    for (index, arg) in args.iter().enumerate() {
        if arg.splits {
            findings.unknown(format!(
                "an unquoted expansion (`{}…`) in a test; quote it",
                arg.shown
            ));
        }
        let evaluates = match arg.exact.as_deref() {
            Some(text) => matches!(text, "-v" | "-R"),
            None => arg.may_be_option(),
        };
        let next = args.get(index + 1);
        let subscript = next.is_some_and(|next| match next.exact.as_deref() {
            Some(text) => text.contains('['),
            None => next.text().is_none(),
        });
        if evaluates && subscript {
            findings.unknown("a test that may evaluate a subscript");
        }
    }
}

/// `set`: flags that change only how the shell reports and fails.
fn options(entry: &Entry<'_>, args: &[Arg], findings: &mut Findings) {
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        let Some(text) = arg.exact.as_deref() else {
            if arg.may_be_option() {
                findings.unknown("an option of the shell that is known only when it runs");
            }
            return;
        };
        if text == "--" || !text.starts_with(['-', '+']) {
            return;
        }
        let letters = text.get(1..).unwrap_or_default();
        if !letters.chars().all(|c| "euxvfhBCEo".contains(c)) {
            findings.unknown(format!("the option `{text}` is not known to be harmless"));
        }
        if letters.contains('o')
            && let Some(name) = rest.next()
            && !name
                .exact
                .as_deref()
                .is_some_and(|name| has_word(&entry.listed, name))
        {
            findings.unknown(format!(
                "the option `{}` is not known to be harmless",
                name.shown
            ));
        }
    }
}
