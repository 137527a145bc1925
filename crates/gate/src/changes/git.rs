//! What a path means to git, as far as a command's changes are concerned.
//!
//! Git's own folder belongs to no intent. A command may add objects, move refs and keep git's
//! books; what git runs or obeys is authority. The rules are about names alone: whether a ref may
//! move is decided by its old value, which the transaction compares.

/// What a path means to git.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum GitPath {
    /// Beneath the object store: only ever added to. What `gc` and `prune` remove stays, and
    /// undoing removes nothing.
    Object,
    /// A ref, or what stands for many of them: moved by comparing its old value.
    Ref,
    /// What git keeps for itself: index, logs, the state of a rebase or merge.
    Bookkeeping,
    /// What git runs or obeys.
    Authority,
    /// Not git's at all.
    Worktree,
}

/// Names in a repository's folder that git runs or obeys, themselves and beneath. Where it fetches
/// from and pushes to could be said in two folders before there was a configuration for it.
const OBEYED: [&[u8]; 9] = [
    b"hooks",
    b"config",
    b"config.worktree",
    b"info",
    b"commondir",
    b"gitdir",
    // Where history ends; a line that is none there stops every command of git's.
    b"shallow",
    b"remotes",
    b"branches",
];

/// Names that are refs, themselves and beneath.
const REFS: [&[u8]; 4] = [b"refs", b"packed-refs", b"reftable", b"HEAD"];

/// Names that git keeps for itself and that a repository's folder is known by.
const BOOKS: [&[u8]; 22] = [
    b"index",
    b"index.lock",
    b"sharedindex.*",
    b"logs",
    b"ORIG_HEAD",
    b"FETCH_HEAD",
    b"COMMIT_EDITMSG",
    b"MERGE_*",
    b"CHERRY_PICK_HEAD",
    b"REVERT_HEAD",
    b"REBASE_HEAD",
    b"AUTO_MERGE",
    b"SQUASH_MSG",
    b"TAG_EDITMSG",
    b"NOTES_EDITMSG",
    b"BISECT_*",
    b"rebase-*",
    b"sequencer",
    b"description",
    b"gc.*",
    b"rr-cache",
    b"*.lock",
];

/// Names in the object store that git obeys: where else it looks for objects.
const ELSEWHERE: [&[u8]; 2] = [b"alternates", b"http-alternates"];

/// Names in the object store that are rewritten in place and can be made again from the objects.
const REMADE: [&[u8]; 5] = [
    b"commit-graph",
    b"commit-graphs",
    b"packs",
    b"multi-pack-index",
    b"multi-pack-index.d",
];

fn fits(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern.strip_suffix(b"*"), pattern.strip_prefix(b"*")) {
        (Some(head), _) => name.starts_with(head),
        (None, Some(tail)) => name.ends_with(tail),
        (None, None) => pattern == name,
    }
}

fn listed(list: &[&[u8]], name: &[u8]) -> bool {
    list.iter().any(|pattern| fits(pattern, name))
}

/// What git obeys, in any spelling: some file systems take one name for the other.
fn is_obeyed(name: &[u8]) -> bool {
    listed(&OBEYED, &name.to_ascii_lowercase())
}

/// What a path beneath the workspace means to git.
pub fn what(path: &[u8]) -> GitPath {
    let segments: Vec<&[u8]> = path.split(|byte| *byte == b'/').collect();
    let Some(at) = segments
        .iter()
        .position(|name| name.eq_ignore_ascii_case(b".git"))
    else {
        return GitPath::Worktree;
    };
    // A file `.git` points to a repository elsewhere; a folder `.git` that comes or goes is one.
    inside(segments.get(at + 1..).unwrap_or_default())
}

fn inside(segments: &[&[u8]]) -> GitPath {
    let Some((first, rest)) = segments.split_first() else {
        return GitPath::Authority;
    };
    match *first {
        b"objects" => object(rest),
        // The folders of other worktrees and of submodules hold what this one does.
        b"worktrees" if rest.len() <= 1 => GitPath::Bookkeeping,
        b"worktrees" => inside(rest.get(1..).unwrap_or_default()),
        b"modules" => module(rest),
        // A list of refs for those who fetch plain files, made again whenever objects are packed.
        b"info" if rest == [&b"refs"[..]] => GitPath::Bookkeeping,
        // Such a ref makes git show one object in the place of another.
        b"refs" if rest.first().is_some_and(|name| *name == b"replace") => GitPath::Authority,
        name if is_obeyed(name) => GitPath::Authority,
        name if listed(&REFS, name) => GitPath::Ref,
        // A new name of git's is kept like its other books, and its old value is compared.
        _ => GitPath::Bookkeeping,
    }
}

fn object(segments: &[&[u8]]) -> GitPath {
    let (Some(first), last) = (segments.first(), segments.get(1)) else {
        return GitPath::Object;
    };
    match (*first, last) {
        (b"info", Some(name)) if listed(&ELSEWHERE, name) => GitPath::Authority,
        (b"info" | b"pack", Some(name)) if listed(&REMADE, name) => GitPath::Bookkeeping,
        _ => GitPath::Object,
    }
}

/// Whether git takes what lies there for true about the objects beside it, in whichever repository.
pub fn is_believed(path: &[u8]) -> bool {
    let segments: Vec<&[u8]> = path.split(|byte| *byte == b'/').collect();
    let within = segments
        .iter()
        .position(|name| name.eq_ignore_ascii_case(b".git"));
    let within = within.and_then(|at| segments.get(at + 1..));
    let mut windows = within.unwrap_or_default().windows(3);
    windows.any(|names| match names {
        [b"objects", b"info" | b"pack", name] => listed(&REMADE, name),
        _ => false,
    })
}

/// A submodule's name may hold slashes, so its folder ends where a name that every repository has
/// begins.
fn module(segments: &[&[u8]]) -> GitPath {
    let known = |name: &&[u8]| {
        *name == b"objects"
            || *name == b"worktrees"
            || *name == b"modules"
            || is_obeyed(name)
            || listed(&REFS, name)
            || listed(&BOOKS, name)
    };
    // Whatever could be read as something that git obeys is taken for that.
    let mut found = GitPath::Bookkeeping;
    for (at, name) in segments.iter().enumerate().skip(1) {
        if known(name) {
            let here = inside(segments.get(at..).unwrap_or_default());
            if here == GitPath::Authority {
                return here;
            }
            if found == GitPath::Bookkeeping {
                found = here;
            }
        }
    }
    found
}

#[cfg(test)]
mod tests;
