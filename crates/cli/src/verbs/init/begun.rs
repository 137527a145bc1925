//! A set-up that fails leaves the workspace as it was.

use std::path::Path;

use tagout_gate::ID_FILE;
use tagout_workspace::{Error, files};

use crate::failure::Failure;
use crate::site;

/// Does the work; where it fails, takes away again what it put into the workspace: the files that
/// are new, the name of the state, the folder.
///
/// What stayed would be taken for somebody else's by the next run, and would wait for `trust`. A
/// state that no workspace names is nobody's, and stays.
pub(super) fn whole_or_nothing<T>(
    root: &Path,
    new: &[&str],
    work: impl FnOnce() -> Result<T, Failure>,
) -> Result<T, Failure> {
    let is_new = |name: &str| !root.join(name).exists();
    let (folder, id) = (is_new(site::SIDECAR), is_new(ID_FILE));
    work().map_err(|failure| {
        let names = new.iter().copied().chain(id.then_some(ID_FILE));
        let left = match take_away(root, names, folder) {
            Ok(()) => "this run left nothing in the workspace".to_owned(),
            Err(error) => format!("not all of what this run wrote could be removed: {error}"),
        };
        let again = format!("{left}; mend what is wrong, then run `tagout init` again");
        let hint = match &failure.hint {
            Some(hint) => format!("{hint}; {again}"),
            None => again,
        };
        failure.hint(hint)
    })
}

fn take_away<'a>(
    root: &Path,
    names: impl Iterator<Item = &'a str>,
    folder: bool,
) -> Result<(), Error> {
    let sidecar = root.join(site::SIDECAR);
    if !sidecar.exists() {
        return Ok(());
    }
    for name in names {
        files::remove(&root.join(name))?;
    }
    if folder {
        files::remove_dir(&sidecar)?;
    }
    Ok(())
}
