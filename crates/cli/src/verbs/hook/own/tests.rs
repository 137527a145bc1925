//! Which lines of an agent are Tagout's own, and what they may carry.

use std::path::Path;

use super::{Beyond, Here, Own, OwnLine, line_of, may_be_given};

fn here() -> Here {
    let program = Some("/opt/my tools/tagout".to_owned());
    Here::new(program, Path::new("/ws"), Path::new("/my states")).unwrap()
}

fn own_line(line: &str) -> Option<Own> {
    super::own_line(line, &here())
}

fn what(line: &str) -> Option<OwnLine> {
    own_line(line).map(|own| own.what)
}

fn select(line: &str) -> bool {
    matches!(what(line), Some(OwnLine::Select(id)) if id == "INT-001")
}

/// The selection is known in every spelling that a shell takes for the same words.
#[test]
fn a_selection_is_known() {
    assert!(select("tagout intent select INT-001"));
    assert!(select("  tagout  intent select 'INT-001' "));
    assert!(select(
        "'/opt/my tools/tagout' intent select \"INT-001\" --json"
    ));
    let places = "--workspace=/ws --state-dir '/my states'";
    assert!(select(&format!("tagout {places} intent select INT-001")));
    assert!(select(&format!(
        "tagout intent select INT-001 --json --permit n-1 {places}"
    )));
    assert!(!select("tagout intent select INT-001 --state-dir /other"));
    assert!(!select("tagout intent select INT-001 --session s"));
}

/// A line that would act in another conversation, or in nobody's, is no other verb of ours.
#[test]
fn no_other_conversation_is_named() {
    let beyond = |line: &str| match what(line) {
        Some(OwnLine::Beyond(how)) => Some(how),
        _ => None,
    };
    for line in [
        "tagout intent select INT-001 --session s",
        "tagout intent select --session=s INT-001",
        "tagout intent --workspace=/other select INT-001 --session s",
        "tagout intent propose --name a --scope b --reason c --session s",
        "tagout intent propose --session=s --name a --scope b --reason c",
    ] {
        assert_eq!(beyond(line), Some(Beyond::Session), "{line}");
    }
    for line in [
        "tagout intent select --json INT-001",
        "tagout intent select -- INT-001",
        "tagout --workspace=/other intent select INT-001",
        "tagout intent select INT-001 INT-002",
        "tagout intent select",
    ] {
        assert_eq!(beyond(line), Some(Beyond::Words), "{line}");
    }
    for line in [
        "tagout log --session s",
        "tagout intent list",
        "tagout intent propose --name a --scope b --reason c",
        "tagout intent propose --name a --scope b --reason c --sessions",
    ] {
        assert_eq!(what(line), Some(OwnLine::Other), "{line}");
    }
}

/// The same place twice is not both places.
#[test]
fn both_places_have_to_be_told() {
    let program = "'/opt/my tools/tagout' intent list";
    for places in [
        "--workspace /ws --workspace /ws",
        "--state-dir '/my states' --state-dir='/my states'",
    ] {
        let own = own_line(&format!("{program} {places}")).unwrap();
        assert!(!own.is_sure(true), "{places}");
    }
    let own = own_line(&format!(
        "{program} --workspace /ws --state-dir '/my states'"
    ));
    assert!(own.unwrap().is_sure(true));
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
        assert_eq!(own_line(line), None, "{line}");
    }
}

/// What an agent hands to `exec` is taken apart as its shell would.
#[test]
fn exec_is_taken_apart() {
    let line = "tagout exec --json -- 'echo '\\''a b'\\'' > x'";
    let Some(OwnLine::Exec { options, command }) = what(line) else {
        panic!("{:?}", own_line(line));
    };
    assert_eq!(
        (options.len(), command),
        (1, vec!["echo 'a b' > x".to_owned()])
    );
    assert_eq!(own_line("tagout exec"), None);
    assert_eq!(own_line("tagout exec --"), None);
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

/// A name means what the search path says; a path means one program. What tells the places stands
/// before everything that is somebody else's.
#[test]
fn words_are_made_sure() {
    let sure = |line: &str, permit, places| {
        let own = own_line(line).unwrap();
        assert!(!own.is_sure(true), "{line}");
        let sure = line_of(&own.sure(&here(), permit, places));
        assert!(own_line(&sure).unwrap().is_sure(places), "{sure}");
        sure
    };
    assert_eq!(
        sure(" tagout intent  select INT-001", Some("n-1"), true),
        "'/opt/my tools/tagout' intent select INT-001 --permit n-1 --workspace /ws --state-dir \
         '/my states'"
    );
    assert_eq!(
        sure("tagout exec --workspace /ws -- 'echo x > y'", None, true),
        "'/opt/my tools/tagout' exec --workspace /ws --state-dir '/my states' -- 'echo x > y'"
    );
    assert_eq!(
        sure("'tagout' log --workspace /ws", None, false),
        "'/opt/my tools/tagout' log"
    );
    let again = own_line("tagout intent select INT-001 --permit old --json").unwrap();
    assert_eq!(
        line_of(&again.sure(&here(), Some("new"), false)),
        "'/opt/my tools/tagout' intent select INT-001 --json --permit new"
    );
    for other in ["tagout-two intent list", "tagout intent list; rm x", "ls"] {
        assert_eq!(own_line(other), None, "{other}");
    }
}
