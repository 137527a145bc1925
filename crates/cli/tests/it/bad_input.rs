//! Bad input: each case one clear message, a non-zero exit, no panic, nothing lost.

use std::fmt::Write as _;

use crate::ran::{Folder, INTENTS, Ran};

const INTENTS_FILE: &str = ".orchestration/active_intents.yaml";

/// A workspace whose intents file holds these bytes, linted.
fn linted(content: impl AsRef<[u8]>) -> Ran {
    Folder::empty().with(INTENTS_FILE, content).run(&["lint"])
}

fn refused(ran: &Ran, words: &str) {
    assert_eq!(ran.code, Some(3), "{}", ran.shown());
    assert!(ran.stdout.contains(words), "{words}: {}", ran.shown());
    assert!(ran.stdout.len() < 4_000, "{}", ran.shown());
    assert!(!ran.stderr.contains("panicked"), "{}", ran.shown());
}

#[test]
fn no_workspace() {
    let ran = Folder::empty().run(&["intent", "list"]);
    insta::assert_snapshot!(ran.shown());
    let ran = Folder::empty().run(&["lint", "--workspace", "nowhere"]);
    insta::assert_snapshot!(ran.shown());
}

#[test]
fn nothing_there_is_not_an_error() {
    let folder = Folder::empty().with(".orchestration/.keep", "");
    insta::assert_snapshot!(folder.run(&["intent", "list"]).shown());
    assert_eq!(linted("").code, Some(0));
    assert_eq!(linted("# only a comment\n").code, Some(0));
}

#[test]
fn damaged_files_name_line_and_column() {
    refused(
        &linted("active_intents: [\n  - x\n"),
        "active_intents.yaml:2:",
    );
    refused(
        &linted("active_intents:\n  - id: A\n    nmae: x\n    owned_scope: [a]\n"),
        "active_intents.yaml:3:5",
    );
    refused(&linted(INTENTS.replace("INT-002", "INT-001")), "INT-001");
    refused(
        &linted(b"version: 1\nactive_intents:\n  - id: \xff\xfe\n"),
        "active_intents.yaml:3:9: is not UTF-8",
    );
    let policy = Folder::workspace().with(
        ".orchestration/hook_policy.yaml",
        "version: 1\nprofil: strict\n",
    );
    refused(&policy.run(&["lint"]), "hook_policy.yaml:2:1");
}

#[test]
fn large_and_hostile_files_are_bounded() {
    refused(&linted(vec![b'#'; 50 * 1024 * 1024]), "is larger than");
    let mut bomb = String::from("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
    for level in 1..12 {
        let items = vec![format!("*a{}", level - 1); 10].join(",");
        writeln!(bomb, "a{level}: &a{level} [{items}]").unwrap();
    }
    refused(&linted(bomb), "once aliases are followed");
    refused(&linted("- ".repeat(100_000)), "nested deeper");
}

/// H17: two open intents that own the same file are told by `lint` and refused at selection.
#[test]
fn two_intents_that_own_the_same_file() {
    let folder = Folder::empty().with(
        INTENTS_FILE,
        "active_intents:\n  - {id: A, name: a, status: PENDING, owned_scope: [src/**]}\n  \
         - {id: B, name: b, status: PENDING, owned_scope: [src/main.rs]}\n",
    );
    let ran = folder.run(&["lint"]);
    assert_eq!(ran.code, Some(0));
    assert!(
        ran.stdout.contains("intents A and B own the same files"),
        "{}",
        ran.shown()
    );
    let line = r#"{"tool": "select_active_intent", "arguments": {"intent_id": "B"}}"#;
    let ran = folder.run_with(&["explain", "--batch", "--json"], line);
    assert_eq!(ran.json_lines()[0]["code"], "INTENT_OVERLAP");
}

/// Invariant 3: a broken policy leaves the built-in readers and denies the rest.
#[test]
fn a_broken_policy_leaves_reading() {
    let folder = Folder::workspace().with(".orchestration/hook_policy.yaml", "version: [\n");
    let input = "{\"tool\": \"read_file\", \"arguments\": {\"path\": \"x\"}}\n\
                 {\"tool\": \"delete_file\", \"arguments\": {\"path\": \"tests/x\"}, \"state\": \"ACTION\", \
                 \"intent\": \"INT-001\"}\n";
    let ran = folder.run_with(&["explain", "--batch", "--json"], input);
    let codes: Vec<_> = ran.json_lines().iter().map(|a| a["code"].clone()).collect();
    assert_eq!(codes, ["ALLOWED", "POLICY_INVALID"]);
}

/// A person's own policy that can't be understood is never skipped: it caps every repository.
#[test]
fn a_broken_user_policy_denies() {
    let folder = Folder::workspace();
    let own = folder.home().join(".config/tagout");
    std::fs::create_dir_all(&own).unwrap();
    std::fs::write(own.join("policy.yaml"), "version: 1\nceilng: x\n").unwrap();
    let ran = folder.run(&["lint"]);
    refused(&ran, "policy.yaml:2:1");
}

#[cfg(unix)]
#[test]
fn a_file_that_can_not_be_read() {
    let folder = Folder::empty().with(".orchestration/active_intents.yaml/x", "");
    refused(&folder.run(&["lint"]), "is not a file");
}
