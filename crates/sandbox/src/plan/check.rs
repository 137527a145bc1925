//! Whether what is wanted makes sense at all.

use std::path::{Component, Path};

use crate::error::Refused;
use crate::hidden;
use crate::wanted::{Lane, Network, Wanted};

/// Places that the sandbox makes itself.
const OWN_PLACES: &[&str] = &["/proc", "/sys", "/dev", "/run", "/var/run"];

/// The first thing that does not make sense is the refusal.
pub(super) fn all(wanted: &Wanted) -> Result<(), Refused> {
    program(wanted)?;
    paths(wanted)?;
    workspace(wanted)?;
    layers(wanted)?;
    long_running(wanted)
}

fn program(wanted: &Wanted) -> Result<(), Refused> {
    let named = wanted.argv.first().is_some_and(|name| !name.is_empty());
    if named {
        return Ok(());
    }
    Err(Refused::new(
        "a command",
        "it names no program",
        "give the program as the first word",
    ))
}

fn paths(wanted: &Wanted) -> Result<(), Refused> {
    let caches = wanted.layers.caches.iter().map(|cache| &cache.path);
    let named = [&wanted.workspace, &wanted.cwd]
        .into_iter()
        .chain(caches)
        .chain(&wanted.writable)
        .chain(wanted.through.iter().flat_map(|one| [&one.path, &one.from]))
        .chain(&wanted.hidden)
        .chain(&wanted.read_only_inside);
    for path in named {
        if !is_plain(path) {
            return Err(Refused::new(
                format!("the path `{}`", path.display()),
                "it is not absolute, or has `..` in it",
                "give the real path",
            ));
        }
    }
    Ok(())
}

fn is_plain(path: &Path) -> bool {
    path.is_absolute()
        && path
            .components()
            .all(|part| matches!(part, Component::RootDir | Component::Normal(_)))
}

fn workspace(wanted: &Wanted) -> Result<(), Refused> {
    let place = format!("the workspace `{}`", wanted.workspace.display());
    if wanted.workspace.parent().is_none() {
        return Err(Refused::new(
            place,
            "it is the whole machine",
            "choose a folder",
        ));
    }
    let made = OWN_PLACES
        .iter()
        .any(|own| wanted.workspace.starts_with(own) || wanted.cwd.starts_with(own));
    if made || wanted.workspace == Path::new("/tmp") {
        return Err(Refused::new(
            place,
            "it lies where the sandbox puts its own files",
            "move it out of /proc, /sys, /dev and /run; it can lie below /tmp but not be it",
        ));
    }
    let covering = hidden::in_home(wanted.home.as_deref())
        .chain(hidden::on_machine(true))
        .chain(wanted.hidden.iter().cloned())
        .find(|hidden| wanted.workspace.starts_with(hidden));
    match covering {
        Some(hidden) => Err(Refused::new(
            place,
            format!("`{}` is hidden from commands", hidden.display()),
            "move the workspace out of it",
        )),
        None => Ok(()),
    }
}

fn layers(wanted: &Wanted) -> Result<(), Refused> {
    let layers = &wanted.layers;
    let mut scratch = vec![&layers.tmp];
    if wanted.lane == Lane::Transaction {
        scratch.extend([&layers.upper, &layers.work]);
    }
    for cache in &layers.caches {
        scratch.extend([&cache.upper, &cache.work]);
    }
    for path in scratch {
        if !is_plain(path) || path.starts_with(&wanted.workspace) {
            return Err(Refused::new(
                format!("the scratch folder `{}`", path.display()),
                "it is not absolute, or lies inside the workspace",
                "keep Tagout's state outside of the workspace",
            ));
        }
    }
    Ok(())
}

fn long_running(wanted: &Wanted) -> Result<(), Refused> {
    let shared = matches!(wanted.network, Network::Session(_));
    if !wanted.long_running || (shared && wanted.lane == Lane::ReadOnly) {
        return Ok(());
    }
    Err(Refused::new(
        "a long-running command",
        "it sees the live workspace read-only and shares the network of its session",
        "ask for the read-only lane and the session's network",
    ))
}
