//! Paths beneath a folder as the file system knows them: bytes, not text.

use std::cmp::Ordering;
use std::fmt;

use serde::{Deserialize, Serialize};
use tagout_vocab::WorkspacePath;
use tagout_vocab::limits::PATH_BYTES_MAX;

use crate::error::Error;

/// A path beneath the workspace's root: relative, without `.`, `..`, empty segments or NUL.
///
/// Unlike [`WorkspacePath`] it holds any name that a file can have. The root is the empty path.
#[derive(Clone, Default, Eq, PartialEq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Vec<u8>", into = "Vec<u8>")]
pub struct RelPath(Vec<u8>);

impl RelPath {
    /// The root itself.
    pub const fn root() -> Self {
        Self(Vec::new())
    }

    /// A path from bytes; doubled and trailing slashes are dropped, everything doubtful is refused.
    pub fn new(bytes: &[u8]) -> Result<Self, Error> {
        let shown = || String::from_utf8_lossy(bytes).into_owned();
        if bytes.len() > PATH_BYTES_MAX {
            return Err(Error::TooLong {
                path: shown().chars().take(120).collect(),
            });
        }
        let climbs = bytes
            .split(|byte| *byte == b'/')
            .any(|segment| segment == b"..");
        if bytes.contains(&0) || bytes.first() == Some(&b'/') || climbs {
            return Err(Error::BadPath { path: shown() });
        }
        let kept: Vec<&[u8]> = bytes
            .split(|byte| *byte == b'/')
            .filter(|segment| !segment.is_empty() && *segment != b".")
            .collect();
        Ok(Self(kept.join(&b'/')))
    }

    /// The bytes, without a leading or trailing slash.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Whether this is the root.
    pub const fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The segments, outermost first.
    pub fn segments(&self) -> impl DoubleEndedIterator<Item = &[u8]> {
        self.0
            .split(|byte| *byte == b'/')
            .filter(|segment| !segment.is_empty())
    }

    /// The folder that holds this path; `None` for the root.
    pub fn parent(&self) -> Option<Self> {
        let name = self.name()?;
        let end = self.0.len().saturating_sub(name.len()).saturating_sub(1);
        Some(Self(self.0.iter().take(end).copied().collect()))
    }

    /// The last segment; `None` for the root.
    pub fn name(&self) -> Option<&[u8]> {
        self.segments().next_back()
    }

    /// Whether this path is `folder` or lies beneath it.
    pub fn is_beneath(&self, folder: &Self) -> bool {
        self.beneath(folder).is_some()
    }

    /// What remains of this path beneath `folder`; the root when both are the same.
    pub fn beneath(&self, folder: &Self) -> Option<Self> {
        if folder.is_root() {
            return Some(self.clone());
        }
        let rest = self.0.strip_prefix(folder.as_bytes())?;
        match rest.split_first() {
            None => Some(Self::root()),
            Some((b'/', rest)) => Some(Self(rest.to_vec())),
            Some(_) => None,
        }
    }

    /// This path with another one beneath it.
    pub fn join(&self, below: &Self) -> Self {
        self.with(below.as_bytes())
    }

    /// This path with one more name, which must be one that a folder listed.
    pub(crate) fn with(&self, name: &[u8]) -> Self {
        let mut bytes = self.0.clone();
        if !bytes.is_empty() && !name.is_empty() {
            bytes.push(b'/');
        }
        bytes.extend_from_slice(name);
        Self(bytes)
    }

    /// The path as text, if it is one that a call can name.
    pub fn to_workspace(&self) -> Result<WorkspacePath, Error> {
        std::str::from_utf8(&self.0)
            .ok()
            .and_then(|text| WorkspacePath::new(text).ok())
            .ok_or_else(|| Error::NotUtf8 {
                path: self.to_string(),
            })
    }
}

impl From<&WorkspacePath> for RelPath {
    fn from(path: &WorkspacePath) -> Self {
        Self(path.as_str().as_bytes().to_vec())
    }
}

impl TryFrom<Vec<u8>> for RelPath {
    type Error = Error;
    fn try_from(bytes: Vec<u8>) -> Result<Self, Error> {
        Self::new(&bytes)
    }
}

impl From<RelPath> for Vec<u8> {
    fn from(path: RelPath) -> Self {
        path.0
    }
}

/// A folder comes before what it holds, and what it holds before its next sibling.
impl Ord for RelPath {
    fn cmp(&self, other: &Self) -> Ordering {
        self.segments().cmp(other.segments())
    }
}

impl PartialOrd for RelPath {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for RelPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_root() {
            return formatter.write_str(".");
        }
        formatter.write_str(&String::from_utf8_lossy(&self.0))
    }
}

impl fmt::Debug for RelPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}
