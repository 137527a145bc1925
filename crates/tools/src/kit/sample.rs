//! What a tool is tried with.

use serde_json::{Map, Value};

/// One call, and the workspace that it finds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    /// What it is called in a report.
    pub name: String,
    /// The files that are there, by path.
    pub files: Vec<(String, Vec<u8>)>,
    /// The arguments.
    pub input: Map<String, Value>,
    /// The call is expected to fail, and then has to change nothing.
    pub fails: bool,
    /// Paths that it may change besides those that its input names.
    pub targets: Vec<String>,
}

impl Sample {
    /// A call in an empty workspace. An input that is no object counts as an empty one.
    pub fn new(name: &str, input: Value) -> Self {
        let input = match input {
            Value::Object(input) => input,
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_) => Map::new(),
        };
        Self {
            name: name.to_owned(),
            input,
            ..Self::default()
        }
    }

    /// The same with a file.
    pub fn file(mut self, path: &str, content: impl AsRef<[u8]>) -> Self {
        self.files
            .push((path.to_owned(), content.as_ref().to_vec()));
        self
    }

    /// The same with a path that the call may change although its input does not name it.
    pub fn target(mut self, path: &str) -> Self {
        self.targets.push(path.to_owned());
        self
    }

    /// The same, expected to fail.
    pub const fn failing(mut self) -> Self {
        self.fails = true;
        self
    }

    /// Whether the call may change a path: its input names it, or a path beneath it.
    pub(super) fn names(&self, path: &str) -> bool {
        let mut open: Vec<&Value> = self.input.values().collect();
        let mut texts: Vec<&str> = self.targets.iter().map(String::as_str).collect();
        while let Some(value) = open.pop() {
            match value {
                Value::String(text) => texts.push(text),
                Value::Array(values) => open.extend(values),
                Value::Object(fields) => open.extend(fields.values()),
                Value::Null | Value::Bool(_) | Value::Number(_) => {}
            }
        }
        texts.iter().any(|text| text.contains(path))
    }
}
