//! From what is wanted and what this machine holds to a lane with named enforcers, or a refusal.

mod check;
#[cfg(target_os = "linux")]
mod mounts;
mod walls;

pub use walls::NETWORK_OPEN;
pub(crate) use walls::lines;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::confine::{self, Prepared, Running};
use crate::error::{Refused, SandboxError};
use crate::host::{Host, Probed};
use crate::limits::{self, Chosen};
use crate::wanted::{Lane, Network, Wanted, Weaker};

/// A wall or a limit and who holds it.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct Enforcer {
    /// The wall or the limit.
    pub what: String,
    /// Who holds it.
    pub by: String,
    /// Whether this is a weaker form: one that the user's layer accepted, or a limit that is held
    /// less exactly than the kernel could.
    pub weaker: bool,
}

impl Enforcer {
    /// The usual form.
    pub fn new(what: impl Into<String>, by: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            by: by.into(),
            weaker: false,
        }
    }

    /// A weaker form, named as such.
    pub fn weaker(what: impl Into<String>, by: impl Into<String>) -> Self {
        Self {
            weaker: true,
            ..Self::new(what, by)
        }
    }
}

/// A command that can be held here, with its lane and enforcers named.
#[derive(Debug)]
pub struct Plan {
    pub(crate) wanted: Wanted,
    pub(crate) form: Form,
    pub(crate) chosen: Chosen,
    pub(crate) enforcers: Vec<Enforcer>,
    pub(crate) landlock_abi: u32,
}

/// How the walls are built.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Form {
    pub(crate) lane: Lane,
    /// Whether name spaces are used; only the snapshot lane can do without.
    pub(crate) namespaces: bool,
    /// Whether this is weaker than what was asked for.
    pub(crate) weaker: bool,
}

impl Plan {
    /// The lane it will run in, which may be a weaker one that was accepted.
    pub fn lane(&self) -> Lane {
        self.form.lane
    }

    /// Who will hold what.
    pub fn enforcers(&self) -> &[Enforcer] {
        &self.enforcers
    }

    /// Builds the sandbox and starts the command; returns once its program runs.
    pub fn start(self) -> Result<Running, SandboxError> {
        self.prepare()?.start()
    }

    /// Builds the sandbox and starts nothing in it, for who has something to do meanwhile.
    pub fn prepare(self) -> Result<Prepared, SandboxError> {
        confine::prepare(self)
    }
}

/// Decides how the command is held. Looks at the list of mounts and changes nothing.
pub fn plan(host: &Host, wanted: &Wanted) -> Result<Plan, Refused> {
    check::all(wanted)?;
    let form = form(host, wanted)?;
    let able = if form.namespaces {
        host.limits.clone()
    } else {
        host.limits.without_namespaces()
    };
    let (chosen, limits) = limits::choose(&able, &wanted.limits)?;
    let mut enforcers = walls::named(host, wanted, form);
    enforcers.extend(limits);
    let mut wanted = wanted.clone();
    let shows_more = form.lane == Lane::ReadOnly && !wanted.layers.lower.is_empty();
    if shows_more && no_nested_mounts(&wanted).is_err() {
        // An overlay shows what earlier commands built; without one there is only less to see.
        wanted.layers.lower.clear();
    }
    Ok(Plan {
        wanted,
        form,
        chosen,
        enforcers,
        landlock_abi: host.landlock_abi,
    })
}

/// Whether what is writable in the workspace has overlays of its own and nothing is in place.
pub(crate) fn is_laid(wanted: &Wanted) -> bool {
    let mut caches = wanted.layers.caches.iter();
    wanted.writable.is_empty() && caches.any(|one| one.path.starts_with(&wanted.workspace))
}

/// The lane that was asked for, or a weaker one that is accepted and works.
fn form(host: &Host, wanted: &Wanted) -> Result<Form, Refused> {
    let full = |lane| Form {
        lane,
        namespaces: true,
        weaker: false,
    };
    let first = match wanted.lane {
        Lane::ReadOnly => possible(&host.read_only).map(|()| full(Lane::ReadOnly)),
        Lane::Transaction => possible(&host.transaction)
            .and_then(|()| no_nested_mounts(wanted))
            .map(|()| full(Lane::Transaction)),
        Lane::Snapshot => possible(&host.snapshot).map(|()| full(Lane::Snapshot)),
    };
    match first {
        Ok(form) => Ok(form),
        Err(why) => weaker(host, wanted, why),
    }
}

fn possible(probed: &Probed) -> Result<(), (String, String)> {
    match probed {
        Probed::Works => Ok(()),
        Probed::Fails { why, remedy } => Err((why.clone(), remedy.clone())),
    }
}

/// There is no list of mounts on this system, and no overlay either.
#[cfg(not(target_os = "linux"))]
pub fn nested_mount(_workspace: &Path) -> Option<PathBuf> {
    None
}

/// A mount inside a workspace, over which no overlay can be laid.
#[cfg(target_os = "linux")]
pub fn nested_mount(workspace: &Path) -> Option<PathBuf> {
    mounts::below(workspace)
}

fn no_nested_mounts(wanted: &Wanted) -> Result<(), (String, String)> {
    match nested_mount(&wanted.workspace) {
        Some(nested) => Err((
            format!(
                "`{}` is a mount inside the workspace, and an overlay can't be laid over it",
                nested.display()
            ),
            "unmount it, move it out of the workspace, or accept `process` in your own policy"
                .to_owned(),
        )),
        None => Ok(()),
    }
}

/// A weaker form, if the user's layer lists it and this machine was seen to hold it.
fn weaker(host: &Host, wanted: &Wanted, (why, remedy): (String, String)) -> Result<Form, Refused> {
    let accepted = |weaker| wanted.accept_degraded.contains(&weaker);
    let what = format!("the {} lane", wanted.lane.as_str());
    let own_network = matches!(wanted.network, Network::Session(_)) || wanted.long_running;
    if wanted.lane == Lane::Transaction && accepted(Weaker::Snapshot) && host.snapshot.works() {
        return Ok(Form {
            lane: Lane::Snapshot,
            namespaces: true,
            weaker: true,
        });
    }
    if accepted(Weaker::NoNamespaces) && host.bare_snapshot.works() && !own_network {
        return Ok(Form {
            lane: Lane::Snapshot,
            namespaces: false,
            weaker: true,
        });
    }
    Err(Refused::new(what, why, remedy))
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
