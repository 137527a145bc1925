//! What a confined command costs against a plain spawn and against other sandboxes.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde::Deserialize;

use super::rounds::{Contender, medians};
use super::spawn::release_binary;
use super::{Budget, Line};
use crate::error::XtaskError;
use crate::process::{answer, cargo_command};

/// One figure as the sandbox's own example prints it.
#[derive(Debug, Deserialize)]
struct Figure {
    what: String,
    value: f64,
    unit: String,
}

/// Budgets by the figure's name; what is not listed is shown.
const BUDGETS: &[(&str, f64)] = &[
    ("lane R / bubblewrap", 1.0),
    ("lane T / bubblewrap", 1.0),
    ("lane T, 100,000 / 100 files", 1.2),
    ("exec / (bubblewrap + its bare syncs)", 1.0),
    ("exec, 100,000 / 100 files", 1.2),
];

/// Syncs that one `exec` needs: its opening event and its closing step.
const SYNCS: f64 = 2.0;

/// Runs of the slow peers for each of the others: a few say enough about ratios of hundreds.
const SLOW_ROUNDS: usize = 5;

/// First the lanes within one process, then whole command lines.
pub(super) fn run(rounds: usize) -> Result<Vec<Line>, XtaskError> {
    let count = rounds.to_string();
    let told = answer(&mut cargo_command(&[
        "run",
        "--release",
        "--quiet",
        "--package",
        "tagout-sandbox",
        "--example",
        "bench",
        "--",
        &count,
    ]))?;
    let mut lines: Vec<Line> = told.lines().map(inside).collect::<Result<_, _>>()?;
    lines.extend(command_lines(rounds)?);
    Ok(lines)
}

fn inside(text: &str) -> Result<Line, XtaskError> {
    let figure: Figure = serde_json::from_str(text).map_err(|error| XtaskError::Command {
        command: "the sandbox's figures".to_owned(),
        stderr: format!("`{text}` is no figure: {error}"),
    })?;
    let unit = match figure.unit.as_str() {
        "µs" => "µs",
        _ => "×",
    };
    Ok(line(&figure.what, figure.value, unit))
}

fn line(what: &str, value: f64, unit: &'static str) -> Line {
    let budget = BUDGETS.iter().find(|(name, _)| *name == what);
    Line {
        benchmark: "exec",
        what: what.to_owned(),
        value,
        unit,
        budget: budget.map_or(Budget::Shown, |(_, most)| Budget::AtMost(*most)),
    }
}

fn command_lines(rounds: usize) -> Result<Vec<Line>, XtaskError> {
    // Beside other people's temporary files, not below `/tmp`, which a command has its own of.
    let folder = tempfile::Builder::new()
        .tempdir_in("/var/tmp")
        .map_err(XtaskError::file("create", Path::new("/var/tmp")))?;
    let product = release_binary()?;
    let small = repository(folder.path(), &product, 100)?;
    let large = repository(folder.path(), &product, 100_000)?;
    let exec = |place: &Path| {
        let mut command = Command::new(&product);
        command.args(["exec", "--", "true"]).current_dir(place);
        command
    };
    let synced = folder.path().join("synced");
    let mut contenders: Vec<Contender<'_>> = vec![
        Box::new(|| time(&mut Command::new("true"))),
        Box::new(|| time(&mut exec(&small))),
        Box::new(|| time(&mut exec(&large))),
        Box::new(|| time(&mut bubblewrap(&small))),
        Box::new(|| sync(&synced)),
    ];
    let found = medians(rounds, &mut contenders)?;
    let [plain, small_exec, large_exec, bubblewrap, sync] = found.as_slice() else {
        return Ok(Vec::new());
    };
    let mut lines = vec![
        line("true, as a command line", *plain, "µs"),
        line("exec true, 100 files", *small_exec, "µs"),
        line("exec true, 100,000 files", *large_exec, "µs"),
        line("bubblewrap true", *bubblewrap, "µs"),
        line("bare write + fdatasync", *sync, "µs"),
        line("exec / plain spawn", small_exec / plain, "×"),
        line(
            "exec / (bubblewrap + its bare syncs)",
            small_exec / (bubblewrap + SYNCS * sync),
            "×",
        ),
        line("exec, 100,000 / 100 files", large_exec / small_exec, "×"),
    ];
    lines.extend(slow_peer(folder.path(), &small, *plain)?);
    Ok(lines)
}

/// Anthropic's sandbox, from the registry; left out where the registry can't be reached.
fn slow_peer(folder: &Path, place: &Path, plain: f64) -> Result<Vec<Line>, XtaskError> {
    let peer = folder.join("peer");
    std::fs::create_dir(&peer).map_err(XtaskError::file("create", &peer))?;
    let installed = answer(
        Command::new("npm")
            .args(["install", "--no-audit", "--no-fund", "--prefix"])
            .arg(&peer)
            .arg("@anthropic-ai/sandbox-runtime"),
    );
    let program = peer.join("node_modules/.bin/srt");
    let run = || time(Command::new(&program).arg("true").current_dir(place));
    if installed.is_err() || run().is_err() {
        eprintln!("@anthropic-ai/sandbox-runtime can't be installed and run here: left out");
        return Ok(Vec::new());
    }
    let mut contenders: Vec<Contender<'_>> = vec![Box::new(run)];
    let found = medians(SLOW_ROUNDS, &mut contenders)?;
    let took = found.first().copied().unwrap_or(f64::NAN);
    Ok(vec![
        line("sandbox-runtime true", took, "µs"),
        line("sandbox-runtime / plain spawn", took / plain, "×"),
    ])
}

/// A repository with this many files that the product knows.
fn repository(folder: &Path, product: &str, files: usize) -> Result<PathBuf, XtaskError> {
    let path = folder.join(format!("repository-{files}"));
    for number in 0..files {
        let inner = path.join(format!("src/folder-{}", number / 1000));
        if number % 1000 == 0 {
            std::fs::create_dir_all(&inner).map_err(XtaskError::file("create", &inner))?;
        }
        let file = inner.join(format!("file-{number}"));
        std::fs::write(&file, "x").map_err(XtaskError::file("write", &file))?;
    }
    answer(
        Command::new("git")
            .args(["init", "--quiet"])
            .current_dir(&path),
    )?;
    answer(
        Command::new(product)
            .args(["init", "--yes"])
            .current_dir(&path),
    )?;
    Ok(path)
}

/// Bubblewrap with the same name spaces.
fn bubblewrap(place: &Path) -> Command {
    let mut command = Command::new("bwrap");
    command.args([
        "--unshare-user",
        "--unshare-pid",
        "--unshare-net",
        "--unshare-ipc",
        "--unshare-uts",
        "--die-with-parent",
        "--new-session",
    ]);
    command.args(["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]);
    command.args(["--tmpfs", "/tmp", "--tmpfs", "/run", "--bind"]);
    command.arg(place).arg(place).arg("--chdir").arg(place);
    command.arg("true");
    command
}

/// What making one small record durable costs at least.
pub(super) fn sync(path: &Path) -> Result<Duration, XtaskError> {
    let failed = XtaskError::file("write", path);
    let mut file = File::create(path).map_err(failed)?;
    let begun = Instant::now();
    file.write_all(&[0; 1024])
        .and_then(|()| file.sync_data())
        .map_err(XtaskError::file("write", path))?;
    Ok(begun.elapsed())
}

/// One run, from the spawn to the end. A run that fails is no measurement.
fn time(command: &mut Command) -> Result<Duration, XtaskError> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let program = command.get_program().to_string_lossy().into_owned();
    let begun = Instant::now();
    let status = command.status();
    let took = begun.elapsed();
    match status {
        Ok(status) if status.success() => Ok(took),
        Ok(status) => Err(XtaskError::Command {
            command: program,
            stderr: status.to_string(),
        }),
        Err(source) => Err(XtaskError::Spawn { program, source }),
    }
}

#[cfg(test)]
mod tests {
    use super::{Budget, inside, sync};

    #[test]
    fn a_figure_finds_its_budget() {
        let read = inside(r#"{"what": "lane T / bubblewrap", "value": 0.5, "unit": "×"}"#);
        assert_eq!(read.unwrap().budget, Budget::AtMost(1.0));
        let shown = inside(r#"{"what": "plain spawn", "value": 900, "unit": "µs"}"#).unwrap();
        assert_eq!((shown.budget, shown.unit), (Budget::Shown, "µs"));
        assert!(inside("nonsense").is_err());
    }

    #[test]
    fn a_bare_sync_is_timed() {
        let folder = tempfile::tempdir().unwrap();
        assert!(sync(&folder.path().join("file")).unwrap().as_nanos() > 0);
        assert!(sync(&folder.path().join("missing/file")).is_err());
    }
}
