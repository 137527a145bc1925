//! Which lines of an agent are Tagout's own, and what they may carry.

use std::path::Path;

use tagout_gate::policy::judge::is_alone;

use super::{Act, Acting, Beyond, Here, Own, OwnLine, line_of};

fn here() -> Here {
    let program = Some("/opt/my tools/tagout".to_owned());
    Here::new(program, Path::new("/ws"), Path::new("/my states")).unwrap()
}

fn own_line(line: &str) -> Option<Result<Own, Beyond>> {
    super::own_line(line, &here())
}

fn read(line: &str) -> Own {
    own_line(line).unwrap().unwrap()
}

fn what(line: &str) -> Option<OwnLine> {
    own_line(line)?.ok().map(|own| own.what)
}

fn select(line: &str) -> bool {
    matches!(what(line), Some(OwnLine::Acts(Act::Select(id))) if id == "INT-001")
}

/// What is noted of a line that runs a command.
fn exec(line: &str) -> Option<String> {
    let OwnLine::Acts(Act::Exec(noted)) = what(line)? else {
        return None;
    };
    Some(noted)
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
    assert!(select("tagout intent select --json INT-001"));
    assert!(select("tagout intent select -- INT-001"));
    assert!(!select("tagout intent select INT-001 --state-dir /other"));
    assert!(!select("tagout intent select INT-001 --session s"));
}

/// A line that would act in another conversation, or in nobody's, is no other verb of ours.
#[test]
fn no_other_conversation_is_named() {
    let beyond = |line: &str| own_line(line).unwrap().err();
    for line in [
        "tagout intent select INT-001 --session s",
        "tagout intent select --session=s INT-001",
        "tagout intent --workspace=/other select INT-001 --session s",
        "tagout intent propose --name a --scope b --reason c --session s",
        "tagout intent propose --session=s --name a --scope b --reason c",
        "tagout exec --session s -- ls",
        "tagout --workspace /other exec --session=s -- ls",
        "tagout exec --end --session=s",
    ] {
        assert_eq!(beyond(line), Some(Beyond::Session), "{line}");
    }
    for line in [
        "tagout --workspace=/other intent select INT-001",
        "tagout --workspace=. exec --intent INT-001 -- ls",
        "tagout --workspace . exec --intent INT-001 -- ls",
        "tagout --workspace=/ws/ exec -- ls",
        "tagout exec --json --state-dir /other -- ls",
        "tagout intent --state-dir=/other propose --name a --scope b --reason c",
        "tagout exec --end --workspace /other",
    ] {
        assert_eq!(beyond(line), Some(Beyond::Place), "{line}");
    }
    for (line, verb) in [
        ("tagout intent select INT-001 INT-002", Acting::Select),
        ("tagout intent select", Acting::Select),
        ("tagout intent select INT-001 --sess s", Acting::Select),
        (
            "tagout --workspace=/ws --workspace=/ws intent select INT-001",
            Acting::Select,
        ),
        ("tagout intent propose --name a --scope b", Acting::Propose),
        (
            "tagout intent propose --name a --scope b --reason c --sessions",
            Acting::Propose,
        ),
        ("tagout exec", Acting::Exec),
        ("tagout exec --", Acting::Exec),
        ("tagout exec ls", Acting::Exec),
        ("tagout exec --permit=p -- ls", Acting::Exec),
        ("tagout exec --cwd src -- ls", Acting::Exec),
        ("tagout exec --intent", Acting::Exec),
        ("tagout exec --end -- ls", Acting::Exec),
        (
            "tagout exec --workspace=/ws --workspace=/ws -- ls",
            Acting::Exec,
        ),
    ] {
        assert_eq!(beyond(line), Some(Beyond::Words(verb)), "{line}");
    }
    for line in [
        "tagout log --session s",
        "tagout intent list",
        "tagout intent lst",
    ] {
        assert_eq!(what(line), Some(OwnLine::Other), "{line}");
    }
}

/// To ask how a verb is used is not to use it.
#[test]
fn help_only_tells() {
    for line in [
        "tagout --help",
        "tagout --version",
        "tagout help",
        "tagout help intent select",
        "tagout help exec -- rm -rf src",
        "tagout intent select --help",
        "tagout intent select -h --session s",
        "tagout exec --help",
        "tagout approve --help",
    ] {
        assert_eq!(what(line), Some(OwnLine::Tells), "{line}");
    }
    assert!(exec("tagout exec -- ls --help").is_some());
}

/// What a proposal is noted as does not depend on how its line is spelled, and no line that runs a
/// command is noted as the same.
#[test]
fn a_proposal_is_known_by_what_it_asks() {
    let noted = |line: &str| match what(line) {
        Some(OwnLine::Acts(Act::Propose(noted))) => noted,
        other => panic!("{line}: {other:?}"),
    };
    let first = noted("tagout intent propose --name a --scope 'b/**' --reason 'c d'");
    let same = "'/opt/my tools/tagout' intent propose --reason='c d' --json --permit n-1 \
                --workspace /ws --scope \"b/**\" --name a";
    assert_eq!(noted(same), first);
    let other = noted("tagout intent propose --name a --scope 'b/**' --reason 'c e'");
    assert_ne!(other, first);
    assert!(first.starts_with('\0'), "{first:?}");
}

/// What the policy takes for a line that stands alone, so that whoever judges it performs it, is
/// one of ours here: no letter is plain there and not here.
#[test]
fn what_stands_alone_is_ours() {
    let lines = |letter: char| {
        [
            format!("tagout log a{letter}b"),
            format!("tagout log 'a{letter}b'"),
            format!("tagout log \"a{letter}b\""),
            format!("tagout log{letter}a"),
            format!("{letter}tagout log"),
            format!("'/opt/my tools/tagout'{letter}log"),
        ]
    };
    let is_alone = |line: &&String| is_alone(line, Some(here().program()));
    let mut count = 0;
    for letter in '\0'..='\u{250}' {
        for line in lines(letter).iter().filter(is_alone) {
            assert!(own_line(line).is_some(), "{line}");
            count += 1;
        }
    }
    assert!(count > 1_000, "{count}");
}

/// The same place twice is not both places.
#[test]
fn both_places_have_to_be_told() {
    let program = "'/opt/my tools/tagout' intent list";
    for places in [
        "--workspace /ws --workspace /ws",
        "--state-dir '/my states' --state-dir='/my states'",
    ] {
        let own = read(&format!("{program} {places}"));
        assert!(!own.is_sure(true), "{places}");
    }
    let own = read(&format!(
        "{program} --workspace /ws --state-dir '/my states'"
    ));
    assert!(own.is_sure(true));
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
    assert_eq!(exec(line).as_deref(), Some("echo 'a b' > x"));
    let words = "tagout exec --intent INT-001 --timeout=5 --long-running -- echo 'a b'";
    assert_eq!(exec(words).as_deref(), Some("echo 'a b'"));
    let place = "tagout --state-dir '/my states' exec --workspace=/ws -- ls";
    assert_eq!(exec(place).as_deref(), Some("ls"));
    // What ends commands is no line.
    assert!(exec("tagout exec --end --json").unwrap().starts_with('\0'));
}

/// A name means what the search path says; a path means one program. What tells the places stands
/// before everything that is somebody else's.
#[test]
fn words_are_made_sure() {
    let sure = |line: &str, permit, places| {
        let own = read(line);
        assert!(!own.is_sure(true), "{line}");
        let sure = line_of(&own.sure(&here(), permit, places));
        let again = read(&sure);
        assert!(again.is_sure(places), "{sure}");
        assert_eq!(again.what, own.what, "{sure}");
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
    assert_eq!(
        sure("tagout intent select -- INT-001", Some("n-1"), false),
        "'/opt/my tools/tagout' intent select --permit n-1 -- INT-001"
    );
    for old in ["--permit old", "--permit=old"] {
        let again = read(&format!("tagout intent select INT-001 {old} --json"));
        assert_eq!(
            line_of(&again.sure(&here(), Some("new"), false)),
            "'/opt/my tools/tagout' intent select INT-001 --json --permit new"
        );
    }
    // What can't be read twice over can't be read when it is made sure.
    let twice = read("tagout --workspace /ws --workspace /ws log");
    assert_eq!(
        line_of(&twice.sure(&here(), None, false)),
        "'/opt/my tools/tagout' --workspace /ws --workspace /ws log"
    );
    for other in ["tagout-two intent list", "tagout intent list; rm x", "ls"] {
        assert_eq!(own_line(other), None, "{other}");
    }
}
