//! Calls that run commands, by the shape of their arguments, and how such a call is rewritten.
//!
//! Clients have several tools that run commands, and new ones come with every version. What they
//! share is an argument with a command in it; what tells them from editors that call their mode a
//! command is that they name no file and carry no text to put there.

use serde_json::{Map, Value};
use tagout_vocab::Call;
use tagout_vocab::limits::COMMAND_BYTES_MAX;

/// The keys under which a command line is found.
const LINES: &[&str] = &["command", "cmd", "command_line", "commandLine"];

/// The key under which several are found.
const LISTS: &[&str] = &["commands"];

/// What is typed into a command that already runs.
const TYPED: &[&str] = &["chars", "chars_length"];

/// Keys that an editor, a delegation or a request has, and a shell has not.
const OTHERS: &[&str] = &[
    "content",
    "diff",
    "file_path",
    "file_text",
    "filePath",
    "instructions",
    "new_str",
    "new_string",
    "new_text",
    "notebook_path",
    "old_path",
    "old_str",
    "old_string",
    "path",
    "prompt",
    "subagent_type",
    "url",
];

/// Keys that ask a tool to start a command and not to wait for it.
const STARTS: &[&str] = &[
    "async",
    "background",
    "detach",
    "fireAndForget",
    "isBackground",
    "is_background",
    "persistent",
    "run_in_background",
];

/// The key of a mode, and the modes that mean the same.
const MODE: (&str, &[&str]) = ("mode", &["async", "background"]);

/// How the text of a patch begins, which one client carries as a command.
const PATCH: &str = "*** Begin Patch";

/// A call that runs commands.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ShellCall {
    /// One line for a shell.
    Line {
        /// The argument that holds it.
        key: &'static str,
        /// The line.
        line: String,
    },
    /// One program with its arguments.
    Program {
        /// The argument that holds it.
        key: &'static str,
        /// The words.
        words: Vec<String>,
    },
    /// Several lines, one after another.
    Lines {
        /// The argument that holds them.
        key: &'static str,
        /// The lines.
        lines: Vec<String>,
    },
    /// Text for a command that already runs: nothing that could be rewritten.
    Typed,
}

/// How a call runs commands, if its arguments have that shape.
pub fn shell_call(arguments: &Map<String, Value>) -> Option<ShellCall> {
    if TYPED.iter().any(|key| arguments.contains_key(*key)) {
        return Some(ShellCall::Typed);
    }
    if OTHERS.iter().any(|key| arguments.contains_key(*key)) {
        return None;
    }
    let mut found = LINES
        .iter()
        .chain(LISTS)
        .filter(|key| arguments.contains_key(**key));
    let key = found.next()?;
    // Two keys that could hold the command leave open which one counts.
    if found.next().is_some() {
        return None;
    }
    match arguments.get(*key)? {
        Value::String(line) => line_call(key, line),
        Value::Array(items) => list_call(key, items),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    }
}

/// Whether a call only starts its command, by its arguments: its result may come before the
/// command has begun.
pub fn only_starts(arguments: &Map<String, Value>) -> bool {
    let is_asked = |key: &&str| arguments.get(*key) == Some(&Value::Bool(true));
    let (key, modes) = MODE;
    let mode = arguments.get(key).and_then(Value::as_str);
    STARTS.iter().any(is_asked) || mode.is_some_and(|mode| modes.contains(&mode))
}

fn line_call(key: &'static str, line: &str) -> Option<ShellCall> {
    let runs = !line.trim().is_empty() && !line.trim_start().starts_with(PATCH);
    runs.then(|| ShellCall::Line {
        key,
        line: line.to_owned(),
    })
}

fn list_call(key: &'static str, items: &[Value]) -> Option<ShellCall> {
    let texts: Option<Vec<String>> = items
        .iter()
        .map(|item| item.as_str().map(str::to_owned))
        .collect();
    let texts = texts.filter(|texts| !texts.is_empty())?;
    Some(if LISTS.contains(&key) {
        ShellCall::Lines { key, lines: texts }
    } else {
        ShellCall::Program { key, words: texts }
    })
}

/// The arguments of a call with every command line handed to `prefix` as its last word.
///
/// `prefix` is a program with its arguments, such as `tagout exec … -- bash -c`. `None` where the
/// call runs no command, or where the new line would be longer than a command line can be: such a
/// call can't be confined this way.
pub fn rewrite(call: &Call, prefix: &[String]) -> Option<Map<String, Value>> {
    if prefix.is_empty() {
        return None;
    }
    let (key, value) = match shell_call(&call.arguments)? {
        ShellCall::Line { key, line } => (key, Value::String(wrapped(prefix, &line)?)),
        ShellCall::Lines { key, lines } => {
            let all: Option<Vec<Value>> = lines
                .iter()
                .map(|line| wrapped(prefix, line).map(Value::String))
                .collect();
            (key, Value::Array(all?))
        }
        ShellCall::Program { key, words } => {
            let line = quoted(words.iter().map(String::as_str));
            let all = prefix.iter().cloned().chain([line]);
            (key, Value::Array(all.map(Value::String).collect()))
        }
        ShellCall::Typed => return None,
    };
    let mut arguments = call.arguments.clone();
    arguments.insert(key.to_owned(), value);
    Some(arguments)
}

fn wrapped(prefix: &[String], line: &str) -> Option<String> {
    let whole = quoted(prefix.iter().map(String::as_str).chain([line]));
    (whole.len() <= COMMAND_BYTES_MAX && !whole.contains('\0')).then_some(whole)
}

/// Words as one line that a shell takes apart into the same words.
pub fn quoted<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let mut line = String::new();
    for word in words {
        if !line.is_empty() {
            line.push(' ');
        }
        let plain = !word.is_empty()
            && word
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "-_./:@%+,".contains(c));
        if plain {
            line.push_str(word);
        } else {
            line.push('\'');
            line.push_str(&word.replace('\'', r"'\''"));
            line.push('\'');
        }
    }
    line
}
