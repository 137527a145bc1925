//! What one command was found to do.

use tagout_vocab::{Effect, Target};

use crate::shell::knowledge::{Role, Verdict};
use crate::shell::{Judgement, Part};

/// Gathers what a command does while its arguments are read.
#[derive(Debug, Default)]
pub(in crate::shell) struct Findings {
    reads: Vec<Target>,
    writes: Vec<Target>,
    folders: Vec<Target>,
    deletes: Vec<Target>,
    hosts: Vec<String>,
    unknown: Option<String>,
    exec: Option<String>,
    change: Option<String>,
    pub(in crate::shell) network: bool,
    pub(in crate::shell) push: bool,
    pub(in crate::shell) catastrophic: Option<String>,
    /// What to do instead of what no command may do.
    instead: Option<String>,
}

impl Findings {
    pub(in crate::shell) fn read(&mut self, target: Target) {
        self.reads.push(target);
    }

    pub(in crate::shell) fn write(&mut self, target: Target) {
        self.writes.push(target);
    }

    pub(in crate::shell) fn make_folder(&mut self, target: Target) {
        self.folders.push(target);
    }

    pub(in crate::shell) fn delete(&mut self, target: Target) {
        self.deletes.push(target);
    }

    pub(in crate::shell) fn network(&mut self, host: Option<String>) {
        self.network = true;
        self.hosts.extend(host);
    }

    pub(in crate::shell) fn unknown(&mut self, reason: impl Into<String>) {
        self.unknown.get_or_insert_with(|| reason.into());
    }

    pub(in crate::shell) fn exec(&mut self, reason: &str) {
        self.exec.get_or_insert_with(|| reason.to_owned());
    }

    pub(in crate::shell) fn change(&mut self, reason: &str) {
        self.change.get_or_insert_with(|| reason.to_owned());
    }

    pub(in crate::shell) fn instead(&mut self, remedy: &str) {
        self.instead.get_or_insert_with(|| remedy.to_owned());
    }

    pub(in crate::shell) fn catastrophe(&mut self, reason: &str) {
        self.catastrophic.get_or_insert_with(|| printable(reason));
    }

    /// Whether it was found to run code.
    pub(in crate::shell) fn runs_code(&self) -> bool {
        self.exec.is_some()
    }

    /// Adds the doubts of another reading.
    pub(in crate::shell) fn take(&mut self, other: Self) {
        if let Some(reason) = other.unknown {
            self.unknown(reason);
        }
        if let Some(reason) = other.exec {
            self.exec(&reason);
        }
    }

    /// What a program does however it is called.
    pub(in crate::shell) fn verdict(&mut self, verdict: Verdict, why: &str) {
        let or = |other: &str| {
            if why.is_empty() {
                other.to_owned()
            } else {
                why.to_owned()
            }
        };
        match verdict {
            Verdict::Arguments => {}
            Verdict::Change => self.change(&or("it changes something")),
            Verdict::Exec => self.exec(&or("it runs code that the line does not show")),
            Verdict::Network => self.network(None),
            Verdict::Unknown => self.unknown(or("what it does is not known")),
        }
    }

    /// What an option without a value does.
    pub(in crate::shell) fn flag(&mut self, role: Role, name: &str) {
        match role {
            Role::Ok
            | Role::Read
            | Role::Folder
            | Role::Listed
            | Role::Format
            | Role::Setting
            | Role::Remote
            | Role::Viewed
            | Role::Until => {}
            Role::Write | Role::Make | Role::Delete | Role::Change => {
                self.change(&format!("the option `{name}` makes it write"));
            }
            Role::Exec
            | Role::Shell
            | Role::Action
            | Role::Sed
            | Role::Awk
            | Role::Joined
            | Role::Elsewhere
            | Role::Split
            | Role::Command => {
                self.exec(&format!("the option `{name}` makes it run a program"));
            }
            Role::Host => self.network(None),
            Role::Push => self.push = true,
            Role::Assign | Role::Name | Role::Array | Role::Unknown => {
                self.unknown(format!("the option `{name}` is not known to be harmless"));
            }
        }
    }

    /// Whether anything but reading was found, or something read.
    pub(in crate::shell) fn matters(&self) -> bool {
        self.unknown.is_some()
            || self.exec.is_some()
            || self.change.is_some()
            || self.network
            || self.catastrophic.is_some()
            || !self.reads.is_empty()
            || self.written().next().is_some()
    }

    /// The part, and the effects that it adds.
    pub(in crate::shell) fn part(
        self,
        text: &str,
        program: &str,
        effects: &mut Vec<Effect>,
    ) -> Part {
        let (judgement, why) = self.judged();
        let why = printable(&why);
        let judgement = match judgement {
            Judgement::Unknown(_) => Judgement::Unknown(why.clone()),
            Judgement::ReadOnly | Judgement::Writes(_) | Judgement::Exec | Judgement::Network => {
                judgement
            }
        };
        effects.extend(self.reads.into_iter().map(Effect::Read));
        effects.extend(self.writes.into_iter().map(Effect::Write));
        effects.extend(self.folders.into_iter().map(Effect::MakeFolder));
        effects.extend(self.deletes.into_iter().map(Effect::Delete));
        if self.network && self.hosts.is_empty() {
            effects.push(Effect::Reach { host: None });
        }
        effects.extend(
            self.hosts
                .into_iter()
                .map(|host| Effect::Reach { host: Some(host) }),
        );
        let unseen = self.unknown.is_some()
            || self.exec.is_some()
            || self.change.is_some()
            || judgement == Judgement::Network;
        if unseen {
            effects.push(Effect::Run {
                command: text.to_owned(),
            });
        }
        Part {
            text: text.to_owned(),
            program: program.to_owned(),
            judgement,
            why,
            instead: self.instead,
        }
    }

    fn written(&self) -> impl Iterator<Item = &Target> {
        let made = self.writes.iter().chain(&self.folders);
        made.chain(&self.deletes)
    }

    fn judged(&self) -> (Judgement, String) {
        if let Some(reason) = &self.exec {
            return (Judgement::Exec, reason.clone());
        }
        if self.network {
            return (Judgement::Network, "it reaches the network".to_owned());
        }
        if let Some(reason) = &self.unknown {
            return (Judgement::Unknown(reason.clone()), reason.clone());
        }
        let written: Vec<Target> = self.written().cloned().collect();
        if !written.is_empty() {
            let shown: Vec<&str> = written.iter().map(|t| t.raw.as_str()).collect();
            let why = format!("it writes `{}`", shown.join("`, `"));
            return (Judgement::Writes(written), why);
        }
        if let Some(reason) = &self.change {
            return (Judgement::Writes(Vec::new()), reason.clone());
        }
        (Judgement::ReadOnly, "it only reads".to_owned())
    }
}

/// A reason as it can be shown: what a line holds of control characters is named, and the marks
/// that stand for unknown text are left out.
fn printable(reason: &str) -> String {
    if !reason.contains(char::is_control) {
        return reason.to_owned();
    }
    let mut shown = String::with_capacity(reason.len());
    for character in reason.chars() {
        match character {
            '\u{1}' | '\u{2}' => {}
            character if character.is_control() => shown.extend(character.escape_default()),
            character => shown.push(character),
        }
    }
    shown
}
