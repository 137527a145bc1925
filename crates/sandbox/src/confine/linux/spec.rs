//! From a plan to what the helper is told.

use super::caller::{assignment, search};
use super::wire::{Net, Overlay, Raw, Spec};
use crate::environment;
use crate::hidden;
use crate::plan::Plan;
use crate::wanted::{Cache, Lane, Layers, Network};

/// Everything that the helper needs to know, the control groups aside.
pub(super) fn of(plan: &Plan) -> Spec {
    let wanted = &plan.wanted;
    let form = plan.form;
    let env = environment::safe(&wanted.env);
    let concealed = hidden::in_home(wanted.home.as_deref())
        .chain(wanted.hidden.iter().cloned())
        .map(|path| Raw::from(&path))
        .collect();
    let root = rustix::process::geteuid().is_root();
    Spec {
        lane: form.lane,
        namespaces: form.namespaces,
        argv: wanted.argv.iter().cloned().map(Raw::from).collect(),
        search: search(&env),
        env: env.iter().map(assignment).collect(),
        workspace: Raw::from(&wanted.workspace),
        cwd: Raw::from(&wanted.cwd),
        overlays: overlays(form.lane, &wanted.workspace, &wanted.layers),
        tmp: Raw::from(&wanted.layers.tmp),
        writable: match form.lane {
            Lane::Snapshot => wanted.writable.iter().map(Raw::from).collect(),
            Lane::ReadOnly | Lane::Transaction => Vec::new(),
        },
        hidden: concealed,
        closed: hidden::on_machine(root)
            .map(|path| Raw::from(&path))
            .collect(),
        read_only_inside: wanted.read_only_inside.iter().map(Raw::from).collect(),
        net: match wanted.network {
            Network::Off => Net::Own,
            Network::Any | Network::Session(_) => Net::Helpers,
        },
        resolves: wanted.network == Network::Any,
        sockets: form.namespaces || wanted.network == Network::Any,
        limits: plan.chosen.clone(),
        groups: Vec::new(),
        landlock_abi: plan.landlock_abi,
        outlives: wanted.long_running,
    }
}

/// The workspace's overlay, then those of the caches. Caches keep theirs in every lane that has
/// name spaces: tools write to them even when they only read.
fn overlays(lane: Lane, workspace: &std::path::Path, layers: &Layers) -> Vec<Overlay> {
    let mut overlays = Vec::new();
    if lane == Lane::Transaction {
        overlays.push(Overlay {
            path: Raw::from(workspace),
            upper: Raw::from(&layers.upper),
            work: Raw::from(&layers.work),
            lower: layers.lower.iter().map(Raw::from).collect(),
            read_only: false,
        });
    } else if lane == Lane::ReadOnly && !layers.lower.is_empty() {
        // What earlier commands of the session built is there to be looked at.
        overlays.push(Overlay {
            path: Raw::from(workspace),
            upper: Raw::from(&layers.upper),
            work: Raw::from(&layers.work),
            lower: layers.lower.iter().map(Raw::from).collect(),
            read_only: true,
        });
    }
    overlays.extend(layers.caches.iter().map(cache));
    overlays
}

fn cache(cache: &Cache) -> Overlay {
    Overlay {
        path: Raw::from(&cache.path),
        upper: Raw::from(&cache.upper),
        work: Raw::from(&cache.work),
        lower: cache.lower.iter().map(Raw::from).collect(),
        read_only: false,
    }
}
