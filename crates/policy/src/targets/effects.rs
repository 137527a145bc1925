//! Every thing that a call would touch, read from its arguments and from nothing else.

use std::collections::BTreeSet;

use serde_json::Value;
use tagout_vocab::limits::{PATH_BYTES_MAX, TARGETS_MAX};
use tagout_vocab::path::Roots;
use tagout_vocab::{Effect, Role, SideEffectLevel, Target, ToolKind};

use super::{Normalised, address, keys, patch};
use crate::catalogue::{Access, PathParam, TargetForm, Tool};

/// A file that a patch touches, in the patch's own spelling.
#[derive(Clone, Debug, Eq, PartialEq, Ord, PartialOrd)]
pub(super) enum Touch {
    /// Reads it.
    Read(String),
    /// Creates or changes it.
    Write(String),
    /// Removes it.
    Delete(String),
    /// Moves the first to the second.
    Move(String, String),
    /// Something that was not understood.
    Unknown(String),
}

/// Every effect of a call. What can't be told is an [`Effect::Unknown`], never left out.
///
/// `cwd` is the call's working directory, absolute or relative to the workspace.
pub fn effects(call: &Normalised<'_>, roots: &Roots, cwd: &str) -> Vec<Effect> {
    let mut list = List::new(roots, cwd);
    let Some(tool) = call.tool else {
        list.remote(call);
        list.unknown(format!("nobody declared what `{}` does", call.called));
        return list.finish();
    };
    if call.oversized {
        list.unknown("the arguments are too large to be looked at".to_owned());
        return list.finish();
    }
    for conflict in &call.conflicts {
        list.unknown(format!(
            "`{}` is given twice with different values",
            conflict.key
        ));
    }
    list.move_to(call, tool);
    list.params(call, tool);
    list.form(call, tool);
    list.reach(call, tool);
    list.finish()
}

/// The folder in which the call works: its own argument for it, else the call's.
///
/// `None` when the argument is there and can't be understood.
pub fn working_directory(call: &Normalised<'_>, cwd: &str) -> Option<String> {
    let mut folder = cwd.to_owned();
    for param in call.tool.map_or(&[][..], |tool| &tool.paths) {
        if param.access != Access::Cwd {
            continue;
        }
        let found = keys::texts(&call.arguments, &param.key);
        match found.texts.as_slice() {
            [] if !found.odd && !found.lacking => {}
            [one] if !found.odd && !found.lacking && one.len() <= PATH_BYTES_MAX => {
                folder = joined(&folder, one);
            }
            _ => return None,
        }
    }
    Some(folder)
}

/// A folder seen from another. A text that names a place of its own stands alone.
fn joined(base: &str, folder: &str) -> String {
    let own_place = folder.starts_with(['/', '~', '\\']) || folder.contains(':');
    if own_place || base.is_empty() {
        folder.to_owned()
    } else {
        format!("{base}/{folder}")
    }
}

struct List<'r> {
    roots: &'r Roots,
    cwd: String,
    found: Vec<Effect>,
    full: bool,
}

impl<'r> List<'r> {
    fn new(roots: &'r Roots, cwd: &str) -> Self {
        Self {
            roots,
            cwd: cwd.to_owned(),
            found: Vec::new(),
            full: false,
        }
    }

    /// Each effect once, in the order in which it was found.
    fn finish(mut self) -> Vec<Effect> {
        if self.full {
            let what = format!("the call touches more than {TARGETS_MAX} things");
            self.found.push(Effect::Unknown { what });
        }
        let mut seen = BTreeSet::new();
        self.found.retain(|effect| seen.insert(effect.clone()));
        self.found
    }

    fn push(&mut self, effect: Effect) {
        if self.found.len() < TARGETS_MAX {
            self.found.push(effect);
        } else {
            self.full = true;
        }
    }

    fn unknown(&mut self, what: String) {
        self.push(Effect::Unknown { what });
    }

    fn target(&self, raw: &str) -> Target {
        // A relative path from a folder that is nowhere is nowhere too.
        let place = self.roots.place(raw, &self.cwd);
        Target {
            raw: raw.to_owned(),
            place,
        }
    }

    /// Goes to the folder in which the call works.
    fn move_to(&mut self, call: &Normalised<'_>, tool: &Tool) {
        match working_directory(call, &self.cwd) {
            Some(folder) => self.cwd = folder,
            None => self.unknown(format!("the folder in which `{}` works", tool.name)),
        }
    }

    fn params(&mut self, call: &Normalised<'_>, tool: &Tool) {
        let mut any = false;
        let mut moved: (Vec<Target>, Vec<Target>) = (Vec::new(), Vec::new());
        for param in tool
            .paths
            .iter()
            .filter(|param| param.access != Access::Cwd)
        {
            let found = keys::texts(&call.arguments, &param.key);
            any |= found.present;
            let root = param.key.split(['.', '[']).next().unwrap_or_default();
            let needed = tool.required.iter().any(|key| key == root);
            let lacking = (!found.present && needed) || (found.lacking && !param.optional);
            let blank = found.texts.iter().any(|text| text.is_empty());
            if found.odd || lacking || blank {
                self.unknown(format!("`{}` is not a path", param.key));
            }
            for text in found.texts.iter().take(TARGETS_MAX + 1) {
                self.access(param, text, &mut moved);
            }
        }
        self.moves(moved);
        let has_params = tool.paths.iter().any(|param| param.access != Access::Cwd);
        if has_params && !any {
            self.absent(tool);
        }
    }

    fn access(&mut self, param: &PathParam, raw: &str, moved: &mut (Vec<Target>, Vec<Target>)) {
        let target = self.target(raw);
        match param.access {
            Access::Read => self.push(Effect::Read(target)),
            Access::Write => self.push(Effect::Write(target)),
            Access::Delete => self.push(Effect::Delete(target)),
            Access::MoveFrom => moved.0.push(target),
            Access::MoveTo => moved.1.push(target),
            Access::Cwd => {}
        }
    }

    /// Sources and destinations belong together pairwise, or all sources go to one folder.
    fn moves(&mut self, (from, to): (Vec<Target>, Vec<Target>)) {
        let one_folder = to.len() == 1;
        if from.is_empty() && to.is_empty() {
            return;
        }
        if from.is_empty() || (to.len() != from.len() && !one_folder) {
            self.unknown("what is moved where".to_owned());
        }
        for (index, source) in from.iter().enumerate() {
            let goal = if one_folder {
                to.first()
            } else {
                to.get(index)
            };
            match goal {
                Some(goal) => self.push(Effect::Move {
                    from: source.clone(),
                    to: goal.clone(),
                }),
                None => self.push(Effect::Delete(source.clone())),
            }
        }
        for goal in to {
            self.push(Effect::Write(goal));
        }
    }

    /// No path was given at all: what reads, reads where it works; what changes is unknown.
    fn absent(&mut self, tool: &Tool) {
        if tool.paths.iter().any(|param| param.access.mutates()) {
            self.unknown(format!("`{}` was given no path", tool.name));
        } else if matches!(tool.kind, ToolKind::Read | ToolKind::Search) {
            let target = self.target(".");
            self.push(Effect::Read(target));
        }
    }

    fn form(&mut self, call: &Normalised<'_>, tool: &Tool) {
        match &tool.targets {
            TargetForm::Params | TargetForm::Nothing => {}
            TargetForm::Patch { key } => self.patch(call, key),
            TargetForm::Command { key } => self.commands(call.arguments.get(key)),
            TargetForm::Argv { key } => self.argv(call.arguments.get(key)),
            TargetForm::Address { key } => self.addresses(call, key),
            TargetForm::Remote { .. } => {
                self.remote(call);
                self.unknown("what the other server's tool does".to_owned());
            }
            TargetForm::Unknown => {
                self.unknown(format!(
                    "the arguments of `{}` don't tell its targets",
                    tool.name
                ));
            }
        }
    }

    fn patch(&mut self, call: &Normalised<'_>, key: &str) {
        let Some(Value::String(text)) = call.arguments.get(key) else {
            return self.unknown(format!("`{key}` is not a patch"));
        };
        for touch in patch::touches(text) {
            let effect = match touch {
                Touch::Read(path) => Effect::Read(self.target(&path)),
                Touch::Write(path) => Effect::Write(self.target(&path)),
                Touch::Delete(path) => Effect::Delete(self.target(&path)),
                Touch::Move(from, to) => Effect::Move {
                    from: self.target(&from),
                    to: self.target(&to),
                },
                Touch::Unknown(what) => Effect::Unknown { what },
            };
            self.push(effect);
        }
    }

    /// A command line, a list of them, or programs with their arguments.
    fn commands(&mut self, value: Option<&Value>) {
        match value {
            Some(Value::Array(items)) if !items.is_empty() => {
                for item in items.iter().take(TARGETS_MAX + 1) {
                    self.command(item);
                }
            }
            Some(value) => self.command(value),
            None => self.unknown("no command is given".to_owned()),
        }
    }

    fn command(&mut self, value: &Value) {
        let line = match value {
            Value::String(line) => Some(line.clone()),
            Value::Object(parts) => {
                let program = parts.get("command").and_then(Value::as_str);
                let words = match parts.get("args") {
                    None | Some(Value::Null) => Some(Vec::new()),
                    Some(list) => words(list),
                };
                // With arguments beside it the first is a program; alone it is a command line.
                match (program, words) {
                    (Some(line), Some(words)) if words.is_empty() => Some(line.to_owned()),
                    (Some(program), Some(mut words)) => {
                        words.insert(0, program);
                        Some(quoted(&words))
                    }
                    _ => None,
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => None,
        };
        match line {
            Some(command) if !command.trim().is_empty() => self.push(Effect::Run { command }),
            Some(_) | None => self.unknown("a command that is not a command line".to_owned()),
        }
    }

    fn argv(&mut self, value: Option<&Value>) {
        match value.and_then(words) {
            Some(words) if words.first().is_some_and(|program| !program.is_empty()) => {
                let command = quoted(&words);
                self.push(Effect::Run { command });
            }
            Some(_) | None => self.unknown("a program that can't be told".to_owned()),
        }
    }

    fn addresses(&mut self, call: &Normalised<'_>, key: &str) {
        let found = keys::texts(&call.arguments, key);
        if found.odd || found.lacking || !found.present {
            self.unknown(format!("`{key}` is not an address"));
        }
        for text in found.texts.iter().take(TARGETS_MAX + 1) {
            let hosts = address::hosts(text);
            if hosts.is_empty() {
                self.push(Effect::Reach { host: None });
            }
            for host in hosts {
                self.push(Effect::Reach { host: Some(host) });
            }
        }
    }

    fn remote(&mut self, call: &Normalised<'_>) {
        if let Some(remote) = call.remote_target() {
            self.push(Effect::Remote {
                server: remote.server.unwrap_or_default(),
                tool: remote.tool,
            });
        }
    }

    /// What the tool's reach and role add to what its arguments say.
    fn reach(&mut self, call: &Normalised<'_>, tool: &Tool) {
        if call.remote.is_some() {
            self.remote(call);
        }
        // What a skill brings along is as little known as what another agent will do.
        if matches!(tool.role, Some(Role::Delegation | Role::Skill)) {
            self.push(Effect::Delegate);
        }
        if tool.level == SideEffectLevel::DesktopControl {
            self.push(Effect::Desktop);
        }
        let named =
            |effect: &Effect| matches!(effect, Effect::Reach { .. } | Effect::Remote { .. });
        if tool.level == SideEffectLevel::Network && !self.found.iter().any(named) {
            self.push(Effect::Reach { host: None });
        }
    }
}

fn words(value: &Value) -> Option<Vec<&str>> {
    value.as_array()?.iter().map(Value::as_str).collect()
}

/// A command line that a shell takes apart into exactly these words.
fn quoted(words: &[&str]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    let quote = |(index, word): (usize, &&str)| {
        // In the first place an equals sign would make an assignment of a program's name.
        let assigns = index == 0 && word.contains('=');
        if !word.is_empty() && !assigns && word.chars().all(plain) {
            (*word).to_owned()
        } else {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
    };
    let words: Vec<String> = words.iter().enumerate().map(quote).collect();
    words.join(" ")
}
