//! Paths of a workspace, which cannot leave it, and where a path in a call lies.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::limits::PATH_BYTES_MAX;

/// A path beneath the workspace's root: relative, `/`-separated, without `.`, `..` or empty
/// segments.
///
/// The root itself is the empty path. The type can hold nothing else, so whoever has one need not
/// look again.
#[derive(Clone, Debug, Default, Eq, PartialEq, Ord, PartialOrd, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct WorkspacePath(String);

/// Why a text is not a workspace path.
#[derive(Clone, Debug, Eq, PartialEq, Error)]
pub enum PathError {
    /// It starts at the file system's root, a drive or a home folder.
    #[error("the path is absolute")]
    Absolute,
    /// It climbs out of the workspace, or could.
    #[error("the path holds `..`")]
    Climbs,
    /// It is longer than the kernel takes.
    #[error("the path is longer than {PATH_BYTES_MAX} bytes")]
    TooLong,
    /// It holds a NUL or another control character.
    #[error("the path holds a control character")]
    Control,
}

impl WorkspacePath {
    /// The workspace's root.
    pub const fn root() -> Self {
        Self(String::new())
    }

    /// A path from a text that is already relative; `.` and doubled slashes are dropped.
    pub fn new(text: &str) -> Result<Self, PathError> {
        check_characters(text)?;
        if is_absolute(text) {
            return Err(PathError::Absolute);
        }
        if text.split(['/', '\\']).any(|segment| segment == "..") {
            return Err(PathError::Climbs);
        }
        let kept: Vec<&str> = text
            .split('/')
            .filter(|s| !s.is_empty() && *s != ".")
            .collect();
        Ok(Self(kept.join("/")))
    }

    /// The text, without a leading or trailing slash.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is the workspace's root.
    pub const fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The segments, outermost first.
    pub fn segments(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('/').filter(|segment| !segment.is_empty())
    }

    /// The folder that holds this path; `None` for the root.
    pub fn parent(&self) -> Option<Self> {
        if self.is_root() {
            return None;
        }
        Some(Self(
            self.0
                .rsplit_once('/')
                .map_or_else(String::new, |(folder, _)| folder.to_owned()),
        ))
    }

    /// The last segment; `None` for the root.
    pub fn name(&self) -> Option<&str> {
        self.segments().next_back()
    }

    /// Whether this path is `folder` or lies beneath it.
    pub fn is_beneath(&self, folder: &Self) -> bool {
        folder.is_root()
            || self
                .0
                .strip_prefix(&folder.0)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

impl TryFrom<String> for WorkspacePath {
    type Error = PathError;
    fn try_from(text: String) -> Result<Self, PathError> {
        Self::new(&text)
    }
}

impl From<WorkspacePath> for String {
    fn from(path: WorkspacePath) -> Self {
        path.0
    }
}

impl fmt::Display for WorkspacePath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(if self.is_root() { "." } else { &self.0 })
    }
}

/// Where a path in a call lies, from the start.
#[derive(Clone, Debug, Eq, PartialEq, Ord, PartialOrd, Hash, Serialize, Deserialize)]
#[serde(tag = "where", rename_all = "snake_case")]
pub enum Place {
    /// In the workspace.
    Inside {
        /// The path beneath its root.
        path: WorkspacePath,
    },
    /// In a declared extra root.
    Root {
        /// The root's name in the policy.
        name: String,
        /// The path beneath that root.
        path: WorkspacePath,
    },
    /// Anywhere else, or nowhere that can be told.
    Outside {
        /// The path as it was given.
        path: String,
    },
}

/// The folders that paths are placed against: absolute, as the file system spells them.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
pub struct Roots {
    /// The workspace's root; empty when there is none, and then every absolute path is outside.
    pub workspace: String,
    /// Extra roots by name.
    pub extra: Vec<(String, String)>,
}

impl Roots {
    /// Where a path lies, by its text alone.
    ///
    /// `cwd` is the call's working directory, absolute or relative to the workspace. Symlinks are
    /// not looked at here: whoever can see the file system resolves the same text again, and both
    /// answers are judged.
    pub fn place(&self, raw: &str, cwd: &str) -> Place {
        self.locate(raw, cwd).unwrap_or_else(|| Place::Outside {
            path: raw.to_owned(),
        })
    }

    fn locate(&self, raw: &str, cwd: &str) -> Option<Place> {
        check_characters(raw).ok()?;
        if raw.is_empty() || (is_absolute(raw) && !raw.starts_with('/')) {
            return None;
        }
        let absolute = if raw.starts_with('/') {
            raw.to_owned()
        } else if cwd.starts_with('/') {
            format!("{cwd}/{raw}")
        } else {
            // Climbing above a relative working directory's root must not reach a real folder, so
            // the stand-in root is one that no segment can name.
            return relative(&format!("{cwd}/{raw}")).map(|path| Place::Inside { path });
        };
        let folded = fold_dots(&absolute)?;
        if let Some(path) = beneath(&folded, &self.workspace) {
            return Some(Place::Inside { path });
        }
        let placed = self.extra.iter().filter_map(|(name, root)| {
            let place = beneath(&folded, root).map(|path| Place::Root {
                name: name.clone(),
                path,
            });
            place.map(|place| (root.trim_end_matches('/').len(), place))
        });
        // Of nested roots the innermost is meant, in whatever order they are declared.
        placed
            .max_by_key(|(bytes, _)| *bytes)
            .map(|(_, place)| place)
    }
}

impl Place {
    /// The path as people should see it.
    pub fn shown(&self) -> String {
        match self {
            Self::Inside { path } => path.to_string(),
            Self::Root { name, path } => format!("{name}:{path}"),
            Self::Outside { path } => path.clone(),
        }
    }

    /// The workspace path, if the place is inside.
    pub const fn inside(&self) -> Option<&WorkspacePath> {
        match self {
            Self::Inside { path } => Some(path),
            Self::Root { .. } | Self::Outside { .. } => None,
        }
    }
}

fn relative(text: &str) -> Option<WorkspacePath> {
    let folded = fold_dots(text)?;
    WorkspacePath::new(folded.strip_prefix('/')?).ok()
}

fn beneath(absolute: &str, root: &str) -> Option<WorkspacePath> {
    let root = root.trim_end_matches('/');
    if root.is_empty() {
        return None;
    }
    let rest = absolute.strip_prefix(root)?;
    if !rest.is_empty() && !rest.starts_with('/') {
        return None;
    }
    WorkspacePath::new(rest.trim_start_matches('/')).ok()
}

/// Folds `.`, `..` and doubled slashes; `None` when the path climbs above its first segment.
fn fold_dots(path: &str) -> Option<String> {
    let mut kept: Vec<&str> = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => {
                kept.pop()?;
            }
            // A backslash is an ordinary character here and a separator elsewhere; a name that
            // would climb there is refused here.
            other if other.split('\\').any(|part| part == "..") => return None,
            other => kept.push(other),
        }
    }
    Some(format!("/{}", kept.join("/")))
}

fn check_characters(text: &str) -> Result<(), PathError> {
    if text.len() > PATH_BYTES_MAX {
        return Err(PathError::TooLong);
    }
    if text.chars().any(char::is_control) {
        return Err(PathError::Control);
    }
    Ok(())
}

/// Whether a text names a place of its own: a root, a drive, a home folder or a URL.
fn is_absolute(text: &str) -> bool {
    let mut characters = text.chars();
    let first = characters.next();
    let second = characters.next();
    let drive = first.is_some_and(|c| c.is_ascii_alphabetic()) && second == Some(':');
    let url = text.split_once("://").is_some_and(|(scheme, _)| {
        !scheme.is_empty()
            && scheme
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    });
    let is_file_url = text
        .get(.."file:".len())
        .is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:"));
    matches!(first, Some('/' | '\\' | '~')) || drive || url || is_file_url
}
