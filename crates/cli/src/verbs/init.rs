//! `tagout init`: a workspace, its state, its profile, a first intent, and the hooks of clients.

use std::cell::Cell;
use std::path::{Path, PathBuf};

use serde_json::json;
use tagout_agents::Client;
use tagout_agents::install::plan::Scope;
use tagout_gate::{Engine, GateError, Places, Site, Text};
use tagout_policy::intents;
use tagout_policy::scope::Scope as Owned;
use tagout_vocab::{Budget, Code, Intent, IntentId, IntentStatus};
use tagout_workspace::files;

use super::{install, trust};
use crate::args::{InitArgs, PlaceArgs, ProfileArg};
use crate::books;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{args, person, report, runtime, site, state};

mod begun;
mod usual;

use begun::Whose;

const POLICY: &str = ".orchestration/hook_policy.yaml";
/// Records may stand in any order and twice, so that branches are merged by keeping both sides.
const MERGED: &str = ".orchestration/.gitattributes";
const UNCOMMITTED: &str = ".orchestration/.gitignore";

/// A file that `init` writes.
struct Wanted {
    name: &'static str,
    text: String,
    /// What was asked for on the command line and is in it.
    asked: Option<&'static str>,
}

/// Sets the workspace up. Can be run again: what is there stays as it is.
pub(crate) fn run(place: &PlaceArgs, args: &InitArgs) -> Result<Exit, Failure> {
    person::required(args.yes, "init")?;
    let places = Places {
        root: root(place)?,
        state_home: state::home(place)?,
    };
    is_repository(&places.root)?;
    let offered = offered(&places, args)?;
    let owned = offered.first.as_ref().map(owned);
    let (kept, wanted): (Vec<Wanted>, Vec<Wanted>) = wanted(&places.root, args, offered.first)?
        .into_iter()
        .partition(|file| places.root.join(file.name).exists());
    let hooks = install::Wanted::new(&places, Scope::Project)?;
    show(&places, &wanted, args.yes);
    if let Some(owned) = owned.filter(|_| !args.yes) {
        report::note(&owned);
    }
    hooks.announce(&offered.clients, args.yes)?;
    person::agrees(args.yes, "Set this workspace up?").map_err(|failure| Failure {
        hint: Some("no file was written; `tagout init` asks again whenever you like".to_owned()),
        ..failure
    })?;
    let SetUp {
        engine,
        again,
        accepted,
    } = begun::whole_or_nothing(&places.root, &wanted, |whose| {
        set_up(&places, &wanted, (args.yes, whose))
    })?;
    if !offered.clients.is_empty() {
        hooks.install_agreed(&offered.clients)?;
        hooks.put_in(&engine, &offered.clients)?;
    }
    let ignored = told_of_kept(&kept, again);
    let root = places.root.display().to_string();
    let state = engine.site().state().display().to_string();
    if !args.json {
        report::line(&format!("workspace: {root}\nstate: {state}"))?;
    }
    let (governed, clients) = hooks.seen(&offered.clients, args.json)?;
    if args.json {
        report::json(&json!({
            "status": "set_up", "workspace": root, "state": state, "written": names(&wanted),
            "kept": names(&kept), "ignored": ignored, "accepted": accepted, "clients": clients,
        }))?;
    }
    next(&engine, (&offered.clients, governed));
    Ok(if governed { Exit::Done } else { Exit::Failed })
}

fn names(files: &[Wanted]) -> Vec<&'static str> {
    files.iter().map(|one| one.name).collect()
}

/// What stands once the workspace is set up.
struct SetUp {
    engine: Engine,
    /// There was a state already.
    again: bool,
    /// The law of the tree holds.
    accepted: bool,
}

/// Makes the state first: most of what can fail fails before the workspace is touched.
fn set_up(
    places: &Places,
    wanted: &[Wanted],
    (yes, whose): (bool, &Cell<Whose>),
) -> Result<SetUp, Failure> {
    let again = create(places)?;
    if again {
        whose.set(Whose::Others);
    }
    for file in wanted {
        let path = places.root.join(file.name);
        files::write_atomic(&path, file.text.as_bytes(), None).map_err(Failure::failed)?;
    }
    let engine = runtime::open_at(places)?;
    let accepted = engine.site().accepted()?.is_some() || accept(&engine, wanted, yes)?;
    install::register(&engine)?;
    Ok(SetUp {
        engine,
        again,
        accepted,
    })
}

/// Accepts the files that this run wrote. Those that were there before, as in a clone, are shown
/// and wait for a person's word: `--yes` agrees to setting up, and nobody may have read them.
fn accept(engine: &Engine, written: &[Wanted], yes: bool) -> Result<bool, Failure> {
    let sources = runtime::sources(engine.site().root())?;
    let texts = sources.policies.iter().chain(&sources.intents);
    let mut texts = texts.chain(&sources.ignores);
    let is_own = |text: &Text| written.iter().any(|file| file.name == text.name);
    if texts.all(is_own) {
        trust::accept(engine, &sources)?;
        return Ok(true);
    }
    trust::show(engine, &sources);
    if !yes && person::wants("Accept the files that were there already?")? {
        trust::accept(engine, &sources)?;
        return Ok(true);
    }
    report::note("these files wait, and agents can only read, until a person runs `tagout trust`");
    Ok(false)
}

fn create(places: &Places) -> Result<bool, Failure> {
    match Site::create(places, &runtime::clockwork()?, &args::user()) {
        Ok(_) => Ok(false),
        Err(GateError::AlreadySetUp { .. }) => Ok(true),
        Err(GateError::Workspace { source }) => {
            let message = format!("the state can't be made: {source}");
            let hint = "another folder for the state is named with `--state-dir DIR` or \
                        `TAGOUT_STATE_DIR`";
            Err(Failure::failed(message)
                .code(Code::LedgerUnavailable)
                .hint(hint))
        }
        Err(error) => Err(error.into()),
    }
}

/// Says what would be written, and what a person should know about this folder.
fn show(places: &Places, wanted: &[Wanted], yes: bool) {
    let word = if yes { "writing" } else { "would write" };
    for file in wanted {
        report::note(&format!("{word} {}", file.name));
    }
    let state = places.state_home.display();
    report::note(&format!("state lies beneath {state}"));
    let mut above = places.root.ancestors();
    if !above.any(|folder| folder.join(".git").exists()) {
        report::note(
            "this folder is in no git repository: Tagout works, but no commit will say which \
             change belongs to it",
        );
    }
}

/// What a first intent would own, for the eyes of whoever agrees to it.
fn owned(intent: &Intent) -> String {
    let scope = intent.owned_scope.join(" ");
    let all = intent
        .owned_scope
        .iter()
        .any(|one| one == usual::EVERYTHING);
    let all = if all {
        ": everything in this folder but what gives authority"
    } else {
        ""
    };
    format!("{} would own {}{all}", intent.id, report::plain(&scope))
}

/// Says what was there already, and which arguments therefore changed nothing. Gives the latter.
fn told_of_kept(kept: &[Wanted], again: bool) -> Vec<&'static str> {
    if !again && kept.is_empty() {
        return Vec::new();
    }
    for file in kept {
        report::note(&format!("kept {}", file.name));
    }
    let mut ignored = Vec::new();
    for (file, asked) in kept.iter().filter_map(|file| Some((file, file.asked?))) {
        let instead = match asked {
            "--profile" => "edit it, then run `tagout trust`",
            _ => "`tagout intent new` adds an intent",
        };
        let name = file.name;
        report::note(&format!(
            "{asked} was ignored, because {name} is there: {instead}"
        ));
        ignored.push(asked);
    }
    ignored
}

/// What the person does next.
fn next(engine: &Engine, (clients, governed): (&[Client], bool)) {
    let intents = engine.shelf().books.intents.iter().next().is_some();
    if !intents {
        report::note(
            "\nNo intent is declared, so agents can only read. Declare one:\n  \
             tagout intent new --name 'First work' --scope 'src/**'",
        );
    }
    if !clients.is_empty() {
        if intents && governed {
            report::note(
                "\nStart your client in this folder as you always do; `tagout log` shows what it \
                 does, `tagout pending` what waits for you.",
            );
        }
        return;
    }
    let found: Vec<&str> = install::found().iter().map(|one| one.as_str()).collect();
    if !found.is_empty() {
        report::note(&format!(
            "\nThese clients are on this machine and not governed yet: {}. Install the hook:\n  \
             tagout install {}",
            found.join(", "),
            found.join(" ")
        ));
    }
}

/// What a person chose beyond the files: the clients, and the first intent.
struct Offered {
    clients: Vec<Client>,
    first: Option<Intent>,
}

/// Takes the clients and the first intent from the command line or, at a terminal, asks.
fn offered(places: &Places, args: &InitArgs) -> Result<Offered, Failure> {
    let first = match (&args.intent, args.scope.is_empty()) {
        (Some(name), false) => Some(first_intent(name, &args.scope)?),
        (None, true) if args.yes || places.root.join(books::INTENTS).exists() => None,
        (None, true) => asked_intent(&places.root)?,
        (Some(_), true) => {
            return Err(Failure::invalid("a first intent needs files to own")
                .hint("give patterns with `--scope 'src/**'`"));
        }
        (None, false) => {
            return Err(Failure::invalid("`--scope` belongs to a first intent")
                .hint("name it with `--intent NAME`"));
        }
    };
    let clients = if args.client.is_empty() && !args.yes {
        asked_clients(places)?
    } else {
        install::named(&args.client)?
    };
    if !clients.is_empty() {
        // Before anything is written.
        install::Wanted::new(places, Scope::Project)?.is_fit()?;
    }
    Ok(Offered { clients, first })
}

/// Offers every client that this machine shows.
fn asked_clients(places: &Places) -> Result<Vec<Client>, Failure> {
    let found = install::found();
    if found.is_empty() {
        report::note("no client was found on this machine; `tagout install` adds one later");
        return Ok(Vec::new());
    }
    if let Err(failure) = install::Wanted::new(places, Scope::Project)?.is_fit() {
        let hint = failure.hint.unwrap_or_default();
        report::note(&format!(
            "hooks of clients can't be installed from here: {}: {hint}",
            failure.message
        ));
        return Ok(Vec::new());
    }
    let mut clients = Vec::new();
    for client in found {
        let title = client.profile().title;
        if person::wants(&format!("Install the hook for {title} ({client})?"))? {
            clients.push(client);
        }
    }
    Ok(clients)
}

/// Offers a first intent, so that the first edit can be governed at once.
fn asked_intent(root: &Path) -> Result<Option<Intent>, Failure> {
    let name = person::answers("What is the first work about? (nothing: no intent yet)")?;
    if name.is_empty() {
        return Ok(None);
    }
    let usual = usual::scope(root);
    let nothing = usual.join(" ");
    let all = if nothing == usual::EVERYTHING {
        ", which is everything here"
    } else {
        ""
    };
    let question = format!(
        "Which files may it change? (several with spaces between, nothing: {nothing}{all})"
    );
    person::understood(&question, |scope| {
        let patterns = if scope.is_empty() {
            usual.clone()
        } else {
            args::patterns::listed(scope)?
        };
        first_intent(&name, &patterns).map(Some)
    })
}

fn root(place: &PlaceArgs) -> Result<PathBuf, Failure> {
    if let Some(found) = site::find(place.workspace.as_deref())? {
        return Ok(found);
    }
    std::env::current_dir()
        .map_err(|error| Failure::failed(format!("the current folder can't be read: {error}")))
}

/// Refuses folders that hold everything: the root of the file system, and the home.
fn is_repository(root: &Path) -> Result<(), Failure> {
    let what = if root.parent().is_none() {
        "the root of the file system"
    } else if args::home().is_some_and(|home| home == root) {
        "your home"
    } else {
        return Ok(());
    };
    let message = format!("`{}` is {what}, not a repository", root.display());
    Err(Failure::invalid(message)
        .hint("run `tagout init` in the folder of one project, or name it with `--workspace DIR`"))
}

/// The files that a workspace has.
fn wanted(root: &Path, args: &InitArgs, first: Option<Intent>) -> Result<Vec<Wanted>, Failure> {
    let profile = match args.profile.unwrap_or(ProfileArg::Balanced) {
        ProfileArg::Balanced => "balanced",
        ProfileArg::Strict => "strict",
    };
    let asked = args.intent.is_some().then_some("--intent");
    let first: Vec<Intent> = first.into_iter().collect();
    let all = [
        (books::INTENTS, intents::write(&first), asked),
        (
            POLICY,
            format!("version: 1\nprofile: {profile}\n"),
            args.profile.map(|_| "--profile"),
        ),
        (
            UNCOMMITTED,
            "# The id of this worktree's state; a clone gets its own.\n.tagout-id\n".to_owned(),
            None,
        ),
        (
            MERGED,
            "agent_trace.jsonl merge=union\nintent_map.md merge=union\n".to_owned(),
            None,
        ),
    ];
    // A folder that can't be looked into is said before anything is written.
    if let Err(error) = std::fs::read_dir(root) {
        return Err(Failure::failed(format!("`{}`: {error}", root.display())));
    }
    let file = |(name, text, asked)| Wanted { name, text, asked };
    Ok(all.into_iter().map(file).collect())
}

fn first_intent(name: &str, scope: &[String]) -> Result<Intent, Failure> {
    let scope = args::patterns::each(scope)?;
    // Before anything is written: a file that can't be accepted is one that a person has to mend.
    Owned::parse(&scope).map_err(|error| {
        Failure::invalid(error).hint("patterns begin at the workspace's root, as `src/**` does")
    })?;
    Ok(Intent {
        id: IntentId::new("INT-001").map_err(Failure::failed)?,
        name: name.to_owned(),
        status: IntentStatus::InProgress,
        owned_scope: scope,
        constraints: Vec::new(),
        acceptance_criteria: Vec::new(),
        related_requirements: Vec::new(),
        description: None,
        expires_at: None,
        budget: Budget::default(),
        shares_with: Vec::new(),
    })
}
