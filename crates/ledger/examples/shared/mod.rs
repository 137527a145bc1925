//! What the benchmarks share: an everyday event, a throw-away ledger, figures as JSON lines.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tagout_ledger::{
    Commitment, Ledger, LifecycleState, NewEvent, Options, PathChange, SealKey, Stamp, ToolRef,
    Usage,
};
use tagout_vocab::{Digest, IntentId, SessionId, Timestamp};

pub type Outcome<T> = Result<T, Box<dyn Error>>;

/// A folder that goes with the value. Its parent is the first argument, else the temporary folder.
pub fn throw_away() -> Outcome<tempfile::TempDir> {
    let parent = std::env::args_os()
        .nth(1)
        .map_or_else(std::env::temp_dir, PathBuf::from);
    Ok(tempfile::tempdir_in(parent)?)
}

pub fn key() -> Outcome<SealKey> {
    Ok(SealKey::new("tagout.bench/seal", [7; 32])?)
}

pub fn options() -> Outcome<Options> {
    Ok(Options {
        key: Some(key()?.into()),
        ..Options::default()
    })
}

pub fn create(dir: &Path) -> Outcome<Ledger> {
    Ledger::create(dir, "tagout.bench/ledger")?;
    Ok(Ledger::open(dir, options()?)?)
}

/// A closing event as a file tool leaves it, about 900 bytes.
pub fn event(n: u64) -> Outcome<NewEvent> {
    let stamp = Stamp {
        event_id: format!("01JD{n:022}"),
        timestamp: Timestamp::from_millis(1_780_000_000_000 + i64::try_from(n)?),
    };
    let tool = ToolRef {
        id: "write_to_file".to_owned(),
        version: "1.4.2".to_owned(),
    };
    let input = Commitment::new([1; 32], &n.to_be_bytes()).digest;
    let state = LifecycleState::Completed;
    let mut event = NewEvent::lifecycle(stamp, tool, format!("{n:032x}"), state, input);
    event.capabilities = vec!["filesystem.read".to_owned(), "filesystem.write".to_owned()];
    event.output_hash = Some(Commitment::new([2; 32], &n.to_be_bytes()).digest);
    event.duration = Some(n % 50);
    event.intent = Some(IntentId::new("INT-001")?);
    event.session = Some(SessionId::new("2f1c0b1e-7a55-4a51-9c3e-0c9a2f2b6d11")?);
    event.verdict_code = Some("ALLOWED".to_owned());
    event.rule = Some("built-in: balanced".to_owned());
    event.agent = Some("an-everyday-client".to_owned());
    event.model = Some("a-model-of-today-2026".to_owned());
    event.undoable_until = Some(Timestamp::from_millis(1_790_000_000_000));
    event.usage = Some(Usage {
        cpu_ms: 3,
        memory_bytes: 9_000_000,
        read_bytes: 12_345,
        written_bytes: 6_789,
    });
    event.paths = vec![PathChange {
        path: "crates/ledger/src/append.rs".to_owned(),
        before: Some(Digest::of(&n.to_be_bytes())),
        after: Some(Digest::of(&(n + 1).to_be_bytes())),
    }];
    Ok(event)
}

pub fn fill(ledger: &Ledger, count: u64) -> Outcome<()> {
    let mut n = 0;
    while n < count {
        let step: Vec<NewEvent> = (n..count.min(n + 1_000))
            .map(event)
            .collect::<Outcome<_>>()?;
        n += step.len() as u64;
        ledger.append(&step)?;
    }
    Ok(())
}

pub fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let value = work();
    (start.elapsed(), value)
}

/// Sorts the times and returns the one at this percentile, in microseconds.
pub fn percentile_us(times: &mut [Duration], percent: usize) -> f64 {
    times.sort_unstable();
    let place = (times.len() * percent).div_ceil(100).max(1) - 1;
    times
        .get(place)
        .map_or(0.0, |time| time.as_secs_f64() * 1e6)
}

pub fn mean_us(times: &[Duration]) -> f64 {
    let count = u32::try_from(times.len()).unwrap_or(u32::MAX).max(1);
    (times.iter().sum::<Duration>() / count).as_secs_f64() * 1e6
}

/// The most memory that this process has had, in megabytes.
pub fn peak_mb() -> Outcome<f64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = peak.and_then(|text| text.trim().strip_suffix(" kB"));
    Ok(kib.ok_or("no peak")?.trim().parse::<f64>()? / 1024.0)
}
