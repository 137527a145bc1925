//! `cargo xtask order`: which functions lie side by side in the program.
//!
//! A hook enters about a thousand of the program's thirty thousand functions. Where they lie apart,
//! each costs a page of memory and a fault of the processor. The chore watches hooks and commands,
//! and writes down what they enter; the build lets the linker put those functions first. A list
//! that is older than the code costs some time at every start and nothing else.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

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
    let stage = Stage::set(folder.path(), named_binary()?)?;
    let mut seen = BTreeSet::new();
    let mut lines = String::new();
    for (command, payload) in stage.scenes() {
        for name in entered(&watcher, &command, &payload)? {
            if let Some(pattern) = pattern(&name)
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

/// The product with the names of its functions.
fn named_binary() -> Result<String, XtaskError> {
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
    ]))?;
    executable(&messages).ok_or_else(|| XtaskError::Command {
        command: "cargo rustc --release".to_owned(),
        stderr: "named no executable".to_owned(),
    })
}

/// What one run enters, in the order of the first calls.
fn entered(watcher: &Path, run: &Command, payload: &[u8]) -> Result<Vec<String>, XtaskError> {
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
    let names: Vec<String> = text
        .lines()
        .filter_map(|line| Some(line.strip_prefix("entered ")?.to_owned()))
        .collect();
    // A hook that denies ends with a code of its own; one that was not watched says nothing.
    if names.is_empty() {
        return Err(XtaskError::Command {
            command: "entered.py".to_owned(),
            stderr: output.status.to_string(),
        });
    }
    Ok(names)
}

/// The name of a function without what changes from build to build; `None` for what is not Rust's,
/// which can't be moved by itself.
fn pattern(name: &str) -> Option<String> {
    let name = name.split_once(".llvm.").map_or(name, |(name, _)| name);
    let name = name.strip_prefix("_R")?;
    let mut pattern = "_R".to_owned();
    let mut rest = name;
    // A crate is written `Cs` + its fingerprint + `_` + its name.
    while let Some((before, after)) = rest.split_once("Cs") {
        pattern.push_str(before);
        pattern.push_str("Cs");
        let end = after.find(|letter: char| !letter.is_ascii_alphanumeric());
        match end.map(|end| after.split_at(end)) {
            Some((_, named)) if named.starts_with('_') => {
                pattern.push('*');
                rest = named;
            }
            Some(_) | None => rest = after,
        }
    }
    pattern.push_str(rest);
    Some(pattern)
}

#[cfg(test)]
mod tests {
    use super::pattern;

    #[test]
    fn fingerprints_of_crates_are_left_open() {
        let name = "_RNvMs_NtCs5oyWUJmDGWm_12tagout_vocab6digestNtB4_6Digest2of.llvm.99";
        let open = "_RNvMs_NtCs*_12tagout_vocab6digestNtB4_6Digest2of";
        assert_eq!(pattern(name).as_deref(), Some(open));
        assert_eq!(pattern("memcpy"), None);
    }
}
