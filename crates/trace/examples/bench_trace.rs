//! What one edit costs, in a small and in a large file: its ranges, its record, its authors, beside
//! a bare diff of the same two texts and version control's own.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a benchmark prints its figures, and starts another program to compare with"
)]

use std::error::Error;
use std::hint::black_box;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use imara_diff::{Algorithm, Diff, InternedInput};
use tagout_trace::attribution::Origin;
use tagout_trace::blame::{Authorship, FileChange, Outside};
use tagout_trace::history::MemoryStore;
use tagout_trace::ranges;
use tagout_trace::record::{Change, Facts, Side, record};
use tagout_vocab::{CallId, Timestamp, WorkspacePath};

type Outcome<T> = Result<T, Box<dyn Error>>;

const SIZES: [usize; 2] = [1_000, 10_000];

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

/// The two texts of an edit, and what is done with them.
struct Edit<'a> {
    path: WorkspacePath,
    before: &'a str,
    after: &'a str,
    folder: &'a Path,
}

impl Edit<'_> {
    fn ranges(&self) {
        drop(black_box(ranges::segments(
            self.before.as_bytes(),
            self.after.as_bytes(),
        )));
    }

    fn record(&self) {
        let change = Change {
            path: self.path.as_str(),
            moved_from: None,
            before: Some(Side {
                bytes: self.before.as_bytes(),
                mode: 0o644,
            }),
            after: Some(Side {
                bytes: self.after.as_bytes(),
                mode: 0o644,
            }),
        };
        drop(black_box(record(Facts::default(), &[change])));
    }

    /// Takes the edit in, in a history that knows the file.
    fn settle(&self, known: &MemoryStore, round: usize) -> Outcome<Duration> {
        let mut authorship = Authorship::new(known.clone());
        let origin = Origin {
            execution: CallId::new(&format!("call-{round}"))?,
            intent: None,
            session: None,
            agent: None,
            model: None,
            approval: None,
            at: Timestamp::from_millis(0),
        };
        let change = FileChange {
            path: &self.path,
            moved_from: None,
            before: Some(self.before.as_bytes()),
            after: Some(self.after.as_bytes()),
        };
        let start = Instant::now();
        authorship.settle(&origin, &[change], Outside::Human)?;
        Ok(start.elapsed())
    }

    fn bare_diff(&self) {
        let input = InternedInput::new(self.before, self.after);
        let mut diff = Diff::compute(Algorithm::Histogram, &input);
        diff.postprocess_lines(&input);
        assert!(black_box(diff.hunks().count()) == 1);
    }

    fn version_control(&self) -> Outcome<()> {
        let mut command = Command::new("git");
        command
            .args(["diff", "--no-index", "before", "after"])
            .current_dir(self.folder)
            .stdout(Stdio::null());
        // It says by its code that the two differ.
        assert_eq!(command.status()?.code(), Some(1));
        Ok(())
    }
}

fn timed(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn median_ms(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    let middle = times.get(times.len() / 2).copied().unwrap_or_default();
    middle.as_secs_f64() * 1_000.0
}

/// Medians of everything, each once a round: ranges, record, authors, bare diff, version control.
fn measure(edit: &Edit<'_>, rounds: usize) -> Outcome<[f64; 5]> {
    let mut authorship = Authorship::new(MemoryStore::default());
    authorship.observe(&edit.path, edit.before.as_bytes(), Outside::Human)?;
    let known = authorship.store().clone();
    let mut times: [Vec<Duration>; 5] = Default::default();
    for round in 0..rounds {
        let start = Instant::now();
        edit.version_control()?;
        let spawned = start.elapsed();
        let took = [
            timed(|| edit.ranges()),
            timed(|| edit.record()),
            edit.settle(&known, round)?,
            timed(|| edit.bare_diff()),
            spawned,
        ];
        for (times, time) in times.iter_mut().zip(took) {
            times.push(time);
        }
    }
    Ok(times.map(median_ms))
}

fn main() -> Outcome<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let rounds: usize = words.first().map_or(Ok(200), |word| word.parse())?;
    for language in words.get(1).map_or("rs", String::as_str).split(',') {
        let mut whole = Vec::new();
        for lines in SIZES {
            let before = source(language, lines);
            let middle = format!("double > {}", lines / 20);
            let after = before.replace(&middle, &format!("{middle}0"));
            let folder = tempfile::tempdir()?;
            std::fs::write(folder.path().join("before"), &before)?;
            std::fs::write(folder.path().join("after"), &after)?;
            let edit = Edit {
                path: WorkspacePath::new(&format!("a.{language}"))?,
                before: &before,
                after: &after,
                folder: folder.path(),
            };
            let [ranges, record, authors, bare, git] = measure(&edit, rounds)?;
            let edit = record + authors;
            println!(
                "{{\"edit\":\"{language} {lines}\",\"ranges_ms\":{ranges:.3},\
                 \"record_ms\":{record:.3},\"authors_ms\":{authors:.3},\"edit_ms\":{edit:.3},\
                 \"bare_diff_ms\":{bare:.3},\"git_diff_ms\":{git:.3},\
                 \"ranges_to_bare\":{:.2},\"edit_to_git\":{:.2}}}",
                ranges / bare,
                edit / git
            );
            whole.push(edit);
        }
        if let [small, large] = whole.as_slice() {
            println!(
                "{{\"growth\":\"{language}\",\"ratio\":{:.2}}}",
                large / small
            );
        }
    }
    Ok(())
}
