//! Runs the binary and shows what happened as one text, for snapshots.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// A throw-away folder with a home of its own, so that nobody's own policy leaks in.
pub(crate) struct Folder {
    dir: TempDir,
    home: tempfile::TempDir,
}

pub(crate) const INTENTS: &str = "\
version: 1
active_intents:
  - id: INT-001
    name: Weather API
    status: IN_PROGRESS
    owned_scope: [src/weather/**, tests/]
    constraints: [No new dependencies]
    acceptance_criteria: [The tests pass]
  - id: INT-002
    name: Old work
    status: COMPLETED
    owned_scope: [docs/**]
";

impl Folder {
    /// An empty folder.
    pub(crate) fn empty() -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
            home: tempfile::tempdir().unwrap(),
        }
    }

    /// A workspace with two intents.
    pub(crate) fn workspace() -> Self {
        Self::empty().with(".orchestration/active_intents.yaml", INTENTS)
    }

    /// The same folder with a file more.
    pub(crate) fn with(self, name: &str, content: impl AsRef<[u8]>) -> Self {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    /// The person's home, which is nowhere beneath the workspace.
    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    /// Runs `tagout` here.
    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        self.run_with(args, "")
    }

    /// Runs `tagout` here with something on standard input.
    pub(crate) fn run_with(&self, args: &[&str], input: &str) -> Ran {
        let mut child = self
            .command(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(input.as_bytes())
            .unwrap();
        self.ran(&child.wait_with_output().unwrap())
    }

    /// Runs `tagout` here as somebody whom files only let do what their modes say.
    pub(crate) fn run_without_rights(&self, args: &[&str]) -> Ran {
        let command = self.command(args);
        let mut outer = Command::new("unshare");
        outer.arg("--user").arg(command.get_program()).args(args);
        outer.current_dir(self.path()).env("HOME", self.home());
        self.ran(&outer.stdin(Stdio::null()).output().unwrap())
    }

    /// `tagout` here, not yet started.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tagout"));
        command
            .args(args)
            .current_dir(self.path())
            .env_clear()
            .env("HOME", self.home())
            .env("TMPDIR", std::env::temp_dir())
            .env("COLUMNS", "100")
            .env("TZ", "UTC");
        command
    }

    fn ran(&self, output: &Output) -> Ran {
        let text = |bytes: &[u8]| {
            let shown = String::from_utf8(bytes.to_vec()).unwrap();
            shown
                .replace(&self.home().display().to_string(), "[FOLDER]/home")
                .replace(&self.path().display().to_string(), "[FOLDER]")
        };
        Ran {
            code: output.status.code(),
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
        }
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
    /// Everything as one text.
    pub(crate) fn shown(&self) -> String {
        let Self {
            code,
            stdout,
            stderr,
        } = self;
        let code = code.map_or_else(|| "killed".to_owned(), |code| code.to_string());
        format!("exit: {code}\n--- stdout\n{stdout}--- stderr\n{stderr}")
    }

    /// Each line of standard output as JSON.
    pub(crate) fn json_lines(&self) -> Vec<serde_json::Value> {
        self.stdout
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}
