//! The product at work: repositories that it knows, its command lines, what one of them costs.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crate::error::XtaskError;
use crate::process::{answer, described};

/// A script that the analysis can't see through, so that it runs in a transaction.
const SCRIPT: &str = "src/nothing.sh";

/// Calls that make a change durable.
const SYNCS: [&str; 5] = ["fsync(", "fdatasync(", "syncfs(", "sync(", "msync("];

/// The product with a state of its own.
pub(super) struct World<'a> {
    product: &'a str,
    folder: &'a Path,
    /// The same line again and again would be refused as going in circles.
    turn: Cell<usize>,
}

impl<'a> World<'a> {
    pub(super) const fn new(product: &'a str, folder: &'a Path) -> Self {
        Self {
            product,
            folder,
            turn: Cell::new(0),
        }
    }

    fn tagout(&self, place: &Path, words: &[&str]) -> Command {
        let mut command = Command::new(self.product);
        command.args(words).current_dir(place);
        command.env("TAGOUT_STATE_DIR", self.folder.join("state"));
        command
    }

    fn turned(&self) -> String {
        self.turn.set(self.turn.get() + 1);
        self.turn.get().to_string()
    }

    /// `tagout exec -- true`, with a word that `true` does not look at.
    pub(super) fn exec(&self, place: &Path) -> Command {
        self.tagout(
            place,
            &["exec", "--session", "bench", "--", "true", &self.turned()],
        )
    }

    /// A command that may write, and writes nothing.
    pub(super) fn transaction(&self, place: &Path) -> Command {
        let words = ["exec", "--session", "writer", "--intent", "INT-001", "--"];
        let mut command = self.tagout(place, &words);
        command.args(["sh", SCRIPT, &self.turned()]);
        command
    }

    /// A repository with this many files, all of them committed, that the product knows.
    pub(super) fn repository(&self, files: usize) -> Result<PathBuf, XtaskError> {
        let path = self.folder.join(format!("repository-{files}"));
        for number in 0..files {
            let inner = path.join(format!("src/folder-{}", number / 1000));
            if number % 1000 == 0 {
                std::fs::create_dir_all(&inner).map_err(XtaskError::file("create", &inner))?;
            }
            let file = inner.join(format!("file-{number}"));
            std::fs::write(&file, "x").map_err(XtaskError::file("write", &file))?;
        }
        let script = path.join(SCRIPT);
        std::fs::write(&script, ":\n").map_err(XtaskError::file("write", &script))?;
        let person = ["-c", "user.name=bench", "-c", "user.email=bench@example"];
        for words in [
            &["init", "--quiet"][..],
            &["add", "--all"],
            &["commit", "--quiet", "--message", "everything"],
        ] {
            let mut git = Command::new("git");
            answer(git.args(person).args(words).current_dir(&path))?;
        }
        let words = ["init", "--yes", "--intent", "Measure", "--scope", "src/**"];
        answer(&mut self.tagout(&path, &words))?;
        Ok(path)
    }

    /// How often one `exec` waits for the disk, counted; `None`, and said, where nothing can count.
    pub(super) fn syncs(&self, place: &Path) -> Result<Option<f64>, XtaskError> {
        let found = self.folder.join("calls");
        let exec = self.exec(place);
        let mut command = Command::new("strace");
        command.args([
            "-f",
            "-qq",
            "-e",
            "trace=fsync,fdatasync,syncfs,sync,msync",
            "-o",
        ]);
        command
            .arg(&found)
            .arg(exec.get_program())
            .args(exec.get_args());
        for (name, value) in exec.get_envs() {
            command.env(name, value.unwrap_or_default());
        }
        match answer(command.current_dir(place)) {
            Err(XtaskError::Spawn { .. }) => {
                eprintln!("MISSING TOOL: strace is not here, so syncs are not counted");
                return Ok(None);
            }
            other => drop(other?),
        }
        let text = std::fs::read_to_string(&found).map_err(XtaskError::file("read", &found))?;
        let count = u32::try_from(counted(&text)).unwrap_or(u32::MAX);
        Ok(Some(f64::from(count)))
    }

    /// The most memory that the processes of one `exec` held: the one that was called, in
    /// megabytes.
    pub(super) fn memory(&self, place: &Path) -> Result<f64, XtaskError> {
        let mut command = self.exec(place);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let program = described(&command);
        let started = command.spawn();
        let mut child = started.map_err(|source| XtaskError::Spawn { program, source })?;
        let status = PathBuf::from(format!("/proc/{}/status", child.id()));
        let mut most = f64::NAN;
        while child.try_wait().is_ok_and(|ended| ended.is_none()) {
            let text = std::fs::read_to_string(&status).unwrap_or_default();
            most = most.max(resident(&text).unwrap_or(f64::NAN));
            sleep(Duration::from_micros(200));
        }
        Ok(most)
    }
}

fn counted(calls: &str) -> usize {
    let is_sync = |line: &&str| {
        let call = line.split_whitespace().nth(1).unwrap_or_default();
        SYNCS.iter().any(|name| call.starts_with(name))
    };
    calls.lines().filter(is_sync).count()
}

/// The peak that the kernel tells, in megabytes.
fn resident(status: &str) -> Option<f64> {
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes / 1024.0)
}

#[cfg(test)]
mod tests {
    use super::{counted, resident};

    #[test]
    fn each_sync_is_counted_once() {
        let calls = "765   fdatasync(12) = 0\n\
                     768   fsync(14 <unfinished ...>\n\
                     768   <... fsync resumed>)  = 0\n\
                     765   +++ exited with 0 +++\n";
        assert_eq!(counted(calls), 2);
    }

    #[test]
    fn the_peak_of_memory_is_read() {
        let status = "VmPeak:\t  999 kB\nVmHWM:\t    2048 kB\n";
        assert!((resident(status).unwrap() - 2.0).abs() < 1e-9);
        assert_eq!(resident(""), None);
    }
}
