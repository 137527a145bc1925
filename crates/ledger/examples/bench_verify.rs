//! Verifying against the raw SHA-256 rate of all cores together, interleaved.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]
#![expect(
    dead_code,
    unreachable_pub,
    reason = "each benchmark uses a part of what they share"
)]

mod shared;

use sha2::{Digest as _, Sha256};
use shared::{Outcome, create, fill, key, throw_away, timed};
use tagout_ledger::{VerifyOptions, verify};

const EVENTS: u64 = 300_000;
const ROUNDS: usize = 7;

fn main() -> Outcome<()> {
    let root = throw_away()?;
    let dir = root.path().join("ledger");
    fill(&create(&dir)?, EVENTS)?;
    let mut bytes = 0;
    for entry in std::fs::read_dir(&dir)? {
        let entry = entry?;
        let is_segment = entry.file_name().to_string_lossy().ends_with(".jsonl");
        bytes += if is_segment {
            entry.metadata()?.len()
        } else {
            0
        };
    }
    let options = VerifyOptions {
        keys: vec![key()?.verifier()],
        ..VerifyOptions::default()
    };
    let cores = std::thread::available_parallelism()?.get();
    let block = vec![7u8; 1 << 20];
    let blocks = usize::try_from(bytes)? / block.len() / cores;
    let mut ratios = Vec::new();
    for _ in 0..ROUNDS {
        let (raw, ()) = timed(|| {
            std::thread::scope(|scope| {
                for _ in 0..cores {
                    scope.spawn(|| {
                        let mut hasher = Sha256::new();
                        (0..blocks).for_each(|_| hasher.update(std::hint::black_box(&block)));
                        std::hint::black_box(hasher.finalize());
                    });
                }
            });
        });
        let (own, report) = timed(|| verify(&dir, &options));
        let report = report?;
        let mega = |time: std::time::Duration, bytes: f64| bytes / 1e6 / time.as_secs_f64();
        let hashed = f64::from(u32::try_from(blocks * block.len() * cores)?);
        let read = f64::from(u32::try_from(bytes)?);
        let ratio = mega(own, read) / mega(raw, hashed);
        ratios.push(ratio);
        println!(
            "{{\"bench\":\"verify\",\"ok\":{},\"events\":{},\"verify_mb_per_s\":{:.0},\
             \"raw_sha256_mb_per_s\":{:.0},\"share\":{ratio:.3}}}",
            report.ok,
            report.events,
            mega(own, read),
            mega(raw, hashed),
        );
    }
    ratios.sort_by(f64::total_cmp);
    let median = ratios.get(ROUNDS / 2).copied().unwrap_or_default();
    println!("{{\"bench\":\"verify\",\"share_median\":{median:.3},\"cores\":{cores}}}");
    Ok(())
}
