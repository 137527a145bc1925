//! Verifying against the raw SHA-256 rate of all cores together, interleaved.
//!
//! Rates are per second of processor time, so that a busy machine does not change the shares.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]
#![expect(
    dead_code,
    unreachable_pub,
    reason = "each benchmark uses a part of what they share"
)]

mod shared;

use std::path::Path;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use sha2::{Digest as _, Sha256};
use shared::{Outcome, create, fill, key, throw_away, timed};
use tagout_ledger::{VerifyOptions, verify};

const EVENTS: u64 = 200_000;
const ROUNDS: usize = 7;

fn main() -> Outcome<()> {
    let root = throw_away()?;
    let dir = root.path().join("ledger");
    fill(&create(&dir)?, EVENTS)?;
    let options = VerifyOptions {
        keys: vec![key()?.verifier()],
        ..VerifyOptions::default()
    };
    let lines = read_lines(&dir)?;
    let bytes: usize = lines.iter().map(Vec::len).sum();
    let cores = std::thread::available_parallelism()?.get();
    let (mut of_bulk, mut of_lines) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let bulk = mega(worked(|| hash_bulk(bytes, cores)).0, bytes);
        let each = mega(worked(|| hash_lines(&lines, cores)).0, bytes);
        let (wall, (time, report)) = timed(|| worked(|| verify(&dir, &options)));
        let report = report?;
        let own = mega(time, bytes);
        of_bulk.push(own / bulk);
        of_lines.push(own / each);
        println!(
            "{{\"bench\":\"verify\",\"ok\":{},\"events\":{},\"verify_ms\":{:.0},\
             \"verify_mb_per_cpu_s\":{own:.0},\"sha256_in_bulk_mb_per_cpu_s\":{bulk:.0},\
             \"sha256_by_line_mb_per_cpu_s\":{each:.0}}}",
            report.ok,
            report.events,
            wall.as_secs_f64() * 1e3,
        );
    }
    println!(
        "{{\"bench\":\"verify\",\"share_of_bulk\":{:.3},\"share_of_lines\":{:.3},\
         \"line_bytes\":{},\"cores\":{cores}}}",
        median(&mut of_bulk),
        median(&mut of_lines),
        bytes / lines.len().max(1),
    );
    Ok(())
}

/// The processor time of all threads that some work takes.
fn worked<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let now = || {
        let time = clock_gettime(ClockId::ProcessCPUTime);
        let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
        Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or_default())
    };
    let start = now();
    let value = work();
    (now().saturating_sub(start), value)
}

fn read_lines(dir: &Path) -> Outcome<Vec<Vec<u8>>> {
    let mut lines = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        if path.extension().is_some_and(|end| end == "jsonl") {
            let text = std::fs::read(path)?;
            lines.extend(text.split(|byte| *byte == b'\n').map(<[u8]>::to_vec));
        }
    }
    Ok(lines)
}

/// As many bytes as the ledger has, hashed in large blocks on all cores.
fn hash_bulk(bytes: usize, cores: usize) {
    let block = vec![7u8; 256 * 1024];
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                let mut hasher = Sha256::new();
                let mut left = bytes / cores;
                while left > 0 {
                    let take = left.min(block.len());
                    hasher.update(std::hint::black_box(block.get(..take).unwrap_or_default()));
                    left -= take;
                }
                std::hint::black_box(hasher.finalize());
            });
        }
    });
}

/// The ledger's own lines, hashed one by one on all cores.
fn hash_lines(lines: &[Vec<u8>], cores: usize) {
    std::thread::scope(|scope| {
        for part in lines.chunks(lines.len().div_ceil(cores)) {
            scope.spawn(move || {
                for line in part {
                    std::hint::black_box(Sha256::digest(line));
                }
            });
        }
    });
}

fn mega(time: Duration, bytes: usize) -> f64 {
    f64::from(u32::try_from(bytes).unwrap_or(u32::MAX)) / 1e6 / time.as_secs_f64()
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}
