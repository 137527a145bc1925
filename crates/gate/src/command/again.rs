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
pub(super) type Agreed = BTreeMap<Vec<u8>, Both>;

/// What is to be written where both sides worked; nothing where the workspace has it already.
#[derive(Debug, Default)]
pub(super) struct Both {
    /// Both sides' changes in one text.
    pub(super) text: Option<Vec<u8>>,
    /// The permission bits that the command gave.
    pub(super) mode: Option<u32>,
}

/// How one path comes out.
enum Met {
    /// Both sides fit together.
    Both(Both),
    /// Why they do not, with both sides.
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
    let keep = |place: &Path, bytes: &[u8]| {
        let folder = place.parent().map(files::ensure_dir_private);
        drop(folder.map(|made| made.and_then(|()| files::write_atomic(place, bytes, None))));
    };
    let is_there = |change: &str| change == "modified" || change == "attributes";
    for one in parked.paths.iter().filter(|one| is_there(&one.change)) {
        let Ok(path) = RelPath::new(one.path.as_bytes()) else {
            continue;
        };
        let place = base_of(own, &one.path);
        if let Ok(Some(bytes)) = seen.remembered(&path, &parked.mark) {
            keep(&place, &bytes);
        }
        if let Ok(Some(mode)) = inner.workspace.mode_before(&path, &parked.mark) {
            keep(&place.with_extension(MODE), format!("{mode:o}").as_bytes());
        }
    }
}

/// How the name of the file ends that holds the permission bits from before the command.
const MODE: &str = "mode";

/// The permission bits that are to be set, if any: those of the side that changed them. Or how the
/// path comes out because both did.
fn mode((now, left): (u32, u32), base: &Path) -> Result<Option<u32>, Met> {
    let text = files::read(&base.with_extension(MODE), SIDECAR_BYTES_MAX as u64);
    let text = text.ok().flatten().unwrap_or_default();
    let known = String::from_utf8_lossy(&text);
    let before = u32::from_str_radix(&known, 8).ok();
    if now == left || before == Some(left) {
        return Ok(None);
    }
    if before == Some(now) {
        return Ok(Some(left));
    }
    Err(Met::Clash(format!(
        "its permissions are {now:o}, and the command gave it {left:o}"
    )))
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
            Met::Both(both) => drop(entry.map(|entry| agreed.insert(entry.path.clone(), both))),
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
        (Kind::Deleted, false, _) => return Ok(Met::Both(Both::default())),
        (Kind::Deleted, true, _) => {
            return clash("the command removed it, someone else changed it");
        }
        (Kind::File { .. }, false, _) => {
            return clash("the command changed it, someone else removed it");
        }
        (Kind::File { .. }, true, Some(file)) => file,
        (_, _, _) => return clash("it is of another kind now"),
    };
    let base = base_of(own, &conflict.path);
    let mode = match mode((now.mode, entry.attributes.mode), &base) {
        Ok(mode) => mode,
        Err(clash) => return Ok(clash),
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
        return Ok(Met::Both(Both { text: None, mode }));
    }
    if left.len() > MERGE_BYTES_MAX {
        return clash("it is too large to be brought together");
    }
    let base = files::read(&base, SIDECAR_BYTES_MAX as u64)?;
    Ok(match base.map(|base| merge3(&base, now, &left)) {
        Some(Merge::Merged(text)) => Met::Both(Both {
            text: Some(text),
            mode,
        }),
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
