//! Times the start and end of `true`: plain, in the read-only lane, in the transaction lane.
//!
//! `spawns SCRATCH [ROUNDS]`. One round does each once, so that whatever else the machine does
//! falls on all alike; the medians are printed, and their ratios to the plain one.

#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a measurement starts programs and prints"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tagout_sandbox::{
    Host, Input, Lane, Layers, Limits, Network, Output, Wanted, plan, remove_scratch,
    serve_if_helper,
};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome<()> {
    serve_if_helper();
    let mut words = std::env::args_os().skip(1);
    let scratch = PathBuf::from(words.next().ok_or("SCRATCH is missing")?);
    let rounds: usize = match words.next() {
        Some(word) => word.to_string_lossy().parse()?,
        None => 200,
    };
    let host = Host::probe(&scratch);
    let (mut plain, mut read_only, mut transaction) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        plain.push(spawn()?);
        read_only.push(confined(&host, &scratch, Lane::ReadOnly)?);
        transaction.push(confined(&host, &scratch, Lane::Transaction)?);
    }
    let base = median(&mut plain);
    for (name, times) in [
        ("plain", &mut plain),
        ("read-only", &mut read_only),
        ("transaction", &mut transaction),
    ] {
        let median = median(times);
        let ratio = median.as_secs_f64() / base.as_secs_f64();
        println!(
            "{name:12} {:8.0} µs  {ratio:5.2} ×",
            median.as_secs_f64() * 1e6
        );
    }
    Ok(())
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn spawn() -> Outcome<Duration> {
    let begun = Instant::now();
    Command::new("/bin/true")
        .env_clear()
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()?;
    Ok(begun.elapsed())
}

/// Making and removing the folders is the caller's work and not timed.
fn confined(host: &Host, scratch: &Path, lane: Lane) -> Outcome<Duration> {
    let run = scratch.join("run");
    for name in ["upper", "work", "tmp", "workspace"] {
        std::fs::create_dir_all(run.join(name))?;
    }
    let wanted = Wanted {
        lane,
        workspace: run.join("workspace"),
        cwd: run.join("workspace"),
        argv: vec!["/bin/true".into()],
        direct: None,
        env: Vec::new(),
        limits: Limits::default(),
        network: Network::Off,
        layers: Layers {
            upper: run.join("upper"),
            work: run.join("work"),
            tmp: run.join("tmp"),
            ..Layers::default()
        },
        writable: Vec::new(),
        hidden: Vec::new(),
        home: None,
        through: Vec::new(),
        read_only_inside: Vec::new(),
        accept_degraded: Vec::new(),
        long_running: false,
        input: Input::Nothing,
        output: Output {
            artifact: run.join("output"),
            live: None,
        },
    };
    let begun = Instant::now();
    let ended = plan(host, &wanted)?.start()?.wait()?;
    let took = begun.elapsed();
    if !ended.is_success() {
        return Err(format!("{:?}", ended.exit).into());
    }
    remove_scratch(&run)?;
    Ok(took)
}
