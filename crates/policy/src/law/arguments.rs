//! Constraints on single arguments (A5). One that can't be resolved refuses.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::pattern::NameGlob;
use crate::scope::{CaseRule, Pattern};

/// What one value may be.
#[derive(Clone, Debug, Eq, PartialEq, Ord, PartialOrd, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ValuePattern {
    /// A path of the workspace that the pattern means, once `.` and doubled slashes are folded.
    Path(Pattern),
    /// Exactly this text.
    Exact(String),
    /// A text that starts so.
    Prefix(String),
}

/// What an argument of some tools may hold. Patterns are alternatives.
#[derive(Clone, Debug, Eq, PartialEq, Ord, PartialOrd, Serialize, Deserialize)]
pub struct ArgumentConstraint {
    /// Which tools.
    pub tool: NameGlob,
    /// The argument's canonical key.
    pub key: String,
    /// What it may hold; an empty list holds nothing.
    pub any_of: Vec<ValuePattern>,
    /// Whether the argument may be left out.
    pub optional: bool,
    /// Why, for the refusal.
    pub reason: Option<String>,
}

/// What a constraint says about a call's arguments.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Constrained {
    /// Nothing against the call.
    Passes,
    /// The argument is not there although it must be.
    Missing,
    /// The argument is neither text nor a list of texts, so nothing can be said about it.
    Unreadable,
    /// The value that no pattern means.
    Refused(String),
}

impl ArgumentConstraint {
    /// Checks canonical arguments of a tool under any of its names.
    pub fn check(
        &self,
        names: &[&str],
        arguments: &Map<String, Value>,
        case: CaseRule,
    ) -> Constrained {
        if !names.iter().any(|name| self.tool.matches(name)) {
            return Constrained::Passes;
        }
        match arguments.get(&self.key) {
            None | Some(Value::Null) if self.optional => Constrained::Passes,
            None | Some(Value::Null) => Constrained::Missing,
            Some(Value::String(text)) => self.check_text(text, case),
            Some(Value::Array(items)) => self.check_list(items, case),
            Some(Value::Bool(_) | Value::Number(_) | Value::Object(_)) => Constrained::Unreadable,
        }
    }

    fn check_list(&self, items: &[Value], case: CaseRule) -> Constrained {
        if items.is_empty() && !self.optional {
            return Constrained::Missing;
        }
        for item in items {
            let Value::String(text) = item else {
                return Constrained::Unreadable;
            };
            match self.check_text(text, case) {
                Constrained::Passes => {}
                refused @ (Constrained::Missing
                | Constrained::Unreadable
                | Constrained::Refused(_)) => return refused,
            }
        }
        Constrained::Passes
    }

    fn check_text(&self, text: &str, case: CaseRule) -> Constrained {
        if self
            .any_of
            .iter()
            .any(|pattern| pattern.matches(text, case))
        {
            Constrained::Passes
        } else {
            Constrained::Refused(text.to_owned())
        }
    }
}

impl ValuePattern {
    fn matches(&self, text: &str, case: CaseRule) -> bool {
        match self {
            // A path that climbs, is absolute or holds odd characters is none of the workspace's.
            Self::Path(pattern) => {
                tagout_vocab::WorkspacePath::new(text).is_ok_and(|path| pattern.grants(&path, case))
            }
            Self::Exact(exact) => text == exact,
            Self::Prefix(prefix) => text.starts_with(prefix.as_str()),
        }
    }
}
