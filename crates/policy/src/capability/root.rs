//! A folder of the workspace or of a declared extra root, with everything beneath it.

use std::fmt;

use serde::{Deserialize, Serialize};
use tagout_vocab::path::PathError;
use tagout_vocab::{Place, WorkspacePath};
use thiserror::Error;

use super::Region;

/// A folder and its subtree.
#[derive(Clone, Debug, Eq, PartialEq, Ord, PartialOrd, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RootRegion {
    /// The extra root's name in the policy; `None` for the workspace.
    pub root: Option<String>,
    /// The folder beneath it.
    pub path: WorkspacePath,
}

/// Why a text is not a root.
#[derive(Clone, Debug, Eq, PartialEq, Error)]
#[error("`{text}` is no root: {source}; write a folder of the workspace, or `name:folder`")]
pub struct RootError {
    /// The text.
    pub text: String,
    /// What is wrong with its path.
    pub source: PathError,
}

impl RootRegion {
    /// The whole workspace.
    pub const fn workspace() -> Self {
        Self {
            root: None,
            path: WorkspacePath::root(),
        }
    }

    /// Reads `folder` (of the workspace) or `name:folder` (of an extra root).
    pub fn parse(text: &str) -> Result<Self, RootError> {
        let (root, folder) = match text.split_once(':') {
            // A single letter is a drive, which the path's own check refuses.
            Some((name, folder)) if name.chars().nth(1).is_some() => (Some(name), folder),
            Some(_) | None => (None, text),
        };
        let path = WorkspacePath::new(folder).map_err(|source| RootError {
            text: text.to_owned(),
            source,
        })?;
        Ok(Self {
            root: root.map(str::to_owned),
            path,
        })
    }

    /// The region that is just this place; `None` outside of every root.
    pub fn of(place: &Place) -> Option<Self> {
        let (root, path) = match place {
            Place::Inside { path } => (None, path),
            Place::Root { name, path } => (Some(name), path),
            Place::Outside { .. } => return None,
        };
        Some(Self {
            root: root.cloned(),
            path: path.clone(),
        })
    }
}

impl Region for RootRegion {
    fn covers(&self, other: &Self) -> bool {
        self.root == other.root && other.path.is_beneath(&self.path)
    }
}

impl fmt::Display for RootRegion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = &self.root {
            write!(formatter, "{name}:")?;
        }
        write!(formatter, "{}", self.path)
    }
}
