//! Append of one event against a bare write and fdatasync of the same bytes, interleaved.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]
#![expect(
    dead_code,
    unreachable_pub,
    reason = "each benchmark uses a part of what they share"
)]

mod shared;

use std::fs::File;
use std::io::Write as _;

use shared::{Outcome, create, event, mean_us, percentile_us, throw_away, timed};

const ROUNDS: u64 = 2_000;

fn main() -> Outcome<()> {
    let root = throw_away()?;
    let dir = root.path().join("ledger");
    let ledger = create(&dir)?;
    let mut bare = File::create(root.path().join("bare"))?;
    let (mut appends, mut writes) = (Vec::new(), Vec::new());
    ledger.append(&[event(0)?])?;
    let first = std::fs::read(dir.join("00000001.jsonl"))?;
    let line = first
        .split_inclusive(|byte| *byte == b'\n')
        .next()
        .unwrap_or_default();
    for n in 1..ROUNDS {
        let one = [event(n)?];
        let (time, result) = timed(|| {
            bare.write_all(line)?;
            bare.sync_data()
        });
        result?;
        writes.push(time);
        let (time, result) = timed(|| ledger.append(&one));
        result?;
        appends.push(time);
    }
    let (append, write) = (
        percentile_us(&mut appends, 50),
        percentile_us(&mut writes, 50),
    );
    println!(
        "{{\"bench\":\"append\",\"append_p50_us\":{append:.1},\"bare_p50_us\":{write:.1},\
         \"ratio_p50\":{:.3},\"ratio_mean\":{:.3},\"append_p99_us\":{:.1},\"bare_p99_us\":{:.1},\
         \"line_bytes\":{}}}",
        append / write,
        mean_us(&appends) / mean_us(&writes),
        percentile_us(&mut appends, 99),
        percentile_us(&mut writes, 99),
        line.len(),
    );
    Ok(())
}
