//! `tagout install` and `uninstall`: the hook in the configuration of clients, in and out.

mod beside;
mod program;
mod told;
mod tried;
mod write;

use std::path::Path;

use serde_json::json;
use tagout_agents::Client;
use tagout_agents::install::plan::Scope;
use tagout_agents::install::{self, Binary};
use tagout_gate::trace::lessons;
use tagout_gate::{Engine, Places, Site};
use tagout_policy::catalogue::Catalogue;

use crate::args::{InstallArgs, PlaceArgs, ScopeArg, UninstallArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::notes::homes::{self, Homes};
use crate::notes::{Notes, Whereabouts};
use crate::{args, person, report, runtime};

fn scope(scope: ScopeArg) -> Scope {
    match scope {
        ScopeArg::Project => Scope::Project,
        ScopeArg::User => Scope::User,
        ScopeArg::Managed => Scope::Managed,
    }
}

/// The client as which the hooks of another are called, where they stand in its files.
fn hooked_as(client: Client) -> Client {
    let through = client.profile().install.through;
    through.and_then(Client::named).unwrap_or(client)
}

/// The word that stands for every client that this machine shows.
const FOUND: &str = "found";

fn all_names() -> String {
    let all: Vec<&str> = Client::ALL.iter().map(|client| client.as_str()).collect();
    all.join(", ")
}

/// The clients of these names, each once.
pub(super) fn named(names: &[String]) -> Result<Vec<Client>, Failure> {
    let mut clients = Vec::new();
    for name in names {
        if name == FOUND {
            clients.extend(found());
            continue;
        }
        clients.push(Client::named(name).ok_or_else(|| {
            Failure::invalid(format!("`{name}` is no client that tagout knows"))
                .hint(format!("these are: {}", all_names()))
        })?);
    }
    let mut seen = Vec::new();
    clients.retain(|client| {
        let new = !seen.contains(client);
        seen.push(*client);
        new
    });
    Ok(clients)
}

/// The clients that this machine shows: a program on the search path, or a folder in the home.
pub(super) fn found() -> Vec<Client> {
    let homes = args::homes();
    let shows = |client: &Client| {
        let shows = client.profile().install.shows;
        let program = shows
            .programs
            .iter()
            .any(|name| args::program(name).is_some());
        let folder = |path: &&str| homes.at(&format!("{path}/")).is_some_and(|at| at.is_dir());
        program || shows.home.iter().any(folder)
    };
    Client::ALL.iter().copied().filter(shows).collect()
}

/// Writes down where things lie, for a hook that believes no environment.
pub(super) fn register(engine: &Engine) -> Result<(), Failure> {
    let whereabouts = Whereabouts {
        root: engine.site().root().to_path_buf(),
        config: args::config_dir(),
        homes: args::homes(),
    };
    Notes::of(engine.site().state()).keep_whereabouts(&whereabouts)
}

/// Installs the hooks of clients, or says what would be open.
pub(crate) fn run(place: &PlaceArgs, args: &InstallArgs) -> Result<Exit, Failure> {
    let clients = named(&args.clients)?;
    if clients.is_empty() {
        return Err(Failure::invalid(
            "no client was found on this machine, so there is nothing to look at",
        )
        .hint(format!("name the one that you use: {}", all_names())));
    }
    let wanted = Wanted::new(&runtime::places(place)?, scope(args.scope))?;
    if args.check {
        return wanted.told(&clients, args.json);
    }
    person::required(args.yes, "install")?;
    let engine = runtime::open_at(&wanted.places)?;
    wanted.install(&clients, args.yes)?;
    register(&engine)?;
    wanted.put_in(&engine, &clients)?;
    drop(engine);
    wanted.told(&clients, args.json)
}

/// Takes the hooks of clients out.
pub(crate) fn uninstall(place: &PlaceArgs, args: &UninstallArgs) -> Result<Exit, Failure> {
    person::required(args.yes, "uninstall")?;
    let clients = named(&args.clients)?;
    let wanted = Wanted::new(&runtime::places(place)?, scope(args.scope))?;
    let written = wanted.uninstall(&clients, args.yes)?;
    let lessons = wanted.lessons();
    if !lessons.is_empty() {
        report::note(&format!(
            "what failed checks taught agents stays in {}, under its own heading: it is meant to \
             be committed, and yours to delete",
            lessons.join(" and ")
        ));
    }
    let value = json!({
        "status": "uninstalled", "changed": written, "lessons_in": lessons,
    });
    let words = if written.is_empty() {
        "no hook of Tagout was there"
    } else {
        "the hooks are out"
    };
    report::done(args.json, words, &value)
}

/// Where hooks go, and what they call.
pub(super) struct Wanted {
    places: Places,
    homes: Homes,
    scope: Scope,
    binary: Binary,
}

impl Wanted {
    /// What `install` would write now.
    pub(super) fn new(places: &Places, scope: Scope) -> Result<Self, Failure> {
        let text = |path: &Path| {
            let text = path.to_str().map(str::to_owned);
            text.ok_or_else(|| Failure::invalid("the name of a folder is not text"))
        };
        let root = text(&places.root)?;
        Ok(Self {
            places: places.clone(),
            homes: args::homes(),
            scope,
            binary: Binary {
                program: program::own()?,
                workspace: (scope == Scope::Project).then_some(root),
                state: Some(text(&places.state_home)?),
            },
        })
    }

    /// Refuses a program that clients should not call.
    pub(super) fn is_fit(&self) -> Result<(), Failure> {
        program::is_fit(&self.binary.program)
    }

    /// Notes for the hooks that they are there with a person's will, and what of the clients'
    /// settings that person has left loose.
    pub(super) fn put_in(&self, engine: &Engine, clients: &[Client]) -> Result<(), Failure> {
        let own = Notes::of(engine.site().state());
        let concerned = self.concerned();
        for client in clients.iter().map(|client| hooked_as(*client)) {
            let name = client.as_str();
            own.keep_gone(name, None)?;
            own.keep_loosened(name, &install::loosened(client, &self.texts(client)))?;
            for notes in &concerned {
                notes.put_in(name, self.scope.as_str());
            }
        }
        Ok(())
    }

    /// Notes for the hooks of conversations that still run that a person takes them away. What
    /// can't be noted keeps nobody from it.
    fn take_out(&self, clients: &[Client]) {
        for notes in self.concerned() {
            for client in clients {
                let name = hooked_as(*client).as_str();
                if let Err(failure) = notes.take_out(name, self.scope.as_str()) {
                    report::note(&format!("conversations may miss it: {}", failure.message));
                }
            }
        }
    }

    /// The instruction files that hold lessons. They are the repository's, as the trace is, so they
    /// do not go with the hooks.
    fn lessons(&self) -> Vec<String> {
        let catalogue = Catalogue::built_in().ok();
        let authority = catalogue.as_ref().and_then(Catalogue::authority);
        let names = authority
            .into_iter()
            .flat_map(|one| [&one.lessons, &one.lessons_also]);
        let holds = |name: &&String| {
            let text = homes::read(&self.places.root.join(name)).ok().flatten();
            text.is_some_and(|text| text.contains(lessons::BEGIN))
        };
        names.flatten().filter(holds).cloned().collect()
    }

    /// The notes of the workspaces whose hooks come and go: this one's, or everybody's. Hooks of a
    /// workspace whose state is lost can still be taken out.
    fn concerned(&self) -> Vec<Notes> {
        match self.scope {
            Scope::Project => {
                let site = Site::open(&self.places).ok();
                site.map(|site| Notes::of(site.state()))
                    .into_iter()
                    .collect()
            }
            Scope::User | Scope::Managed => Notes::all(&self.places.state_home),
        }
    }

    fn texts(&self, client: Client) -> install::Texts {
        self.homes
            .texts(&install::places(client), &self.places.root)
    }
}
