//! Paths that a command reads, writes and removes.

use tagout_vocab::{Target, WorkspacePath};

use super::{Findings, floor};
use crate::shell::arg::Arg;
use crate::shell::knowledge::listed;
use crate::shell::walk::{State, Walker};

impl Walker<'_> {
    /// A path from where the shell stands; `None` when either is not known.
    pub(super) fn joined(arg: &Arg, state: &State) -> Option<String> {
        let text = arg.exact.as_deref()?;
        if text.starts_with('/') || arg.tilde {
            return Some(text.to_owned());
        }
        let folder = state.folder.as_deref()?;
        // Only an unquoted tilde means a home folder.
        let text = if text.starts_with('~') {
            format!("./{text}")
        } else {
            text.to_owned()
        };
        if folder.is_empty() {
            return Some(text);
        }
        Some(format!("{}/{text}", folder.trim_end_matches('/')))
    }

    fn target(&self, arg: &Arg, state: &State) -> Option<Target> {
        let raw = Self::joined(arg, state)?;
        let place = self.context.roots.place(&raw, self.context.cwd);
        Some(Target { raw, place })
    }

    pub(in crate::shell) fn read_path(&self, arg: &Arg, state: &State, findings: &mut Findings) {
        if arg.exact.as_deref() == Some("-") {
            return;
        }
        if let Some(target) = self.target(arg, state) {
            findings.read(target);
        }
    }

    pub(in crate::shell) fn write_path(&self, arg: &Arg, state: &State, findings: &mut Findings) {
        let lists = self.context.knowledge.lists();
        if arg
            .exact
            .as_deref()
            .is_some_and(|path| listed(&lists.sinks, path))
        {
            return;
        }
        if listed(&lists.devices, &arg.head) {
            findings.catastrophe(&format!("it writes to the device `{}`", arg.shown));
        }
        match self.target(arg, state) {
            Some(target) => findings.write(target),
            None => findings.unknown(format!(
                "it writes to a path (`{}`) that is known only when it runs",
                arg.shown
            )),
        }
    }

    pub(super) fn make_path(&self, arg: &Arg, state: &State, findings: &mut Findings) {
        match self.target(arg, state) {
            Some(target) => findings.make_folder(target),
            None => findings.unknown(format!(
                "it makes a folder (`{}`) that is known only when it runs",
                arg.shown
            )),
        }
    }

    pub(super) fn delete_path(&self, arg: &Arg, state: &State, findings: &mut Findings) {
        match self.target(arg, state) {
            Some(target) => findings.delete(target),
            None => findings.unknown(format!(
                "it removes a path (`{}`) that is known only when it runs",
                arg.shown
            )),
        }
    }

    /// Whether a command that works on whole trees is let loose on one that must stay.
    pub(super) fn floor_of_tree(
        &self,
        role: crate::shell::knowledge::Role,
        arg: &Arg,
        state: &State,
        findings: &mut Findings,
    ) {
        use crate::shell::knowledge::Role;
        if !matches!(role, Role::Delete | Role::Write | Role::Make | Role::Change) {
            return;
        }
        let root = self
            .target(arg, state)
            .is_some_and(|target| target.place.inside().is_some_and(WorkspacePath::is_root));
        let precious = floor::precious(arg, &self.context.knowledge.lists().precious);
        let here = floor::names_here(arg) && state.folder.as_deref() == Some("");
        if root || precious || here {
            findings.catastrophe(&format!("it works on the whole of `{}`", arg.shown));
        }
    }
}
