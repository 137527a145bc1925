//! A set-up that fails leaves the workspace as it was.

use std::cell::Cell;
use std::path::Path;

use tagout_gate::ID_FILE;
use tagout_vocab::limits::RECORD_BYTES_MAX;
use tagout_workspace::{Error, files};

use super::Wanted;
use crate::failure::Failure;
use crate::site;

/// Does the work; where it fails, takes away again what it put into the workspace: the files that
/// are new, the name of the state, the folder. The work says when there was a state already: if
/// someone else has set the workspace up meanwhile, nothing is taken away.
///
/// What stayed would be taken for somebody else's by the next run, and would wait for `trust`. A
/// state that no workspace names is nobody's, and stays.
pub(super) fn whole_or_nothing<T>(
    root: &Path,
    new: &[Wanted],
    work: impl FnOnce(&Cell<Whose>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let is_new = |name: &str| !root.join(name).exists();
    let (folder, id) = (is_new(site::SIDECAR), is_new(ID_FILE));
    let whose = Cell::new(Whose::Ours);
    work(&whose).map_err(|failure| {
        if id && whose.get() == Whose::Others {
            return failure;
        }
        let left = match take_away(root, new, (id, folder)) {
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

/// Who gave the workspace its state.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Whose {
    Ours,
    Others,
}

/// A file that is not what this run writes was not written by it.
fn take_away(root: &Path, new: &[Wanted], (id, folder): (bool, bool)) -> Result<(), Error> {
    let sidecar = root.join(site::SIDECAR);
    if !sidecar.exists() {
        return Ok(());
    }
    for file in new {
        let path = root.join(file.name);
        if files::read(&path, RECORD_BYTES_MAX)?.is_some_and(|found| found == file.text.as_bytes())
        {
            files::remove_followed(&path)?;
        }
    }
    if id {
        files::remove(&root.join(ID_FILE))?;
    }
    if folder {
        files::remove_dir(&sidecar)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
