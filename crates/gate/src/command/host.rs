//! What this machine was seen to enforce, kept for as long as nothing of it changed.

use std::path::{Path, PathBuf};

use tagout_policy::judge::Isolation;
use tagout_policy::law;
use tagout_sandbox::{Host, Line, NETWORK_OPEN, State, nested_mount};
use tagout_vocab::Class;
use tagout_workspace::files;

use super::Yard;
use crate::engine::{Engine, Inner};
use crate::error::GateError;
use crate::store::Store;

/// What to change so that nothing weaker is used.
const NOT_ACCEPTED: &str = "take `isolation` out of your own policy, and such commands are refused";

fn file(state: &Path) -> PathBuf {
    state.join("gate").join("host.json")
}

/// What was kept, if it still holds.
fn kept(state: &Path) -> Option<Host> {
    let host: Host = Store::read(&file(state)).ok().flatten()?;
    host.fits().then_some(host)
}

/// Tries everything once, in a folder of the state.
fn probe(state: &Path) -> Result<Host, GateError> {
    let scratch = state.join("layers").join("probe");
    files::ensure_dir_private(&scratch)?;
    Ok(Host::probe(&scratch))
}

impl Yard {
    /// What this machine enforces. It is tried once per boot, kernel and user; what can't be kept
    /// is tried again by the next process.
    pub(crate) fn host(&self, state: &Path) -> Result<&Host, GateError> {
        if let Some(host) = self.host.get() {
            return Ok(host);
        }
        let host = if let Some(host) = kept(state) {
            host
        } else {
            let host = probe(state)?;
            drop(Store::write(&file(state), &host));
            host
        };
        Ok(self.host.get_or_init(|| host))
    }
}

impl Inner {
    /// S1: what can hold a command of this class here.
    pub(crate) fn isolation(&self, class: Class) -> Result<Isolation, GateError> {
        let Some(yard) = &self.commands else {
            return Ok(Isolation::Unavailable);
        };
        let host = yard.host(&self.site.state)?;
        let full = match class {
            Class::Safe => host.read_only.works(),
            Class::Destructive => {
                host.transaction.works() && nested_mount(self.workspace.root()).is_none()
            }
        };
        let (snapshot, bare) = (host.snapshot.works(), host.bare_snapshot.works());
        // What is not accepted is named all the same, so that the refusal says what could be.
        let weaker = match (class, self.shelf.books.law.isolation()) {
            (Class::Safe, law::Isolation::Process) => false,
            (Class::Safe, law::Isolation::Full | law::Isolation::None) => bare,
            (Class::Destructive, law::Isolation::Process) => snapshot,
            (Class::Destructive, law::Isolation::Full | law::Isolation::None) => snapshot || bare,
        };
        Ok(match (full, weaker) {
            (true, _) => Isolation::Transaction,
            (false, true) => Isolation::Snapshot,
            (false, false) => Isolation::Unavailable,
        })
    }
}

impl Engine {
    /// Whether commands that write can be held here, so that they are run at all.
    pub fn holds_commands(&self) -> Result<bool, GateError> {
        let found = self.inner.isolation(Class::Destructive)?;
        Ok(found == Isolation::Transaction)
    }

    /// What this machine enforces, line by line, tried anew; what was kept is replaced.
    pub fn examine(&self) -> Result<Vec<Line>, GateError> {
        let state = &self.inner.site.state;
        let host = probe(state)?;
        Store::write(&file(state), &host)?;
        let mut lines = host.lines();
        for line in &mut lines {
            self.granted(line);
        }
        lines.extend(self.passed_through());
        lines.push(self.accepted());
        Ok(lines)
    }

    /// The network is open where the user's own layer says so, whatever this machine could hold.
    fn granted(&self, line: &mut Line) {
        if line.what == "network" && self.inner.shelf.books.law.network() == law::Network::Any {
            NETWORK_OPEN.clone_into(&mut line.enforcer);
            line.state = State::Weaker;
            "take `network: any` out of your own policy".clone_into(&mut line.remedy);
        }
    }

    /// Folders that the user's own layer lets commands change for good.
    fn passed_through(&self) -> Vec<Line> {
        let law = &self.inner.shelf.books.law;
        let line = |folder: &str| Line {
            what: format!("changes in {folder}"),
            enforcer: "nobody: passed through, not transactional".to_owned(),
            state: State::Weaker,
            remedy: format!("take `{folder}` out of `pass_through` in your own policy"),
        };
        law.pass_through().map(line).collect()
    }

    /// Whether the user's own layer accepts something weaker where the transaction lane can't be
    /// had, such as in a workspace with a mount in it.
    fn accepted(&self) -> Line {
        let (enforcer, state, remedy) = match self.inner.shelf.books.law.isolation() {
            law::Isolation::Full => (
                "not accepted: a command that the transaction lane can't hold is refused",
                State::Enforced,
                "nothing, or `isolation: {accept: process}` in your own policy for the snapshot \
                 lane",
            ),
            law::Isolation::Process => (
                "accepted in your own policy (`process`): the snapshot lane",
                State::Weaker,
                NOT_ACCEPTED,
            ),
            law::Isolation::None => (
                "accepted in your own policy (`none`): the snapshot lane, also without name spaces",
                State::Weaker,
                NOT_ACCEPTED,
            ),
        };
        let root = self.inner.workspace.root();
        let needed = nested_mount(root).map(|mount| format!("; `{}` needs it", mount.display()));
        Line {
            what: "weaker lane for commands that write".to_owned(),
            enforcer: format!("{enforcer}{}", needed.unwrap_or_default()),
            state,
            remedy: remedy.to_owned(),
        }
    }
}
