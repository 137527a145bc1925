//! `demo` tells only what is true, and leaves nothing behind unless asked.

use std::fs;

use serde_json::json;

use crate::ran::Folder;

/// Every step, by a few of its words, and how it ends.
const STEPS: &[(&str, &str, &str)] = &[
    ("may read whatever", "completed", "ALLOWED"),
    (
        "may not change anything before",
        "denied",
        "STATE_VIOLATION",
    ),
    ("the handshake", "completed", "ALLOWED"),
    ("the write goes through", "completed", "ALLOWED"),
    ("A person edits the same file", "edited", "ALLOWED"),
    ("overwrite work that it never saw", "denied", "STALE_FILE"),
    ("reads the file again", "completed", "ALLOWED"),
    (
        "second part fails leaves nothing",
        "rolled_back",
        "EXECUTION_FAILED",
    ),
    ("waits for a person", "pending", "APPROVAL_REQUIRED"),
    ("looks at exactly that call", "approved", "ALLOWED"),
    ("goes through, once", "completed", "ALLOWED"),
    ("the intent does not own", "deny", "SCOPE_VIOLATION"),
    ("Every file of a patch counts", "deny", "SCOPE_VIOLATION"),
    ("what a generator writes", "deny", "SCOPE_VIOLATION"),
    ("decide what agents may do", "deny", "AUTHORITY_FILE"),
    ("Another client's own tool", "deny", "SCOPE_VIOLATION"),
    ("nobody declared", "deny", "TOOL_UNKNOWN"),
    ("this one only reads", "allow", "ALLOWED"),
    ("hides a write", "deny", "STATE_VIOLATION"),
    ("runs in a sandbox", "completed", "ALLOWED"),
    ("writes elsewhere", "rolled_back", "SCOPE_VIOLATION"),
    ("applies it after all", "applied", "ALLOWED"),
    ("is taken back", "reverted", "ALLOWED"),
    ("anybody can check it", "verified", "ALLOWED"),
];

/// The steps that a host which can't hold commands passes over.
const COMMANDS: std::ops::RangeInclusive<usize> = 20..=23;

#[test]
fn every_step_comes_out_as_told() {
    let ran = Folder::empty().run(&["demo", "--json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    let steps = ran.json_lines();
    assert_eq!(steps.len(), STEPS.len());
    for (number, (step, (say, verdict, code))) in (1..).zip(steps.iter().zip(STEPS)) {
        let told = step["say"].as_str().unwrap();
        assert!(told.contains(say), "step {number}: {told}");
        let came = (&step["verdict"], &step["code"]);
        if COMMANDS.contains(&number) && *came.0 == "passed_over" {
            assert_eq!(*came.1, "ISOLATION_UNAVAILABLE");
            continue;
        }
        assert_eq!(
            came,
            (&json!(verdict), &json!(code)),
            "step {number}: {step}"
        );
        assert_eq!(step["step"], number);
    }
}

#[test]
fn what_is_kept_can_be_used() {
    let ran = Folder::empty().run(&["demo", "--keep"]);
    let kept = ran
        .stdout
        .lines()
        .find_map(|line| line.strip_prefix("workspace: "))
        .unwrap();
    let ran = Folder::empty().run(&["lint", "--workspace", kept]);
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    fs::remove_dir_all(std::path::Path::new(kept).parent().unwrap()).unwrap();
}
