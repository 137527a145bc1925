//! Figures that examples of the crates print as JSON lines, measured in release.

use serde_json::Value;

use super::{Budget, Line};
use crate::error::XtaskError;
use crate::process::{answer, cargo_command};

/// What is taken from the lines of an example.
pub(super) struct Wanted {
    /// Which lines: a key and the text that stands there. The last such line counts.
    pub(super) of: (&'static str, &'static str),
    /// The key of the figure.
    pub(super) figure: &'static str,
    /// What it is called.
    pub(super) what: &'static str,
    pub(super) unit: &'static str,
    pub(super) budget: Budget,
}

/// Runs an example of a package; words behind its name are handed to it.
pub(super) fn told(package: &str, example: &str, words: &[&str]) -> Result<Vec<Value>, XtaskError> {
    let mut command = cargo_command(&["run", "--release", "--quiet", "--package", package]);
    command.args(["--example", example, "--"]).args(words);
    let text = answer(&mut command)?;
    let parse = |line: &str| {
        serde_json::from_str(line).map_err(|error| XtaskError::Command {
            command: format!("the figures of {example}"),
            stderr: format!("`{line}` is no figure: {error}"),
        })
    };
    text.lines().map(parse).collect()
}

/// The figures that are wanted. One that is missing is no number, which no budget holds.
pub(super) fn lines(benchmark: &'static str, told: &[Value], wanted: &[Wanted]) -> Vec<Line> {
    let found = |wanted: &Wanted| {
        let (key, text) = wanted.of;
        let has = |line: &&Value| {
            line.get(key).and_then(Value::as_str) == Some(text) && line.get(wanted.figure).is_some()
        };
        let figure = told.iter().rev().find(has);
        let figure = figure.and_then(|line| line.get(wanted.figure));
        match figure {
            Some(Value::Bool(holds)) => f64::from(u8::from(*holds)),
            Some(value) => value.as_f64().unwrap_or(f64::NAN),
            None => f64::NAN,
        }
    };
    let line = |one: &Wanted| Line {
        benchmark,
        what: one.what.to_owned(),
        value: found(one),
        unit: one.unit,
        budget: one.budget,
    };
    wanted.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Budget, Wanted, lines};

    #[test]
    fn the_last_line_of_a_kind_counts_and_nothing_holds_no_budget() {
        let told = [
            json!({"bench": "a", "ratio": 3.0}),
            json!({"bench": "a", "ratio": 1.0, "ok": true}),
            json!({"bench": "b", "ratio": 9.0}),
        ];
        let wanted = |figure, budget| Wanted {
            of: ("bench", "a"),
            figure,
            what: "a figure",
            unit: "×",
            budget,
        };
        let found = lines(
            "x",
            &told,
            &[
                wanted("ratio", Budget::AtMost(1.2)),
                wanted("ok", Budget::AtLeast(1.0)),
                wanted("missing", Budget::AtMost(1.2)),
            ],
        );
        let holds: Vec<bool> = found.iter().map(super::Line::holds).collect();
        assert_eq!(holds, [true, true, false]);
    }
}
