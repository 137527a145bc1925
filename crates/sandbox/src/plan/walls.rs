//! The walls of each form, by name.

use super::{Enforcer, Form};
use crate::host::Host;
use crate::wanted::{Lane, Network, Wanted};

/// Landlock's first version that can say which sockets in the file system may be reached.
const UNIX_SOCKETS_ABI: u32 = 9;

/// Who holds what in this form.
pub(super) fn named(host: &Host, wanted: &Wanted, form: Form) -> Vec<Enforcer> {
    let say = |what: &str, by: String| {
        if form.weaker {
            Enforcer::weaker(what, by)
        } else {
            Enforcer::new(what, by)
        }
    };
    let landlock = format!("Landlock version {}", host.landlock_abi);
    let mut walls = vec![
        say("writes", writes(form, wanted, &landlock)),
        say("processes end with the run", tree(form).to_owned()),
        say("network", network(form, &wanted.network).to_owned()),
        say("hidden paths", hidden(form, &landlock)),
        Enforcer::new("sockets in the file system", sockets(host)),
        Enforcer::new("system calls", "seccomp with architecture check"),
        Enforcer::new(
            "privileges",
            "no_new_privs, empty capability and bounding sets",
        ),
        Enforcer::new("descriptors", "close_range before the program starts"),
        Enforcer::new("environment", "rebuilt from an allowlist"),
    ];
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
