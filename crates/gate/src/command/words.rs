//! What is known of everyday tools, as data: build folders, caches.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use crate::error::GateError;

const TEXT: &str = include_str!("../../data/commands.json");

/// The data as it stands in the file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Words {
    /// Names of folders that only builds and tools write to.
    pub(crate) build_folders: Vec<String>,
    /// Names of files that tools write by themselves from others, such as lists of versions.
    pub(crate) generated_files: Vec<String>,
    /// Folders of the home in which tools keep what they can fetch or make again.
    pub(crate) caches: Vec<CacheFolder>,
    /// Programs that keep nothing in the home when they only read.
    pub(crate) without_caches: BTreeSet<String>,
    /// Variables that every command gets, whatever the person's own environment says.
    pub(crate) environment: BTreeMap<String, String>,
}

/// One cache of a tool.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CacheFolder {
    /// Where it lies in the home.
    pub(crate) folder: String,
    /// The variable that leads the tool elsewhere, where there is no such folder yet.
    pub(crate) variable: Option<String>,
}

impl Words {
    pub(crate) fn read() -> Result<Self, GateError> {
        serde_json::from_str(TEXT).map_err(|source| GateError::Damaged {
            path: "commands.json".into(),
            source,
        })
    }
}

#[cfg(test)]
mod tests;
