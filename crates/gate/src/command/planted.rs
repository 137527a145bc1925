//! What a command put into git's folder that git would run or believe later, outside of any
//! sandbox: a rebase's list of steps that runs programs, objects that are not what their name says,
//! links that lead to what can still be changed.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use tagout_sandbox::layer::{ChangeSet, Entry, Kind};
use tagout_vocab::Code;
use tagout_vocab::limits::GIT_STEPS_BYTES_MAX;
use tagout_workspace::{RelPath, files};

use super::git_asked::{Asked, Git};
use crate::changes::git::{self, GitPath};
use crate::engine::Inner;
use crate::error::GateError;
use crate::observed::Beyond;

/// The new objects alone, as a store of their own, so that the cost follows what changed: each is
/// unpacked and compared with its name. Packs are compared with their index, object by object.
const OBJECTS: &str = "
    O=$(realpath \"$($G rev-parse --git-path objects)\")
    form=$($G rev-parse --show-object-format)
    unset GIT_DIR; set +f
    git init -q --bare --template= --object-format=$form /tmp/look
    export O; xargs -0 -r -n 200 -a /tmp/in sh -c '
        for one; do mkdir -p \"/tmp/look/objects/${one%/*}\"
            ln -s \"$O/$one\" \"/tmp/look/objects/$one\"; done' sh
    for one in /tmp/look/objects/pack/*; do
        test -L \"$one\" || continue
        test -e \"$O/pack/$(basename \"${one%.*}\").pack\"
        $G verify-pack \"$O/pack/$(basename \"${one%.*}\").idx\" 2>&1; done
    rm -rf /tmp/look/objects/pack
    GIT_DIR=/tmp/look $G -c fsck.gitmodulesMissing=ignore -c fsck.gitattributesMissing=ignore \
        fsck --no-full --no-dangling --no-progress --no-reflogs 2>&1";

/// What git believes about its objects without a look at them, compared with the objects.
const BOOKS: &str = "
    if test -e \"$O/info/commit-graph\" || test -e \"$O/info/commit-graphs\"; then
        $G -c core.commitGraph=true commit-graph verify --object-dir \"$O\" --no-progress 2>&1; fi
    if test -e \"$O/pack/multi-pack-index\"; then
        $G -c core.multiPackIndex=true multi-pack-index verify --no-progress 2>&1; fi";

/// What is said of what git takes for true and can't be asked about.
const UNSEEN: &str = "git would believe it unseen";

/// Files of a pack that its objects vouch for. The others say what git may leave out.
const OF_A_PACK: [&[u8]; 5] = [b"pack", b"idx", b"rev", b"keep", b"mtimes"];

/// Everything in a set that git must not find.
pub(super) fn beyond(inner: &Inner, set: &ChangeSet, own: &Path) -> Vec<Beyond> {
    let against = |why: String, path: &RelPath| Beyond {
        path: path.clone(),
        code: Code::AuthorityFile,
        why,
    };
    let mut found = Vec::new();
    let mut stores: BTreeMap<Vec<u8>, Objects> = BTreeMap::new();
    for entry in set.judged() {
        let meaning = git::what(&entry.path);
        let Ok(path) = RelPath::new(&entry.path) else {
            continue;
        };
        if matches!(meaning, GitPath::Worktree | GitPath::Authority) {
            continue;
        }
        if let Some(why) = of_kind(entry).or_else(|| steps(inner, entry, own)) {
            found.push(against(why, &path));
        } else if meaning == GitPath::Object
            && matches!(entry.kind, Kind::File { .. } | Kind::Link { .. })
        {
            match object(&entry.path) {
                Some((folder, name)) => stores.entry(folder).or_default().push(path, name),
                None => found.push(against(UNSEEN.to_owned(), &path)),
            }
        } else if meaning == GitPath::Bookkeeping && entry.kind != Kind::Deleted {
            match object(&entry.path) {
                Some((folder, _)) => stores.entry(folder).or_default().believed(path),
                None if git::is_believed(&entry.path) => {
                    found.push(against(UNSEEN.to_owned(), &path));
                }
                None => {}
            }
        }
    }
    for (folder, objects) in &stores {
        if let Err(error) = objects.check(inner, folder, own)
            && let Some(path) = &objects.one
        {
            let why = format!("an object is not what its name says, or can't be checked: {error}");
            found.push(against(why, path));
        }
    }
    found
}

/// New objects of one repository.
#[derive(Debug, Default)]
struct Objects {
    one: Option<RelPath>,
    /// Paths beneath the object store, each ended by a zero byte.
    names: Vec<u8>,
    /// Whether what git believes about them changed too.
    books: bool,
}

impl Objects {
    fn believed(&mut self, path: RelPath) {
        self.books = true;
        self.one.get_or_insert(path);
    }

    fn push(&mut self, path: RelPath, name: &[u8]) {
        self.names.extend_from_slice(name);
        self.names.push(0);
        self.one.get_or_insert(path);
    }

    fn check(&self, inner: &Inner, folder: &[u8], own: &Path) -> Result<(), GateError> {
        let git = Git::new(inner, folder, own)?;
        let script = if self.books {
            format!("{OBJECTS}\n{BOOKS}")
        } else {
            OBJECTS.to_owned()
        };
        git.ask(Asked::After, &script, &self.names).map(drop)
    }
}

/// Git makes plain files and folders only. A link leads to what can be changed unseen later.
fn of_kind(entry: &Entry) -> Option<String> {
    match &entry.kind {
        Kind::Deleted | Kind::File { .. } | Kind::Folder { .. } => None,
        // Git links objects that it has under a second name, while it writes them.
        Kind::Link { to } if git::what(to) == GitPath::Object => None,
        Kind::Link { .. } | Kind::Symlink { .. } | Kind::Pipe | Kind::Socket | Kind::Device => {
            Some("git's folder would hold what git itself never makes there".to_owned())
        }
    }
}

/// The folder above `.git`, with a slash at its end, and the path beneath the object store. `None`
/// for what only tells git what to leave out.
fn object(path: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let segments: Vec<&[u8]> = path.split(|byte| *byte == b'/').collect();
    let at = segments
        .iter()
        .position(|name| name.eq_ignore_ascii_case(b".git"))?;
    let store = at + 1;
    // What lies elsewhere, as in a submodule, can't be asked about.
    (*segments.get(store)? == b"objects").then_some(())?;
    let mut folder = Vec::new();
    for name in segments.get(..at)? {
        folder.extend_from_slice(name);
        folder.push(b'/');
    }
    let rest = segments.get(store + 1..)?;
    let length: usize = rest.iter().map(|name| name.len() + 1).sum();
    let name = path.get((path.len() + 1).checked_sub(length)?..)?;
    if rest.first() == Some(&&b"pack"[..]) && !name.starts_with(b"pack/multi-pack-index") {
        let ending = name.rsplit(|byte| *byte == b'.').next()?;
        let written = name.starts_with(b"pack/tmp_");
        (written || OF_A_PACK.contains(&ending)).then_some(())?;
    }
    Some((folder, name))
}

/// Whether a path is a list of steps that git works through, or went through.
fn is_list(path: &[u8]) -> bool {
    let mut names = path
        .rsplit(|byte| *byte == b'/')
        .map(<[u8]>::to_ascii_lowercase);
    let (Some(name), Some(folder)) = (names.next(), names.next()) else {
        return false;
    };
    let rebase = name.starts_with(b"git-rebase-todo") || name == b"done";
    folder.starts_with(b"rebase-") && rebase || folder == b"sequencer" && name == b"todo"
}

/// A list of a rebase's steps that runs programs which it did not run before: whoever goes on with
/// the rebase runs them.
fn steps(inner: &Inner, entry: &Entry, own: &Path) -> Option<String> {
    if !is_list(&entry.path) || !matches!(entry.kind, Kind::File { .. } | Kind::Link { .. }) {
        return None;
    }
    let path = RelPath::new(&entry.path).ok()?;
    let beneath = OsStr::from_bytes(path.as_bytes());
    let read = |root: &Path| files::read(&root.join(beneath), GIT_STEPS_BYTES_MAX);
    let Ok(Some(new)) = read(&own.join("upper")) else {
        return Some("the steps of a rebase can't be read".to_owned());
    };
    let old = read(inner.workspace.root()).ok().flatten();
    let mut known: Vec<Vec<u8>> = programs(&old.unwrap_or_default());
    for line in programs(&new) {
        let Some(at) = known.iter().position(|one| *one == line) else {
            let line = String::from_utf8_lossy(&line);
            return Some(format!(
                "whoever goes on with the rebase would run `{line}`"
            ));
        };
        known.swap_remove(at);
    }
    None
}

/// The lines of a list of steps that run programs.
fn programs(list: &[u8]) -> Vec<Vec<u8>> {
    let line = |line: &[u8]| {
        let line = line.trim_ascii();
        let word = line.split(u8::is_ascii_whitespace).next()?;
        (word == b"exec" || word == b"x").then(|| line.to_vec())
    };
    let parts = list.split(|byte| *byte == b'\n' || *byte == b'\r');
    parts.filter_map(line).collect()
}

#[cfg(test)]
mod tests;
