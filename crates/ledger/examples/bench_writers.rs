//! Eight processes appending at once, against eight that only write and sync files of their own.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]
#![expect(clippy::disallowed_methods, reason = "the writers are processes")]
#![expect(
    dead_code,
    unreachable_pub,
    reason = "each benchmark uses a part of what they share"
)]

mod shared;

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use shared::{Outcome, create, event, options, percentile_us, throw_away, timed};
use tagout_ledger::{Ledger, VerifyOptions, verify};

const WRITERS: usize = 8;
const EVENTS: u64 = 500;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, dir, mode] = arguments.as_slice() {
        return write(Path::new(dir), mode);
    }
    let root = throw_away()?;
    let dir = root.path().join("ledger");
    drop(create(&dir)?);
    for mode in ["bare", "ledger", "bare", "ledger"] {
        let (time, result) = timed(|| run(&dir, mode));
        let mut times = result?;
        let events = WRITERS as u64 * EVENTS;
        println!(
            "{{\"bench\":\"writers\",\"mode\":\"{mode}\",\"events_per_s\":{:.0},\
             \"p50_us\":{:.0},\"p99_us\":{:.0}}}",
            f64::from(u32::try_from(events)?) / time.as_secs_f64(),
            percentile_us(&mut times, 50),
            percentile_us(&mut times, 99),
        );
    }
    let keys = vec![shared::key()?.verifier()];
    let report = verify(
        &dir,
        &VerifyOptions {
            keys,
            ..VerifyOptions::default()
        },
    )?;
    println!(
        "{{\"bench\":\"writers\",\"ok\":{},\"events\":{}}}",
        report.ok, report.events
    );
    Ok(())
}

fn run(dir: &Path, mode: &str) -> Outcome<Vec<Duration>> {
    let mut writers = Vec::new();
    for n in 0..WRITERS {
        let mut command = Command::new(std::env::current_exe()?);
        command
            .arg(dir)
            .arg(format!("{mode}{n}"))
            .stdout(Stdio::piped());
        writers.push(command.spawn()?);
    }
    let mut times = Vec::new();
    for writer in writers {
        let output = writer.wait_with_output()?;
        for word in String::from_utf8(output.stdout)?.split_whitespace() {
            times.push(Duration::from_nanos(word.parse()?));
        }
    }
    Ok(times)
}

fn write(dir: &Path, mode: &str) -> Outcome<()> {
    let ledger = Ledger::open(dir, options()?)?;
    let own = dir.join(mode);
    let mut bare = OpenOptions::new().append(true).create(true).open(own)?;
    let line = vec![b'x'; 900];
    for n in 0..EVENTS {
        let one = [event(n)?];
        let time = if mode.starts_with("bare") {
            let (time, result) = timed(|| {
                bare.write_all(&line)?;
                bare.sync_data()
            });
            result?;
            time
        } else {
            let (time, result) = timed(|| ledger.append(&one));
            result?;
            time
        };
        println!("{}", time.as_nanos());
    }
    Ok(())
}
