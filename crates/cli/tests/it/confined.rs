//! A workspace, a home and a state beside each other, and commands run in them by the real binary.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A workspace whose one intent owns `src/**` and `tests/**`.
pub(crate) struct Site {
    dir: TempDir,
}

impl Site {
    /// A repository with one commit, set up by a person.
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        Self::with_setup(files, |_| {})
    }

    /// The same with something done to it before it is set up.
    pub(crate) fn with_setup(files: &[(&str, &str)], setup: impl FnOnce(&Self)) -> Self {
        let dir = tempfile::Builder::new().prefix("exec-").tempdir().unwrap();
        let site = Self { dir };
        fs::create_dir_all(site.home()).unwrap();
        fs::create_dir_all(site.root().join("src")).unwrap();
        for (name, content) in files {
            site.write(name, content);
        }
        site.git(&["init", "-q", "."]);
        site.git(&["config", "user.email", "person@example.org"]);
        site.git(&["config", "user.name", "Person"]);
        site.git(&["add", "-A"]);
        site.git(&["commit", "-q", "--allow-empty", "-m", "first"]);
        setup(&site);
        let scope = ["--scope", "src/**", "--scope", "tests/**"];
        let init = [&["init", "--yes", "--intent", "Work"][..], &scope].concat();
        for verb in [&init[..], &["trust", "--yes"]] {
            let ran = site.tagout(verb);
            assert_eq!(ran.code, Some(0), "{}", ran.shown());
        }
        site
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.dir.path().join("ws")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    pub(crate) fn state(&self) -> PathBuf {
        let states = self.home().join(".local/state/tagout");
        let mut found = fs::read_dir(states).unwrap().flatten();
        found.next().unwrap().path()
    }

    pub(crate) fn write(&self, name: &str, content: &str) {
        let path = self.root().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.root().join(name)).ok()
    }

    /// What git says, run by a person.
    pub(crate) fn git(&self, args: &[&str]) -> String {
        let mut command = Command::new("git");
        command
            .args(args)
            .current_dir(self.root())
            .env("HOME", self.home());
        let output = command.env("GIT_CONFIG_NOSYSTEM", "1").output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert!(
            output.status.success(),
            "git {args:?}: {}",
            text(&output.stderr)
        );
        text(&output.stdout)
    }

    /// `tagout` in the workspace, not yet started. It gets the variables that find the tools.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tagout"));
        command.args(args).current_dir(self.root()).env_clear();
        for name in [
            "PATH",
            "CARGO_HOME",
            "RUSTUP_HOME",
            "RUSTUP_TOOLCHAIN",
            "PYENV_ROOT",
        ] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        let real = std::env::var_os("HOME")
            .map(PathBuf::from)
            .unwrap_or_default();
        for (name, folder) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
            let at: OsString = real.join(folder).into();
            if std::env::var_os(name).is_none() && Path::new(&at).is_dir() {
                command.env(name, at);
            }
        }
        command
            .env("HOME", self.home())
            .env("TZ", "UTC")
            .env("COLUMNS", "100");
        command.stdin(Stdio::null());
        command
    }

    pub(crate) fn tagout(&self, args: &[&str]) -> Ran {
        Ran::of(&self.command(args).output().unwrap(), self.dir.path())
    }

    /// Runs a line under the intent, in a session of its own.
    pub(crate) fn exec(&self, line: &str) -> Ran {
        self.exec_with(&["--intent", "INT-001"], line)
    }

    pub(crate) fn exec_with(&self, options: &[&str], line: &str) -> Ran {
        let args = [&["exec", "--session", "s-1"][..], options, &["--", line]].concat();
        self.tagout(&args)
    }

    /// The receipt of a line.
    pub(crate) fn receipt(&self, line: &str) -> Value {
        let ran = self.exec_with(&["--intent", "INT-001", "--json"], line);
        serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{}", ran.shown()))
    }

    /// The ids of what is parked.
    pub(crate) fn parked(&self) -> Vec<String> {
        let ran = self.tagout(&["parked", "list", "--json"]);
        let listed: Value = serde_json::from_str(&ran.stdout).unwrap();
        let sets = listed["parked"].as_array().unwrap();
        let id = |set: &Value| set["id"].as_str().unwrap().to_owned();
        sets.iter().map(id).collect()
    }

    /// The states that the ledger knows of an execution.
    pub(crate) fn states(&self, execution: &str) -> Vec<String> {
        let log = self.tagout(&["log", "--json"]);
        let events = log
            .stdout
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        events
            .filter(|event| event["executionId"] == execution || event["execution_id"] == execution)
            .filter_map(|event| event["state"].as_str().map(str::to_owned))
            .collect()
    }

    /// Every file of the workspace outside of git's folder and Tagout's, with its content.
    pub(crate) fn tree(&self) -> Vec<(String, Vec<u8>)> {
        let mut found = Vec::new();
        let mut open = vec![self.root()];
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(&folder).unwrap().flatten() {
                let path = entry.path();
                let name = path
                    .strip_prefix(self.root())
                    .unwrap()
                    .display()
                    .to_string();
                let kind = entry.file_type().unwrap();
                if name == ".git" || name == ".orchestration" {
                    continue;
                }
                if kind.is_dir() {
                    open.push(path.clone());
                }
                let content = if kind.is_file() {
                    fs::read(&path).unwrap()
                } else {
                    Vec::new()
                };
                found.push((name, content));
            }
        }
        found.sort();
        found
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        // Nothing of a session outlives its test, whatever the test came to.
        drop(
            self.command(&["exec", "--session", "s-1", "--end"])
                .output(),
        );
    }
}

/// What one run did.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    pub(crate) fn of(output: &Output, dir: &Path) -> Self {
        let text = |bytes: &[u8]| {
            let shown = String::from_utf8_lossy(bytes).into_owned();
            shown.replace(&dir.display().to_string(), "[DIR]")
        };
        Self {
            code: output.status.code(),
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
        }
    }

    /// Everything as one text.
    pub(crate) fn shown(&self) -> String {
        let Self {
            code,
            stdout,
            stderr,
        } = self;
        format!("exit: {code:?}\n--- stdout\n{stdout}--- stderr\n{stderr}")
    }
}
