//! Measures what one edit costs: its ranges, its record, its class, at two sizes of file.

use std::hint::black_box;
use std::io::Write as _;
use std::time::{Duration, Instant};

use tagout_trace::mutation::{Sides, classify};
use tagout_trace::ranges;
use tagout_trace::record::{Change, Facts, Side, record};

const SIZES: [usize; 2] = [1_000, 10_000];
const ROUNDS: usize = 21;

/// A file of about so many lines: functions with locals, branches and calls.
fn source(language: &str, lines: usize) -> String {
    let one = |n: usize| match language {
        "rs" => format!(
            "/// Number {n}.\npub fn work_{n}(input: u32) -> u32 {{\n    let double = input * 2;\n    \
             if double > {n} {{\n        return helper(double, {n});\n    }}\n    \
             let rest = double + {n};\n    rest\n}}\n\n"
        ),
        "py" => format!(
            "def work_{n}(value):\n    \"\"\"Number {n}.\"\"\"\n    double = value * 2\n    \
             if double > {n}:\n        return helper(double, {n})\n    rest = double + {n}\n    \
             extra = [x for x in range(rest)]\n    return extra\n\n\n"
        ),
        _ => format!(
            "/** Number {n}. */\nexport function work{n}(value: number): number {{\n  \
             const double = value * 2;\n  if (double > {n}) {{\n    return helper(double, {n});\n  \
             }}\n  const rest = double + {n};\n  return rest;\n}}\n\n"
        ),
    };
    (0..lines / 10).map(one).collect()
}

/// The median time of some work.
fn median(mut work: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed()
        })
        .collect();
    times.sort();
    times.get(ROUNDS / 2).copied().unwrap_or_default()
}

fn main() -> std::io::Result<()> {
    let mut out = std::io::stdout();
    writeln!(out, "file        lines   ranges ms   class ms  record ms")?;
    for language in ["rs", "py", "ts"] {
        for lines in SIZES {
            let before = source(language, lines);
            let middle = format!("double > {}", lines / 20);
            let after = before.replace(&middle, &format!("{middle}0"));
            let path = format!("a.{language}");
            let (old, new) = (before.as_bytes(), after.as_bytes());
            let sides = Sides {
                path: &path,
                moved_from: None,
                before: Some(old),
                after: Some(new),
            };
            let side = |bytes| Side { bytes, mode: 0o644 };
            let change = Change {
                path: &path,
                moved_from: None,
                before: Some(side(old)),
                after: Some(side(new)),
            };
            let figures = [
                median(|| drop(black_box(ranges::segments(old, new)))),
                median(|| drop(black_box(classify(sides)))),
                median(|| drop(black_box(record(Facts::default(), &[change])))),
            ]
            .map(|time| time.as_secs_f64() * 1_000.0);
            let [ranges, class, whole] = figures;
            writeln!(
                out,
                "{path:8} {:8} {ranges:11.3} {class:10.3} {whole:10.3}",
                before.lines().count()
            )?;
        }
    }
    Ok(())
}
