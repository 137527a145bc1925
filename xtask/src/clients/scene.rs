//! A workspace with the product in it, as a person sets it up, and what can be seen there.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::run::{Client, Mode, Places};
use super::unknown;
use crate::error::XtaskError;
use crate::process::{answer, capture, cargo_command};

/// Where a client is governed.
#[derive(Clone)]
pub(super) struct Scene {
    pub(super) places: Places,
    /// A search path that begins with the program under test.
    path: String,
}

impl Scene {
    pub(super) fn new(folder: &Path) -> Result<Self, XtaskError> {
        let [home, work, bin] = ["home", "work", "bin"].map(|name| folder.join(name));
        for made in [&home, &work.join("src"), &bin] {
            std::fs::create_dir_all(made).map_err(XtaskError::file("create", made))?;
        }
        let built = built()?;
        let program = bin.join("tagout");
        std::fs::copy(&built, &program).map_err(XtaskError::file("copy", &built))?;
        let rest = std::env::var("PATH").unwrap_or_default();
        let path = format!("{}:{rest}", bin.display());
        let places = Places {
            base: String::new(),
            home,
            workspace: work,
            program,
            prompt: "Do what is to be done.".to_owned(),
        };
        Ok(Self { places, path })
    }

    /// Makes the workspace a repository with an intent that owns `owned`, and installs a client's
    /// hook at a scope.
    pub(super) fn govern(
        &self,
        (client, scope): (&str, &str),
        owned: &[&str],
    ) -> Result<(), XtaskError> {
        answer(&mut self.person("git", &["init", "-q", "."]))?;
        let mut init = vec!["init", "--yes", "--intent", "Work"];
        init.extend(owned.iter().flat_map(|pattern| ["--scope", pattern]));
        answer(&mut self.tagout(&init))?;
        answer(&mut self.tagout(&["install", client, "--scope", scope, "--yes"]))?;
        Ok(())
    }

    /// A program as the person of the scene runs it.
    pub(super) fn person(&self, program: &str, words: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(words).current_dir(&self.places.workspace);
        command
            .env("PATH", &self.path)
            .env("HOME", &self.places.home);
        for variable in ["TAGOUT_STATE_DIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME"] {
            command.env_remove(variable);
        }
        command
    }

    pub(super) fn tagout(&self, words: &[&str]) -> Command {
        self.person(&self.places.program.to_string_lossy(), words)
    }

    /// A client, started in the workspace.
    pub(super) fn client(
        &self,
        client: &Client,
        program: (&str, &Path),
        mode: &Mode,
    ) -> Result<Command, XtaskError> {
        let mut command = client.command(program, mode, &self.places)?;
        command.env("PATH", &self.path);
        Ok(command)
    }

    pub(super) fn text(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.places.workspace.join(name)).ok()
    }

    /// Puts a file into the workspace.
    pub(super) fn put(&self, name: &str, text: &str) -> Result<(), XtaskError> {
        let path = self.places.workspace.join(name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(XtaskError::file("create", parent))?;
        }
        std::fs::write(&path, text).map_err(XtaskError::file("write", &path))
    }

    /// Puts a symbolic link into the workspace.
    pub(super) fn link(&self, name: &str, to: &str) -> Result<(), XtaskError> {
        let path = self.places.workspace.join(name);
        symlink(to, &path).map_err(XtaskError::file("create", &path))
    }

    /// The requests that wait for a person.
    pub(super) fn requests(&self) -> Vec<String> {
        let told = answer(&mut self.tagout(&["pending", "--json"])).unwrap_or_default();
        let pending: Value = serde_json::from_str(&told).unwrap_or_default();
        let waiting = pending.get("approvals").and_then(Value::as_array);
        let waiting = waiting.into_iter().flatten();
        waiting.map(|one| field(one, "/id").to_owned()).collect()
    }

    /// What is wrong with the ledger, and what it tells.
    pub(super) fn ledger(&self) -> Result<(Vec<String>, Vec<Value>), XtaskError> {
        let mut wrong = Vec::new();
        let verified = capture(&mut self.tagout(&["verify", "--json"]))?;
        let value: Value = serde_json::from_str(&verified.stdout).unwrap_or_default();
        if value.get("ok") != Some(&Value::Bool(true)) {
            wrong.push(format!("the ledger does not verify: {}", verified.stdout));
        }
        let log = answer(&mut self.tagout(&["log", "--json"]))?;
        let events = log.lines();
        let events = events.filter_map(|line| serde_json::from_str(line).ok());
        Ok((wrong, events.collect()))
    }
}

/// What is wrong with what is told of calls that went otherwise than they were let through: where
/// there is no hook but Tagout's, each would be a false alarm. That nobody reported a command's end
/// is none: a client that refuses one itself says nothing about it.
pub(super) fn strays(events: &[Value], expected_count: usize) -> Option<String> {
    let ways = ["argumentsChanged", "unconfined", "unexpected"];
    let is_way = |event: &Value, way: &str| event.pointer(&format!("/data/{way}")).is_some();
    let tells =
        |event: &&Value| ways.iter().any(|way| is_way(event, way)) && !is_way(event, "unreported");
    let told: Vec<&Value> = events.iter().filter(tells).collect();
    (told.len() != expected_count)
        .then(|| format!("{expected_count} calls strayed, and the ledger tells {told:?}"))
}

/// The product as cargo builds it for tests.
fn built() -> Result<PathBuf, XtaskError> {
    let words = [
        "build",
        "--quiet",
        "--package",
        "tagout",
        "--message-format",
        "json",
    ];
    let told = answer(&mut cargo_command(&words))?;
    let mut programs = told.lines().filter_map(|line| {
        let value: Value = serde_json::from_str(line).ok()?;
        value.get("executable")?.as_str().map(PathBuf::from)
    });
    programs
        .next_back()
        .ok_or_else(|| unknown("the program `tagout`"))
}

/// One field of an event, or nothing.
pub(super) fn field<'v>(event: &'v Value, way: &str) -> &'v str {
    event
        .pointer(way)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// An event in a few words.
pub(super) fn shown(event: &Value) -> String {
    let parts = ["/kind", "/toolId", "/state", "/error/context"].map(|way| field(event, way));
    parts.join(" ").trim().to_owned()
}
