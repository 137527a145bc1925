//! Verifying against the raw SHA-256 rate of all cores together over the same bytes, interleaved.
//!
//! The budget is on time that passes, so that a verification on one core misses it. The shares of
//! processor time say how much of a miss is work and how much is waiting for a busy machine.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]
#![expect(
    dead_code,
    unreachable_pub,
    reason = "each benchmark uses a part of what they share"
)]

mod shared;

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use sha2::{Digest as _, Sha256};
use shared::{Outcome, create, fill, key, throw_away, timed};
use tagout_ledger::{VerifyOptions, verify};

const EVENTS: u64 = 200_000;
const ROUNDS: usize = 201;

/// Bytes that a core hashes at a time.
const BLOCK_BYTES: usize = 1024 * 1024;

fn main() -> Outcome<()> {
    let root = throw_away()?;
    let dir = root.path().join("ledger");
    fill(&create(&dir)?, EVENTS)?;
    let options = VerifyOptions {
        keys: vec![key()?.verifier()],
        ..VerifyOptions::default()
    };
    let bytes = read_all(&dir)?;
    let lines = cut(&bytes);
    let cores = std::thread::available_parallelism()?.get();
    let (mut of_bulk, mut of_lines, mut of_cpu) = (Vec::new(), Vec::new(), Vec::new());
    let (mut bulk_rates, mut own_rates) = (Vec::new(), Vec::new());
    let mut is_ok = true;
    for _ in 0..ROUNDS {
        let bulk = measured(|| on_all(cores, &blocks(&bytes)));
        let each = measured(|| on_all(cores, &lines));
        let mut report = None;
        let own = measured(|| report = Some(verify(&dir, &options)));
        let report = report.ok_or("nothing was verified")??;
        is_ok &= report.ok && report.events >= EVENTS;
        of_bulk.push(bulk.wall.as_secs_f64() / own.wall.as_secs_f64());
        of_lines.push(each.wall.as_secs_f64() / own.wall.as_secs_f64());
        of_cpu.push(bulk.cpu.as_secs_f64() / own.cpu.as_secs_f64());
        bulk_rates.push(mega(bulk.wall, bytes.len()));
        own_rates.push(mega(own.wall, bytes.len()));
    }
    println!(
        "{{\"bench\":\"verify\",\"ok\":{is_ok},\"rounds\":{ROUNDS},\"share_of_bulk\":{:.3},\
         \"share_of_lines\":{:.3},\"cpu_share_of_bulk\":{:.3},\"verify_mb_per_s\":{:.0},\
         \"sha256_mb_per_s\":{:.0},\"line_bytes\":{},\"cores\":{cores}}}",
        median(&mut of_bulk),
        median(&mut of_lines),
        median(&mut of_cpu),
        median(&mut own_rates),
        median(&mut bulk_rates),
        bytes.len() / usize::try_from(EVENTS)?,
    );
    Ok(())
}

/// What some work took: of the clock, and of all cores together.
struct Took {
    wall: Duration,
    cpu: Duration,
}

fn measured(work: impl FnOnce()) -> Took {
    let now = || {
        let time = clock_gettime(ClockId::ProcessCPUTime);
        let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
        Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or_default())
    };
    let start = now();
    let (wall, ()) = timed(work);
    Took {
        wall,
        cpu: now().saturating_sub(start),
    }
}

fn read_all(dir: &Path) -> Outcome<Vec<u8>> {
    let mut bytes = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        if path.extension().is_some_and(|end| end == "jsonl") {
            bytes.extend(std::fs::read(path)?);
        }
    }
    Ok(bytes)
}

/// The lines, in lots of about a block.
fn cut(bytes: &[u8]) -> Vec<Vec<&[u8]>> {
    let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    lines.chunks(1_000).map(<[&[u8]]>::to_vec).collect()
}

/// The same bytes in blocks.
fn blocks(bytes: &[u8]) -> Vec<Vec<&[u8]>> {
    bytes.chunks(BLOCK_BYTES).map(|block| vec![block]).collect()
}

/// Hashes every piece by itself on all cores; each takes the next lot when it is done with one.
fn on_all(cores: usize, lots: &[Vec<&[u8]>]) {
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(lot) = lots.get(next.fetch_add(1, Ordering::Relaxed)) {
            for piece in lot {
                std::hint::black_box(Sha256::digest(piece));
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..cores {
            scope.spawn(work);
        }
        work();
    });
}

fn mega(time: Duration, bytes: usize) -> f64 {
    f64::from(u32::try_from(bytes).unwrap_or(u32::MAX)) / 1e6 / time.as_secs_f64()
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}
