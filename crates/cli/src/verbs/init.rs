//! `tagout init`: a workspace, its state, its profile and a first intent.

use std::path::{Path, PathBuf};

use serde_json::json;
use tagout_agents::install::plan::Scope;
use tagout_gate::{GateError, Places, Site};
use tagout_policy::intents;
use tagout_policy::scope::Scope as Owned;
use tagout_vocab::{Budget, Intent, IntentId, IntentStatus};
use tagout_workspace::files;

use super::{install, trust};
use crate::args::{InitArgs, PlaceArgs, ProfileArg};
use crate::books;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{args, person, report, runtime, site, state};

const POLICY: &str = ".orchestration/hook_policy.yaml";
/// Records may stand in any order and twice, so that branches are merged by keeping both sides.
const MERGED: &str = ".orchestration/.gitattributes";
const UNCOMMITTED: &str = ".orchestration/.gitignore";

/// Sets the workspace up. Can be run again: what is there stays as it is.
pub(crate) fn run(place: &PlaceArgs, args: &InitArgs) -> Result<Exit, Failure> {
    person::required(args.yes, "init")?;
    let root = root(place)?;
    let places = Places {
        root,
        state_home: state::home(place)?,
    };
    let wanted = wanted(&places.root, args)?;
    for (name, _) in &wanted {
        report::note(&format!("would write {name}"));
    }
    report::note(&format!(
        "would keep state beneath {}",
        places.state_home.display()
    ));
    person::agrees(args.yes, "Set this workspace up?")?;
    for (name, text) in &wanted {
        let path = places.root.join(name);
        let parent = path.parent().unwrap_or(&places.root);
        files::ensure_dir(parent)
            .and_then(|()| files::write_atomic(&path, text.as_bytes(), None))
            .map_err(Failure::failed)?;
    }
    match Site::create(&places, &runtime::clockwork()?, &args::user()) {
        Ok(_) => {}
        Err(GateError::AlreadySetUp { path }) => {
            report::note(&format!("its state is there already: {}", path.display()));
        }
        Err(error) => return Err(error.into()),
    }
    let engine = runtime::open_at(&places)?;
    if engine.site().accepted()?.is_none() {
        trust::accept(&engine, &runtime::sources(&places.root)?)?;
    }
    install::register(&engine)?;
    let clients = install::named(&args.client)?;
    if !clients.is_empty() {
        let wanted = install::Wanted::new(&places, Scope::Project)?;
        wanted.install(&clients, args.yes)?;
    }
    let root = places.root.display().to_string();
    let state = engine.site().state().display().to_string();
    let written: Vec<&str> = wanted.iter().map(|(name, _)| *name).collect();
    let value = json!({
        "status": "set_up", "workspace": root, "state": state, "written": written,
    });
    report::done(
        args.json,
        &format!("workspace: {root}\nstate: {state}"),
        &value,
    )
}

fn root(place: &PlaceArgs) -> Result<PathBuf, Failure> {
    if let Some(found) = site::find(place.workspace.as_deref())? {
        return Ok(found);
    }
    std::env::current_dir()
        .map_err(|error| Failure::failed(format!("the current folder can't be read: {error}")))
}

/// The files that are not there yet.
fn wanted(root: &Path, args: &InitArgs) -> Result<Vec<(&'static str, String)>, Failure> {
    let profile = match args.profile {
        ProfileArg::Balanced => "balanced",
        ProfileArg::Strict => "strict",
    };
    let first = match (&args.intent, args.scope.is_empty()) {
        (Some(name), false) => vec![first_intent(name, &args.scope)?],
        (None, true) => Vec::new(),
        (Some(_), true) => {
            return Err(Failure::invalid("a first intent needs files to own")
                .hint("give patterns with `--scope 'src/**'`"));
        }
        (None, false) => {
            return Err(Failure::invalid("`--scope` belongs to a first intent")
                .hint("name it with `--intent NAME`"));
        }
    };
    let all = [
        (books::INTENTS, intents::write(&first)),
        (POLICY, format!("version: 1\nprofile: {profile}\n")),
        (
            UNCOMMITTED,
            "# The id of this worktree's state; a clone gets its own.\n.tagout-id\n".to_owned(),
        ),
        (
            MERGED,
            "agent_trace.jsonl merge=union\nintent_map.md merge=union\n".to_owned(),
        ),
    ];
    Ok(all
        .into_iter()
        .filter(|(name, _)| !root.join(name).exists())
        .collect())
}

fn first_intent(name: &str, scope: &[String]) -> Result<Intent, Failure> {
    // Before anything is written: a file that can't be accepted is one that a person has to mend.
    Owned::parse(scope).map_err(|error| {
        Failure::invalid(format!("`--scope`: {error}"))
            .hint("patterns begin at the workspace's root: `--scope 'src/**'`")
    })?;
    Ok(Intent {
        id: IntentId::new("INT-001").map_err(Failure::failed)?,
        name: name.to_owned(),
        status: IntentStatus::InProgress,
        owned_scope: scope.to_vec(),
        constraints: Vec::new(),
        acceptance_criteria: Vec::new(),
        related_requirements: Vec::new(),
        description: None,
        expires_at: None,
        budget: Budget::default(),
        shares_with: Vec::new(),
    })
}
