//! Which lines of an agent are Tagout's own, and what they may carry.

use super::{OwnLine, by_path, may_be_given, own_line};

fn select(line: &str) -> bool {
    matches!(own_line(line, Some("/opt/tagout")), Some(OwnLine::Select(id)) if id == "INT-001")
}

/// The selection is known in every spelling that a shell takes for the same words.
#[test]
fn a_selection_is_known() {
    assert!(select("tagout intent select INT-001"));
    assert!(select("  tagout  intent select 'INT-001' "));
    assert!(select("/opt/tagout intent select \"INT-001\" --json"));
}

/// Whatever a shell could read otherwise is no call of ours alone.
#[test]
fn anything_beside_it_is_not_ours() {
    for line in [
        "tagout intent select INT-001; rm x",
        "tagout intent select INT-001 && rm x",
        "tagout intent select $(rm x)",
        "tagout intent select \"$(rm x)\"",
        "tagout intent select INT-001 > x",
        "PATH=. tagout intent select INT-001",
        "./tagout intent select INT-001",
        "/tmp/tagout intent select INT-001",
        "tagout intent select INT-001\nrm x",
        "tagout intent select 'INT-001",
        "",
    ] {
        assert!(!select(line), "{line}");
        assert_ne!(
            own_line(line, Some("/opt/tagout")),
            Some(OwnLine::Other),
            "{line}"
        );
    }
}

/// What an agent hands to `exec` is taken apart as its shell would.
#[test]
fn exec_is_taken_apart() {
    let line = "tagout exec --json -- 'echo '\\''a b'\\'' > x'";
    let Some(OwnLine::Exec { options, command }) = own_line(line, None) else {
        panic!("{:?}", own_line(line, None));
    };
    assert_eq!(
        (options.len(), command),
        (1, vec!["echo 'a b' > x".to_owned()])
    );
    assert_eq!(own_line("tagout exec", None), None);
    assert_eq!(own_line("tagout exec --", None), None);
}

/// An agent can't name another conversation.
#[test]
fn no_session_can_be_given() {
    let given = |words: &[&str]| {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        may_be_given(&words)
    };
    assert!(given(&["--json", "--intent", "INT-001", "--timeout=5"]));
    assert!(!given(&["--session", "s"]));
    assert!(!given(&["--permit=p"]));
    assert!(!given(&["--state-dir", "/x"]));
    assert!(!given(&["--intent"]));
}

/// A name means what the search path says; a path means one program.
#[test]
fn a_name_becomes_a_path() {
    let path = |line| by_path(line, "/opt/my tools/tagout");
    let select = path(" tagout intent select INT-001").unwrap();
    assert_eq!(select, "'/opt/my tools/tagout' intent select INT-001");
    let exec = path("tagout exec -- 'echo x > y'").unwrap();
    assert_eq!(exec, "'/opt/my tools/tagout' exec -- 'echo x > y'");
    for other in [
        "tagout-two intent list",
        "tagout intent list; rm x",
        "'tagout' log",
        "ls",
    ] {
        assert_eq!(path(other), None, "{other}");
    }
}
