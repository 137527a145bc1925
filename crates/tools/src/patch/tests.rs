//! Patches: reading, placing, applying.

use proptest::prelude::*;
use similar::TextDiff;

use super::{Applied, FileChange, apply, read, read_blocks, read_hunks};
use crate::fault::Fault;
use crate::text::Text;

fn patched(before: &[u8], patch: &str) -> Result<Applied, Fault> {
    let changes = read(patch)?;
    let [FileChange::Update { hunks, .. }] = changes.as_slice() else {
        panic!("{changes:?}");
    };
    apply(&Text::decode(before)?, hunks)
}

fn bytes(applied: &Applied) -> Vec<u8> {
    applied.text.encode().unwrap()
}

fn envelope(body: &str) -> String {
    format!("*** Begin Patch\n*** Update File: f\n{body}*** End Patch\n")
}

#[test]
fn golden_updates_in_the_envelope() {
    let cases: [(&[u8], &str, &[u8]); 8] = [
        (b"a\nb\nc\n", "@@\n a\n-b\n+x\n c\n", b"a\nx\nc\n"),
        (b"a\nb\nc\n", " a\n-b\n+x\n", b"a\nx\nc\n"),
        (b"a\r\nb\r\nc", "@@\n-b\n+x\n+y\n", b"a\r\nx\r\ny\r\nc"),
        (b"a\nb", "@@\n b\n+c\n", b"a\nb\nc"),
        (
            b"class A\n  f\n  x\nclass B\n  f\n  x\n",
            "@@ class B\n-  x\n+  y\n",
            b"class A\n  f\n  x\nclass B\n  f\n  y\n",
        ),
        (b"a\nb\n", "@@ a\n+x\n", b"a\nx\nb\n"),
        (b"a\nb\n", "@@\n+x\n", b"a\nb\nx\n"),
        (b"x\ny\nx\n", "@@\n-x\n+z\n*** End of File\n", b"x\ny\nz\n"),
    ];
    for (before, body, after) in cases {
        let applied = patched(before, &envelope(body)).unwrap();
        assert_eq!(
            String::from_utf8_lossy(&bytes(&applied)),
            String::from_utf8_lossy(after),
            "{body}"
        );
    }
}

#[test]
fn every_kind_of_section_is_read() {
    let text = "*** Begin Patch\n*** Add File: new.txt\n+one\n+\n*** Delete File: old.txt\n\
                *** Update File: a.txt\n*** Move to: b.txt\n@@\n-x\n+y\n*** End Patch\n";
    let changes = read(text).unwrap();
    let paths: Vec<Vec<&str>> = changes.iter().map(FileChange::paths).collect();
    assert_eq!(
        paths,
        [vec!["new.txt"], vec!["old.txt"], vec!["a.txt", "b.txt"]]
    );
    assert!(matches!(&changes[0], FileChange::Add { content, .. } if content == "one\n\n"));
}

#[test]
fn git_diffs_add_delete_rename_copy_and_change_modes() {
    let text = "diff --git a/n b/n\nnew file mode 100755\nindex 000..111\n--- /dev/null\n+++ b/n\n\
                @@ -0,0 +1 @@\n+hi\n\\ No newline at end of file\n\
                diff --git a/d b/d\ndeleted file mode 100644\n--- a/d\n\
                +++ /dev/null\n@@ -1 +0,0 @@\n-x\n\
                diff --git a/r b/s\nsimilarity index 100%\nrename from r\nrename to s\n\
                diff --git a/c b/e\ncopy from c\ncopy to e\n\
                diff --git a/m b/m\nold mode 100644\nnew mode 100755\n";
    let changes = read(text).unwrap();
    assert_eq!(changes.len(), 5);
    assert!(matches!(
        &changes[0],
        FileChange::Add { content, executable: true, .. } if content == "hi"
    ));
    assert!(matches!(&changes[1], FileChange::Delete { path, .. } if path == "d"));
    assert_eq!(changes[2].paths(), ["r", "s"]);
    assert!(matches!(&changes[3], FileChange::Copy { .. }));
    assert!(matches!(
        &changes[4],
        FileChange::Update { executable: Some(true), hunks, .. } if hunks.is_empty()
    ));
}

#[test]
fn unclear_patches_are_refused() {
    let cases = [
        "",
        "hello",
        "*** Begin Patch\n*** End Patch\n",
        "*** Begin Patch\n*** Update File: f\n-a\n",
        "*** Begin Patch\n*** Update File: f\n*** End Patch\n",
        "*** Begin Patch\nx\n*** End Patch\n",
        "*** Begin Patch\n*** Add File: f\nx\n*** End Patch\n",
        "*** Begin Patch\n*** End Patch\ntrailing\n",
        "*** Begin Patch\n*** Add File: \n+x\n*** End Patch\n",
        "--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n",
        "--- a/f\n+++ b/f\n@@ -1,2 +1 @@\n-x\n+y\n",
        "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-x\n+y\n+z\n",
        "--- a/f\n@@ -1 +1 @@\n-x\n+y\n",
        "@@ -1 +1 @@\n-x\n+y\n",
        "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+t\n",
        "diff --git a/f b/f\nGIT binary patch\n",
        "--- a/f\n+++ /dev/null\n@@ -99999999999999999999999 +1 @@\n",
    ];
    for text in cases {
        let got = read(text);
        assert!(
            matches!(got, Err(Fault::Invalid { .. })),
            "{text:?}: {got:?}"
        );
    }
}

#[test]
fn a_place_in_doubt_is_refused_with_the_places() {
    let error = patched(b"x\ny\nx\n", &envelope("@@\n-x\n+z\n")).unwrap_err();
    let Fault::Ambiguous { candidates, .. } = error else {
        panic!("{error:?}");
    };
    let lines: Vec<usize> = candidates.iter().map(|place| place.line).collect();
    assert_eq!(lines, [1, 3]);
}

#[test]
fn context_that_differs_is_refused_with_the_nearest_lines() {
    let error = patched(
        b"let total = price * count;\nprint(total)\n",
        &envelope("@@\n-let total = price + count;\n+let total = 0;\n"),
    )
    .unwrap_err();
    let Fault::NoMatch { candidates, .. } = error else {
        panic!("{error:?}");
    };
    assert_eq!(candidates[0].line, 1);
}

#[test]
fn blanks_at_line_ends_are_tolerated_only_where_one_place_fits() {
    let applied = patched(b"a  \nb\n", &envelope("@@\n a\n-b\n+c\n")).unwrap();
    assert_eq!(
        (bytes(&applied), applied.tolerated),
        (b"a  \nc\n".to_vec(), 1)
    );
    let error = patched(b"a  \na\t\n", &envelope("@@\n-a\n+c\n")).unwrap_err();
    assert!(matches!(error, Fault::Ambiguous { .. }), "{error:?}");
    // An exact place goes before a tolerant one.
    let applied = patched(b"a  \na\n", &envelope("@@\n-a\n+c\n")).unwrap();
    assert_eq!(bytes(&applied), b"a  \nc\n");
}

#[test]
fn wrong_line_numbers_are_corrected_only_where_one_place_fits() {
    let diff = |start: usize| format!("--- a/f\n+++ b/f\n@@ -{start} +{start} @@\n-x\n+z\n");
    let applied = patched(b"a\nb\nx\n", &diff(1)).unwrap();
    assert_eq!(
        (bytes(&applied), applied.lines),
        (b"a\nb\nz\n".to_vec(), vec![3])
    );
    let applied = patched(b"x\nb\nx\n", &diff(3)).unwrap();
    assert_eq!(bytes(&applied), b"x\nb\nz\n");
    let error = patched(b"x\nb\nx\n", &diff(2)).unwrap_err();
    assert!(matches!(error, Fault::Ambiguous { .. }), "{error:?}");
}

#[test]
fn a_wrong_word_about_the_end_of_the_file_is_refused() {
    let patch = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+y\n";
    let error = patched(b"x\n", patch).unwrap_err();
    assert!(matches!(error, Fault::NoMatch { .. }), "{error:?}");
}

fn blocks(before: &[u8], diff: &str, near: Option<usize>) -> Result<Vec<u8>, Fault> {
    let hunks = read_blocks(diff, near)?;
    apply(&Text::decode(before)?, &hunks)?.text.encode()
}

#[test]
fn golden_blocks() {
    let block = "<<<<<<< SEARCH\nb\n=======\nx\ny\n>>>>>>> REPLACE\n";
    assert_eq!(blocks(b"a\nb\nc\n", block, None).unwrap(), b"a\nx\ny\nc\n");
    assert_eq!(
        blocks(b"a\r\nb\r\n", block, None).unwrap(),
        b"a\r\nx\r\ny\r\n"
    );
    let doubt = blocks(b"b\nb\n", block, None).unwrap_err();
    assert!(matches!(doubt, Fault::Ambiguous { .. }));
    let second = "<<<<<<< SEARCH\n:start_line:2\n-------\nb\n=======\nx\n>>>>>>> REPLACE\n";
    assert_eq!(blocks(b"b\nb\n", second, None).unwrap(), b"b\nx\n");
    assert_eq!(blocks(b"b\nb\n", block, Some(1)).unwrap(), b"x\ny\nb\n");
    let two = "<<<<<<< SEARCH\nc\n=======\nC\n>>>>>>> REPLACE\n\n\
               <<<<<<< SEARCH\na\n=======\n>>>>>>> REPLACE\n";
    assert_eq!(blocks(b"a\nb\nc\n", two, None).unwrap(), b"b\nC\n");
    let escaped = "<<<<<<< SEARCH\n\\=======\n=======\n\\>>>>>>> REPLACE\n>>>>>>> REPLACE\n";
    assert_eq!(
        blocks(b"=======\n", escaped, None).unwrap(),
        b">>>>>>> REPLACE\n"
    );
}

#[test]
fn unclear_blocks_are_refused() {
    for text in [
        "",
        "x",
        "<<<<<<< SEARCH\na\n",
        "<<<<<<< SEARCH\na\n=======\nb\n",
        "<<<<<<< SEARCH\n=======\nb\n>>>>>>> REPLACE\n",
        "<<<<<<< SEARCH\n:start_line:0\na\n=======\nb\n>>>>>>> REPLACE\n",
        "<<<<<<< SEARCH\na\n>>>>>>> REPLACE\n",
    ] {
        assert!(read_blocks(text, None).is_err(), "{text:?}");
    }
    let overlap = "<<<<<<< SEARCH\na\nb\n=======\nx\n>>>>>>> REPLACE\n\
                   <<<<<<< SEARCH\nb\nc\n=======\ny\n>>>>>>> REPLACE\n";
    assert!(blocks(b"a\nb\nc\n", overlap, None).is_err());
}

#[test]
fn hunks_without_names_are_read() {
    let hunks = read_hunks("@@ -1,2 +1,2 @@\n a\n-b\n+c\n").unwrap();
    let applied = apply(&Text::decode(b"a\nb\n").unwrap(), &hunks).unwrap();
    assert_eq!(bytes(&applied), b"a\nc\n");
    assert!(read_hunks("--- a/f\n+++ b/f\n").is_err());
    assert!(read_hunks("nothing").is_err());
}

#[test]
fn hostile_repetition_ends() {
    let file = "a\n".repeat(400_000);
    let old = "-a\n".repeat(200_000);
    let error = patched(file.as_bytes(), &envelope(&format!("@@\n{old}-b\n+x\n")));
    assert!(error.is_err());
}

/// A diff between two texts as other programs write it.
fn diff(old: &str, new: &str, context: usize) -> String {
    TextDiff::from_lines(old, new)
        .unified_diff()
        .context_radius(context)
        .header("a/f", "b/f")
        .to_string()
}

fn texts() -> impl Strategy<Value = (String, String)> {
    // Few different lines, so that the same lines stand at many places.
    let text = prop::collection::vec("[ab]{0,2}", 0..14)
        .prop_map(|lines| lines.join("\n"))
        .prop_flat_map(|text| prop_oneof![Just(text.clone()), Just(format!("{text}\n"))]);
    (text.clone(), text)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    /// A generated diff between two texts gives exactly the second text.
    #[test]
    fn a_generated_diff_gives_exactly_the_second_text(
        (old, new) in texts(),
        context in 0_usize..4,
    ) {
        prop_assume!(old != new);
        let patch = diff(&old, &new, context);
        let applied = patched(old.as_bytes(), &patch)
            .unwrap_or_else(|error| panic!("{error}\n{old:?}\n{new:?}\n{patch}"));
        prop_assert_eq!(bytes(&applied), new.into_bytes(), "{}", patch);
    }

    /// The same with `\r\n` in the file and `\n` in the patch: the file's line ends stay.
    #[test]
    fn a_generated_diff_keeps_line_ends((old, new) in texts()) {
        prop_assume!(old != new && old.contains('\n'));
        let patch = diff(&old, &new, 3);
        let spelled = old.replace('\n', "\r\n");
        let applied = patched(spelled.as_bytes(), &patch).unwrap();
        prop_assert_eq!(bytes(&applied), new.replace('\n', "\r\n").into_bytes());
    }

    /// In the envelope, which has no line numbers, the result is the second text or an error.
    #[test]
    fn an_envelope_gives_the_second_text_or_an_error(
        (old, new) in texts(),
        context in 0_usize..14,
    ) {
        let old = format!("{old}\n");
        let new = format!("{new}\n");
        prop_assume!(old != new);
        let patch = diff(&old, &new, context);
        let body: String = patch
            .lines()
            .skip(2)
            .map(|line| if line.starts_with("@@") { "@@" } else { line })
            .flat_map(|line| [line, "\n"])
            .collect();
        match patched(old.as_bytes(), &envelope(&body)) {
            Ok(applied) => {
                let mut hunks = body.split("@@\n").skip(1);
                let inserts = hunks.any(|hunk| hunk.lines().all(|line| line.starts_with('+')));
                // Lines without any context come at the end of the file, as the form says.
                if !inserts {
                    prop_assert_eq!(bytes(&applied), new.into_bytes(), "{}", body);
                }
            }
            Err(error) => {
                let expected = matches!(error, Fault::Ambiguous { .. } | Fault::NoMatch { .. });
                prop_assert!(expected && context < 13, "{error}\n{old:?}\n{body}");
            }
        }
    }

    /// No text is too odd to be read.
    #[test]
    fn odd_patches_do_not_panic(lines in prop::collection::vec(prop_oneof![
        Just("*** Begin Patch".to_owned()), Just("*** End Patch".to_owned()),
        Just("*** Update File: f".to_owned()), Just("*** Move to: g".to_owned()),
        Just("*** Add File: f".to_owned()), Just("*** End of File".to_owned()),
        Just("@@".to_owned()), Just("@@ -1,2 +1 @@".to_owned()), Just("--- a/f".to_owned()),
        Just("+++ b/f".to_owned()), Just("diff --git a/f b/f".to_owned()),
        Just("rename from f".to_owned()), Just("rename to g".to_owned()),
        Just("\\ No newline at end of file".to_owned()), Just("<<<<<<< SEARCH".to_owned()),
        Just("=======".to_owned()), Just(">>>>>>> REPLACE".to_owned()), "[-+ ]?[a-ä]{0,3}",
    ], 0..12)) {
        let text = lines.join("\n");
        let file = Text::decode(b"a\nb\nc\n").unwrap();
        for hunks in [read_blocks(&text, None), read_hunks(&text)].into_iter().flatten() {
            drop(apply(&file, &hunks));
        }
        for change in read(&text).unwrap_or_default() {
            if let FileChange::Update { hunks, .. } = change {
                drop(apply(&file, &hunks));
            }
        }
    }
}
