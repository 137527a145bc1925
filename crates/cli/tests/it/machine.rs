//! A machine of its own for tests of `install` and `init`: a home, a repository, clients on the
//! search path, and the program where a person would have put it.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::ran::Ran;

pub(crate) struct Machine {
    dir: TempDir,
}

/// Everything beneath a folder: kind, mode and content.
pub(crate) type Tree = BTreeMap<String, (u32, Vec<u8>)>;

impl Machine {
    /// A repository that is not set up, and no client.
    pub(crate) fn bare() -> Self {
        let dir = tempfile::Builder::new()
            .prefix("machine-")
            .tempdir()
            .unwrap();
        let machine = Self { dir };
        for name in ["home", "repo/.git", "bin", "clients"] {
            fs::create_dir_all(machine.path().join(name)).unwrap();
        }
        let built = env!("CARGO_BIN_EXE_tagout");
        let program = machine.program();
        if fs::hard_link(built, &program).is_err() {
            fs::copy(built, &program).unwrap();
        }
        machine
    }

    /// The same, set up by a person with one intent that owns `src/`.
    pub(crate) fn new() -> Self {
        let machine = Self::bare();
        let ran = machine.run(&["init", "--yes", "--intent", "Work", "--scope", "src/**"]);
        assert_eq!(ran.code, Some(0), "{}", ran.shown());
        machine
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.path().join("repo")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.path().join("home")
    }

    pub(crate) fn program(&self) -> PathBuf {
        self.path().join("bin/tagout")
    }

    /// Puts a client's program on the search path, as a script.
    pub(crate) fn client(&self, name: &str, script: &str) {
        let path = self.path().join("clients").join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.path().join(name)).ok()
    }

    /// `tagout` in the repository, not yet started.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(self.program());
        let clients = self.path().join("clients");
        command
            .args(args)
            .current_dir(self.root())
            .env_clear()
            .env("PATH", format!("{}:/usr/bin:/bin", clients.display()))
            .env("HOME", self.home())
            .env("TZ", "UTC")
            .env("COLUMNS", "100")
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        self.ran(&mut self.command(args))
    }

    pub(crate) fn ran(&self, command: &mut Command) -> Ran {
        let output = command.output().unwrap();
        let text = |bytes: &[u8]| {
            let shown = String::from_utf8_lossy(bytes).into_owned();
            shown.replace(&self.path().display().to_string(), "[MACHINE]")
        };
        Ran {
            code: output.status.code(),
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
        }
    }

    /// Home and repository, without Tagout's own state.
    pub(crate) fn tree(&self) -> Tree {
        let mut tree = Tree::new();
        let mut open = vec![self.root(), self.home()];
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(&folder).unwrap().flatten() {
                let path = entry.path();
                let name = path
                    .strip_prefix(self.path())
                    .unwrap()
                    .display()
                    .to_string();
                if name.starts_with("home/.local/state") {
                    continue;
                }
                let found = fs::symlink_metadata(&path).unwrap();
                let content = if found.is_file() {
                    fs::read(&path).unwrap()
                } else if found.is_symlink() {
                    fs::read_link(&path).unwrap().display().to_string().into()
                } else {
                    open.push(path);
                    Vec::new()
                };
                tree.insert(name, (found.mode(), content));
            }
        }
        tree
    }
}
