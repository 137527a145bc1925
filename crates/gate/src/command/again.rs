//! A parked set meets someone else's work: what both changed is merged where that is plain, and
//! shown from both sides where it is not.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use tagout_sandbox::layer::{ChangeSet, Entry, Kind, Upper};
use tagout_trace::merge::{ConflictHunk, Merge, merge3};
use tagout_vocab::Code;
use tagout_vocab::limits::{DIFFERENCE_BYTES_MAX, MERGE_BYTES_MAX, SIDECAR_BYTES_MAX};
use tagout_workspace::{Clash, ConflictPath, Mark, RelPath, StoodKind, files};

use super::parked::Parked;
use crate::changes::git::{self, GitPath};
use crate::engine::Inner;
use crate::error::GateError;
use crate::permit::Ticket;
use crate::store::Store;

/// Paths on which the set and the workspace were brought together.
pub(super) type Agreed = BTreeMap<Vec<u8>, Option<Vec<u8>>>;

/// How one path comes out.
enum Met {
    /// The workspace has what the command left.
    Same,
    /// Both sides' changes in one text.
    Merged(Vec<u8>),
    /// Why it does not, with both sides.
    Clash(String),
}

fn base_of(own: &Path, path: &str) -> PathBuf {
    own.join("base").join(Store::name_of(path))
}

/// Keeps what the session had seen of the files of a set before its command began: the text from
/// which both sides started. What is not known is not needed; then there is nothing to merge by.
pub(super) fn keep_bases(inner: &Inner, ticket: &Ticket, parked: &Parked, own: &Path) {
    let Ok(seen) = inner.workspace.seen(&ticket.session) else {
        return;
    };
    for one in parked.paths.iter().filter(|one| one.change == "modified") {
        let path = RelPath::new(one.path.as_bytes());
        let known = path.map(|path| seen.remembered(&path, &parked.mark));
        if let Ok(Ok(Some(bytes))) = known {
            let place = base_of(own, &one.path);
            let folder = place.parent().map(files::ensure_dir_private);
            drop(folder.map(|made| made.and_then(|()| files::write_atomic(&place, &bytes, None))));
        }
    }
}

/// Brings a set together with what changed in the workspace since its command began.
///
/// What is given back was looked at after `mark` was set, so that later work is a conflict again.
pub(super) fn meet(
    inner: &Inner,
    (parked, own): (&Parked, &Path),
    set: &ChangeSet,
    conflicts: &[ConflictPath],
) -> Result<(Mark, Agreed), GateError> {
    let mark = inner.workspace.mark()?;
    let upper = Upper::open(&own.join("upper"))?;
    let (mut agreed, mut clashes) = (Agreed::new(), Vec::new());
    for conflict in conflicts {
        let named = |entry: &&Entry| {
            RelPath::new(&entry.path).is_ok_and(|path| path.to_string() == conflict.path)
        };
        let entry = set.entries.iter().find(named);
        match one(inner, (own, &upper), entry, conflict)? {
            Met::Same => drop(entry.map(|entry| agreed.insert(entry.path.clone(), None))),
            Met::Merged(text) => {
                drop(entry.map(|entry| agreed.insert(entry.path.clone(), Some(text))));
            }
            Met::Clash(why) => {
                clashes.push(format!("\n{}: {why}", conflict.path));
            }
        }
    }
    if clashes.is_empty() {
        return Ok((mark, agreed));
    }
    let clashes = clashes.concat();
    Err(GateError::NotApplied {
        id: parked.id.clone(),
        why: format!(
            "someone else changed the same since the command ran; nothing was applied and it stays \
             parked{clashes}"
        ),
        code: Code::Conflict,
    })
}

fn one(
    inner: &Inner,
    (own, upper): (&Path, &Upper),
    entry: Option<&Entry>,
    conflict: &ConflictPath,
) -> Result<Met, GateError> {
    let clash = |why: &str| Ok(Met::Clash(why.to_owned()));
    match conflict.found {
        Clash::HeldOpen => {
            return clash("another program has it open for writing; close it and apply again");
        }
        Clash::Changed | Clash::Existence | Clash::FolderGrew | Clash::WayChanged => {}
    }
    let Some(entry) = entry else {
        return clash("someone else worked in this folder");
    };
    if git::what(&entry.path) != GitPath::Worktree {
        return clash("git's own records moved on; run the command again");
    }
    let path = RelPath::new(&entry.path)?;
    let now = inner.workspace.stands(&path, MERGE_BYTES_MAX as u64)?;
    let file = now.as_ref().filter(|one| one.kind == StoodKind::File);
    let now = match (&entry.kind, now.is_some(), file) {
        (Kind::Deleted, false, _) => return Ok(Met::Same),
        (Kind::Deleted, true, _) => {
            return clash("the command removed it, someone else changed it");
        }
        (Kind::File { .. }, false, _) => {
            return clash("the command changed it, someone else removed it");
        }
        (Kind::File { .. }, true, Some(file)) => file,
        (_, _, _) => return clash("it is of another kind now"),
    };
    let Some(now) = &now.bytes else {
        return clash("it is too large to be brought together");
    };
    let mut left = Vec::new();
    let mut read = upper.file(&entry.path)?.take(MERGE_BYTES_MAX as u64 + 1);
    read.read_to_end(&mut left)
        .map_err(|source| GateError::Io {
            doing: "read",
            path: own.to_owned(),
            source,
        })?;
    if left == *now {
        return Ok(Met::Same);
    }
    if left.len() > MERGE_BYTES_MAX {
        return clash("it is too large to be brought together");
    }
    let base = files::read(&base_of(own, &conflict.path), SIDECAR_BYTES_MAX as u64)?;
    Ok(match base.map(|base| merge3(&base, now, &left)) {
        Some(Merge::Merged(text)) => Met::Merged(text),
        Some(Merge::Conflict(hunks)) => Met::Clash(hunks.iter().map(sides).collect()),
        None => Met::Clash(sides_of((1, now), (1, &left))),
    })
}

fn sides(hunk: &ConflictHunk) -> String {
    sides_of(
        (hunk.ours.start_line, &hunk.ours.text),
        (hunk.theirs.start_line, &hunk.theirs.text),
    )
}

/// Both sides of one place, bounded.
fn sides_of((line, now): (usize, &[u8]), (other, left): (usize, &[u8])) -> String {
    let cut = |bytes: &[u8]| {
        let shown = String::from_utf8_lossy(bytes);
        let mut text: String = shown.chars().take(DIFFERENCE_BYTES_MAX / 4).collect();
        if text.len() < shown.len() {
            text.push('…');
        }
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text
    };
    let (now, left) = (cut(now), cut(left));
    format!(
        "\n<<<<<<< in the workspace, line {line}\n{now}=======\n{left}>>>>>>> the command's, line \
         {other}"
    )
}
