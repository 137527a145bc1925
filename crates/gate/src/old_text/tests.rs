//! Which old texts a patch names.

use tagout_vocab::WorkspacePath;

use super::{old_blocks, once};

fn path() -> WorkspacePath {
    WorkspacePath::new("src/a.rs").unwrap()
}

/// H13: the old lines of a unified diff, a patch and search blocks, for one file.
#[test]
fn every_form_of_patch() {
    let unified = "--- a/src/a.rs\n+++ b/src/a.rs\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n";
    assert_eq!(old_blocks(unified, &path()), ["one\ntwo"]);
    let patch = "*** Begin Patch\n*** Update File: src/b.rs\n@@\n-other\n+x\n\
                 *** Update File: src/a.rs\n@@\n-two\n+2\n*** End Patch\n";
    assert_eq!(old_blocks(patch, &path()), ["two"]);
    let blocks = "<<<<<<< SEARCH\n:start_line:1\n-------\none\n=======\n1\n>>>>>>> REPLACE\n";
    assert_eq!(old_blocks(blocks, &path()), ["one"]);
}

/// H13: adding lines alone names no old text, so nothing matches.
#[test]
fn nothing_old_is_no_match() {
    let added = "*** Begin Patch\n*** Add File: src/a.rs\n+new\n*** End Patch\n";
    assert!(old_blocks(added, &path()).is_empty());
    assert!(!once("abc", ""));
    assert!(once("abc", "b"));
    assert!(!once("abcb", "b"));
}
