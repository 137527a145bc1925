//! The revision that a workspace stands on.

use std::path::Path;

use tagout_trace::record::Revision;

use super::git::{Oid, Repository};

/// A commit of git's as records name it.
pub(super) fn git(id: &Oid) -> Revision {
    Revision {
        kind: "git".to_owned(),
        revision: id.to_string(),
    }
}

/// The commit that is checked out, if there is one.
pub(super) fn revision(root: &Path) -> Option<Revision> {
    let head = Repository::open(root)?.head()?;
    Some(git(&head))
}
