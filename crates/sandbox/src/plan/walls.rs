//! The walls of each form, by name.

use super::{Enforcer, Form};
use crate::host::{Host, Line, Probed, State};
use crate::wanted::{Lane, Network, Wanted};

/// Landlock's first version that can say which sockets in the file system may be reached.
const UNIX_SOCKETS_ABI: u32 = 9;

/// Who holds what in this form.
pub(super) fn named(host: &Host, wanted: &Wanted, form: Form) -> Vec<Enforcer> {
    let by = writes(form, wanted, &landlock(host));
    let mut walls = vec![said(form, "writes", by)];
    walls.extend(beside_writes(host, &wanted.network, form));
    let real = wanted.through.iter().filter(|one| one.path == one.from);
    for one in real.filter(|_| form.lane != Lane::ReadOnly) {
        let what = format!("changes in {}", one.path.display());
        walls.push(Enforcer::weaker(
            what,
            "nobody: passed through, not transactional",
        ));
    }
    if form.lane == Lane::Snapshot && !(form.namespaces && super::is_laid(wanted)) {
        walls.push(Enforcer::new("metadata", "seccomp refuses to change it"));
    }
    walls
}

fn said(form: Form, what: &str, by: String) -> Enforcer {
    if form.weaker {
        Enforcer::weaker(what, by)
    } else {
        Enforcer::new(what, by)
    }
}

fn landlock(host: &Host) -> String {
    format!("Landlock version {}", host.landlock_abi)
}

/// The walls that are the same whatever a command may write.
fn beside_writes(host: &Host, open: &Network, form: Form) -> Vec<Enforcer> {
    vec![
        said(form, "processes end with the run", tree(form).to_owned()),
        said(form, "network", network(form, open).to_owned()),
        said(form, "hidden paths", hidden(form, &landlock(host))),
        Enforcer::new("sockets in the file system", sockets(host)),
        Enforcer::new("system calls", "seccomp with architecture check"),
        Enforcer::new(
            "privileges",
            "no_new_privs, empty capability and bounding sets",
        ),
        Enforcer::new("descriptors", "close_range before the program starts"),
        Enforcer::new("environment", "rebuilt from an allowlist"),
    ]
}

/// What a wall keeps in, for people who do not know its name.
fn about(what: &str) -> &'static str {
    match what {
        "network" => "off unless granted: ",
        "hidden paths" => "credential folders, sockets below /run, Tagout's state: ",
        _ => "",
    }
}

/// The walls of a command that only reads, line by line for people: those of the strongest form
/// that was seen to be built here. A lane is built wholly or not at all, so its walls stand
/// together.
pub(crate) fn lines(host: &Host) -> Vec<Line> {
    let (form, state, remedy) = match (&host.read_only, &host.bare_snapshot) {
        (Probed::Works, _) => (READ_ONLY, State::Enforced, ""),
        (Probed::Fails { remedy, .. }, Probed::Works) => (BARE, State::Weaker, remedy.as_str()),
        (Probed::Fails { remedy, .. }, Probed::Fails { .. }) => {
            (BARE, State::Missing, remedy.as_str())
        }
    };
    let line = |wall: Enforcer| {
        let is_held = state != State::Missing;
        let is_weaker = !is_held || wall.weaker;
        Line {
            enforcer: if is_held {
                format!("{}{}", about(&wall.what), wall.by)
            } else {
                "no lane can be built, so no command is run".to_owned()
            },
            state: if is_weaker { state } else { State::Enforced },
            remedy: if is_weaker { remedy } else { "" }.to_owned(),
            what: wall.what,
        }
    };
    let walls = beside_writes(host, &Network::Off, form);
    walls.into_iter().map(line).collect()
}

const READ_ONLY: Form = Form {
    lane: Lane::ReadOnly,
    namespaces: true,
    weaker: false,
};
const BARE: Form = Form {
    lane: Lane::Snapshot,
    namespaces: false,
    weaker: true,
};

fn writes(form: Form, wanted: &Wanted, landlock: &str) -> String {
    let laid = super::is_laid(wanted);
    match (form.lane, form.namespaces) {
        (Lane::Snapshot, true) if laid => {
            format!("overlays on the writable set, read-only mounts elsewhere, {landlock}")
        }
        (Lane::ReadOnly, _) => format!("read-only mounts, {landlock}"),
        (Lane::Transaction, _) => format!("overlay, read-only mounts elsewhere, {landlock}"),
        (Lane::Snapshot, true) => {
            format!("writable set = snapshotted set: read-only mounts elsewhere, {landlock}")
        }
        (Lane::Snapshot, false) => format!("writable set = snapshotted set: {landlock}"),
    }
}

fn tree(form: Form) -> &'static str {
    if form.namespaces {
        "pid name space, ended with its first process"
    } else {
        "subreaper that looks for descendants"
    }
}

/// Who holds the network when nobody does.
pub const NETWORK_OPEN: &str = "open, as granted";

fn network(form: Form, network: &Network) -> &'static str {
    match (network, form.namespaces) {
        (Network::Off, true) => "network name space of its own",
        (Network::Off, false) => "seccomp refuses sockets",
        (Network::Any, _) => NETWORK_OPEN,
        (Network::Session(_), _) => "network name space of the session",
    }
}

fn hidden(form: Form, landlock: &str) -> String {
    if form.namespaces {
        "covered by empty mounts".to_owned()
    } else {
        landlock.to_owned()
    }
}

fn sockets(host: &Host) -> &'static str {
    if host.landlock_abi >= UNIX_SOCKETS_ABI {
        "Landlock, only those inside the writable area"
    } else {
        "seccomp refuses them"
    }
}
