//! `tagout demo`: the main job end to end, told step by step and checked as it goes.
//!
//! The steps are data: what is said, what is done, what has to come out. A step that comes out
//! otherwise ends the demonstration with an error, so that it can't tell what is not true.

mod stage;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::args::DemoArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::report;
use stage::Stage;

const SCRIPT: &str = include_str!("../../../data/demo.json");

/// The demonstration as data.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Script {
    files: BTreeMap<String, String>,
    steps: Vec<Step>,
}

/// One step: what is said, one thing that is done, and what has to come out.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    say: String,
    /// A question to the judge; nothing is run.
    ask: Option<Value>,
    /// A tool call through the whole lifecycle.
    run: Option<Value>,
    /// A person's own edit, past Tagout.
    edit: Option<Content>,
    /// Only where this host can hold commands; elsewhere it is passed over, and that is said.
    #[serde(default)]
    commands: bool,
    /// A person applies what was parked.
    #[serde(default)]
    apply: bool,
    /// The command that made this file is taken back.
    revert: Option<String>,
    /// A person agrees to what waits.
    #[serde(default)]
    approve: bool,
    /// The ledger is verified.
    #[serde(default)]
    verify: bool,
    expect: Expected,
    /// What a file must hold afterwards.
    holds: Option<Content>,
    /// A file that must not be there afterwards.
    absent: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    path: String,
    content: String,
}

/// What came out: a word for how it ended, and the code.
#[derive(Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    verdict: String,
    code: String,
}

/// What a step led to.
struct Seen {
    outcome: Expected,
    reason: String,
}

/// Runs the demonstration in a throw-away workspace.
pub(crate) fn run(args: &DemoArgs) -> Result<Exit, Failure> {
    let script: Script = serde_json::from_str(SCRIPT)
        .map_err(|error| Failure::failed(format!("the demonstration can't be read: {error}")))?;
    let stage = Stage::set_up(&script.files)?;
    if !args.json {
        report::line(
            "A throw-away workspace with one intent: INT-001 owns src/weather/** and tests/.\n",
        )?;
    }
    for (at, step) in script.steps.iter().enumerate() {
        take(&stage, at + 1, step, args.json)?;
    }
    if !args.json {
        report::line(&format!(
            "All {} steps did what they say.",
            script.steps.len()
        ))?;
    }
    stage.close(args.keep)?;
    Ok(Exit::Done)
}

fn take(stage: &Stage, number: usize, step: &Step, json: bool) -> Result<(), Failure> {
    if step.commands && !stage.holds_commands()? {
        let why = "passed over: this host can't hold commands; `tagout doctor` says why";
        if json {
            return report::json(
                &json!({"step": number, "say": step.say, "verdict": "passed_over",
                "code": "ISOLATION_UNAVAILABLE", "reason": why}),
            );
        }
        return report::line(&format!("{number:>2}. {}\n    {why}\n", step.say));
    }
    let seen = stage.take(step)?;
    if seen.outcome != step.expect {
        let Expected { verdict, code } = &seen.outcome;
        let wanted = format!("{} {}", step.expect.verdict, step.expect.code);
        let reason = &seen.reason;
        let message = format!("step {number} came out as {verdict} {code}, not {wanted}: {reason}");
        return Err(Failure::failed(message));
    }
    stage.check(number, step)?;
    let asked = step.run.as_ref().or(step.ask.as_ref());
    if json {
        return report::json(&json!({"step": number, "say": step.say, "call": asked,
            "verdict": seen.outcome.verdict, "code": seen.outcome.code, "reason": seen.reason}));
    }
    report::line(&format!("{number:>2}. {}", step.say))?;
    if let Some(asked) = asked {
        report::line(&format!("    $ {}", shown(asked)))?;
    }
    let Expected { verdict, code } = &seen.outcome;
    let code = if code == "ALLOWED" {
        String::new()
    } else {
        format!(" {code}")
    };
    report::line(&format!("    {verdict}{code}: {}\n", seen.reason))
}

/// The call in one line: the tool and what it is about.
fn shown(asked: &Value) -> String {
    if let Some(command) = asked.get("command").and_then(Value::as_str) {
        return command.to_owned();
    }
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let tool = asked.get("tool").map(text).unwrap_or_default();
    let about = asked
        .get("arguments")
        .and_then(Value::as_object)
        .and_then(|arguments| arguments.values().find_map(Value::as_str))
        .and_then(|first| first.lines().next());
    format!("{tool} {}", about.unwrap_or_default())
}
