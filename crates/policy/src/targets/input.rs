//! Whether a call's arguments are what its tool accepts (L7).

use jsonschema::error::ValidationErrorKind;
use serde_json::{Map, Value};
use tagout_vocab::limits::{COMMAND_BYTES_MAX, NAME_BYTES_MAX, PATH_BYTES_MAX, VIOLATIONS_MAX};

use super::{Normalised, keys};
use crate::catalogue::{TargetForm, Tool};

/// One thing that is wrong with the arguments.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Violation {
    /// Where, as a JSON pointer into the canonical arguments.
    pub path: String,
    /// What.
    pub message: String,
}

/// Longer messages hold values, which belong into no refusal.
const MESSAGE_CHARS_MAX: usize = 300;

/// Every violation of the tool's schema and of what paths and commands may hold, up to a bound.
///
/// A tool that nobody declared has no schema; it is refused for that reason elsewhere.
pub fn check_input(call: &Normalised<'_>) -> Result<(), Vec<Violation>> {
    let mut found = Found::default();
    for conflict in &call.conflicts {
        let message = format!(
            "`{}` says something else than another spelling",
            conflict.alias
        );
        found.add(&format!("/{}", conflict.key), &message);
    }
    if call.oversized {
        found.add("", "the arguments are too large");
    } else if let Some(tool) = call.tool {
        check_schema(call, tool, &mut found);
        check_required(call, tool, &mut found);
        check_paths(call, tool, &mut found);
        check_commands(call, tool, &mut found);
    }
    if found.list.is_empty() {
        Ok(())
    } else {
        Err(found.list)
    }
}

#[derive(Debug, Default)]
struct Found {
    list: Vec<Violation>,
    // Required keys that the schema already named.
    missing: Vec<String>,
}

impl Found {
    fn add(&mut self, path: &str, message: &str) {
        if self.list.len() < VIOLATIONS_MAX {
            self.list.push(Violation {
                path: path.chars().take(MESSAGE_CHARS_MAX).collect(),
                message: message.chars().take(MESSAGE_CHARS_MAX).collect(),
            });
        }
    }
}

fn check_schema(call: &Normalised<'_>, tool: &Tool, found: &mut Found) {
    let Some(known) = &tool.input_schema else {
        return;
    };
    let counts = |key: &str| !call.keys.iter().any(|known| known == key);
    if known.shape().fits_without(&call.arguments, counts) {
        return;
    }
    let Ok(schema) = serde_json::from_str::<Value>(known.text()) else {
        return found.add("", "the tool's input schema is not JSON");
    };
    let others: Map<String, Value> = call
        .arguments
        .iter()
        .filter(|(key, _)| counts(key))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    let instance = Value::Object(others);
    let options = jsonschema::options()
        .with_draft(jsonschema::Draft::Draft202012)
        .offline();
    let validator = match options.build(&schema) {
        Ok(validator) => validator,
        Err(error) => {
            let message = format!(
                "the tool's input schema does not compile: {}",
                error.masked()
            );
            return found.add("", &message);
        }
    };
    for error in validator.iter_errors(&instance).take(VIOLATIONS_MAX) {
        if let ValidationErrorKind::Required { property } = error.kind() {
            found.missing.extend(property.as_str().map(str::to_owned));
        }
        let path = error.instance_path().to_string();
        found.add(&path, &error.masked().to_string());
    }
}

fn check_required(call: &Normalised<'_>, tool: &Tool, found: &mut Found) {
    for key in &tool.required {
        let absent = call.arguments.get(key).is_none_or(Value::is_null);
        if absent && !found.missing.contains(key) {
            found.add(&format!("/{key}"), "is required");
        }
    }
}

fn check_paths(call: &Normalised<'_>, tool: &Tool, found: &mut Found) {
    for param in &tool.paths {
        for text in keys::texts(&call.arguments, &param.key).texts {
            let pointer = format!("/{}", param.key.replace('.', "/"));
            // The file system counts the end of the text too.
            if text.len() >= PATH_BYTES_MAX {
                let longest = PATH_BYTES_MAX - 1;
                found.add(&pointer, &format!("is longer than {longest} bytes"));
            } else if text.split('/').any(|name| name.len() > NAME_BYTES_MAX) {
                let told = format!("holds a name of more than {NAME_BYTES_MAX} bytes");
                found.add(&pointer, &told);
            } else if text.chars().any(char::is_control) {
                found.add(&pointer, "holds a control character");
            }
        }
    }
}

fn check_commands(call: &Normalised<'_>, tool: &Tool, found: &mut Found) {
    let (TargetForm::Command { key } | TargetForm::Argv { key }) = &tool.targets else {
        return;
    };
    let mut open: Vec<&Value> = call.arguments.get(key).into_iter().collect();
    while let Some(value) = open.pop() {
        match value {
            Value::String(text) => check_command(key, text, found),
            Value::Array(items) => open.extend(items),
            Value::Object(map) => open.extend(map.values()),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

fn check_command(key: &str, text: &str, found: &mut Found) {
    let pointer = format!("/{key}");
    // Characters that turn the reading direction show a person another command than the one run.
    let turns = |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let hidden = |c: char| (c.is_control() && c != '\n' && c != '\t') || turns(c);
    if text.len() > COMMAND_BYTES_MAX {
        found.add(
            &pointer,
            &format!("is longer than {COMMAND_BYTES_MAX} bytes"),
        );
    } else if text.chars().any(hidden) {
        found.add(&pointer, "holds a control character");
    }
}
