//! Which steps run programs, and which files are objects.

use super::{object, programs};
use crate::changes::git;

/// L4: a step runs a program in whatever form git reads it.
#[test]
fn steps_that_run_programs() {
    let list = b"pick 1 exec is a word\n# exec no\n  exec make\nx touch f\n\texec\trm f\nexecute\n";
    let found = programs(list);
    assert_eq!(
        found,
        [&b"exec make"[..], b"x touch f", b"exec\trm f"].map(<[u8]>::to_vec)
    );
}

/// L4: objects and packs are checked; what only says what git may leave out is not an object.
#[test]
fn what_counts_as_an_object() {
    let folder = |path: &[u8]| object(path).map(|(folder, name)| (folder, name.to_vec()));
    assert_eq!(
        folder(b".git/objects/ab/cd"),
        Some((b"".to_vec(), b"ab/cd".to_vec()))
    );
    assert_eq!(
        folder(b"a/b/.git/objects/pack/pack-1.idx"),
        Some((b"a/b/".to_vec(), b"pack/pack-1.idx".to_vec()))
    );
    assert_eq!(
        folder(b"objects/.git/objects/ab/cd"),
        Some((b"objects/".to_vec(), b"ab/cd".to_vec()))
    );
    for path in [
        &b".git/objects/pack/pack-1.promisor"[..],
        b".git/objects/pack/pack-1.bitmap",
        b".git/modules/m/objects/ab/cd",
    ] {
        assert_eq!(object(path), None, "{}", String::from_utf8_lossy(path));
    }
}

/// L4: what git believes about objects is known as such in every repository, so that one that
/// can't be asked about is refused.
#[test]
fn what_git_believes_of_objects() {
    for path in [
        &b".git/objects/info/commit-graph"[..],
        b".git/objects/info/commit-graphs/graph-1.graph",
        b".git/objects/pack/multi-pack-index",
        b".git/modules/m/objects/info/commit-graph",
        b"a/.git/modules/m/n/objects/pack/multi-pack-index",
    ] {
        assert!(git::is_believed(path), "{}", String::from_utf8_lossy(path));
    }
    for path in [
        &b".git/index"[..],
        b".git/modules/m/index",
        b".git/objects/ab/cd",
        b"objects/info/commit-graph",
    ] {
        assert!(!git::is_believed(path), "{}", String::from_utf8_lossy(path));
    }
}
