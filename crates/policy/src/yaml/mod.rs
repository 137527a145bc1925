//! YAML as a tree that remembers where each node stands, bounded in size, depth and aliases.
//!
//! The sidecar files are read by hand from this tree rather than by derive, because every error has
//! to name line, column and the nearest valid word, and because small edits replace only the bytes
//! of one node.

mod build;
mod fields;

pub use build::{first_anchor, parse};
pub use fields::Fields;

use crate::problem::Position;

/// A stretch of the source text, in bytes, with the position where it starts.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// Where it starts, for people.
    pub at: Position,
}

/// One node of a document.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Where it stands. A node reached through an alias stands where its anchor stands.
    pub span: Span,
    /// What it is.
    pub value: Value,
}

/// What a node is. Scalars stay text: the reader of a field knows what it wants.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A scalar.
    Scalar {
        /// Its text, unescaped.
        text: String,
        /// Whether it was written without quotes; only then can it be a null, a number or a bool.
        plain: bool,
    },
    /// A sequence.
    List(Vec<Node>),
    /// A mapping in source order, without duplicate keys.
    Map(Vec<(Node, Node)>),
}

impl Node {
    /// Where it starts.
    pub const fn at(&self) -> Position {
        self.span.at
    }

    /// Whether it is empty, `~` or `null`.
    pub fn is_null(&self) -> bool {
        matches!(&self.value, Value::Scalar { text, plain: true }
            if matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL"))
    }

    /// The text of a scalar that is not null.
    pub fn as_text(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar { text, .. } if !self.is_null() => Some(text),
            Value::Scalar { .. } | Value::List(_) | Value::Map(_) => None,
        }
    }

    /// The truth value of a plain `true` or `false`.
    pub fn as_bool(&self) -> Option<bool> {
        match &self.value {
            Value::Scalar { text, plain: true } => match text.as_str() {
                "true" | "True" | "TRUE" => Some(true),
                "false" | "False" | "FALSE" => Some(false),
                _ => None,
            },
            Value::Scalar { .. } | Value::List(_) | Value::Map(_) => None,
        }
    }

    /// The value of a plain non-negative whole number.
    pub fn as_u64(&self) -> Option<u64> {
        match &self.value {
            Value::Scalar { text, plain: true } => text.replace('_', "").parse().ok(),
            Value::Scalar { .. } | Value::List(_) | Value::Map(_) => None,
        }
    }

    /// The items of a list.
    pub fn as_list(&self) -> Option<&[Self]> {
        match &self.value {
            Value::List(items) => Some(items),
            Value::Scalar { .. } | Value::Map(_) => None,
        }
    }

    /// The entries of a mapping.
    pub fn as_map(&self) -> Option<&[(Self, Self)]> {
        match &self.value {
            Value::Map(entries) => Some(entries),
            Value::Scalar { .. } | Value::List(_) => None,
        }
    }

    /// The value under a key of a mapping.
    pub fn get(&self, key: &str) -> Option<&Self> {
        let entries = self.as_map()?;
        entries
            .iter()
            .find(|(name, _)| name.as_text() == Some(key))
            .map(|(_, value)| value)
    }

    /// What it is, for an error message.
    pub fn described(&self) -> &'static str {
        match &self.value {
            Value::Scalar { .. } if self.is_null() => "nothing",
            Value::Scalar { .. } if self.as_bool().is_some() => "a truth value",
            Value::Scalar { .. } if self.as_u64().is_some() => "a number",
            Value::Scalar { .. } => "text",
            Value::List(_) => "a list",
            Value::Map(_) => "a mapping",
        }
    }
}

#[cfg(test)]
mod tests;
