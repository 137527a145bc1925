//! The throw-away folder in which one page's commands run, and the shell that runs them.

use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::error::XtaskError;

/// A command of a page that takes longer is broken.
const COMMAND_SECONDS_MAX: u64 = 120;

/// What a command did.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct Answer {
    /// What it printed on both streams, in order.
    pub(super) output: String,
    /// Its exit code; nothing if it was stopped.
    pub(super) code: Option<i32>,
}

/// One page's folder.
#[derive(Debug)]
pub(super) struct Session {
    folder: TempDir,
    path: String,
}

impl Session {
    /// A new folder, with the binary's folder first on the path.
    pub(super) fn start(binary: &Path) -> Result<Self, XtaskError> {
        let folder = tempfile::Builder::new()
            .prefix("tagout-docs-")
            .tempdir()
            .map_err(XtaskError::file("create", Path::new("a temporary folder")))?;
        for name in ["home", "work", "bin"] {
            let path = folder.path().join(name);
            fs::create_dir(&path).map_err(XtaskError::file("create", &path))?;
        }
        // A place of its own: clients are not told to call a program that the next build replaces.
        let own = folder.path().join("bin/tagout");
        if fs::hard_link(binary, &own).is_err() {
            fs::copy(binary, &own).map_err(XtaskError::file("copy", &own))?;
        }
        let path = format!(
            "{}:{}",
            folder.path().join("bin").display(),
            std::env::var("PATH").unwrap_or_default()
        );
        let session = Self { folder, path };
        session.remember(&session.work())?;
        Ok(session)
    }

    fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    /// Where the shell's folder is kept between two commands.
    fn memory(&self) -> PathBuf {
        self.folder.path().join("folder")
    }

    fn remember(&self, folder: &Path) -> Result<(), XtaskError> {
        let memory = self.memory();
        fs::write(&memory, folder.display().to_string()).map_err(XtaskError::file("write", &memory))
    }

    /// Writes a file that the page shows. It stays within the page's folder.
    pub(super) fn write(&self, name: &str, text: &str) -> Result<(), XtaskError> {
        let inner: PathBuf = Path::new(name)
            .components()
            .filter(|part| matches!(part, Component::Normal(_)))
            .collect();
        let path = self.work().join(inner);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(XtaskError::file("create", parent))?;
        }
        fs::write(&path, text).map_err(XtaskError::file("write", &path))
    }

    /// Runs one command where the last one left off.
    pub(super) fn run(&self, line: &str) -> Result<Answer, XtaskError> {
        let log = self.folder.path().join("log");
        let output = fs::File::create(&log).map_err(XtaskError::file("create", &log))?;
        let errors = output.try_clone().map_err(XtaskError::file("open", &log))?;
        let script =
            format!("cd \"$(cat \"$MEMORY\")\" || exit 1\ntrap 'pwd > \"$MEMORY\"' EXIT\n{line}\n");
        let mut command = Command::new("bash");
        command
            .args(["--noprofile", "--norc", "-c", &script])
            .env_clear()
            .env("PATH", &self.path)
            .env("HOME", self.folder.path().join("home"))
            .env("MEMORY", self.memory())
            .env("LANG", "C.UTF-8")
            .env("TZ", "UTC")
            .env("TERM", "dumb")
            .env("COLUMNS", "100")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_AUTHOR_NAME", "Reader")
            .env("GIT_AUTHOR_EMAIL", "reader@example.org")
            .env("GIT_COMMITTER_NAME", "Reader")
            .env("GIT_COMMITTER_EMAIL", "reader@example.org")
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(errors);
        let child = command.spawn().map_err(|source| XtaskError::Spawn {
            program: "bash".to_owned(),
            source,
        })?;
        let code = wait(child)?;
        let bytes = fs::read(&log).map_err(XtaskError::file("read", &log))?;
        let output = String::from_utf8_lossy(&bytes).into_owned();
        Ok(Answer { output, code })
    }
}

/// Waits for a child with a bound.
fn wait(mut child: Child) -> Result<Option<i32>, XtaskError> {
    let wrong = |source| XtaskError::Spawn {
        program: "bash".to_owned(),
        source,
    };
    let end = Instant::now() + Duration::from_secs(COMMAND_SECONDS_MAX);
    while Instant::now() < end {
        if let Some(status) = child.try_wait().map_err(wrong)? {
            return Ok(status.code());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().map_err(wrong)?;
    child.wait().map_err(wrong)?;
    Ok(None)
}
