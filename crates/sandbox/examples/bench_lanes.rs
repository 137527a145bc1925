//! Figures of confined runs of `true` within one process, interleaved with a plain spawn and with
//! bubblewrap: one JSON object a line.
//!
//! `bench_lanes [ROUNDS]`. Where bubblewrap is not installed, its figures are left out.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a program for measuring"
)]

use std::error::Error;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;
use tagout_sandbox::{
    Host, Input, Lane, Layers, Limits, Network, Output, Wanted, plan, serve_if_helper,
};

type Failure = Box<dyn Error>;
type Contender<'a> = (
    &'static str,
    Box<dyn FnMut() -> Result<Duration, Failure> + 'a>,
);

/// Rounds that are thrown away.
const WARM_UP: usize = 3;

fn main() -> Result<(), Failure> {
    serve_if_helper();
    let rounds = std::env::args().nth(1).and_then(|word| word.parse().ok());
    let folder = tempfile::Builder::new().tempdir_in("/var/tmp")?;
    let small = workspace(folder.path(), 100)?;
    let large = workspace(folder.path(), 100_000)?;
    let scratch = folder.path().join("scratch");
    fs::create_dir_all(scratch.join("tmp"))?;
    let host = Host::probe(&scratch);
    let confined = |lane, workspace: &PathBuf, limits: Limits| {
        let (host, scratch, workspace) = (&host, &scratch, workspace.clone());
        Box::new(move || run(host, scratch, &workspace, (lane, &limits)))
    };
    let mut contenders: Vec<Contender<'_>> = vec![
        ("plain spawn", Box::new(|| spawn(&mut Command::new("true")))),
        (
            "lane R",
            confined(Lane::ReadOnly, &small, Limits::default()),
        ),
        (
            "lane T",
            confined(Lane::Transaction, &small, Limits::default()),
        ),
        (
            "lane T, usual limits",
            confined(Lane::Transaction, &small, Limits::usual()),
        ),
        (
            "lane T, 100,000 files",
            confined(Lane::Transaction, &large, Limits::default()),
        ),
        (
            "lane S",
            confined(Lane::Snapshot, &small, Limits::default()),
        ),
    ];
    match spawn(&mut bubblewrap(&small)) {
        Ok(_) => contenders.push(("bubblewrap", Box::new(|| spawn(&mut bubblewrap(&small))))),
        Err(error) => eprintln!("MISSING PEER: bubblewrap does not take part: {error}"),
    }
    let medians = medians(rounds.unwrap_or(200), &mut contenders)?;
    tell(&medians);
    Ok(())
}

fn tell(medians: &[(&str, f64)]) {
    let of = |name: &str| {
        let found = medians.iter().find(|(what, _)| *what == name);
        found.map_or(f64::NAN, |(_, value)| *value)
    };
    for (what, value) in medians {
        println!("{}", json!({ "what": what, "value": value, "unit": "µs" }));
    }
    let ratios = [
        ("lane R / plain spawn", of("lane R") / of("plain spawn")),
        ("lane T / plain spawn", of("lane T") / of("plain spawn")),
        ("lane S / plain spawn", of("lane S") / of("plain spawn")),
        (
            "bubblewrap / plain spawn",
            of("bubblewrap") / of("plain spawn"),
        ),
        ("lane R / bubblewrap", of("lane R") / of("bubblewrap")),
        ("lane T / bubblewrap", of("lane T") / of("bubblewrap")),
        (
            "lane T, usual limits / bubblewrap",
            of("lane T, usual limits") / of("bubblewrap"),
        ),
        (
            "lane T, 100,000 / 100 files",
            of("lane T, 100,000 files") / of("lane T"),
        ),
    ];
    for (what, value) in ratios.iter().filter(|(_, value)| value.is_finite()) {
        println!("{}", json!({ "what": what, "value": value, "unit": "×" }));
    }
}

/// A workspace with this many small files, a thousand in a folder.
fn workspace(folder: &Path, files: usize) -> Result<PathBuf, Failure> {
    let path = folder.join(format!("workspace-{files}"));
    for number in 0..files {
        let inner = path.join(format!("folder-{}", number / 1000));
        if number % 1000 == 0 {
            fs::create_dir_all(&inner)?;
        }
        fs::write(inner.join(format!("file-{number}")), b"x")?;
    }
    Ok(path)
}

fn spawn(command: &mut Command) -> Result<Duration, Failure> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let begun = Instant::now();
    let status = command.status()?;
    let took = begun.elapsed();
    if status.success() {
        return Ok(took);
    }
    Err(format!("{command:?}: {status}").into())
}

/// Bubblewrap with the same name spaces, and its own form of what the lanes have besides.
fn bubblewrap(workspace: &Path) -> Command {
    let mut command = Command::new("bwrap");
    command.args([
        "--unshare-user",
        "--unshare-pid",
        "--unshare-net",
        "--unshare-ipc",
    ]);
    command.args([
        "--unshare-uts",
        "--unshare-cgroup-try",
        "--die-with-parent",
        "--new-session",
        "--ro-bind",
        "/",
        "/",
    ]);
    command.args([
        "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--tmpfs", "/run",
    ]);
    command.arg("--bind").arg(workspace).arg(workspace);
    command.arg("--chdir").arg(workspace).arg("true");
    command
}

/// One confined run with fresh layers; making them counts, removing them does not.
fn run(
    host: &Host,
    scratch: &Path,
    workspace: &Path,
    (lane, limits): (Lane, &Limits),
) -> Result<Duration, Failure> {
    let layers = scratch.join("layers");
    let begun = Instant::now();
    for name in ["upper", "work"] {
        fs::create_dir_all(layers.join(name))?;
    }
    let wanted = Wanted {
        lane,
        workspace: workspace.to_path_buf(),
        cwd: workspace.to_path_buf(),
        argv: vec![OsString::from("true")],
        direct: None,
        env: vec![("PATH".into(), "/usr/bin:/bin".into())],
        limits: limits.clone(),
        network: Network::Off,
        layers: Layers {
            upper: layers.join("upper"),
            work: layers.join("work"),
            tmp: scratch.join("tmp"),
            ..Layers::default()
        },
        writable: vec![workspace.to_path_buf()],
        hidden: vec![scratch.to_path_buf()],
        home: None,
        through: Vec::new(),
        read_only_inside: Vec::new(),
        accept_degraded: Vec::new(),
        long_running: false,
        input: Input::Nothing,
        output: Output {
            artifact: layers.join("output"),
            live: None,
        },
    };
    let ended = plan(host, &wanted)?.start()?.wait()?;
    let took = begun.elapsed();
    if !ended.is_success() {
        return Err(format!("{ended:?}").into());
    }
    tagout_sandbox::remove_scratch(&layers)?;
    Ok(took)
}

/// Every contender once a round, another one first each time.
fn medians(
    rounds: usize,
    contenders: &mut [Contender<'_>],
) -> Result<Vec<(&'static str, f64)>, Failure> {
    let count = contenders.len();
    let mut samples = vec![Vec::with_capacity(rounds); count];
    for round in 0..rounds + WARM_UP {
        for turn in 0..count {
            let which = (round + turn) % count;
            let (Some((_, contender)), Some(samples)) =
                (contenders.get_mut(which), samples.get_mut(which))
            else {
                continue;
            };
            let took = contender()?.as_secs_f64() * 1e6;
            if round >= WARM_UP {
                samples.push(took);
            }
        }
    }
    let names = contenders.iter().map(|(name, _)| *name);
    Ok(names
        .zip(samples)
        .map(|(name, mut samples)| {
            samples.sort_by(f64::total_cmp);
            (
                name,
                samples.get(samples.len() / 2).copied().unwrap_or(f64::NAN),
            )
        })
        .collect())
}
