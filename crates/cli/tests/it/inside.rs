//! Who may use which verb: every verb is tried inside a governed call.

use std::fs;

use crate::confined::{Ran, Site};
use crate::ran::Folder;

/// How a verb behaves inside a governed call.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Inside {
    /// It works as elsewhere.
    Works,
    /// It is for people.
    Refused,
    /// It refuses in words and with a code of its own.
    Own(i32),
}
use Inside::{Own, Refused, Works};

/// Every verb, a line that would work outside of a governed call, and what becomes of it inside.
const VERBS: &[(&str, &str, Inside)] = &[
    ("init", "--yes", Refused),
    ("demo", "", Refused),
    ("explain", "--command ls", Works),
    ("run", "read_file --session s --input {}", Refused),
    ("exec", "-- ls", Own(126)),
    ("hook", "--client claude-code --event PreToolUse", Own(2)),
    ("install", "goose --check", Refused),
    ("uninstall", "goose --yes", Refused),
    ("intent list", "", Works),
    ("intent show", "INT-001", Works),
    ("intent new", "--name A --scope b/** --yes", Refused),
    ("intent select", "INT-001", Works),
    ("intent propose", "--name A --scope b/** --reason c", Works),
    ("intent complete", "INT-001 --yes", Refused),
    ("intent release", "INT-001 --yes", Refused),
    ("trust", "--yes", Refused),
    ("pending", "", Works),
    ("approve", "a-1 --yes", Refused),
    ("reject", "a-1 --yes", Refused),
    ("answer", "q-1 yes --yes", Refused),
    ("epoch new", "--yes", Refused),
    ("parked list", "", Works),
    ("parked show", "x-1", Works),
    ("parked apply", "x-1 --yes", Refused),
    ("parked drop", "x-1 --yes", Refused),
    ("doctor", "", Works),
    (
        "grant issue",
        "--to role:builder --capability filesystem.read --anywhere --yes",
        Refused,
    ),
    ("grant list", "--yes", Refused),
    ("grant revoke", "g-1 --reason r --yes", Refused),
    ("lint", "", Works),
    ("log", "", Works),
    ("blame", "src/a.txt", Works),
    ("trace query", "", Works),
    ("trace export", "", Refused),
    ("trace import", "records --yes", Refused),
    ("undo", "x-1 --dry-run", Refused),
    ("verify", "", Works),
    ("prove", "0", Works),
    ("seal", "--yes", Refused),
    ("stats", "", Works),
    ("compliance", "", Works),
    ("completions", "bash", Works),
];

/// The verbs that a help text lists.
fn listed(words: &[&str]) -> Vec<String> {
    let args = [words, &["--help"]].concat();
    let help = Folder::empty().run(&args).stdout;
    let Some(listed) = help.split("Commands:\n").nth(1) else {
        return Vec::new();
    };
    let listed = listed.split("\n\n").next().unwrap();
    let is_verb = |line: &&str| line.starts_with("  ") && !line.starts_with("   ");
    let first = |line: &str| line.split_whitespace().next().unwrap().to_owned();
    listed.lines().filter(is_verb).map(first).collect()
}

/// H6 Invariant: inside a governed call, an agent may look, select, propose and run commands; every
/// other verb is refused, and a new verb has to say here which it is.
#[test]
fn every_verb_inside_a_governed_call() {
    let mut all = Vec::new();
    for verb in listed(&[]) {
        let inner = listed(&[&verb]);
        if inner.is_empty() {
            all.push(verb);
        } else {
            all.extend(inner.iter().map(|inner| format!("{verb} {inner}")));
        }
    }
    let mut known: Vec<&str> = VERBS.iter().map(|(verb, _, _)| *verb).collect();
    known.sort_unstable();
    all.sort_unstable();
    assert_eq!(known, all);
    let site = Site::new(&[("src/a.txt", "one\n")]);
    for (verb, more, inside) in VERBS {
        if *verb == "compliance" {
            continue;
        }
        let line = format!("{verb} {more}");
        let words: Vec<&str> = line.split_whitespace().collect();
        let before = ledger(&site);
        let output = site.command(&words).env("TAGOUT_GOVERNED", "1").output();
        let ran = Ran::of(&output.unwrap(), &site.home());
        let for_people = format!("PERSON_ONLY: `tagout {verb}` is for people: this is a governed");
        match inside {
            Works => assert!(
                !ran.stderr.contains("is for people") && ran.code != Some(2),
                "{words:?}: {}",
                ran.shown()
            ),
            Refused => {
                assert_eq!(ran.code, Some(2), "{words:?}: {}", ran.shown());
                assert!(ran.stderr.contains(&for_people), "{}", ran.shown());
                assert!(!ran.stderr.contains("--yes"), "{}", ran.shown());
                // What is exported is data by itself.
                if *verb != "trace export" {
                    let json = [&words[..], &["--json"]].concat();
                    let output = site.command(&json).env("TAGOUT_GOVERNED", "1").output();
                    let ran = Ran::of(&output.unwrap(), &site.home());
                    assert!(ran.stdout.contains("PERSON_ONLY"), "{}", ran.shown());
                }
                assert_eq!(ledger(&site), before, "{words:?}");
            }
            Own(code) => assert_eq!(ran.code, Some(*code), "{words:?}: {}", ran.shown()),
        }
    }
}

/// §13.3: what may be used there acts in the conversation of the call and in no other.
#[test]
fn no_other_conversation_is_named_inside_a_governed_call() {
    let site = Site::new(&[]);
    for line in [
        "intent select INT-001 --session other",
        "intent select --session=other INT-001 --json",
        "intent propose --name A --scope b/** --reason c --session other",
    ] {
        let words: Vec<&str> = line.split_whitespace().collect();
        let before = ledger(&site);
        let output = site.command(&words).env("TAGOUT_GOVERNED", "1").output();
        let ran = Ran::of(&output.unwrap(), &site.home());
        assert_eq!(ran.code, Some(2), "{line}: {}", ran.shown());
        assert!(ran.shown().contains("PERSON_ONLY"), "{}", ran.shown());
        assert_eq!(ledger(&site), before, "{line}");
    }
}

/// The bytes of the ledger: what is refused here leaves no event.
fn ledger(site: &Site) -> u64 {
    let segments = fs::read_dir(site.state().join("ledger")).unwrap();
    let bytes = segments.map(|segment| segment.unwrap().metadata().unwrap().len());
    bytes.sum()
}
