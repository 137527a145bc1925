//! Patches yield every file that they touch.

use std::fmt::Write as _;

use super::*;

fn touched(patch: &str) -> String {
    let mut found = shown(&call("apply_patch", &json!({"patch": patch})));
    found.dedup();
    found.join("|")
}

const ENVELOPES: &[(&str, &str)] = &[
    (
        "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch",
        "write a",
    ),
    (
        "*** Begin Patch\n*** Update File: a\n@@\n-x\n+y\n*** End Patch\n",
        "write a",
    ),
    (
        "*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@ fn\n x\n-y\n*** End Patch",
        "move a b",
    ),
    (
        "*** Begin Patch\n*** Delete File: a\n*** Delete File: b\n*** End Patch",
        "delete a|delete b",
    ),
    (
        "*** Begin Patch\r\n*** Delete File: a\r\n*** End Patch\r\n",
        "delete a",
    ),
    (
        "apply_patch <<'EOF'\n*** Begin Patch\n*** Delete File: a\n*** End Patch\nEOF\n",
        "delete a",
    ),
    // A head that only some programs see.
    (
        "*** Begin Patch\n*** Add File: a\n+x\n  *** Delete File: b\n*** End Patch",
        "write a|delete b",
    ),
    (
        "*** Begin Patch\n*** Update File: a\n@@\n x\n *** Delete File: b\n*** End Patch",
        "write a|delete b",
    ),
    // What looks like a head in added text is text.
    (
        "*** Begin Patch\n*** Add File: a\n+*** Delete File: b\n*** End Patch",
        "write a",
    ),
    (
        "*** Begin Patch\n*** Update File: a\n@@\n x\n *** bold\n*** End Patch",
        "write a",
    ),
];

const DOUBTFUL_ENVELOPES: &[(&str, &str)] = &[
    ("*** Begin Patch\n*** Add File: a\n+x\n", "write a|unknown"),
    (
        "*** Begin Patch\n*** Add File: \n+x\n*** End Patch",
        "unknown|write outside:",
    ),
    (
        "*** Begin Patch\n*** Copy File: a\n*** End Patch",
        "unknown",
    ),
    (
        "*** Begin Patch\n*** Move to: a\n*** End Patch",
        "write a|unknown",
    ),
    (
        "*** Begin Patch\n*** Delete File: a\n*** End Patch\nrm b",
        "delete a|unknown",
    ),
    (
        "x\n*** Begin Patch\n*** Delete File: a\n*** End Patch",
        "unknown",
    ),
    ("*** Begin Patch\n*** End Patch", "unknown"),
    (
        "*** Begin Patch\n*** Add File: a\n+x\u{2028}*** Delete File: b\n*** End Patch",
        "write a|unknown",
    ),
    (
        "*** Begin Patch\n*** Add File: a\n+x\r*** Delete File: b\n*** End Patch",
        "write a|unknown",
    ),
    (
        "rm -rf / <<EOF\n*** Begin Patch\n*** End Patch\nEOF",
        "unknown",
    ),
    ("", "unknown"),
    ("hello", "unknown"),
    ("{\"input\": \"*** Begin Patch\"}", "unknown"),
];

/// H7 every file of a patch counts, and what is not understood is unknown.
#[test]
fn envelopes() {
    for (patch, expected) in ENVELOPES.iter().chain(DOUBTFUL_ENVELOPES) {
        assert_eq!(touched(patch), *expected, "{patch}");
    }
    for (patch, _) in DOUBTFUL_ENVELOPES {
        assert!(touched(patch).contains("unknown"), "{patch}");
    }
}

#[test]
fn unified_diffs() {
    let cases = [
        ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", "write x"),
        ("--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n", "write x|write y"),
        ("--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+b\n", "write x"),
        ("--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n", "delete x"),
        (
            "--- x\t2020-01-01\n+++ x\t2020-01-02\n@@ -1 +1 @@\n-a\n+b\n",
            "write x",
        ),
        (
            "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1 +1 @@ fn\n-a\n+b\n",
            "write x",
        ),
        (
            "diff --git a/x b/y\nsimilarity index 90%\nrename from x\nrename to y\n",
            "move x y",
        ),
        (
            "diff --git a/x b/y\ncopy from x\ncopy to y\n",
            "read x|write y",
        ),
        (
            "diff --git a/x b/x\nold mode 100644\nnew mode 100755\n",
            "write x",
        ),
        ("diff --git a/x b/x\ndeleted file mode 100644\n", "delete x"),
        ("diff --git a/x b/x\nnew file mode 100644\n", "write x"),
        (
            "--- \"a/\\303\\244\"\n+++ \"b/\\303\\244\"\n@@ -1 +1 @@\n-a\n+b\n",
            "write ä",
        ),
        (
            "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n--- a/y\n+++ b/y\n@@ -1,2 +1 @@\n-a\n b\n",
            "write x|write y",
        ),
        // A removed line that looks like a name.
        (
            "--- a/x\n+++ b/x\n@@ -1,2 +1,1 @@\n--- y\n-z\n+b\n",
            "write x",
        ),
        // Not understood.
        (
            "--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n-a\n+b\n--- a/y\n+++ b/y\n",
            "unknown|write x",
        ),
        (
            "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\nrename from x\n",
            "unknown|write x",
        ),
        ("--- a/x y\n+++ b/x y\n@@ -1 +1 @@\n-a\n+b\n", "unknown"),
        ("+++ b/x\n@@ -0,0 +1 @@\n+b\n", "unknown"),
        (
            "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\nBinary files differ\n",
            "unknown|write x",
        ),
        (
            "diff --git a/x b/y b/z\nold mode 100644\nnew mode 100755\n",
            "unknown",
        ),
        ("*** x\n--- y\n", "unknown"),
    ];
    for (patch, expected) in cases {
        assert_eq!(touched(patch), expected, "{patch}");
    }
}

fn name() -> impl Strategy<Value = String> {
    "[a-z]{1,6}(/[a-z]{1,6}){0,2}\\.(rs|md)"
}

/// One file of a generated patch: what is done with it, its name and the name that it moves to.
fn files() -> impl Strategy<Value = Vec<(u8, String, String)>> {
    let one = (0_u8..4, name(), name());
    proptest::collection::vec(one, 1..12)
}

fn sorted_set(mut list: Vec<String>) -> Vec<String> {
    list.sort();
    list.dedup();
    list
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// H7 a patch over many files yields exactly these files.
    #[test]
    fn envelopes_yield_exactly_their_files(files in files()) {
        let mut patch = String::from("*** Begin Patch\n");
        let mut expected = Vec::new();
        for (verb, name, other) in &files {
            let (lines, effect) = match verb {
                0 => (format!("*** Add File: {name}\n+x\n+ *** y\n"), format!("write {name}")),
                1 => (
                    format!("*** Update File: {name}\n@@ a\n x\n-y\n+z\n"),
                    format!("write {name}"),
                ),
                2 => (format!("*** Delete File: {name}\n"), format!("delete {name}")),
                _ => (
                    format!("*** Update File: {name}\n*** Move to: {other}\n@@\n-y\n+z\n"),
                    format!("move {name} {other}"),
                ),
            };
            patch.push_str(&lines);
            expected.push(effect);
        }
        patch.push_str("*** End Patch\n");
        let found = shown(&call("apply_patch", &json!({"patch": patch})));
        prop_assert_eq!(sorted_set(found), sorted_set(expected));
    }

    /// H7 so does a diff, in git's form and the plain one.
    #[test]
    fn diffs_yield_exactly_their_files(files in files(), git in any::<bool>()) {
        let mut patch = String::new();
        let mut expected = Vec::new();
        for (verb, name, other) in &files {
            let moved = if *verb == 3 { other } else { name };
            if git {
                writeln!(patch, "diff --git a/{name} b/{moved}").unwrap();
            }
            match verb {
                0 => {
                    let names = format!("--- /dev/null\n+++ b/{name}\n");
                    write!(patch, "{names}@@ -0,0 +1,2 @@\n+x\n+y\n").unwrap();
                    expected.push(format!("write {name}"));
                }
                2 => {
                    write!(patch, "--- a/{name}\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n").unwrap();
                    expected.push(format!("delete {name}"));
                }
                3 if git => {
                    write!(patch, "rename from {name}\nrename to {other}\n").unwrap();
                    expected.push(format!("move {name} {other}"));
                }
                _ => {
                    let names = format!("--- a/{name}\n+++ b/{moved}\n");
                    write!(patch, "{names}@@ -1,2 +1,2 @@\n x\n-y\n+z\n").unwrap();
                    expected.push(format!("write {name}"));
                    expected.push(format!("write {moved}"));
                }
            }
        }
        let found = shown(&call("apply_patch", &json!({"patch": patch})));
        prop_assert_eq!(sorted_set(found), sorted_set(expected));
    }

    /// A file named in a head is never lost, whatever stands around it.
    #[test]
    fn noise_never_hides_a_file(before in "(\\PC{0,10}\n){0,3}", after in "(\\PC{0,10}\n){0,3}") {
        let kept = "*** Begin Patch\n*** Delete File: kept\n*** End Patch\n";
        let patch = format!("{before}{kept}{after}");
        let found = shown(&call("apply_patch", &json!({"patch": patch})));
        let seen = found.iter().any(|effect| effect == "delete kept" || effect == "unknown");
        prop_assert!(seen, "{patch:?} {found:?}");
    }
}
