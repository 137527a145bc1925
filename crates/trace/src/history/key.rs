//! The names under which pieces of history are kept.

use std::fmt;

use tagout_vocab::{Digest, WorkspacePath};

/// The key of one value. Its bytes are short, stable and safe as a file name or a database key.
#[derive(Clone, Debug, Eq, PartialEq, Ord, PartialOrd, Hash)]
pub struct Key(String);

impl Key {
    /// The text of the key: lower-case letters, digits, `-` and `/`.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn head(path: &Digest) -> Self {
        Self(format!("head/{}", path.hex()))
    }

    pub(crate) fn piece(path: &Digest, number: u32) -> Self {
        Self(format!("piece/{}/{number}", path.hex()))
    }

    pub(crate) fn content(content: &Digest) -> Self {
        Self(format!("content/{}", content.hex()))
    }

    pub(crate) fn print(line: u64) -> Self {
        Self(format!("line/{line:016x}"))
    }

    pub(crate) fn origin(number: u32) -> Self {
        Self(format!("origin/{number}"))
    }

    pub(crate) fn origin_count() -> Self {
        Self("origin/count".to_owned())
    }

    pub(crate) fn origin_of(execution: &str) -> Self {
        let digest = Digest::of_parts("execution", [execution.as_bytes()]);
        Self(format!("execution/{}", digest.hex()))
    }

    pub(crate) fn commit(id: &str) -> Self {
        let digest = Digest::of_parts("commit", [id.as_bytes()]);
        Self(format!("commit/{}", digest.hex()))
    }

    pub(crate) fn commits_of(execution: &str) -> Self {
        let digest = Digest::of_parts("execution", [execution.as_bytes()]);
        Self(format!("commits/{}", digest.hex()))
    }

    pub(crate) fn posting(topic: &str, name: &str, piece: Option<u32>) -> Self {
        let digest = Digest::of_parts(topic, [name.as_bytes()]);
        let piece = piece.map_or_else(|| "count".to_owned(), |piece| piece.to_string());
        Self(format!("posting/{}/{piece}", digest.hex()))
    }
}

impl fmt::Display for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// The digest that stands for a path in keys.
pub(crate) fn path_key(path: &WorkspacePath) -> Digest {
    Digest::of_parts("path", [path.as_str().as_bytes()])
}
