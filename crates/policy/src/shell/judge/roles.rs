//! What a value or an operand does in its role.

use super::Findings;
use crate::shell::arg::{Arg, Value};
use crate::shell::knowledge::{Entry, Role, listed};
use crate::shell::script::{Scripted, awk, sed};
use crate::shell::walk::{State, Walker};

impl Walker<'_> {
    pub(super) fn role(
        &mut self,
        role: Role,
        arg: &Arg,
        entry: &Entry<'_>,
        state: &mut State,
        findings: &mut Findings,
    ) {
        let stream = entry.dash && arg.exact.as_deref() == Some("-");
        match role {
            Role::Ok
            | Role::Until
            | Role::Assign
            | Role::Command
            | Role::Joined
            | Role::Elsewhere
            | Role::Split => {}
            Role::Read | Role::Write | Role::Remote if stream => {}
            Role::Remote if arg.shown.contains(':') => findings.network(None),
            Role::Viewed if arg.head.is_empty() || arg.head.starts_with('+') => {
                findings.exec("a word that starts with `+` tells it what to do");
            }
            Role::Read | Role::Remote | Role::Viewed => self.read_path(arg, state, findings),
            Role::Write => self.write_path(arg, state, findings),
            Role::Make => self.make_path(arg, state, findings),
            Role::Delete => self.delete_path(arg, state, findings),
            Role::Exec => {
                findings.exec(&format!("it runs `{}`", arg.shown));
                if let Some(code) = arg.text() {
                    self.code(code, state, findings);
                }
            }
            Role::Host => findings.network(host(arg)),
            Role::Shell => self.shell_text(arg, state, findings),
            Role::Action => {
                let set = self.log.len();
                self.shell_text(arg, state, findings);
                if self.log.len() > set {
                    findings.unknown("it sets variables at a time that is not known");
                }
            }
            Role::Sed => self.scripted(arg, sed::read, state, findings),
            Role::Awk => self.scripted(arg, awk::read, state, findings),
            Role::Folder => state.folder = Self::joined(arg, state),
            Role::Name => self.name(arg, state, findings),
            Role::Array => {
                self.array(&arg.shown);
                self.name(arg, state, findings);
            }
            Role::Setting if arg.exact.as_deref().is_some_and(|text| !text.contains('=')) => {}
            Role::Setting => findings.change(&format!("`{}` is set", arg.shown)),
            Role::Format if arg.head.starts_with('+') => {}
            Role::Change | Role::Format => {
                findings.change(&format!("`{}` makes it change something", arg.shown));
            }
            Role::Listed => {
                let known = |word: &str| {
                    entry.listed.split_ascii_whitespace().any(|one| {
                        one.strip_suffix('*')
                            .map_or(one == word, |start| word.starts_with(start))
                    })
                };
                if !arg.exact.as_deref().is_some_and(known) {
                    findings.unknown(format!("`{}` is not known to be harmless", arg.shown));
                }
            }
            Role::Push => {
                findings.push = true;
                if arg.head.starts_with('+') {
                    findings.catastrophe("it overwrites published history");
                }
            }
            Role::Unknown => {
                findings.unknown(format!("`{}` is not known to be harmless", arg.shown));
            }
        }
    }

    pub(super) fn shell_text(&mut self, arg: &Arg, state: &State, findings: &mut Findings) {
        match arg.text() {
            Some("" | "-") => {}
            Some(text) => {
                let mut inside = State::default();
                inside.folder.clone_from(&state.folder);
                inside.exported.clone_from(&state.exported);
                self.script(text, &mut inside, findings);
            }
            None => findings.exec("it runs text that is known only when it runs"),
        }
    }

    fn scripted(
        &mut self,
        arg: &Arg,
        read: fn(&str) -> Scripted,
        state: &State,
        findings: &mut Findings,
    ) {
        let Some(text) = arg.text() else {
            findings.unknown("a script in it is known only when it runs");
            return;
        };
        match read(text) {
            Scripted::Harmless => {}
            Scripted::Reads(paths) => {
                for path in paths {
                    self.read_path(&Arg::of(&path), state, findings);
                }
            }
            Scripted::Writes(path) => self.write_path(&Arg::of(&path), state, findings),
            Scripted::Runs => {
                findings.exec("a script in it runs commands");
                self.code(text, state, findings);
            }
            Scripted::Commands(commands) => {
                for command in commands {
                    self.shell_text(&Arg::of(&command), state, findings);
                }
            }
            Scripted::Unknown(what) => findings.unknown(format!("a script in it: {what}")),
        }
    }

    /// A variable that the command sets to something that is not known.
    pub(in crate::shell) fn name(&mut self, arg: &Arg, state: &mut State, findings: &mut Findings) {
        let plain = |name: &&str| {
            !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        };
        let Some(name) = arg.exact.as_deref().filter(plain) else {
            findings.unknown(format!("`{}` is not a plain name of a variable", arg.shown));
            return;
        };
        let lists = self.context.knowledge.lists();
        let exported = self.context.exported.iter().any(|known| known == name);
        if exported || listed(&lists.influential, name) {
            findings.unknown(format!("it sets `{name}`, which changes what programs do"));
        }
        self.log.push((name.to_owned(), false));
        state.functions.remove(name);
        state.set(name.to_owned(), Value::Unknown);
    }
}

/// The host of an address, where it can be seen.
fn host(arg: &Arg) -> Option<String> {
    let text = arg.exact.as_deref()?;
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?;
    let host = host.split(':').next()?;
    let plain = !host.is_empty()
        && host
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'.' || b == b'-');
    plain.then(|| host.to_owned())
}
