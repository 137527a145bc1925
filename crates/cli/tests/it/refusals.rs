//! A refusal under `--json` is one object of one shape on standard output, whatever the verb.

use serde_json::Value;

use crate::ran::{Folder, Ran};

const FIELDS: [&str; 8] = [
    "status",
    "code",
    "reason",
    "remedy",
    "retryable",
    "intent_id",
    "paths",
    "gate",
];

fn refusal(ran: &Ran) -> Value {
    let lines = ran.json_lines();
    assert_eq!(lines.len(), 1, "{}", ran.shown());
    let told = lines[0].clone();
    for field in FIELDS {
        assert!(told.get(field).is_some(), "{field}: {told}");
    }
    assert_eq!(told["status"], "error");
    assert!(!told["reason"].as_str().unwrap().is_empty());
    assert!(!told["remedy"].as_str().unwrap().is_empty());
    told
}

/// H9: every verb, where there is no workspace at all.
#[test]
fn every_verb_refuses_in_one_form() {
    let verbs: &[&[&str]] = &[
        &["intent", "list"],
        &["intent", "show", "INT-001"],
        &["intent", "select", "INT-001"],
        &[
            "intent", "propose", "--name", "x", "--scope", "a", "--reason", "r",
        ],
        &["intent", "new", "X", "--name", "x", "--scope", "a", "--yes"],
        &["intent", "complete", "X", "--yes"],
        &["intent", "release", "X", "--yes"],
        &["run", "no_such_tool"],
        &["trust", "--yes"],
        &["pending"],
        &["approve", "a-1", "--yes"],
        &["reject", "a-1", "--yes"],
        &["answer", "q-1", "yes", "--yes"],
        &["epoch", "new", "--yes"],
        &["grant", "list", "--yes"],
        &["grant", "revoke", "g-1", "--yes"],
        &[
            "grant",
            "issue",
            "--to",
            "tool:x",
            "--capability",
            "state",
            "--anywhere",
            "--yes",
        ],
        &["lint"],
        &["log"],
        &["verify"],
        &["prove", "1"],
        &["seal", "--yes"],
        &["stats"],
    ];
    for verb in verbs {
        let folder = Folder::empty();
        let words: Vec<&str> = verb.iter().copied().chain(["--json"]).collect();
        let ran = folder.run(&words);
        let told = refusal(&ran);
        assert_eq!(ran.code, Some(3), "{verb:?}: {told}");
        assert_eq!(told["code"], "SCHEMA_INVALID", "{verb:?}");
        // The same without the flag is for people.
        let plain = folder.run(verb);
        assert_eq!(plain.code, Some(3), "{verb:?}");
        assert!(plain.stdout.is_empty() && plain.stderr.starts_with("error: "));
    }
}

/// H9: verbs for people, refused to whoever has no terminal.
#[test]
fn verbs_for_people_say_so() {
    for verb in [
        &["init"][..],
        &["trust"],
        &["approve", "a-1"],
        &["reject", "a-1"],
        &["answer", "q-1", "yes"],
        &["epoch", "new"],
        &["grant", "list"],
        &["grant", "revoke", "g-1"],
        &["intent", "complete", "X"],
        &["seal"],
    ] {
        let words: Vec<&str> = verb.iter().copied().chain(["--json"]).collect();
        let ran = Folder::workspace().run(&words);
        let told = refusal(&ran);
        assert_eq!(
            (ran.code, told["code"].as_str()),
            (Some(2), Some("PERSON_ONLY")),
            "{verb:?}"
        );
    }
}

/// H9: the states of a workspace that refuse everything have their codes.
#[test]
fn what_is_wrong_has_its_code() {
    let folder = Folder::empty();
    assert_eq!(folder.run(&["init", "--yes"]).code, Some(0));
    let ran = folder.run(&["approve", "a-none", "--yes", "--json"]);
    assert_eq!(
        (ran.code, refusal(&ran)["code"].as_str()),
        (Some(3), Some("SCHEMA_INVALID"))
    );
    let ran = folder.run(&["run", "no_such_tool", "--json"]);
    assert_eq!(
        (ran.code, refusal(&ran)["code"].as_str()),
        (Some(2), Some("STATE_VIOLATION"))
    );
    let ran = folder.run(&["epoch", "new", "--yes", "--json"]);
    assert_eq!(
        (ran.code, refusal(&ran)["code"].as_str()),
        (Some(4), Some("CONFLICT"))
    );
    std::fs::remove_dir_all(folder.home().join(".local/state/tagout")).unwrap();
    for verb in [
        &["run", "list_files"][..],
        &["log"],
        &["pending"],
        &["verify"],
    ] {
        let words: Vec<&str> = verb.iter().copied().chain(["--json"]).collect();
        let ran = folder.run(&words);
        let told = refusal(&ran);
        assert_eq!(
            (ran.code, told["code"].as_str()),
            (Some(1), Some("STATE_LOST")),
            "{verb:?}"
        );
    }
}

/// H9: a line that can't be understood is answered in the form that it asks for.
#[test]
fn wrong_words_are_answered_in_json() {
    for wrong in [
        &["explan", "--json"][..],
        &["log", "--json", "--nope"],
        &["approve", "--json"],
    ] {
        let ran = Folder::empty().run(wrong);
        assert_eq!(ran.code, Some(3), "{wrong:?}");
        assert_eq!(refusal(&ran)["code"], "SCHEMA_INVALID");
        assert!(ran.stderr.is_empty(), "{}", ran.shown());
    }
}
