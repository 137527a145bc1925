//! What a model wants, in no client's words, and how each client's tools say it.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::run::{Client, TOLD};
use super::stub::Scripted;

/// One thing that a model does.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Spoken {
    /// A call as it is, of a tool that only this client has.
    Call(Scripted),
    /// A command of a shell.
    Run { run: String },
    /// A whole file, below the workspace.
    Write { write: String, text: String },
    /// A part of a file.
    Edit {
        edit: String,
        old: String,
        new: String,
    },
    /// Work that another agent is to do.
    Delegate { delegate: String },
}

/// How a client's tools say these things: calls with places in `{braces}`.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Tools {
    write: Scripted,
    edit: Scripted,
    run: Scripted,
    delegate: Scripted,
}

/// What stands for the places of a text.
pub(super) type Words<'a> = BTreeMap<&'a str, &'a str>;

/// The program under test, as the data names it.
const PROGRAM: &str = "{tagout}";

impl Client {
    /// A thing that its model does, as a call.
    pub(super) fn says(&self, spoken: &Spoken) -> Scripted {
        let tools = &self.tools;
        match spoken {
            Spoken::Call(call) => call.clone(),
            Spoken::Run { run } => said(&tools.run, &Words::from([("{command}", run.as_str())])),
            Spoken::Write { write, text } => {
                let words = [("{path}", write.as_str()), ("{text}", text.as_str())];
                said(&tools.write, &Words::from(words))
            }
            Spoken::Edit { edit, old, new } => {
                let words = [
                    ("{path}", edit.as_str()),
                    ("{old}", old.as_str()),
                    ("{new}", new.as_str()),
                ];
                said(&tools.edit, &Words::from(words))
            }
            Spoken::Delegate { delegate } => said(
                &tools.delegate,
                &Words::from([("{task}", delegate.as_str())]),
            ),
        }
    }

    /// Turns as its model has to take them: where commands can't be rewritten on their way, one
    /// that is not Tagout's is tried as it is and then handed to `tagout exec`.
    pub(super) fn turns(&self, turns: &[Vec<Spoken>]) -> Vec<Vec<Scripted>> {
        let mut all = Vec::new();
        for turn in turns {
            all.push(turn.iter().map(|one| self.says(one)).collect());
            if let [Spoken::Run { run }] = turn.as_slice()
                && !self.rewrites
                && !run.starts_with(PROGRAM)
            {
                let quoted = run.replace('\'', r"'\''");
                let run = format!("{PROGRAM} exec {TOLD} -- '{quoted}'");
                all.push(vec![self.says(&Spoken::Run { run })]);
            }
        }
        all
    }
}

fn said(tool: &Scripted, words: &Words<'_>) -> Scripted {
    Scripted {
        input: filled(&tool.input, words),
        ..tool.clone()
    }
}

/// A value with the places of all its texts filled in.
pub(super) fn filled(value: &Value, words: &Words<'_>) -> Value {
    match value {
        Value::String(text) => Value::String(fill(text, words)),
        Value::Array(items) => items.iter().map(|item| filled(item, words)).collect(),
        Value::Object(map) => {
            let pairs = map
                .iter()
                .map(|(key, inner)| (key.clone(), filled(inner, words)));
            Value::Object(pairs.collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// A text with its places filled in.
pub(super) fn fill(text: &str, words: &Words<'_>) -> String {
    let mut text = text.to_owned();
    for (place, word) in words {
        text = text.replace(place, word);
    }
    text
}

#[cfg(test)]
mod tests;
