//! What the commits and the index that a command left contain: changes that its intent may make,
//! or what stood in the repository or the working tree before.
//!
//! Git itself is asked, in the read-only lane over the command's own layer, so that nothing which
//! the repository could make it run has an effect. What can't be asked is refused.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use tagout_sandbox::layer::{self, ChangeSet, Upper};
use tagout_vocab::limits::{GIT_INDEX_BYTES_MAX, GIT_NEW_COMMITS_MAX, GIT_SAID_CHARS_MAX};
use tagout_vocab::{Code, IntentId};
use tagout_workspace::{Change, ChangeKind, RelPath, files};

use super::folders::made;
use super::git_asked::{Asked, Git};
use crate::changes::git::{self, GitPath};
use crate::changes::index;
use crate::engine::Inner;
use crate::error::GateError;
use crate::observed::{self, Beyond};

/// Every commit that is not reachable from before, with each path that it changes against its
/// parent, or against what git would have made of its two parents; what waits to be committed by a
/// pending operation counts too. Merging again needs a place to write to. Git merges no more than
/// two again, so a commit with more parents is compared with each of them, save those that begin a
/// history which is new itself: nobody stands on them yet.
const COMMITS: &str = "
    { cat /tmp/in; for one in ORIG_HEAD MERGE_HEAD CHERRY_PICK_HEAD REVERT_HEAD REBASE_HEAD; do
        $G rev-parse -q --verify \"$one^{commit}\" || :; done; } > /tmp/tips
    $G rev-list --all --ignore-missing --max-count=$((max + 1)) --stdin < /tmp/tips > /tmp/new
    test $(wc -l < /tmp/new) -le $max
    new=\"$G rev-list --all --ignore-missing --stdin\"
    $new --max-parents=2 < /tmp/tips > /tmp/narrow
    $new --max-parents=0 < /tmp/tips > /tmp/first
    $new --min-parents=3 --parents < /tmp/tips > /tmp/wide
    how='-r --raw --no-abbrev -z --no-renames --ignore-submodules=none'
    while read -r one parents; do for parent in $parents; do
        grep -qx $parent /tmp/first || $G diff-tree $how $parent $one; done; done < /tmp/wide
    GIT_ALTERNATE_OBJECT_DIRECTORIES=$(realpath \"$($G rev-parse --git-path objects)\")
    GIT_OBJECT_DIRECTORY=/tmp/objects; mkdir -p /tmp/objects
    export GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_OBJECT_DIRECTORY
    $G diff-tree --stdin $how --remerge-diff --root --no-commit-id < /tmp/narrow";

/// What is staged and not in the last commit.
const STAGED: &str = "
    head=$($G rev-parse -q --verify HEAD || $G hash-object -t tree /dev/null)
    $G diff-index --cached -r --raw --no-abbrev -z --no-renames --ignore-submodules=none $head";

/// The ends of all branches and whatever else is known to git already.
const TIPS: &str = "
    { $G for-each-ref --format='%(objectname)'; $G rev-list --no-walk --reflog
      for one in HEAD ORIG_HEAD MERGE_HEAD CHERRY_PICK_HEAD REVERT_HEAD REBASE_HEAD; do
        $G rev-parse -q --verify \"$one\" || :; done; } | sort -u | sed 's/^/^/'";

/// Objects that stand for others, which would change what every commit seems to hold.
const REPLACED: &str = "$G for-each-ref --format='%(refname) %(objectname)' refs/replace";

/// Every change that some paths ever saw.
const HISTORY: &str = "
    xargs -0 -r -a /tmp/in $G log --all --reflog --diff-merges=separate --format= \
        --no-show-signature --raw --no-abbrev -z --no-renames --";

/// What is staged under some paths.
const INDEX: &str = "xargs -0 -r -a /tmp/in $G ls-files -s -z --";

/// What some paths hold in the working tree, as git would name it.
const TREE: &str = "
    export G; xargs -0 -r -n 1 -a /tmp/in sh -c '
        if test -L \"$0\"; then id=$(readlink -n -- \"$0\" | $G hash-object --stdin)
        elif test -f \"$0\"; then id=$($G hash-object -- \"./$0\"); else exit 0; fi
        printf \"100644 %s 0\\t%s\\0\" \"$id\" \"$0\"'";

/// One path that a commit or the index would change, and to what.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
struct Content {
    path: Vec<u8>,
    /// `None` when there was nothing, or when that does not matter.
    from: Option<String>,
    /// `None` when it would be gone.
    object: Option<String>,
}

/// What in a set's commits and indexes is beyond what an intent permits.
pub(super) fn beyond(
    inner: &Inner,
    intent: Option<&IntentId>,
    set: &ChangeSet,
    own: &Path,
) -> Vec<Beyond> {
    let mut found = beside(inner, set, own);
    for (folder, books) in repositories(set) {
        match of_repository(inner, intent, (&folder, &books), own) {
            Ok(beyond) => found.extend(beyond),
            Err(error) => found.push(Beyond {
                path: books,
                code: Code::ScopeViolation,
                why: format!("what its commits contain can't be judged: {error}"),
            }),
        }
    }
    found
}

/// Whether a path says what is committed or waits to be.
fn tells(path: &[u8]) -> bool {
    match git::what(path) {
        GitPath::Ref => true,
        GitPath::Bookkeeping => {
            let name = path.rsplit(|byte| *byte == b'/').next();
            name.is_some_and(|name| name == b"index" || name.ends_with(b"_HEAD"))
        }
        GitPath::Object | GitPath::Authority | GitPath::Worktree => false,
    }
}

/// Folders of a repository that hold what others commit from: its submodules and further worktrees.
const BESIDE: [&[u8]; 2] = [b"modules", b"worktrees"];

fn is_beside(path: &RelPath) -> bool {
    let mut names = path.segments();
    let within = names.find(|name| name.eq_ignore_ascii_case(b".git"));
    within.is_some() && names.next().is_some_and(|name| BESIDE.contains(&name))
}

/// What a set would change of what other worktrees and submodules commit. Git is asked about the
/// repository itself alone, so none of that can be judged.
fn beside(inner: &Inner, set: &ChangeSet, own: &Path) -> Vec<Beyond> {
    let told = set.judged().filter(|entry| tells(&entry.path));
    let paths = told.filter_map(|entry| RelPath::new(&entry.path).ok());
    let changed = paths.filter(|path| is_beside(path) && !is_only_refreshed(inner, path, own));
    changed
        .map(|path| Beyond {
            path,
            code: Code::ScopeViolation,
            why: "what another worktree or a submodule commits can't be judged here; a person \
                  does that"
                .to_owned(),
        })
        .collect()
}

/// Whether an index stages what it did before: looking through submodules writes theirs anew.
fn is_only_refreshed(inner: &Inner, path: &RelPath, own: &Path) -> bool {
    let left = || {
        let file = Upper::open(&own.join("upper")).ok()?;
        let file = file.file(path.as_bytes()).ok()?;
        let mut bytes = Vec::new();
        let mut limited = file.take(GIT_INDEX_BYTES_MAX);
        limited.read_to_end(&mut bytes).ok()?;
        Some(bytes)
    };
    let stood = || inner.workspace.read(path, GIT_INDEX_BYTES_MAX).ok();
    path.name() == Some(b"index")
        && left()
            .is_some_and(|left| stood().is_some_and(|stood| index::stage_the_same(&left, &stood)))
}

/// The repositories whose refs or index a set changes: the folder above each `.git`, with one of
/// the changed paths.
fn repositories(set: &ChangeSet) -> BTreeMap<Vec<u8>, RelPath> {
    let mut found = BTreeMap::new();
    for entry in set.judged().filter(|entry| tells(&entry.path)) {
        let Ok(path) = RelPath::new(&entry.path) else {
            continue;
        };
        if !is_beside(&path) {
            let above = path.segments();
            let above = above.take_while(|name| !name.eq_ignore_ascii_case(b".git"));
            let folder = above.flat_map(|name| [name, b"/"].concat()).collect();
            found.entry(folder).or_insert(path);
        }
    }
    found
}

fn of_repository(
    inner: &Inner,
    intent: Option<&IntentId>,
    (folder, books): (&[u8], &RelPath),
    own: &Path,
) -> Result<Vec<Beyond>, GateError> {
    let git = Git::new(inner, folder, own)?;
    let tips = git.ask(Asked::Before, TIPS, b"")?;
    let commits = format!("max={GIT_NEW_COMMITS_MAX}{COMMITS}");
    let mut contents = contents(&git.ask(Asked::After, &commits, &tips)?)?;
    contents.extend(self::contents(&git.ask(Asked::After, STAGED, b"")?)?);
    let mut found = Vec::new();
    let replaced = git.ask(Asked::After, REPLACED, b"")?;
    if replaced != git.ask(Asked::Before, REPLACED, b"")? {
        found.push(Beyond {
            path: books.clone(),
            code: Code::AuthorityFile,
            why: "it makes git show one object in the place of another".to_owned(),
        });
    }
    let mut against = Vec::new();
    for content in contents {
        let path = RelPath::new(&[folder, &content.path].concat())?;
        let change = Change {
            path,
            kind: ChangeKind::Modified,
            before: None,
            after: None,
            link_broken: false,
        };
        let beyond = observed::beyond(inner, intent, &[change], |_| false);
        against.extend(beyond.into_iter().map(|one| (content.clone(), one)));
    }
    if against.is_empty() {
        return Ok(found);
    }
    let paths: BTreeSet<&[u8]> = against.iter().map(|(one, _)| one.path.as_slice()).collect();
    let input: Vec<u8> = paths
        .iter()
        .flat_map(|path| [path, &b"\0"[..]].concat())
        .collect();
    let known = self::contents(&git.ask(Asked::Before, HISTORY, &input)?)?;
    let staged = listed(&git.ask(Asked::Before, INDEX, &input)?);
    let files = listed(&git.ask(Asked::Before, TREE, &input)?);
    // Someone made exactly this change before, as a rebase finds it; or it is what the person had
    // in the index or in the working tree. That a path had a content long ago is not enough: going
    // back to it is a change too.
    let was_there = |content: &Content| {
        let now = Content {
            from: None,
            ..content.clone()
        };
        let lacks = |list: &BTreeSet<Content>| list.iter().all(|one| one.path != content.path);
        let gone = || lacks(&staged) || lacks(&files);
        known.contains(content)
            || staged.contains(&now)
            || files.contains(&now)
            || (content.object.is_none() && gone())
    };
    against.retain(|(content, _)| !was_there(content));
    found.extend(against.into_iter().map(|(_, one)| Beyond {
        why: format!("{}, and git's records would hold a change of it", one.why),
        ..one
    }));
    Ok(found)
}

/// Reads git's raw differences: a colon, two modes, two objects and a status, then the path; both
/// end with a zero byte. Whatever else git says means that something was not compared.
fn contents(raw: &[u8]) -> Result<BTreeSet<Content>, GateError> {
    let mut found = BTreeSet::new();
    let mut parts = raw.split(|byte| *byte == 0);
    while let Some(head) = parts.next() {
        let head = String::from_utf8_lossy(head);
        let head = head.trim_start_matches('\n');
        if head.is_empty() {
            continue;
        }
        let words: Vec<&str> = head.split(' ').collect();
        let (&[_, _, from, to, _], Some(path)) = (words.as_slice(), parts.next()) else {
            return Err(not_compared(head));
        };
        let is_object = |word: &str| word.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !head.starts_with(':') || head.starts_with("::") || !is_object(from) || !is_object(to) {
            return Err(not_compared(head));
        }
        let object = |word: &str| {
            let is_there = word.bytes().any(|byte| byte != b'0');
            is_there.then(|| word.to_owned())
        };
        found.insert(Content {
            path: path.to_vec(),
            from: object(from),
            object: object(to),
        });
    }
    Ok(found)
}

fn not_compared(head: &str) -> GateError {
    let head: String = head.chars().take(GIT_SAID_CHARS_MAX).collect();
    GateError::Unasked {
        why: format!("git said `{head}`"),
    }
}

/// Reads lists of staged files: mode, object and stage, a tab, the path; each ends with a zero
/// byte.
fn listed(raw: &[u8]) -> BTreeSet<Content> {
    let one = |line: &[u8]| {
        let at = line.iter().position(|byte| *byte == b'\t')?;
        let (head, path) = line.split_at_checked(at)?;
        let head = std::str::from_utf8(head).ok()?;
        Some(Content {
            path: path.get(1..)?.to_vec(),
            from: None,
            object: Some(head.split(' ').nth(1)?.to_owned()),
        })
    };
    raw.split(|byte| *byte == 0).filter_map(one).collect()
}

/// A folder for asking, beside the layer.
pub(super) fn scratch(own: &Path) -> Result<PathBuf, GateError> {
    let folder = own.join("asked");
    layer::remove(&folder)?;
    made(folder)
}

/// What is asked about, where the script finds it.
pub(super) fn write_input(tmp: &Path, input: &[u8]) -> Result<(), GateError> {
    Ok(files::write_atomic(&tmp.join("in"), input, Some(0o600))?)
}

#[cfg(test)]
mod tests;
