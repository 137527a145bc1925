//! Running other programs: streamed for people, captured for the chore.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

use crate::error::XtaskError;

/// The repository's root.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// The cargo that runs this chore, so that one toolchain does everything.
pub(crate) fn cargo() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// A cargo command at the repository's root.
pub(crate) fn cargo_command(arguments: &[&str]) -> Command {
    let mut command = Command::new(cargo());
    command.args(arguments).current_dir(root());
    command
}

/// What a program left behind.
#[derive(Debug)]
pub(crate) struct Ran {
    /// Whether it ended with success.
    pub(crate) ok: bool,
    /// Standard output, then standard error for captured programs; mixed for streamed ones.
    pub(crate) stdout: String,
    /// Standard error; empty for streamed programs.
    pub(crate) stderr: String,
}

fn spawn_error(command: &Command) -> impl FnOnce(std::io::Error) -> XtaskError {
    let program = command.get_program().to_string_lossy().into_owned();
    move |source| XtaskError::Spawn { program, source }
}

/// Runs a command silently and keeps what it says.
pub(crate) fn capture(command: &mut Command) -> Result<Ran, XtaskError> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(spawn_error(command))?;
    Ok(Ran {
        ok: output.status.success(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
}

/// Runs a command silently and insists on success.
pub(crate) fn answer(command: &mut Command) -> Result<String, XtaskError> {
    let ran = capture(command)?;
    if ran.ok {
        return Ok(ran.stdout);
    }
    Err(XtaskError::Command {
        command: described(command),
        stderr: ran.stderr.trim().to_owned(),
    })
}

/// The command line as a person would type it.
pub(crate) fn described(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let name = program.file_name().unwrap_or(program.as_os_str());
    std::iter::once(name)
        .chain(command.get_args())
        .map(|word| word.to_string_lossy().into_owned())
        .collect::<Vec<_>>()
        .join(" ")
}

/// Runs a command in sight of the person, and keeps what it says as well.
pub(crate) fn stream(command: &mut Command) -> Result<Ran, XtaskError> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(spawn_error(command))?;
    let said = Mutex::new(String::new());
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    std::thread::scope(|scope| {
        if let Some(stdout) = stdout {
            scope.spawn(|| copy(stdout, std::io::stdout(), &said));
        }
        if let Some(stderr) = stderr {
            scope.spawn(|| copy(stderr, std::io::stderr(), &said));
        }
    });
    let status = child.wait().map_err(spawn_error(command))?;
    Ok(Ran {
        ok: status.success(),
        stdout: said.into_inner().unwrap_or_default(),
        stderr: String::new(),
    })
}

/// Copies lines from a child to a terminal and to the record. A terminal that went away is no
/// reason to stop the child, so a failed write ends only the copying to it.
fn copy(from: impl Read, mut to: impl Write, said: &Mutex<String>) {
    let mut reader = BufReader::new(from);
    let mut line = Vec::new();
    let mut listening = true;
    while matches!(reader.read_until(b'\n', &mut line), Ok(count) if count > 0) {
        listening = listening && to.write_all(&line).is_ok();
        if let Ok(mut said) = said.lock() {
            said.push_str(&String::from_utf8_lossy(&line));
        }
        line.clear();
    }
}
