//! Folders that git would take for a repository by their looks alone, though they are not called
//! `.git`: whoever asks git anything in one runs what its settings name, outside of any sandbox.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

use tagout_sandbox::layer::{ChangeSet, Kind};
use tagout_vocab::Code;
use tagout_workspace::RelPath;

use crate::changes::git::{self, GitPath};
use crate::engine::Inner;
use crate::observed::Beyond;

/// What such a folder is known by.
const LOOKS: [&[u8]; 3] = [b"head", b"objects", b"refs"];

/// What git runs or obeys in one.
const OBEYED: [&[u8]; 4] = [b"config", b"config.worktree", b"hooks", b"commondir"];

const WHY: &str = "git would take its folder for a repository and obey it; make repositories \
                   below `/tmp`, or ask a person to make this one";

/// What of a set makes git obey a folder, or changes what it obeys in one.
pub(super) fn beyond(inner: &Inner, set: &ChangeSet, own: &Path) -> Vec<Beyond> {
    let root = inner.workspace.root();
    let upper = own.join("upper");
    let made = set.judged().filter(|entry| entry.kind != Kind::Deleted);
    let made = made.map(|entry| entry.path.as_slice());
    obeyed(root, made, &|path| after(root, &upper, path))
}

/// The same for paths that are about to be written where they lie.
pub(crate) fn beyond_written<'p>(
    inner: &Inner,
    paths: impl IntoIterator<Item = &'p [u8]>,
) -> Vec<Beyond> {
    let root = inner.workspace.root();
    let made: BTreeSet<&[u8]> = paths.into_iter().collect();
    let leads_to_one = |path: &Path| {
        let wanted = path.as_os_str().as_bytes();
        let mut alike = made
            .range(wanted..)
            .map_while(|one| one.strip_prefix(wanted));
        alike.any(|rest| rest.is_empty() || rest.starts_with(b"/"))
    };
    let after = |path: &Path| leads_to_one(path) || is_there(root, path);
    obeyed(root, made.iter().copied(), &after)
}

fn obeyed<'p>(
    root: &Path,
    made: impl Iterator<Item = &'p [u8]>,
    after: &dyn Fn(&Path) -> bool,
) -> Vec<Beyond> {
    let mut repositories: BTreeSet<&[u8]> = BTreeSet::new();
    let mut others: BTreeSet<&[u8]> = BTreeSet::new();
    let mut found = Vec::new();
    for made in made.filter(|path| git::what(path) == GitPath::Worktree) {
        for (folder, name) in parts(made) {
            if others.contains(folder) {
                continue;
            }
            if !repositories.contains(folder) && !is_obeyed(folder, after) {
                others.insert(folder);
                continue;
            }
            repositories.insert(folder);
            let was_one = || is_obeyed(folder, &|path| is_there(root, path));
            if (OBEYED.contains(&name.as_slice()) || !was_one())
                && let Ok(path) = RelPath::new(made)
            {
                found.push(Beyond {
                    path,
                    code: Code::AuthorityFile,
                    why: WHY.to_owned(),
                });
                break;
            }
        }
    }
    found
}

/// The folders on the way to a path in which the next name is one that repositories have, with a
/// slash at their ends, and that name in small letters.
fn parts(path: &[u8]) -> Vec<(&[u8], Vec<u8>)> {
    let mut found = Vec::new();
    let mut begin = 0;
    for name in path.split(|byte| *byte == b'/') {
        let small = name.to_ascii_lowercase();
        if (LOOKS.contains(&small.as_slice()) || OBEYED.contains(&small.as_slice()))
            && let Some(folder) = path.get(..begin)
        {
            found.push((folder, small));
        }
        begin += name.len() + 1;
    }
    found
}

/// Whether git takes a folder for a repository, and finds something to obey in it.
fn is_obeyed(folder: &[u8], there: &dyn Fn(&Path) -> bool) -> bool {
    let has = |name: &str| there(&Path::new(OsStr::from_bytes(folder)).join(name));
    let elsewhere = has("commondir");
    let whole = elsewhere || (has("objects") && has("refs"));
    has("HEAD")
        && whole
        && (elsewhere
            || ["config", "config.worktree", "hooks"]
                .map(has)
                .contains(&true))
}

fn is_there(root: &Path, path: &Path) -> bool {
    fs::symlink_metadata(root.join(path)).is_ok()
}

/// Whether something is there once a layer is applied.
fn after(root: &Path, upper: &Path, path: &Path) -> bool {
    match fs::symlink_metadata(upper.join(path)) {
        // A device there says that something is gone.
        Ok(left) => !left.file_type().is_char_device(),
        Err(_) => is_there(root, path),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{is_obeyed, parts};

    fn there<'a>(names: &'a [&str]) -> impl Fn(&Path) -> bool + 'a {
        move |path| names.iter().any(|name| Path::new(name) == path)
    }

    /// T-002: the looks of a repository, and something in it to obey.
    #[test]
    fn repositories_are_known_by_their_looks() {
        let whole = ["a/HEAD", "a/objects", "a/refs", "a/config"];
        assert!(is_obeyed(b"a/", &there(&whole)));
        for left in 0..whole.len() {
            let mut names = whole.to_vec();
            names.remove(left);
            assert!(!is_obeyed(b"a/", &there(&names)), "{names:?}");
        }
        assert!(is_obeyed(b"a/", &there(&["a/HEAD", "a/commondir"])));
        assert!(is_obeyed(
            b"",
            &there(&["HEAD", "objects", "refs", "hooks"])
        ));
        assert!(!is_obeyed(b"a/b/", &there(&whole)));
    }

    #[test]
    fn names_that_repositories_have_are_found_on_the_way() {
        let found = parts(b"src/x/Hooks/pre-commit");
        assert_eq!(found, [(&b"src/x/"[..], b"hooks".to_vec())]);
        let found = parts(b"objects/a/HEAD");
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].0, b"");
        assert_eq!(found[1].0, b"objects/a/");
        assert!(parts(b"src/main.rs").is_empty());
    }
}
