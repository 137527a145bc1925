//! The judge's own figures, measured by an example of its crate in release.

use serde::Deserialize;

use super::{Budget, Line};
use crate::error::XtaskError;
use crate::process::{answer, cargo_command};

/// One figure as the example prints it.
#[derive(Debug, Deserialize)]
struct Figure {
    what: String,
    value: f64,
    unit: String,
}

/// Budgets by the figure's name; what is not listed is shown.
const BUDGETS: &[(&str, f64)] = &[
    ("decision, 10 rules, 10 intents", 50.0),
    ("decision, 100 rules, 10 intents", 50.0),
    ("decision, 10 rules, 1000 intents", 50.0),
    ("decision, 100 rules, 1000 intents", 50.0),
    ("load compiled / parse YAML", 0.5),
    ("scope / globset, a few paths", 1.0),
];

/// Runs the example. It keeps its own rounds, more than the least that are asked for.
pub(super) fn run(_rounds: usize) -> Result<Vec<Line>, XtaskError> {
    let told = answer(&mut cargo_command(&[
        "run",
        "--release",
        "--quiet",
        "--package",
        "tagout-policy",
        "--example",
        "bench_judge",
    ]))?;
    told.lines().map(line).collect()
}

fn line(text: &str) -> Result<Line, XtaskError> {
    let figure: Figure = serde_json::from_str(text).map_err(|error| XtaskError::Command {
        command: "the judge's figures".to_owned(),
        stderr: format!("`{text}` is no figure: {error}"),
    })?;
    let budget = BUDGETS.iter().find(|(what, _)| *what == figure.what);
    let unit = match figure.unit.as_str() {
        "µs" => "µs",
        "KiB" => "KiB",
        _ => "×",
    };
    Ok(Line {
        benchmark: "judge",
        what: figure.what,
        value: figure.value,
        unit,
        budget: budget.map_or(Budget::Shown, |(_, most)| Budget::AtMost(*most)),
    })
}

#[cfg(test)]
mod tests {
    use super::{Budget, line};

    #[test]
    fn a_figure_finds_its_budget() {
        let read = line(r#"{"what": "load compiled / parse YAML", "value": 0.1, "unit": "×"}"#);
        assert_eq!(read.unwrap().budget, Budget::AtMost(0.5));
        let shown = line(r#"{"what": "compiled size", "value": 9, "unit": "KiB"}"#).unwrap();
        assert_eq!((shown.budget, shown.unit), (Budget::Shown, "KiB"));
        assert!(line("nonsense").is_err());
    }
}
