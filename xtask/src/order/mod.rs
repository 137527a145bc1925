//! `cargo xtask order`: which functions lie side by side in the program.
//!
//! A hook enters about a thousand of the program's thirty thousand functions. Where they lie apart,
//! each costs a page of memory and a fault of the processor. The chore watches hooks and commands,
//! looks up in the linker's map which pieces they enter, and writes those down; the build lets the
//! linker put them first. A list that is older than the code costs some time at every start and
//! nothing else.

mod map;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use self::map::Map;
use crate::bench::Stage;
use crate::docs::executable;
use crate::error::XtaskError;
use crate::process::{answer, cargo_command, root};

const LIST: &str = "crates/cli/link/order.txt";

/// Watches, and writes the list.
pub(crate) fn write() -> Result<ExitCode, XtaskError> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return Err(XtaskError::Usage {
            message: "functions are watched on x86-64 Linux only".to_owned(),
        });
    }
    let folder =
        tempfile::tempdir().map_err(XtaskError::file("create", Path::new("a temporary folder")))?;
    let watcher = folder.path().join("entered.py");
    std::fs::write(&watcher, include_str!("entered.py"))
        .map_err(XtaskError::file("write", &watcher))?;
    let (binary, map) = named_binary()?;
    let stage = Stage::set(folder.path(), &binary)?;
    let mut seen = BTreeSet::new();
    let mut lines = String::new();
    for (command, payload) in stage.scenes() {
        for address in entered(&watcher, &command, &payload)? {
            if let Some(pattern) = map.pattern(address)
                && seen.insert(pattern.clone())
            {
                lines.push_str(&pattern);
                lines.push('\n');
            }
        }
    }
    if !lines.contains("tagout") {
        return Err(XtaskError::Command {
            command: "cargo rustc --release".to_owned(),
            stderr:
                "wrote names of functions in the older form; `.cargo/config.toml` asks for the \
                     newer one, unless `RUSTFLAGS` is set"
                    .to_owned(),
        });
    }
    let list = root().join(LIST);
    std::fs::write(&list, lines).map_err(XtaskError::file("write", &list))?;
    println!("{LIST}: {} functions", seen.len());
    Ok(ExitCode::SUCCESS)
}

/// The product with the names of its functions, and what lies where in it.
fn named_binary() -> Result<(String, Map), XtaskError> {
    // It stays where it is: a program that was linked already is not linked again.
    let folder = root().join("target");
    std::fs::create_dir_all(&folder).map_err(XtaskError::file("create", &folder))?;
    let path: PathBuf = folder.join("order.map");
    let wish = format!("-Clink-arg=-Wl,-Map={}", path.display());
    let messages = answer(&mut cargo_command(&[
        "rustc",
        "--release",
        "--package",
        "tagout",
        "--bin",
        "tagout",
        "--message-format",
        "json-render-diagnostics",
        "--",
        "-Cstrip=none",
        &wish,
    ]))?;
    let binary = executable(&messages).ok_or_else(|| XtaskError::Command {
        command: "cargo rustc --release".to_owned(),
        stderr: "named no executable".to_owned(),
    })?;
    let map = std::fs::read_to_string(&path).map_err(XtaskError::file("read", &path))?;
    Ok((binary, Map::read(&map)))
}

/// What one run enters, in the order of the first calls.
fn entered(watcher: &Path, run: &Command, payload: &[u8]) -> Result<Vec<u64>, XtaskError> {
    let input = tempfile::NamedTempFile::new().map_err(XtaskError::file("create", watcher))?;
    std::fs::write(input.path(), payload).map_err(XtaskError::file("write", input.path()))?;
    let input =
        std::fs::File::open(input.path()).map_err(XtaskError::file("read", input.path()))?;
    let mut command = Command::new("python3");
    command.arg(watcher).arg(run.get_program());
    command.args(run.get_args());
    if let Some(folder) = run.get_current_dir() {
        command.current_dir(folder);
    }
    let output = command
        .stdin(input)
        .stderr(Stdio::inherit())
        .output()
        .map_err(|source| XtaskError::Spawn {
            program: "python3".to_owned(),
            source,
        })?;
    let text = String::from_utf8_lossy(&output.stdout);
    let told = |line: &str| u64::from_str_radix(line.strip_prefix("entered ")?, 16).ok();
    let addresses: Vec<u64> = text.lines().filter_map(told).collect();
    // A hook that denies ends with a code of its own; one that was not watched says nothing.
    if addresses.is_empty() {
        return Err(XtaskError::Command {
            command: "entered.py".to_owned(),
            stderr: output.status.to_string(),
        });
    }
    Ok(addresses)
}
