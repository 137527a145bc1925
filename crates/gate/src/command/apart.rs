//! The snapshot lane where overlays can be had, though not over the whole workspace: each folder
//! that the intent owns gets an overlay of its own, and each single file a copy in its place.
//!
//! All of them write to one upper layer. So what the command did is read, judged, applied and
//! parked as in the transaction lane, and a person who works on meanwhile works on other files.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use tagout_sandbox::layer::{self, LayerError};
use tagout_sandbox::{Cache, Host, Through, Wanted, nested_mount};
use tagout_workspace::RelPath;

use super::confine::Places;
use super::run::{Room, of_state};
use super::writable::{self, Keeping};
use crate::error::GateError;
use crate::tool::ToolError;

fn joined(folder: &Path, path: &RelPath) -> PathBuf {
    folder.join(OsStr::from_bytes(path.as_bytes()))
}

impl Room<'_> {
    /// Asks for overlays on what the intent owns; says whether that is possible here.
    pub(super) fn apart(
        &self,
        host: &Host,
        places: &Places,
        wanted: &mut Wanted,
    ) -> Result<bool, ToolError> {
        if !host.transaction.works() || !host.snapshot.works() {
            return Ok(false);
        }
        let intent = self.ticket.intent.as_ref();
        let paths = writable::paths(self.inner, intent, Keeping::Nothing)?;
        let root = self.root();
        if paths
            .iter()
            .any(|path| nested_mount(&joined(root, path)).is_some())
        {
            return Ok(false);
        }
        for (at, path) in paths.iter().enumerate() {
            let work = places.own.join(format!("work-{at}"));
            let made = layer::apart((root, path.as_bytes()), &places.upper(), &work);
            let state = |error: LayerError| of_state(&GateError::from(error));
            made.map_err(state)?;
            let (seen, upper) = (joined(root, path), joined(&places.upper(), path));
            if !work.is_dir() {
                let (path, from) = (seen, upper);
                wanted.through.push(Through { path, from });
                continue;
            }
            let above = wanted.layers.lower.iter().map(|layer| joined(layer, path));
            wanted.layers.caches.push(Cache {
                path: seen,
                upper,
                work,
                lower: above.filter(|layer| layer.is_dir()).collect(),
            });
        }
        Ok(true)
    }
}
