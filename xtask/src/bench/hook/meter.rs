//! What a program takes that does not depend on the machine's other load.

use std::fs::File;
use std::io::{Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::XtaskError;
use crate::process::answer;

/// Steps that are counted one by one before it would take too long.
const STEPS_SECONDS: &str = "900";

/// A small program that measures others: a large parent's memory would be counted as its child's.
pub(super) struct Meter {
    program: PathBuf,
    folder: PathBuf,
}

impl Meter {
    pub(super) fn build(folder: &Path) -> Result<Self, XtaskError> {
        let source = folder.join("meter.c");
        std::fs::write(&source, include_str!("meter.c"))
            .map_err(XtaskError::file("write", &source))?;
        let program = folder.join("meter");
        answer(
            Command::new("cc")
                .arg("-O2")
                .arg("-o")
                .arg(&program)
                .arg(&source),
        )?;
        Ok(Self {
            program,
            folder: folder.to_owned(),
        })
    }

    /// A command around another one, with a payload on its standard input.
    fn around(&self, words: &[&str], inner: &Command, payload: &[u8]) -> std::io::Result<Command> {
        let path = self.folder.join("payload");
        let mut file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(path)?;
        file.write_all(payload)?;
        file.rewind()?;
        let mut words = words.iter();
        let mut command = Command::new(words.next().unwrap_or(&""));
        command
            .args(words)
            .arg(inner.get_program())
            .args(inner.get_args());
        command.stdin(Stdio::from(file));
        Ok(command)
    }

    fn told(&self, words: &[&str], inner: &Command, payload: &[u8]) -> Option<(String, String)> {
        let ran = self.around(words, inner, payload).ok()?.output().ok()?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        ran.status
            .success()
            .then(|| (text(&ran.stdout), text(&ran.stderr)))
    }

    /// The largest resident memory, in kilobytes.
    pub(super) fn resident(&self, inner: &Command, payload: &[u8]) -> Result<f64, XtaskError> {
        let program = self.program.to_string_lossy();
        let told = self.told(&[&program, "rss"], inner, payload);
        let count = told.and_then(|(told, _)| told.trim().parse().ok());
        count.ok_or_else(|| XtaskError::Command {
            command: "the meter of memory".to_owned(),
            stderr: "the program did not end well".to_owned(),
        })
    }

    /// The instructions outside of the kernel, by what this machine has: its own counter; else
    /// valgrind, which does not know every system call; else one step after the other.
    pub(super) fn instructions(&self, inner: &Command, payload: &[u8]) -> Option<f64> {
        let perf = ["perf", "stat", "-x,", "-e", "instructions:u"];
        let by_perf = self
            .told(&perf, inner, payload)
            .and_then(|(_, told)| perf_count(&told));
        let grind = ["valgrind", "--tool=none", "--quiet"];
        let knows = || {
            let told = self.told(&grind, inner, payload);
            told.is_some_and(|(_, told)| !told.contains("unhandled"))
        };
        let by_valgrind = || {
            let out = self.folder.join("callgrind.out");
            let out = format!("--callgrind-out-file={}", out.display());
            let words = ["valgrind", "--tool=callgrind", out.as_str()];
            let (_, told) = self.told(&words, inner, payload).filter(|_| knows())?;
            valgrind_count(&told)
        };
        let by_steps = || {
            // Inside of valgrind a program is another one to itself, and what it then stored for
            // later is of no use to it now.
            drop(self.told(&["env"], inner, payload));
            let program = self.program.to_string_lossy();
            let words = ["timeout", STEPS_SECONDS, &program, "steps"];
            let (told, _) = self.told(&words, inner, payload)?;
            told.trim().parse().ok()
        };
        by_perf.or_else(by_valgrind).or_else(by_steps)
    }
}

/// The figure in perf's own words; `<not supported>` is none.
pub(super) fn perf_count(told: &str) -> Option<f64> {
    let line = told.lines().find(|line| line.contains("instructions:u"))?;
    line.split(',').next()?.parse().ok()
}

/// The figure in valgrind's own words.
pub(super) fn valgrind_count(told: &str) -> Option<f64> {
    let line = told.lines().find(|line| line.contains("Collected :"))?;
    let count = line.rsplit(':').next()?.trim().replace(',', "");
    count.parse().ok()
}
