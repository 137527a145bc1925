//! What is known of everyday tools, as data: build folders, caches.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::error::GateError;

const TEXT: &str = include_str!("../../data/commands.json");

/// The data as it stands in the file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Words<'t> {
    /// Names of folders that only builds and tools write to.
    #[serde(borrow)]
    pub(crate) build_folders: Vec<&'t str>,
    /// Names of files that tools write by themselves from others, such as lists of versions.
    #[serde(borrow)]
    pub(crate) generated_files: Vec<&'t str>,
    /// Folders of the home in which tools keep what they can fetch or make again.
    #[serde(borrow)]
    pub(crate) caches: Vec<CacheFolder<'t>>,
    /// Programs that keep nothing in the home when they only read.
    #[serde(borrow)]
    pub(crate) without_caches: Vec<&'t str>,
    /// Variables that every command gets, whatever the person's own environment says.
    #[serde(borrow)]
    pub(crate) environment: BTreeMap<&'t str, &'t str>,
}

/// One cache of a tool.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CacheFolder<'t> {
    /// Where it lies in the home.
    #[serde(borrow)]
    pub(crate) folder: &'t str,
    /// The variable that leads the tool elsewhere, where there is no such folder yet.
    #[serde(borrow)]
    pub(crate) variable: Option<&'t str>,
}

impl Words<'static> {
    pub(crate) fn read() -> Result<Self, GateError> {
        serde_json::from_str(TEXT).map_err(|source| GateError::Damaged {
            path: "commands.json".into(),
            source,
        })
    }
}

#[cfg(test)]
mod tests;
