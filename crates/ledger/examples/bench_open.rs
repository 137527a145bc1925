//! Opening and the first append of a process, at a thousand and at a million events.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]
#![expect(
    dead_code,
    unreachable_pub,
    reason = "each benchmark uses a part of what they share"
)]

mod shared;

use shared::{Outcome, create, event, fill, options, percentile_us, throw_away, timed};
use tagout_ledger::{Ledger, Reader};

const ROUNDS: u64 = 200;

fn main() -> Outcome<()> {
    let root = throw_away()?;
    let mut times = [Vec::new(), Vec::new()];
    let mut seeks = [Vec::new(), Vec::new()];
    let sizes = [1_000u64, 1_000_000];
    for size in sizes {
        fill(&create(&root.path().join(size.to_string()))?, size)?;
    }
    for n in 0..ROUNDS {
        for (place, size) in sizes.iter().enumerate() {
            let dir = root.path().join(size.to_string());
            let one = [event(n)?];
            let (time, result) = timed(|| -> Outcome<()> {
                Ledger::open(&dir, options()?)?.append(&one)?;
                Ok(())
            });
            result?;
            times.get_mut(place).ok_or("two sizes")?.push(time);
            let (time, found) = timed(|| Reader::open(&dir)?.event(n * 37 % size));
            found?;
            seeks.get_mut(place).ok_or("two sizes")?.push(time);
        }
    }
    let [short, long] = times.map(|mut times| percentile_us(&mut times, 50));
    let [near, far] = seeks.map(|mut times| percentile_us(&mut times, 50));
    println!(
        "{{\"bench\":\"open\",\"open_append_1k_p50_us\":{short:.1},\
         \"open_append_1m_p50_us\":{long:.1},\"ratio\":{:.3},\"find_1k_p50_us\":{near:.1},\
         \"find_1m_p50_us\":{far:.1},\"peak_mb\":{:.1}}}",
        long / short,
        shared::peak_mb()?,
    );
    Ok(())
}
