//! What a patch leaves behind is told exactly, or not at all.

use super::{Patched, after};

fn told(patch: &str, text: &str) -> Option<Vec<(String, Option<String>)>> {
    let files = after(patch, |_| Some(text.to_owned()))?;
    let pair = |Patched { name, text }| (name, text);
    Some(files.into_iter().map(pair).collect())
}

fn one(name: &str, text: Option<&str>) -> (String, Option<String>) {
    (name.to_owned(), text.map(str::to_owned))
}

#[test]
fn files_are_added_changed_moved_and_deleted() {
    let patch = "*** Begin Patch\n*** Add File: a\n+one\n+\n*** Update File: b\n@@ fn x\n two\n\
                 -three\n+drei\n@@\n-five\n*** Delete File: c\n*** Update File: d\n\
                 *** Move to: e\n@@\n-two\n+zwei\n*** End of File\n*** End Patch\n";
    let expected = [
        one("a", Some("one\n\n")),
        one("b", Some("one\ntwo\ndrei\nfour\n")),
        one("c", None),
        one("d", None),
        one("e", Some("one\nzwei\nthree\nfour\nfive\n")),
    ];
    assert_eq!(
        told(patch, "one\ntwo\nthree\nfour\nfive\n").unwrap(),
        expected
    );
}

#[test]
fn a_file_without_a_last_line_feed_gets_one() {
    let patch = "*** Begin Patch\n*** Update File: b\n@@\n-one\n+two\n*** End Patch";
    assert_eq!(told(patch, "one").unwrap(), [one("b", Some("two\n"))]);
}

#[test]
fn what_is_in_doubt_is_not_told() {
    let update = |lines: &str| format!("*** Begin Patch\n*** Update File: b\n{lines}*** End Patch");
    let doubtful = [
        // Two places, none, and one that is not named.
        (update("@@\n-same\n+other\n"), "same\nsame\n"),
        (update("@@\n-missing\n+other\n"), "same\n"),
        (update("@@\n+more\n"), "same\n"),
        // Lines that end otherwise, on either side.
        (update("@@\n-same\n+other\n"), "same\r\n"),
        (update("@@\r\n-same\r\n+other\r\n"), "same\n"),
        // Other forms, and what is cut off.
        (update("@@\n?same\n"), "same\n"),
        (
            "*** Begin Patch\n*** Update File: b\n@@\n-same\n".to_owned(),
            "same\n",
        ),
        (
            "--- a/b\n+++ b/b\n@@ -1 +1 @@\n-same\n+other\n".to_owned(),
            "same\n",
        ),
        ("*** Begin Patch\n*** End Patch".to_owned(), "same\n"),
        (String::new(), ""),
    ];
    for (patch, text) in doubtful {
        assert_eq!(told(&patch, text), None, "{patch:?}");
    }
}
