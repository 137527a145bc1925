//! Before and after, tool by tool.

use serde_json::{Value, json};
use tagout_gate::ToolError;

use crate::support::Place;

struct Case {
    tool: &'static str,
    input: Value,
    before: &'static [(&'static str, &'static [u8])],
    /// `None` for a file that must not be there.
    after: &'static [(&'static str, Option<&'static [u8]>)],
}

fn case(
    tool: &'static str,
    input: Value,
    before: &'static [(&'static str, &'static [u8])],
    after: &'static [(&'static str, Option<&'static [u8]>)],
) -> Case {
    Case {
        tool,
        input,
        before,
        after,
    }
}

fn check(cases: Vec<Case>) {
    for Case {
        tool,
        input,
        before,
        after,
    } in cases
    {
        let place = Place::new(before);
        let ran = place.call(tool, input.clone());
        ran.output
            .unwrap_or_else(|error| panic!("{tool} {input}: {error}"));
        for (path, expected) in after {
            let got = place.read(path);
            assert_eq!(
                got.as_deref().map(String::from_utf8_lossy),
                expected.map(String::from_utf8_lossy),
                "{tool} {input}: {path}"
            );
        }
    }
}

#[test]
fn whole_files_are_written_and_deleted() {
    let write = |path: &str, content: &str| json!({"path": path, "content": content});
    check(vec![
        case(
            "write_to_file",
            write("a.txt", "x\n"),
            &[],
            &[("a.txt", Some(b"x\n"))],
        ),
        case(
            "write_to_file",
            write("d/e/a.txt", "x"),
            &[],
            &[("d/e/a.txt", Some(b"x"))],
        ),
        case(
            "write_to_file",
            write("a.txt", "x\ny\n"),
            &[("a.txt", b"\xEF\xBB\xBFa\r\nb\r\n")],
            &[("a.txt", Some(b"\xEF\xBB\xBFx\r\ny\r\n"))],
        ),
        case(
            "write_to_file",
            write("a.txt", "thé\n"),
            &[("a.txt", b"caf\xE9\n")],
            &[("a.txt", Some(b"th\xE9\n"))],
        ),
        case(
            "write_to_file",
            write("a.bin", "x\n"),
            &[("a.bin", b"\0\0")],
            &[("a.bin", Some(b"x\n"))],
        ),
        case(
            "delete_file",
            json!({"path": "a.txt"}),
            &[("a.txt", b"x"), ("b", b"y")],
            &[("a.txt", None), ("b", Some(b"y"))],
        ),
    ]);
}

#[test]
fn texts_are_replaced() {
    let edit =
        |old: &str, new: &str| json!({"file_path": "f", "old_string": old, "new_string": new});
    for tool in ["edit", "search_and_replace", "search_replace", "edit_file"] {
        check(vec![
            case(
                tool,
                edit("b", "x"),
                &[("f", b"a\r\nb\r\nc")],
                &[("f", Some(b"a\r\nx\r\nc"))],
            ),
            case(
                tool,
                edit("a\nb", "x"),
                &[("f", b"a\r\nb\n")],
                &[("f", Some(b"x\n"))],
            ),
            case(tool, edit("", "new\n"), &[], &[("f", Some(b"new\n"))]),
            case(
                tool,
                edit("", "new\n"),
                &[("f", b"")],
                &[("f", Some(b"new\n"))],
            ),
        ]);
    }
    check(vec![
        case(
            "edit",
            json!({"file_path": "f", "old_string": "x", "new_string": "y", "replace_all": true}),
            &[("f", b"x x\n")],
            &[("f", Some(b"y y\n"))],
        ),
        case(
            "edit_file",
            json!({"file_path": "f", "old_string": "x", "new_string": "y",
                "expected_replacements": 2}),
            &[("f", b"x x\n")],
            &[("f", Some(b"y y\n"))],
        ),
    ]);
}

#[test]
fn diffs_are_applied_to_one_file() {
    let diff = |diff: &str| json!({"path": "f", "diff": diff});
    check(vec![
        case(
            "apply_diff",
            diff("<<<<<<< SEARCH\n:start_line:2\n-------\nb\n=======\nx\n>>>>>>> REPLACE"),
            &[("f", b"b\nb\n")],
            &[("f", Some(b"b\nx\n"))],
        ),
        case(
            "apply_diff",
            diff("@@ -1,2 +1,2 @@\n a\n-b\n+x\n"),
            &[("f", b"a\r\nb\r\n")],
            &[("f", Some(b"a\r\nx\r\n"))],
        ),
        case(
            "apply_diff",
            diff("--- a/f\n+++ b/f\n@@ -1 +1,2 @@\n-a\n+a\n+b\n"),
            &[("f", b"a")],
            &[("f", Some(b"a\nb"))],
        ),
    ]);
}

#[test]
fn patches_change_several_files() {
    let patch = |patch: &str| json!({"patch": patch});
    check(vec![
        case(
            "apply_patch",
            patch(
                "*** Begin Patch\n*** Add File: new/a\n+one\n*** Update File: b\n@@\n-x\n+y\n\
                 *** Delete File: c\n*** Update File: d\n*** Move to: e/d\n@@\n-1\n+2\n\
                 *** End Patch\n",
            ),
            &[("b", b"x\r\n"), ("c", b"gone\n"), ("d", b"1")],
            &[
                ("new/a", Some(b"one\n")),
                ("b", Some(b"y\r\n")),
                ("c", None),
                ("d", None),
                ("e/d", Some(b"2")),
            ],
        ),
        case(
            "apply_patch",
            patch(
                "diff --git a/b b/b\n--- a/b\n+++ b/b\n@@ -1 +1 @@\n-x\n+y\n\
                 diff --git a/c b/c\ndeleted file mode 100644\n--- a/c\n\
                 +++ /dev/null\n@@ -1 +0,0 @@\n-gone\n\
                 diff --git a/d b/e\nsimilarity index 90%\nrename from d\nrename to e\n\
                 --- a/d\n+++ b/e\n@@ -1 +1 @@\n-1\n\\ No newline at end of file\n+2\n",
            ),
            &[("b", b"x\n"), ("c", b"gone\n"), ("d", b"1")],
            &[
                ("b", Some(b"y\n")),
                ("c", None),
                ("d", None),
                ("e", Some(b"2\n")),
            ],
        ),
        // The same file twice: the second change sees the first.
        case(
            "apply_patch",
            patch(
                "*** Begin Patch\n*** Update File: b\n@@\n-x\n+y\n*** Update File: b\n@@\n-y\n+z\n\
                 *** End Patch\n",
            ),
            &[("b", b"x\n")],
            &[("b", Some(b"z\n"))],
        ),
    ]);
}

/// L4: what fails in its last file changes nothing in its first.
#[test]
fn a_patch_is_applied_whole_or_not_at_all() {
    let place = Place::new(&[("a", b"x\n"), ("b", b"y\n")]);
    let before = crate::support::picture(place.root());
    let bad = [
        "*** Begin Patch\n*** Update File: a\n@@\n-x\n+z\n*** Update File: b\n@@\n-q\n+z\n\
         *** End Patch\n",
        "*** Begin Patch\n*** Delete File: a\n*** Add File: b\n+x\n*** End Patch\n",
        "*** Begin Patch\n*** Add File: c\n+x\n*** Delete File: nowhere\n*** End Patch\n",
        "*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@\n-x\n+z\n*** End Patch\n",
        "--- a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-other\n",
    ];
    for patch in bad {
        let ran = place.call("apply_patch", json!({"patch": patch}));
        assert!(ran.output.is_err(), "{patch}");
        assert_eq!(crate::support::picture(place.root()), before, "{patch}");
    }
}

#[test]
fn modes_are_kept_and_set() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new(&[("run.sh", b"echo a\n")]);
    let path = place.root().join("run.sh");
    let set =
        |mode| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    let mode = || std::fs::metadata(&path).unwrap().permissions().mode() & 0o7777;
    set(0o751);
    for (tool, input) in [
        (
            "edit",
            json!({"file_path": "run.sh", "old_string": "a", "new_string": "b"}),
        ),
        (
            "write_to_file",
            json!({"path": "run.sh", "content": "echo c\n"}),
        ),
        (
            "apply_diff",
            json!({"path": "run.sh", "diff": "@@ -1 +1 @@\n-echo c\n+echo d\n"}),
        ),
    ] {
        place.call(tool, input).output.unwrap();
        assert_eq!(mode(), 0o751, "{tool}");
    }
    let modes = "diff --git a/run.sh b/run.sh\nold mode 100755\nnew mode 100644\n";
    place
        .call("apply_patch", json!({"patch": modes}))
        .output
        .unwrap();
    assert_eq!(mode(), 0o644);
}

/// An edit that matches nowhere or more than once is an error that shows the candidates.
#[test]
fn candidates_are_shown_with_their_lines() {
    let place = Place::new(&[("f", b"fn one() {}\nfn two() {}\nfn two() {}\n")]);
    let edit = |old: &str| json!({"file_path": "f", "old_string": old, "new_string": "x"});
    match place.call("edit", edit("fn one () {}")).output {
        Err(ToolError::NoMatch { candidates, .. }) => {
            assert_eq!(candidates[0], "line 1:\nfn one() {}");
        }
        other => panic!("{other:?}"),
    }
    match place.call("edit", edit("fn two() {}")).output {
        Err(ToolError::Ambiguous {
            candidates,
            message,
        }) => {
            assert_eq!(candidates, ["line 2:\nfn two() {}", "line 3:\nfn two() {}"]);
            assert!(message.contains("2 times"), "{message}");
        }
        other => panic!("{other:?}"),
    }
}
