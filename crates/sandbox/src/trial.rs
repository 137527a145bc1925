//! A short run of a program that is installed already, without walls: what a registered hook
//! answers, which version a client is. Bounded in time and in what is read.

use std::ffi::OsString;
use std::io::{self, Read, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use tagout_vocab::limits::{TRIAL_GRACE_MS, TRIAL_OUTPUT_BYTES_MAX};

/// What to run.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The program and its arguments.
    pub words: Vec<OsString>,
    /// All of its environment.
    pub environment: Vec<(OsString, OsString)>,
    /// Where it runs.
    pub folder: PathBuf,
    /// What it reads.
    pub input: Vec<u8>,
    /// How long it may take.
    pub wait: Duration,
}

/// What came of it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Tried {
    /// Its exit code; none where a signal or the time ended it.
    pub code: Option<i32>,
    /// The beginning of what it printed.
    pub stdout: Vec<u8>,
    /// The beginning of what it complained of.
    pub stderr: Vec<u8>,
    /// Whether it ended by itself.
    pub in_time: bool,
}

/// Runs a program that a person installed, as that person would.
pub fn trial(trial: Trial) -> io::Result<Tried> {
    let started = Instant::now();
    let mut words = trial.words.into_iter();
    let program = words
        .next()
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "no program"))?;
    #[expect(clippy::disallowed_methods, reason = "this is the sandbox crate")]
    let mut command = Command::new(program);
    command
        .args(words)
        .env_clear()
        .envs(trial.environment)
        .current_dir(trial.folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // A group of its own, so that what it started ends with it.
        .process_group(0);
    let mut child = command.spawn()?;
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    if let Some(mut stdin) = child.stdin.take() {
        let input = trial.input;
        // A program that does not read to the end does not need the rest.
        thread::spawn(move || stdin.write_all(&input).unwrap_or_default());
    }
    let stdout = read(child.stdout.take());
    let stderr = read(child.stderr.take());
    let ended = wait(child);
    let left = || trial.wait.saturating_sub(started.elapsed());
    let status = ended.recv_timeout(left()).ok();
    if status.is_none()
        && let Some(group) = group
    {
        kill_process_group(group, Signal::KILL).unwrap_or_default();
    }
    let grace = Duration::from_millis(TRIAL_GRACE_MS).max(left());
    Ok(Tried {
        code: status.flatten(),
        stdout: stdout.recv_timeout(grace).unwrap_or_default(),
        stderr: stderr.recv_timeout(grace).unwrap_or_default(),
        in_time: status.is_some(),
    })
}

fn wait(mut child: Child) -> Receiver<Option<i32>> {
    let (teller, told) = mpsc::channel();
    thread::spawn(move || {
        let code = child.wait().ok().and_then(|status| status.code());
        teller.send(code).unwrap_or_default();
    });
    told
}

fn read(pipe: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (teller, told) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(pipe) = pipe {
            let mut limited = pipe.take(TRIAL_OUTPUT_BYTES_MAX);
            limited.read_to_end(&mut bytes).unwrap_or_default();
        }
        drop(teller.send(bytes));
    });
    told
}

#[cfg(test)]
mod tests;
