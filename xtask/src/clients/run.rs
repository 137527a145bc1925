//! How each client is installed and started: data, with a few places filled in.

use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use super::speech::{Spoken, Tools};
use super::stub::Scripted;
use crate::error::XtaskError;
use crate::process::{self, described, stream};

/// Every client that can be run here.
const CLIENTS: &str = include_str!("../../data/clients.json");

/// One client.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Client {
    /// Its package and version in the npm registry.
    pub(crate) package: String,
    /// Its program below `node_modules`.
    pub(crate) program: String,
    /// Whether every run of the tests plays it, or only the long ones.
    pub(crate) in_ci: bool,
    /// What it would fetch by itself when it first starts.
    #[serde(default)]
    pub(crate) fetched: Option<Fetched>,
    /// The words by which it ends what a run left in the background.
    #[serde(default)]
    pub(crate) ends: Vec<String>,
    #[serde(default)]
    pub(crate) environment: BTreeMap<String, String>,
    /// Configuration that it needs to find the stub.
    #[serde(default)]
    pub(crate) files: BTreeMap<String, String>,
    /// The file of a project in which its hooks stand, or are switched off.
    pub(crate) settings: String,
    /// The same of a user, below the home.
    pub(crate) user_settings: String,
    /// What such a file says when it switches them off.
    pub(crate) off: String,
    /// How its tools say what a model wants.
    pub(crate) tools: Tools,
    /// Whether a hook can put another command in a command's place.
    #[serde(default = "yes")]
    pub(crate) rewrites: bool,
    /// Whether a refusal ends the whole run.
    #[serde(default)]
    pub(crate) refusal_ends: bool,
    /// What it says when it refuses a call itself, because nobody is there to ask.
    #[serde(default)]
    pub(crate) refuses: Vec<String>,
    /// The argument that stands for a person who has trusted its hooks, which nobody can do here.
    #[serde(default)]
    pub(crate) trusts: Option<String>,
    /// Ways to start it.
    pub(crate) modes: BTreeMap<String, Mode>,
    /// Why its default mode is not among them, or is not what a person at a terminal has.
    #[serde(default)]
    pub(crate) default_mode: Option<String>,
}

const fn yes() -> bool {
    true
}

/// A package that a client installs into its own folders before it loads what lies there.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Fetched {
    package: String,
    folders: Vec<String>,
}

/// One way to start a client.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Mode {
    /// What it lets be done, in words.
    pub(crate) lets: String,
    #[serde(default)]
    pub(crate) asks: Asks,
    pub(crate) arguments: Vec<String>,
    #[serde(default)]
    pub(crate) environment: BTreeMap<String, String>,
}

/// What a mode does with a call about which it would ask a person. Nobody is there.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Asks {
    /// It asks nobody.
    #[default]
    Never,
    /// It refuses the call, and the model reads that.
    Refuses,
    /// It ends the run, and says so to whoever started it.
    Ends,
}

/// The mode that lets most be done. Nothing may end at the client itself there.
pub(crate) const PERMISSIVE: &str = "permissive";

/// Where the stub listens, which is known last.
const BASE: &str = "{base}";

/// How an agent tells Tagout where it acts, which it has to where nobody rewrites its lines.
pub(super) const TOLD: &str = "--workspace {workspace} --state-dir {home}/.local/state/tagout";

/// What stands in the data's `{braces}`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places {
    pub(crate) base: String,
    pub(crate) home: PathBuf,
    pub(crate) workspace: PathBuf,
    pub(crate) program: PathBuf,
    pub(crate) prompt: String,
}

impl Places {
    pub(crate) fn fill(&self, text: &str) -> String {
        let programs = self.program.parent().unwrap_or(Path::new(""));
        text.replace(BASE, &self.base)
            .replace("{places}", TOLD)
            .replace("{programs}", &programs.to_string_lossy())
            .replace("{home}", &self.home.to_string_lossy())
            .replace("{workspace}", &self.workspace.to_string_lossy())
            .replace("{tagout}", &self.program.to_string_lossy())
            .replace("{prompt}", &self.prompt)
    }
}

/// All clients by name.
pub(crate) fn all() -> Result<BTreeMap<String, Client>, XtaskError> {
    serde_json::from_str(CLIENTS).map_err(wrong)
}

fn wrong(source: serde_json::Error) -> XtaskError {
    XtaskError::Data {
        file: "xtask/data/clients.json".to_owned(),
        source,
    }
}

impl Client {
    /// The call by which its model selects the scene's intent.
    pub(super) fn selecting(&self, places: &Places) -> Scripted {
        let run = places.fill("{tagout} intent select INT-001 {places}");
        self.says(&Spoken::Run { run })
    }

    /// How often it says in a text that it refused a call itself, in a mode in which it may.
    pub(super) fn refusals(&self, mode: &Mode, text: &str) -> usize {
        match mode.asks {
            Asks::Never => 0,
            Asks::Refuses | Asks::Ends => {
                let words = self.refuses.iter();
                words
                    .map(|words| text.matches(words.as_str()).count())
                    .sum()
            }
        }
    }

    /// A mode as it is where nobody has trusted the hooks.
    pub(super) fn untrusting(&self, mode: &Mode) -> Mode {
        let mut mode = mode.clone();
        mode.arguments
            .retain(|argument| self.trusts.as_ref() != Some(argument));
        mode
    }

    /// Installs the pinned package below the target folder, unless it is there.
    pub(crate) fn install(&self, name: &str) -> Result<PathBuf, XtaskError> {
        let folder = installed(name);
        let program = folder.join(MODULES).join(&self.program);
        let stamp = folder.join("installed");
        if std::fs::read_to_string(&stamp).is_ok_and(|text| text == self.stamp()) {
            return Ok(program);
        }
        npm(&self.package, &folder)?;
        if let Some(fetched) = &self.fetched {
            npm(&fetched.package, &folder.join(FETCHED))?;
        }
        if !program.exists() {
            return Err(missing(&self.package));
        }
        std::fs::write(&stamp, self.stamp()).map_err(XtaskError::file("write", &stamp))?;
        Ok(program)
    }

    /// Everything that is installed for it.
    fn stamp(&self) -> String {
        let fetched = self.fetched.as_ref().map(|one| one.package.as_str());
        let all: Vec<&str> = std::iter::once(self.package.as_str())
            .chain(fetched)
            .collect();
        all.join(" ")
    }

    /// Puts what it would fetch where it looks for it: there is no network when it runs.
    fn seed(&self, name: &str, places: &Places) -> Result<(), XtaskError> {
        let Some(fetched) = &self.fetched else {
            return Ok(());
        };
        let from = installed(name).join(FETCHED);
        for folder in &fetched.folders {
            let folder = PathBuf::from(places.fill(folder));
            std::fs::create_dir_all(&folder).map_err(XtaskError::file("create", &folder))?;
            for file in ["package.json", "package-lock.json"] {
                let to = folder.join(file);
                std::fs::copy(from.join(file), &to).map_err(XtaskError::file("write", &to))?;
            }
            let modules = folder.join(MODULES);
            if !modules.exists() {
                symlink(from.join(MODULES), &modules)
                    .map_err(XtaskError::file("create", &modules))?;
            }
        }
        Ok(())
    }

    /// Ends what a run left in the background, if it leaves anything.
    pub(crate) fn ended(&self, program: &Path, places: &Places) -> Option<Command> {
        if self.ends.is_empty() {
            return None;
        }
        let mut command = started(program);
        command.args(&self.ends).current_dir(&places.workspace);
        command.env("HOME", &places.home);
        Some(command)
    }

    /// Writes the settings that it has before anything is installed. They are a person's, and what
    /// is installed may stand in the same files afterwards.
    pub(crate) fn prepare(&self, places: &Places) -> Result<(), XtaskError> {
        Self::write(self.files.iter(), places)
    }

    fn write<'f>(
        files: impl Iterator<Item = (&'f String, &'f String)>,
        places: &Places,
    ) -> Result<(), XtaskError> {
        for (path, text) in files {
            let path = PathBuf::from(places.fill(path));
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent).map_err(XtaskError::file("create", parent))?;
            }
            std::fs::write(&path, places.fill(text)).map_err(XtaskError::file("write", &path))?;
        }
        Ok(())
    }

    /// Tells it where the stub is, and makes the command.
    pub(crate) fn command(
        &self,
        (name, program): (&str, &Path),
        mode: &Mode,
        places: &Places,
    ) -> Result<Command, XtaskError> {
        self.seed(name, places)?;
        let addressed = self.files.iter().filter(|(_, text)| text.contains(BASE));
        Self::write(addressed, places)?;
        let mut command = started(program);
        command.args(mode.arguments.iter().map(|one| places.fill(one)));
        command.current_dir(&places.workspace);
        // A shell sets this when a person changes folders, and some clients believe it.
        command.env("PWD", &places.workspace);
        command.env("HOME", &places.home);
        for (key, value) in self.environment.iter().chain(&mode.environment) {
            command.env(key, places.fill(value));
        }
        Ok(command)
    }
}

/// A program that is a binary, or a script for node.
fn started(program: &Path) -> Command {
    if program.extension().is_some_and(|kind| kind == "js") {
        let mut node = Command::new("node");
        node.arg(program);
        return node;
    }
    Command::new(program)
}

const MODULES: &str = "node_modules";

/// Where the packages lie that a client would fetch.
const FETCHED: &str = "fetched";

fn installed(name: &str) -> PathBuf {
    process::root().join("target/clients").join(name)
}

/// Installs one package into a folder of its own.
fn npm(package: &str, folder: &Path) -> Result<(), XtaskError> {
    std::fs::create_dir_all(folder).map_err(XtaskError::file("create", folder))?;
    let manifest = folder.join("package.json");
    std::fs::write(&manifest, "{\"private\": true}\n")
        .map_err(XtaskError::file("write", &manifest))?;
    let mut npm = Command::new("npm");
    // Post-install scripts of strangers are not run; the packages carry their binaries.
    npm.args([
        "install",
        "--ignore-scripts",
        "--no-audit",
        "--no-fund",
        "--force",
    ])
    .arg(package)
    .current_dir(folder);
    println!("$ {}", described(&npm));
    if stream(&mut npm)?.ok {
        return Ok(());
    }
    Err(missing(package))
}

fn missing(package: &str) -> XtaskError {
    XtaskError::Missing {
        tool: package.to_owned(),
        needed_by: "clients".to_owned(),
    }
}
