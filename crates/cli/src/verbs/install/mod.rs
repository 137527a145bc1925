//! `tagout install` and `uninstall`: the hook in the configuration of clients, in and out.

mod program;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tagout_agents::Client;
use tagout_agents::install::plan::Scope;
use tagout_agents::install::{
    self, Binary, FileEdit, Finding, FindingKind, instruction_file, put_instructions,
    take_instructions,
};
use tagout_gate::{Engine, Places, Site};
use tagout_workspace::files;

use super::hook::{path_of, read_texts};
use crate::args::{InstallArgs, PlaceArgs, ScopeArg, UninstallArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::notes::{Notes, Whereabouts};
use crate::{args, person, report, runtime};

fn scope(scope: ScopeArg) -> Scope {
    match scope {
        ScopeArg::Project => Scope::Project,
        ScopeArg::User => Scope::User,
        ScopeArg::Managed => Scope::Managed,
    }
}

/// The clients of these names.
pub(super) fn named(names: &[String]) -> Result<Vec<Client>, Failure> {
    let one = |name: &String| {
        Client::named(name).ok_or_else(|| {
            let all: Vec<&str> = Client::ALL.iter().map(|client| client.as_str()).collect();
            Failure::invalid(format!("`{name}` is no client that tagout knows"))
                .hint(format!("these are: {}", all.join(", ")))
        })
    };
    names.iter().map(one).collect()
}

/// Writes down where things lie, for a hook that believes no environment.
pub(super) fn register(engine: &Engine) -> Result<(), Failure> {
    let whereabouts = Whereabouts {
        root: engine.site().root().to_path_buf(),
        config: args::config_dir(),
        home: args::home(),
    };
    Notes::of(engine.site().state()).keep_whereabouts(&whereabouts)
}

/// Installs the hooks of clients, or says what would be open.
pub(crate) fn run(place: &PlaceArgs, args: &InstallArgs) -> Result<Exit, Failure> {
    let clients = named(&args.clients)?;
    let wanted = Wanted::new(&runtime::places(place)?, scope(args.scope))?;
    if args.check {
        return wanted.told(&clients, args.json);
    }
    person::required(args.yes, "install")?;
    wanted.install(&clients, args.yes)?;
    let engine = runtime::open_at(&wanted.places)?;
    register(&engine)?;
    let notes = Notes::of(engine.site().state());
    for client in &clients {
        notes.keep_gone(client.as_str(), None)?;
    }
    wanted.canary(&engine)?;
    wanted.told(&clients, args.json)
}

/// Takes the hooks of clients out.
pub(crate) fn uninstall(place: &PlaceArgs, args: &UninstallArgs) -> Result<Exit, Failure> {
    person::required(args.yes, "uninstall")?;
    let clients = named(&args.clients)?;
    let wanted = Wanted::new(&runtime::places(place)?, scope(args.scope))?;
    let written = wanted.uninstall(&clients, args.yes)?;
    let value = json!({ "status": "uninstalled", "changed": written });
    report::done(args.json, "the hooks are out", &value)
}

/// Where hooks go, and what they call.
pub(super) struct Wanted {
    places: Places,
    home: Option<PathBuf>,
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
            home: args::home(),
            scope,
            binary: Binary {
                program: program::own()?,
                workspace: (scope == Scope::Project).then_some(root),
                state: Some(text(&places.state_home)?),
            },
        })
    }

    fn texts(&self, client: Client) -> install::Texts {
        let places = install::places(client);
        read_texts(&places, &self.places.root, self.home.as_deref())
    }

    /// Shows, asks, writes.
    pub(super) fn install(&self, clients: &[Client], yes: bool) -> Result<Vec<String>, Failure> {
        program::is_fit(&self.binary.program)?;
        let mut written = Vec::new();
        for client in clients {
            let texts = self.texts(*client);
            let plan = install::install_plan(*client, self.scope, &self.binary, &texts);
            let mut edits = plan.map_err(invalid)?;
            let place = instruction_file(*client);
            let old = texts.get(&place).map(String::as_str);
            let text = put_instructions(*client, old);
            if old != Some(text.as_str()) {
                edits.push(FileEdit {
                    place,
                    text: Some(text),
                    executable: false,
                });
            }
            written.extend(self.apply(&edits, yes)?);
        }
        Ok(written)
    }

    fn uninstall(&self, clients: &[Client], yes: bool) -> Result<Vec<String>, Failure> {
        let mut written = Vec::new();
        for client in clients {
            let texts = self.texts(*client);
            let plan = install::uninstall_plan(*client, self.scope, &texts);
            written.extend(self.apply(&plan.map_err(invalid)?, yes)?);
            let place = instruction_file(*client);
            let Some(old) = texts.get(&place) else {
                continue;
            };
            let text = take_instructions(old);
            if !self.is_shared(*client) && text.as_ref() != Some(old) {
                let edit = FileEdit {
                    place,
                    text,
                    executable: false,
                };
                written.extend(self.apply(&[edit], yes)?);
            }
        }
        Ok(written)
    }

    /// Whether another client that is installed here reads the same instructions.
    fn is_shared(&self, client: Client) -> bool {
        let file = instruction_file(client);
        let others = Client::ALL.iter().filter(|other| **other != client);
        let mut same = others.filter(|other| instruction_file(**other) == file);
        same.any(|other| {
            let found = install::check(*other, self.scope, &self.binary, &self.texts(*other));
            !found.iter().any(|one| one.kind == FindingKind::Missing)
        })
    }

    fn apply(&self, edits: &[FileEdit], yes: bool) -> Result<Vec<String>, Failure> {
        let mut targets = Vec::new();
        for edit in edits {
            let path = path_of(&edit.place, &self.places.root, self.home.as_deref());
            let path = path.ok_or_else(|| Failure::invalid("there is no home"))?;
            report::note(&format!("would write {}", path.display()));
            targets.push((path, edit));
        }
        if targets.is_empty() {
            return Ok(Vec::new());
        }
        person::agrees(yes, "Write these files?")?;
        let mut written = Vec::new();
        for (path, edit) in targets {
            let mode = edit.executable.then_some(0o755);
            match &edit.text {
                None => files::remove(&path).map_err(Failure::failed)?,
                Some(text) => {
                    let parent = path.parent().unwrap_or(&self.places.root);
                    files::ensure_dir(parent)
                        .and_then(|()| files::write_atomic(&path, text.as_bytes(), mode))
                        .map_err(Failure::failed)?;
                }
            }
            written.push(path.display().to_string());
        }
        Ok(written)
    }

    /// Opens what the hook will open, from what the hook will know.
    fn canary(&self, engine: &Engine) -> Result<(), Failure> {
        let whereabouts = Notes::of(engine.site().state()).whereabouts()?;
        let config = whereabouts.and_then(|found| found.config);
        let site = Site::open(&self.places)?;
        let known = (config.as_deref(), false);
        drop(runtime::open_to_guard(site, &self.places.root, known)?);
        Ok(())
    }

    fn told(&self, clients: &[Client], json: bool) -> Result<Exit, Failure> {
        let mut whole = true;
        let mut all = Vec::new();
        for client in clients {
            let texts = self.texts(*client);
            let findings = install::check(*client, self.scope, &self.binary, &texts);
            whole &= !findings.iter().any(is_gap);
            if json {
                all.push(to_json(*client, &findings));
                continue;
            }
            report::line(&format!("{client}:"))?;
            for finding in &findings {
                let place = finding.place.as_ref();
                let place = place.map_or_else(String::new, |place| format!("{}: ", place.path));
                report::line(&format!(
                    "  {}: {place}{}",
                    word(finding.kind),
                    finding.text
                ))?;
            }
        }
        if json {
            report::json(&json!({ "ok": whole, "clients": all }))?;
        }
        Ok(if whole { Exit::Done } else { Exit::Failed })
    }
}

fn invalid(error: impl std::error::Error) -> Failure {
    let source = error.source().map(|source| format!(": {source}"));
    Failure::invalid(format!("{error}{}", source.unwrap_or_default()))
}

fn is_gap(finding: &Finding) -> bool {
    matches!(
        finding.kind,
        FindingKind::SwitchedOff
            | FindingKind::Unreadable
            | FindingKind::Missing
            | FindingKind::Outdated
    )
}

const fn word(kind: FindingKind) -> &'static str {
    match kind {
        FindingKind::SwitchedOff => "switched_off",
        FindingKind::Unreadable => "unreadable",
        FindingKind::Missing => "missing",
        FindingKind::Outdated => "outdated",
        FindingKind::Foreign => "foreign",
        FindingKind::Needs => "needs",
        FindingKind::Open => "open",
        FindingKind::NeverRun => "never_run",
        FindingKind::Installed => "installed",
    }
}

fn to_json(client: Client, findings: &[Finding]) -> Value {
    let one = |finding: &Finding| {
        json!({
            "kind": word(finding.kind),
            "file": finding.place.as_ref().map(|place| place.path.as_str()),
            "text": finding.text,
        })
    };
    let findings: Vec<Value> = findings.iter().map(one).collect();
    json!({ "client": client.as_str(), "findings": findings })
}
