//! What a confined command costs against a plain spawn and against other sandboxes.

mod peers;
mod world;

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde::Deserialize;

use self::world::World;
use super::rounds::{Contender, medians_with};
use super::spawn::release_binary;
use super::{Budget, Line};
use crate::error::XtaskError;
use crate::process::{answer, cargo_command, described};

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
    ("transaction, 100,000 / 100 files", 1.2),
    (SYNCS_TOLD, SYNCS),
];

/// Syncs that one `exec` needs: its opening event and its closing step.
const SYNCS: f64 = 2.0;

/// The slow peer takes part in one round of so many: a few say enough about ratios of hundreds.
const SLOW_EVERY: usize = 20;

/// How often one `exec` waits for the disk, as it was counted.
const SYNCS_TOLD: &str = "syncs of one exec, counted";

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
        "bench_lanes",
        "--",
        &count,
    ]))?;
    let mut lines: Vec<Line> = told.lines().map(inside).collect::<Result<_, _>>()?;
    lines.extend(command_lines(rounds)?);
    lines.extend(unmeasured(&lines));
    Ok(lines)
}

/// The budgets that nothing was measured for, as where a peer is missing: they do not hold. What
/// only counts needs a tool that is no peer, and is left out without it.
fn unmeasured(lines: &[Line]) -> Vec<Line> {
    let is_missing = |what: &str| what != SYNCS_TOLD && !lines.iter().any(|line| line.what == what);
    let missing = BUDGETS.iter().filter(|(what, _)| is_missing(what));
    missing.map(|(what, _)| line(what, f64::NAN, "×")).collect()
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
    let world = World::new(&product, folder.path());
    let small = world.repository(100)?;
    let large = world.repository(100_000)?;
    let runtime = peers::sandbox_runtime(folder.path(), &small)?;
    let bubblewrap = peers::has_bubblewrap(&small);
    let synced = folder.path().join("synced");
    let missing = || Ok(Duration::ZERO);
    let wrapped = |words: &[&str]| {
        if bubblewrap {
            time(&mut peers::bubblewrap(&small, words))
        } else {
            missing()
        }
    };
    let mut contenders: Vec<Contender<'_>> = vec![
        Box::new(|| time(&mut Command::new("true"))),
        Box::new(|| time(&mut world.exec(&small))),
        Box::new(|| time(&mut world.exec(&large))),
        Box::new(|| time(&mut world.transaction(&small))),
        Box::new(|| time(&mut world.transaction(&large))),
        Box::new(|| wrapped(&["true"])),
        Box::new(|| wrapped(&["bash", "--noprofile", "--norc", "-c", "true"])),
        Box::new(|| sync(&synced)),
        Box::new(|| match &runtime {
            Some(program) => time(&mut peers::srt(program, &small)),
            None => missing(),
        }),
    ];
    let seldom = [(contenders.len() - 1, SLOW_EVERY)];
    let found = medians_with(rounds, &mut contenders, &seldom)?;
    drop(contenders);
    let mut lines = told(&Medians::of(&found));
    let syncs = world.syncs(&small)?;
    lines.extend(syncs.map(|count| line(SYNCS_TOLD, count, "syncs")));
    lines.push(line(
        "memory of exec, resident",
        world.memory(&small)?,
        "MB",
    ));
    Ok(lines)
}

/// Microseconds; no number for who did not take part.
struct Medians {
    plain: f64,
    small: f64,
    large: f64,
    transaction: f64,
    transaction_large: f64,
    bubblewrap: f64,
    bubblewrap_line: f64,
    sync: f64,
    runtime: f64,
}

impl Medians {
    fn of(found: &[f64]) -> Self {
        let at = |place: usize| {
            let value = found.get(place).copied().filter(|value| *value > 0.0);
            value.unwrap_or(f64::NAN)
        };
        Self {
            plain: at(0),
            small: at(1),
            large: at(2),
            transaction: at(3),
            transaction_large: at(4),
            bubblewrap: at(5),
            bubblewrap_line: at(6),
            sync: at(7),
            runtime: at(8),
        }
    }
}

fn told(of: &Medians) -> Vec<Line> {
    let syncs = SYNCS * of.sync;
    let figures = [
        ("true, as a command line", of.plain, "µs"),
        ("exec true, 100 files", of.small, "µs"),
        ("exec true, 100,000 files", of.large, "µs"),
        ("exec in a transaction, 100 files", of.transaction, "µs"),
        (
            "exec in a transaction, 100,000 files",
            of.transaction_large,
            "µs",
        ),
        ("bubblewrap true", of.bubblewrap, "µs"),
        ("bubblewrap bash -c true", of.bubblewrap_line, "µs"),
        ("bare write + fdatasync", of.sync, "µs"),
        ("sandbox-runtime true", of.runtime, "µs"),
        ("exec / plain spawn", of.small / of.plain, "×"),
        (
            "bubblewrap, as a command / plain spawn",
            of.bubblewrap / of.plain,
            "×",
        ),
        ("sandbox-runtime / plain spawn", of.runtime / of.plain, "×"),
        (
            "exec / (bubblewrap + its bare syncs)",
            of.small / (of.bubblewrap + syncs),
            "×",
        ),
        (
            "exec / (bubblewrap bash + its syncs)",
            of.small / (of.bubblewrap_line + syncs),
            "×",
        ),
        (
            "transaction / (bubblewrap + its syncs)",
            of.transaction / (of.bubblewrap + syncs),
            "×",
        ),
        ("exec, 100,000 / 100 files", of.large / of.small, "×"),
        (
            "transaction, 100,000 / 100 files",
            of.transaction_large / of.transaction,
            "×",
        ),
    ];
    figures
        .into_iter()
        .map(|(what, value, unit)| line(what, value, unit))
        .collect()
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
        // What it has to say is asked for by running it again, so that no pipe is measured.
        Ok(status) => Err(XtaskError::Command {
            command: described(command),
            stderr: format!("{status}: {}", said(command)),
        }),
        Err(source) => Err(XtaskError::Spawn { program, source }),
    }
}

fn said(command: &mut Command) -> String {
    let ran = command.stderr(Stdio::piped()).output();
    let text = ran.map(|ran| String::from_utf8_lossy(&ran.stderr).trim().to_owned());
    text.unwrap_or_else(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::{Budget, Medians, inside, sync, time, told, unmeasured};

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

    #[test]
    fn a_run_that_fails_says_what_it_said() {
        let error = time(Command::new("sh").args(["-c", "echo refused >&2; exit 126"]));
        let text = error.unwrap_err().to_string();
        assert!(text.contains("126") && text.contains("refused"), "{text}");
    }

    /// A budget against a peer that did not take part does not hold.
    #[test]
    fn a_missing_peer_holds_no_budget() {
        let budget = |found: &[f64]| {
            let lines = told(&Medians::of(found));
            let of = |line: &&super::Line| line.what == "exec / (bubblewrap + its bare syncs)";
            lines.iter().find(of).unwrap().holds()
        };
        assert!(budget(&[1.0, 7.0, 7.0, 9.0, 9.0, 8.0, 9.0, 1.0, 500.0]));
        assert!(!budget(&[1.0, 7.0, 7.0, 9.0, 9.0, 0.0, 0.0, 1.0, 500.0]));
        let missing = unmeasured(&told(&Medians::of(&[])));
        assert!(!missing.is_empty() && !missing.iter().any(super::Line::holds));
    }
}
