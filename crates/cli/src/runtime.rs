//! Opens the engine of a workspace: state, books, tools, clock and chance.

use std::path::Path;
use std::thread;
use std::time::UNIX_EPOCH;

use tagout_gate::{Clockwork, Engine, Places, Registry, Shelf, Site, Sources, Text, Tool};
use tagout_policy::catalogue::Catalogue;
use tagout_vocab::Role;

use crate::args::{self, PlaceArgs};
use crate::books;
use crate::failure::Failure;
use crate::notes::Notes;
use crate::{chance, clock, report, site, state, unreported};

/// Where the workspace and the states of all workspaces lie.
pub(crate) fn places(place: &PlaceArgs) -> Result<Places, Failure> {
    let root = site::require(place.workspace.as_deref())?;
    Ok(Places {
        root,
        state_home: state::home(place)?,
    })
}

/// The clock and chance. The kernel is asked once and may fail then; afterwards nothing can, so no
/// id and no salt is ever made of anything else.
pub(crate) fn clockwork() -> Result<Clockwork, Failure> {
    let seed = chance::seed()
        .map_err(|error| Failure::failed(format!("the kernel gives no random bytes: {error}")))?;
    Ok(Clockwork::new(clock::now, move || chance::drawn(&seed)).pausing(thread::sleep))
}

/// The files of the tree that decide what agents may do.
pub(crate) fn sources(root: &Path) -> Result<Sources, Failure> {
    let text = |name: &str| {
        site::read_sidecar(root, name)
            .map(|text| {
                text.map(|text| Text {
                    name: name.to_owned(),
                    text,
                })
            })
            .map_err(Failure::invalid)
    };
    let all = |names: &[&str]| -> Result<Vec<Text>, Failure> {
        names
            .iter()
            .filter_map(|name| text(name).transpose())
            .collect()
    };
    Ok(Sources {
        policies: all(&books::POLICIES)?,
        intents: text(books::INTENTS)?,
        ignores: all(&books::IGNORES)?,
    })
}

/// Whether the workspace has a state.
pub(crate) fn is_set_up(place: &PlaceArgs) -> bool {
    places(place).is_ok_and(|places| Site::open(&places).is_ok())
}

/// Opens the engine of the workspace, recovering first what a crash left behind.
pub(crate) fn open(place: &PlaceArgs) -> Result<Engine, Failure> {
    open_at(&places(place)?)
}

/// The same for known places.
pub(crate) fn open_at(places: &Places) -> Result<Engine, Failure> {
    open_under(places, books::user_text()?.as_ref(), Vec::new())
}

/// The same without the person's own policy, for a demonstration that comes out alike everywhere.
pub(crate) fn open_without_user(places: &Places) -> Result<Engine, Failure> {
    open_under(places, None, Vec::new())
}

/// The same with tools beside the native ones.
pub(crate) fn open_with(places: &Places, more: Vec<Box<dyn Tool>>) -> Result<Engine, Failure> {
    open_under(places, None, more)
}

/// The same for the hook: it runs no commands, and believes no environment. Unless it `performs` a
/// selection it runs no tools either. Where its client waits for a verdict, it also tidies nothing.
pub(crate) fn open_to_guard(
    (site, root): (Site, &Path),
    config: Option<&Path>,
    (performs, judges): (bool, bool),
) -> Result<Engine, Failure> {
    let shelf = shelf(&site, books::user_text_in(config)?, root)?;
    let registry = if performs {
        registry(&shelf, Vec::new())?
    } else {
        Registry::default()
    };
    let (engine, _) = if judges {
        Engine::open_to_judge(site, shelf, registry, clockwork()?)?
    } else {
        Engine::open(site, shelf, registry, clockwork()?)?
    };
    Ok(engine)
}

/// The same for `exec`, with no tools but the one that runs commands and the one that selects.
pub(crate) fn open_for_commands(place: &PlaceArgs) -> Result<Engine, Failure> {
    let places = places(place)?;
    let site = Site::open(&places)?;
    let shelf = shelf(&site, books::user_text()?, &places.root)?;
    let catalogue = &shelf.books.catalogue;
    let mut registry = Registry::new(catalogue.clone());
    let roles = [Role::Shell, Role::SelectIntent];
    let needed = tagout_tools::native_playing(&roles, catalogue).map_err(Failure::failed)?;
    for tool in needed {
        registry.register_own(tool).map_err(Failure::failed)?;
    }
    open_whole(&places, (site, shelf), registry)
}

fn open_under(
    places: &Places,
    user: Option<&Text>,
    more: Vec<Box<dyn Tool>>,
) -> Result<Engine, Failure> {
    let site = Site::open(places)?;
    let shelf = shelf(&site, user.cloned(), &places.root)?;
    let registry = registry(&shelf, more)?;
    open_whole(places, (site, shelf), registry)
}

/// Opens an engine that can run commands, and tells what was recovered.
fn open_whole(
    places: &Places,
    (site, shelf): (Site, Shelf),
    registry: Registry,
) -> Result<Engine, Failure> {
    let notes = Notes::of(site.state());
    for gone in notes.gone() {
        report::note(&format!(
            "{}; a person runs `tagout install {}`",
            gone.what, gone.client
        ));
    }
    let commands = args::commands(places.state_home.clone());
    let given = (registry, Some(commands));
    let (engine, recovered) = Engine::open_with(site, shelf, given, clockwork()?)?;
    unreported::tidy(&engine, &notes);
    for call in &recovered.completed {
        report::note(&format!(
            "{call} was committed before a crash; the ledger knows now"
        ));
    }
    for call in &recovered.rolled_back {
        report::note(&format!("{call} did not end; nothing of it is left"));
    }
    for conflict in &recovered.conflicts {
        report::note(&format!("left alone: {conflict}"));
    }
    Ok(engine)
}

fn shelf(site: &Site, user: Option<Text>, root: &Path) -> Result<Shelf, Failure> {
    let tree = sources(root)?;
    let make = |site: &Site, user: Option<&Text>, tree: &Sources| {
        let catalogue = Catalogue::built_in().map_err(|problems| Failure::problems(&problems))?;
        Ok(site.shelve(catalogue, books::user_layer(user)?, tree)?)
    };
    match build() {
        Some(build) => site.shelved(&build, (user, tree), make),
        None => make(site, user.as_ref(), &tree),
    }
}

/// What tells this program from any other build of it: what it was made from can't be seen from
/// inside. Where that is not known, nothing is taken from an earlier process.
fn build() -> Option<String> {
    // Where the kernel has a link to it, nothing has to be read first.
    let program = std::fs::metadata("/proc/self/exe")
        .or_else(|_| std::env::current_exe().and_then(std::fs::metadata))
        .ok()?;
    let changed = program.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    let (version, length) = (env!("CARGO_PKG_VERSION"), program.len());
    Some(format!("{version} {length} {}", changed.as_nanos()))
}

fn registry(shelf: &Shelf, more: Vec<Box<dyn Tool>>) -> Result<Registry, Failure> {
    let mut registry = Registry::new(shelf.books.catalogue.clone());
    let native = tagout_tools::native(&shelf.books.catalogue).map_err(Failure::failed)?;
    for tool in native {
        registry.register_own(tool).map_err(Failure::failed)?;
    }
    for tool in more {
        registry.register(tool).map_err(Failure::failed)?;
    }
    Ok(registry)
}

#[cfg(test)]
mod tests;
