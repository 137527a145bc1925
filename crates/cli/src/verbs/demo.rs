//! `tagout demo`: the main job end to end, told step by step and checked as it goes.
//!
//! The steps are data: what is said, what is asked, what has to come out. A step that comes out
//! otherwise ends the demonstration with an error, so that it can't tell what is not true.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Value, json};
use tagout_vocab::{Judgement, Verdict};

use super::explain::Desk;
use crate::args::DemoArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::report;

const SCRIPT: &str = include_str!("../../data/demo.json");

/// The demonstration as data.
#[derive(Debug, Deserialize)]
struct Script {
    files: BTreeMap<String, String>,
    steps: Vec<Step>,
}

#[derive(Debug, Deserialize)]
struct Step {
    say: String,
    ask: Value,
    expect: Expected,
}

#[derive(Debug, Deserialize, Eq, PartialEq)]
struct Expected {
    verdict: String,
    code: String,
}

/// Runs the demonstration in a throw-away workspace.
pub(crate) fn run(args: &DemoArgs) -> Result<Exit, Failure> {
    let script: Script = serde_json::from_str(SCRIPT)
        .map_err(|error| Failure::failed(format!("the demonstration can't be read: {error}")))?;
    let folder = tempfile::Builder::new()
        .prefix("tagout-demo-")
        .tempdir()
        .map_err(|error| Failure::failed(format!("no throw-away folder: {error}")))?;
    let workspace = lay_out(folder.path(), &script.files)?;
    if !args.json {
        report::line(&format!(
            "A throw-away workspace with {} files.\n",
            script.files.len()
        ))?;
    }
    let desk = Desk::open(Some(&workspace))?;
    desk.problems()?;
    for (at, step) in script.steps.iter().enumerate() {
        take(&desk, at + 1, step, args.json)?;
    }
    if !args.json {
        let count = script.steps.len();
        report::line(&format!("All {count} steps did what they say."))?;
    }
    if args.keep {
        let kept = folder.keep();
        report::line(&format!("workspace: {}", kept.join("workspace").display()))?;
    }
    Ok(Exit::Done)
}

fn lay_out(folder: &Path, files: &BTreeMap<String, String>) -> Result<PathBuf, Failure> {
    let workspace = folder.join("workspace");
    for (name, content) in files {
        let path = workspace.join(name);
        let parent = path.parent().unwrap_or(&workspace);
        tagout_workspace::files::ensure_dir(parent)
            .and_then(|()| tagout_workspace::files::write_atomic(&path, content.as_bytes(), None))
            .map_err(Failure::failed)?;
    }
    Ok(workspace)
}

fn take(desk: &Desk, number: usize, step: &Step, json: bool) -> Result<(), Failure> {
    let judgement = desk.judge_value(&step.ask)?;
    let found = Expected {
        verdict: judgement.verdict.as_str().to_owned(),
        code: judgement.verdict.code().as_str().to_owned(),
    };
    if found != step.expect {
        let Expected { verdict, code } = found;
        let wanted = format!("{} {}", step.expect.verdict, step.expect.code);
        let message = format!("step {number} came out as {verdict} {code}, not as {wanted}");
        return Err(Failure::failed(message));
    }
    if json {
        let said = json!({"step": number, "say": step.say, "ask": step.ask,
            "verdict": found.verdict, "code": found.code, "reason": reason(&judgement)});
        return report::json(&said);
    }
    report::line(&format!("{number:>2}. {}", step.say))?;
    report::line(&format!("    {}", shown(&step.ask)))?;
    report::line(&format!(
        "    {} {}: {}\n",
        found.verdict,
        found.code,
        reason(&judgement)
    ))
}

fn reason(judgement: &Judgement) -> &str {
    match &judgement.verdict {
        Verdict::Allow(reason) => &reason.text,
        Verdict::Ask(refusal) | Verdict::Deny(refusal) => &refusal.reason,
    }
}

/// The call in one line: the tool and what it is about.
fn shown(ask: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let tool = ask.get("tool").map(text).unwrap_or_default();
    let about = ask
        .get("arguments")
        .and_then(Value::as_object)
        .and_then(|arguments| {
            arguments
                .values()
                .find_map(Value::as_str)
                .and_then(|first| first.lines().next())
        });
    format!("{tool} {}", about.unwrap_or_default())
}
