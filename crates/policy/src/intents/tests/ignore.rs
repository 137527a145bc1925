//! `.intentignore`: every reading denies, none allows.

use globset::GlobBuilder;
use proptest::prelude::*;
use tagout_vocab::limits::{IGNORE_LINES_MAX, SIDECAR_BYTES_MAX};

use super::super::IgnoreFile;
use super::id;
use crate::scope::Pattern;

fn good(text: &str) -> IgnoreFile {
    IgnoreFile::read(".intentignore", text).unwrap()
}

fn protects(file: &IgnoreFile, path: &str) -> bool {
    file.path_patterns().iter().any(|pattern| {
        let built = GlobBuilder::new(pattern).literal_separator(true).build();
        built.unwrap().compile_matcher().is_match(path)
    })
}

/// H8: a line that can be an id blocks that intent, in whatever way it is written.
#[test]
fn intents_are_blocked_by_id() {
    let file = good(
        "# blocked\nINT-001\n\nINT-002: waits for legal\r\nintent:INT-003\nIntent: INT-004 : later\n\
         REQ-*\nmath-functions # slug\nint-005\n",
    );
    for blocked in [
        "INT-001",
        "INT-002",
        "INT-003",
        "INT-004",
        "REQ-7-x",
        "req-1",
        "math-functions",
        "INT-005",
    ] {
        assert!(file.blocks_intent(&id(blocked)).is_some(), "{blocked}");
    }
    for free in ["INT-01", "INT-0010", "INT-006", "XREQ-1", "math"] {
        assert_eq!(file.blocks_intent(&id(free)), None, "{free}");
    }
    assert_eq!(
        file.blocks_intent(&id("INT-002")).unwrap().to_string(),
        "`INT-002: waits for legal` in .intentignore, line 4"
    );
}

/// H8: a line that can be a path protects that path and all beneath it.
#[test]
fn paths_are_protected() {
    let file = good(
        "secrets/\n*.pem\n/config/prod.yaml\ndeploy/**\n**/vault\nnode_modules\n*.py[cod]\n\\#odd\n\
         win\\dir\nINT-001\nwith space # why\n",
    );
    for path in [
        "secrets",
        "secrets/a",
        "x/secrets/a/b",
        "a.pem",
        "x/y/a.pem",
        "a.pem/x",
        "config/prod.yaml",
        "deploy/a/b",
        "vault",
        "a/vault/b",
        "web/node_modules/x/y",
        "a.pyc",
        "x/a.pyo",
        "#odd",
        "win/dir/x",
        "INT-001",
        "with space",
        "a.py[cod]",
    ] {
        assert!(protects(&file, path), "{path}");
    }
    for path in [
        "x/config/prod.yaml",
        "src/a.rs",
        "secret",
        "a.py",
        "x/deploy/a",
        "INT-0011",
    ] {
        assert!(!protects(&file, path), "{path}");
    }
    assert!(
        file.path_patterns()
            .iter()
            .all(|pattern| Pattern::parse_relative(pattern).is_ok())
    );
}

#[test]
fn a_reason_is_no_path_and_a_marked_id_is_none_either() {
    let file = good("INT-002: waits for legal\nintent:INT-003\n");
    assert_eq!(file.path_patterns(), Vec::<String>::new());
    insta::assert_debug_snapshot!(good("/a\nb\nc/d/\n").path_patterns(), @r#"
    [
        "**/b",
        "**/b/**",
        "a",
        "a/**",
        "c/d",
        "c/d/**",
    ]
    "#);
}

/// H8: nothing in the file ever allows.
#[test]
fn negations_deny_nothing_and_free_nothing() {
    let file = good("*.key\n!public.key\nINT-1\n!INT-1\n../outside\n/\n");
    assert!(protects(&file, "public.key"));
    assert!(file.blocks_intent(&id("INT-1")).is_some());
    let warnings: Vec<String> = file.warnings().iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        [
            ".intentignore:2:1: `!public.key` has no effect: nothing here allows",
            ".intentignore:4:1: `!INT-1` has no effect: nothing here allows",
            ".intentignore:5:1: `../outside` protects no path: the pattern holds `..`; \
             patterns start at the workspace's root and stay in it",
        ]
    );
    // A lone slash names the root: everything.
    assert!(protects(&file, "any/thing"));
}

#[test]
fn two_files_deny_together() {
    let root = good("INT-1\na\n");
    let inner = IgnoreFile::read(".orchestration/.intentignore", "b\nINT-2\nX-*\nINT-1\n").unwrap();
    let both = root.merge(inner);
    let line = |name: &str| both.blocks_intent(&id(name)).unwrap().to_string();
    assert_eq!(line("INT-1"), "`INT-1` in .intentignore, line 1");
    assert_eq!(
        line("INT-2"),
        "`INT-2` in .orchestration/.intentignore, line 2"
    );
    assert_eq!(line("X-9"), "`X-*` in .orchestration/.intentignore, line 3");
    assert!(protects(&both, "a") && protects(&both, "x/b/c"));
    let bytes = postcard::to_allocvec(&both).unwrap();
    assert_eq!(postcard::from_bytes::<IgnoreFile>(&bytes).unwrap(), both);
}

#[test]
fn what_can_not_be_read_is_refused_with_its_place() {
    let refused = |text: &str| {
        let problems = IgnoreFile::read("i", text).unwrap_err();
        problems[0].to_string()
    };
    assert_eq!(refused("a\n b\u{0}c\n"), "i:2:2: a control character");
    assert_eq!(refused("a\rb\n"), "i:1:2: a control character");
    assert_eq!(refused("intent:\n"), "i:1:1: `intent:` names no intent");
    assert_eq!(
        refused(&"x".repeat(2_000)),
        "i:1:1: the line is longer than 1024 bytes"
    );
    let many = "a\n".repeat(IGNORE_LINES_MAX + 1);
    assert_eq!(refused(&many), "i:10001:1: more than 10000 lines");
    let huge = "#".repeat(SIDECAR_BYTES_MAX + 1);
    assert_eq!(
        refused(&huge),
        "i:1:1: the file is larger than 4194304 bytes"
    );
    assert_eq!(good(""), IgnoreFile::default());
    assert_eq!(good("\u{feff}INT-1\n").lines().len(), 1);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// H8: a line that is the id itself always blocks, whatever else the file holds.
    #[test]
    fn an_id_on_a_line_of_its_own_blocks(
        name in super::any_id(), noise in prop::collection::vec("[ -~]{0,12}", 0..5)
    ) {
        prop_assume!(!name.as_str().contains(':'));
        let text = format!("{}\n{name}\n!{name}\n", noise.join("\n"));
        if let Ok(file) = IgnoreFile::read("i", &text) {
            prop_assert!(file.blocks_intent(&name).is_some(), "{text}");
        }
    }

    #[test]
    fn arbitrary_text_is_read_or_refused(text in any::<String>()) {
        if let Ok(file) = IgnoreFile::read("i", &text) {
            prop_assert!(file.path_patterns().iter().all(|p| Pattern::parse_relative(p).is_ok()));
        }
    }
}
