//! The revision that a workspace stands on, read from the files of its version control.

use std::path::{Path, PathBuf};

use tagout_trace::record::Revision;
use tagout_workspace::files;

/// Files of git's that are read here are small; a list of all refs may be longer.
const REF_BYTES_MAX: u64 = 64 * 1024;
const PACKED_BYTES_MAX: u64 = 16 * 1024 * 1024;

fn text(path: &Path, max: u64) -> Option<String> {
    let bytes = files::read(path, max).ok().flatten()?;
    String::from_utf8(bytes).ok()
}

/// The folder of the repository, also where a file points to it.
fn folder(root: &Path) -> Option<PathBuf> {
    let there = root.join(".git");
    if there.is_dir() {
        return Some(there);
    }
    let pointer = text(&there, REF_BYTES_MAX)?;
    let target = pointer.trim().strip_prefix("gitdir:")?.trim();
    Some(root.join(target))
}

fn resolved(folder: &Path, name: &str) -> Option<String> {
    if let Some(id) = text(&folder.join(name), REF_BYTES_MAX) {
        return Some(id.trim().to_owned());
    }
    let packed = text(&folder.join("packed-refs"), PACKED_BYTES_MAX)?;
    let found = packed.lines().find_map(|line| {
        let (id, known) = line.split_once(' ')?;
        (known == name).then_some(id)
    });
    found.map(str::to_owned)
}

/// The commit that is checked out, if there is one.
pub(super) fn revision(root: &Path) -> Option<Revision> {
    let folder = folder(root)?;
    let head = text(&folder.join("HEAD"), REF_BYTES_MAX)?;
    let id = match head.trim().strip_prefix("ref: ") {
        None => head.trim().to_owned(),
        Some(name) => {
            let common = text(&folder.join("commondir"), REF_BYTES_MAX)
                .map(|common| folder.join(common.trim()));
            let is_plain = name.split('/').all(|part| !matches!(part, "" | "." | ".."));
            Some(name)
                .filter(|_| is_plain)
                .and_then(|name| resolved(&folder, name).or_else(|| resolved(&common?, name)))?
        }
    };
    let is_id = matches!(id.len(), 40 | 64) && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_id.then(|| Revision {
        kind: "git".to_owned(),
        revision: id,
    })
}
