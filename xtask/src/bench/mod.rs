//! `cargo xtask bench`: measures against the budgets, as ratios within one interleaved run.
//!
//! Wall times on a shared machine say more about its other load than about the product, so every
//! contender of a benchmark runs once a round, in turns, and the medians are compared.

mod example;
mod exec;
mod hook;
mod judge;
mod ledger;
mod rounds;
mod spawn;
mod trace;
mod workspace;

pub(crate) use hook::Stage;

use std::process::ExitCode;

use serde::Serialize;

use crate::error::XtaskError;

/// Fewer rounds than this say nothing.
pub(crate) const ROUNDS_MIN: usize = 200;

/// One benchmark.
#[derive(Debug)]
struct Benchmark {
    name: &'static str,
    about: &'static str,
    run: fn(usize) -> Result<Vec<Line>, XtaskError>,
}

/// Every benchmark. A new one is a file beside this one and an entry here.
const BENCHMARKS: &[Benchmark] = &[
    Benchmark {
        name: "spawn",
        about: "`tagout --version` against the spawn of an empty C program",
        run: spawn::run,
    },
    Benchmark {
        name: "judge",
        about: "decision, load of the compiled books, scope matching against globset",
        run: judge::run,
    },
    Benchmark {
        name: "ledger",
        about: "append, eight writers, verify, open at 1,000 and 1,000,000 events, memory",
        run: ledger::run,
    },
    Benchmark {
        name: "workspace",
        about: "transactions of one and twenty files against a bare write and sync",
        run: workspace::run,
    },
    Benchmark {
        name: "trace",
        about: "an edit, questions at 10,000 and 1,000,000 records, a move of 10,000 files",
        run: trace::run,
    },
    Benchmark {
        name: "exec",
        about: "confined commands against a plain spawn, bubblewrap and sandbox-runtime",
        run: exec::run,
    },
    Benchmark {
        name: "hook",
        about: "a cold hook against an empty C program and hooks in Python, Node and bash + jq",
        run: hook::run,
    },
];

/// What a figure has to be.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Budget {
    /// At most this much.
    AtMost(f64),
    /// At least this much.
    AtLeast(f64),
    /// Shown for comparison.
    Shown,
}

/// One measured figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Line {
    /// The benchmark.
    pub(crate) benchmark: &'static str,
    /// What was measured.
    pub(crate) what: String,
    /// How much.
    pub(crate) value: f64,
    /// Of what: `µs`, `×`, `MB`.
    pub(crate) unit: &'static str,
    /// What it has to be.
    pub(crate) budget: Budget,
}

impl Line {
    /// Whether the budget holds. A figure that is no number holds none.
    pub(crate) fn holds(&self) -> bool {
        match self.budget {
            Budget::AtMost(most) => self.value <= most,
            Budget::AtLeast(least) => self.value >= least,
            Budget::Shown => true,
        }
    }
}

/// What the command line asks for.
#[derive(Debug, PartialEq)]
struct Options<'a> {
    names: Vec<&'a str>,
    json: bool,
    rounds: usize,
}

/// Measures, tells, and fails if a budget does not hold.
pub(crate) fn run(words: &[&str]) -> Result<ExitCode, XtaskError> {
    let options = options(words)?;
    let lines = measure(&options.names, options.rounds)?;
    if options.json {
        for line in &lines {
            println!("{}", json(line));
        }
    } else {
        print!("{}", table(&lines));
    }
    let failed = lines.iter().any(|line| !line.holds());
    Ok(ExitCode::from(u8::from(failed)))
}

fn json(line: &Line) -> serde_json::Value {
    serde_json::json!({
        "benchmark": line.benchmark,
        "what": line.what,
        "value": line.value,
        "unit": line.unit,
        "budget": line.budget,
        "holds": line.holds(),
    })
}

fn options<'a>(words: &[&'a str]) -> Result<Options<'a>, XtaskError> {
    let mut options = Options {
        names: Vec::new(),
        json: false,
        rounds: ROUNDS_MIN,
    };
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match *word {
            "--json" => options.json = true,
            "--rounds" => {
                let count = words.next().and_then(|count| count.parse().ok());
                options.rounds = count
                    .filter(|count| *count >= ROUNDS_MIN)
                    .ok_or_else(|| usage(&format!("`--rounds` takes at least {ROUNDS_MIN}")))?;
            }
            name if BENCHMARKS.iter().any(|one| one.name == name) => options.names.push(name),
            other => return Err(usage(&format!("there is no benchmark `{other}`"))),
        }
    }
    Ok(options)
}

fn usage(message: &str) -> XtaskError {
    let known: Vec<String> = BENCHMARKS
        .iter()
        .map(|one| format!("`{}` ({})", one.name, one.about))
        .collect();
    XtaskError::Usage {
        message: format!("{message}; known: {}", known.join(", ")),
    }
}

/// Measures the named benchmarks, or all of them.
pub(crate) fn measure(names: &[&str], rounds: usize) -> Result<Vec<Line>, XtaskError> {
    let mut lines = Vec::new();
    for benchmark in BENCHMARKS {
        if names.is_empty() || names.contains(&benchmark.name) {
            lines.extend((benchmark.run)(rounds)?);
        }
    }
    Ok(lines)
}

/// The figures with their budgets, one a line.
pub(crate) fn table(lines: &[Line]) -> String {
    let mut rows = vec![format!(
        "{:<12}{:<44}{:>14}{:>14}  {}",
        "benchmark", "what", "median", "budget", "holds"
    )];
    for line in lines {
        let budget = match line.budget {
            Budget::AtMost(most) => format!("≤ {most} {}", line.unit),
            Budget::AtLeast(least) => format!("≥ {least} {}", line.unit),
            Budget::Shown => String::new(),
        };
        let holds = match (line.budget, line.holds()) {
            (Budget::Shown, _) => "",
            (Budget::AtMost(_) | Budget::AtLeast(_), true) => "yes",
            (Budget::AtMost(_) | Budget::AtLeast(_), false) => "no",
        };
        let digits = if line.value < 0.1 { 4 } else { 2 };
        let value = format!("{:.digits$} {}", line.value, line.unit);
        rows.push(format!(
            "{:<12}{:<44}{value:>14}{budget:>14}  {holds}",
            line.benchmark, line.what
        ));
    }
    rows.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::{Budget, Line, ROUNDS_MIN, json, options, table};

    fn line(value: f64, budget: Budget) -> Line {
        Line {
            benchmark: "spawn",
            what: "a thing".to_owned(),
            value,
            unit: "×",
            budget,
        }
    }

    #[test]
    fn a_budget_holds_up_to_its_figure_and_never_for_no_number() {
        assert!(line(2.5, Budget::AtMost(2.5)).holds());
        assert!(!line(2.51, Budget::AtMost(2.5)).holds());
        assert!(!line(f64::NAN, Budget::AtMost(2.5)).holds());
        assert!(line(1e9, Budget::Shown).holds());
        assert!(line(0.8, Budget::AtLeast(0.8)).holds());
        assert!(!line(0.79, Budget::AtLeast(0.8)).holds());
        assert!(!line(f64::NAN, Budget::AtLeast(0.8)).holds());
    }

    #[test]
    fn the_table_and_the_json_say_which_budgets_hold() {
        let lines = [
            line(1.0, Budget::AtMost(2.5)),
            line(3.0, Budget::AtMost(2.5)),
            line(1258.0, Budget::Shown),
        ];
        let table = table(&lines);
        let rows: Vec<&str> = table.lines().collect();
        assert!(rows[1].ends_with("≤ 2.5 ×  yes"), "{table}");
        assert!(rows[2].ends_with("≤ 2.5 ×  no"), "{table}");
        assert!(rows[3].trim_end().ends_with("1258.00 ×"), "{table}");
        assert_eq!(json(&lines[1])["holds"], false);
        assert_eq!(json(&lines[1])["budget"]["at_most"], 2.5);
    }

    #[test]
    fn options_know_the_benchmarks_and_the_least_rounds() {
        let read = options(&["spawn", "--json", "--rounds", "400"]).unwrap();
        assert_eq!(
            (read.names, read.json, read.rounds),
            (vec!["spawn"], true, 400)
        );
        assert_eq!(options(&[]).unwrap().rounds, ROUNDS_MIN);
        assert!(options(&["--rounds", "10"]).is_err());
        let told = options(&["spwan"]).unwrap_err().to_string();
        assert!(told.contains("`spawn`"), "{told}");
    }
}
