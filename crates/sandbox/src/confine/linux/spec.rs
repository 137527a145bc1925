//! From a plan to what the helper is told.

use super::caller::{assignment, search};
use super::direct;
use super::wire::{Net, Overlay, Raw, Spec};
use crate::environment;
use crate::hidden;
use crate::plan::{self, Form, Plan};
use crate::session::exit_note;
use crate::wanted::{Cache, Lane, Layers, Network, Through, Wanted};

/// Everything that the helper needs to know.
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
        direct: direct::words(wanted, &env),
        search: search(&env),
        env: env.iter().map(assignment).collect(),
        workspace: Raw::from(&wanted.workspace),
        cwd: Raw::from(&wanted.cwd),
        overlays: overlays(form.lane, &wanted.workspace, &wanted.layers),
        tmp: Raw::from(&wanted.layers.tmp),
        writable: writable(wanted, form),
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
        landlock_abi: plan.landlock_abi,
        laid: form.namespaces && plan::is_laid(wanted),
        outlives: wanted.long_running,
        noted: wanted
            .long_running
            .then(|| Raw::from(&exit_note(&wanted.output.artifact))),
    }
}

/// What is written in place in this lane. Without name spaces nothing can be put in another place,
/// and no lane that only reads writes anywhere.
fn writable(wanted: &Wanted, form: Form) -> Vec<(Raw, Raw)> {
    let mut found = Vec::new();
    if form.lane == Lane::Snapshot {
        let own = wanted.writable.iter();
        found.extend(own.map(|path| (Raw::from(path), Raw::from(path))));
    }
    let here = |one: &&Through| form.namespaces || one.path == one.from;
    if form.lane != Lane::ReadOnly {
        let through = wanted.through.iter().filter(here);
        found.extend(through.map(|one| (Raw::from(&one.path), Raw::from(&one.from))));
    }
    found
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
