//! What git is told to leave out inside a sandbox: private files, which are not in the workspace.
//!
//! Without it `git add -A` would put a session's build folders into a commit. It is a layer of its
//! own with one file in it, seen by commands and by nobody else.

use std::path::{Path, PathBuf};

use tagout_sandbox::layer;
use tagout_vocab::limits::SIDECAR_BYTES_MAX;
use tagout_workspace::files;

use super::run::Room;
use crate::error::GateError;

const FILE: &str = ".git/info/exclude";

impl Room<'_> {
    /// Makes the layer, where the workspace is a repository of its own.
    pub(crate) fn exclude(&self, own: &Path) -> Result<Option<PathBuf>, GateError> {
        let root = self.root();
        if !root.join(".git/info").is_dir() {
            return Ok(None);
        }
        let layer = own.join("exclude");
        let work = |name: &str| own.join(format!("work-exclude-{name}"));
        layer::prepare(root, &layer, &work("root"))?;
        layer::prepare(&root.join(".git"), &layer.join(".git"), &work("git"))?;
        layer::prepare(
            &root.join(".git/info"),
            &layer.join(".git/info"),
            &work("info"),
        )?;
        let mut text = files::read(&root.join(FILE), SIDECAR_BYTES_MAX as u64)?.unwrap_or_default();
        if !text.is_empty() && !text.ends_with(b"\n") {
            text.push(b'\n');
        }
        for folder in &self.yard.words.build_folders {
            text.extend_from_slice(format!("{folder}/\n").as_bytes());
        }
        for file in &self.yard.words.generated_files {
            if !super::owns(self.inner, self.ticket.intent.as_ref(), file.as_bytes()) {
                text.extend_from_slice(format!("{file}\n").as_bytes());
            }
        }
        files::write_note(&layer.join(FILE), &text, Some(0o644))?;
        Ok(Some(layer))
    }
}
