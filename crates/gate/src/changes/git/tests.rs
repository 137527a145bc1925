//! What names mean to git.

use super::{GitPath, what};

/// L4: every name in a repository's folder has one meaning.
#[test]
fn paths_of_git() {
    let cases = [
        ("src/main.rs", GitPath::Worktree),
        (".gitignore", GitPath::Worktree),
        ("a/.github/x", GitPath::Worktree),
        (".git", GitPath::Authority),
        ("sub/.git", GitPath::Authority),
        (".git/objects/ab/cdef", GitPath::Object),
        (".git/objects/ab", GitPath::Object),
        (".git/objects", GitPath::Object),
        (".git/objects/pack/pack-1.idx", GitPath::Object),
        (".git/objects/info/alternates", GitPath::Authority),
        (".git/objects/info/commit-graph", GitPath::Bookkeeping),
        (".git/objects/pack/multi-pack-index", GitPath::Bookkeeping),
        (".git/refs/heads/main", GitPath::Ref),
        (".git/refs/replace/0123", GitPath::Authority),
        (".git/packed-refs", GitPath::Ref),
        (".git/HEAD", GitPath::Ref),
        (".git/index", GitPath::Bookkeeping),
        (".git/logs/HEAD", GitPath::Bookkeeping),
        (".git/rebase-merge/done", GitPath::Bookkeeping),
        (".git/MERGE_MSG", GitPath::Bookkeeping),
        (".git/hooks/pre-commit", GitPath::Authority),
        (".git/config", GitPath::Authority),
        (".git/remotes/origin", GitPath::Authority),
        (".git/branches/main", GitPath::Authority),
        (".GIT/config", GitPath::Authority),
        (".git/config.worktree", GitPath::Authority),
        (".git/info/attributes", GitPath::Authority),
        (".git/info/refs", GitPath::Bookkeeping),
        (".git/worktrees/w", GitPath::Bookkeeping),
        (".git/worktrees/w/HEAD", GitPath::Ref),
        (".git/worktrees/w/index", GitPath::Bookkeeping),
        (".git/worktrees/w/gitdir", GitPath::Authority),
        (".git/worktrees/w/commondir", GitPath::Authority),
        (".git/worktrees/w/config.worktree", GitPath::Authority),
        (".git/modules/a/b/config", GitPath::Authority),
        (".git/modules/a/b/hooks/x", GitPath::Authority),
        (".git/modules/a/b/objects/ab/c", GitPath::Object),
        (".git/modules/a/refs/heads/hooks", GitPath::Authority),
        (".git/modules/a/refs/heads/main", GitPath::Ref),
        (".git/modules/objects/config", GitPath::Authority),
        ("sub/.git/objects/ab/c", GitPath::Object),
    ];
    for (path, meaning) in cases {
        assert_eq!(what(path.as_bytes()), meaning, "{path}");
    }
}
