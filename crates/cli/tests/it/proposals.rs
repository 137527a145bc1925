//! What agents ask for, and a person's one answer.

use std::fs;

use crate::ran::{Folder, Ran};

const SESSION: [&str; 3] = ["--session", "s-1", "--json"];

fn set_up() -> Folder {
    let folder = Folder::empty();
    let ran = folder.run(&["init", "--yes", "--intent", "Weather", "--scope", "src/**"]);
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    folder
}

fn propose(folder: &Folder, more: &[&str]) -> String {
    let mut words = vec![
        "intent", "propose", "--name", "Tidy up", "--scope", "docs/**",
    ];
    words.extend(["--reason", "the docs are stale"]);
    words.extend(more);
    words.extend(SESSION);
    let ran = folder.run(&words);
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    let waiting = folder.run(&["pending", "--json"]).json_lines();
    let proposals = waiting[0]["proposals"].as_array().unwrap().clone();
    proposals.last().unwrap()["id"].as_str().unwrap().to_owned()
}

fn select(folder: &Folder, id: &str) -> Ran {
    folder.run(&["intent", "select", id, "--session", "s-1", "--json"])
}

/// H18: accepted, written, and selected with no further word of a person.
#[test]
fn an_accepted_proposal_is_an_intent() {
    let folder = set_up();
    let id = propose(&folder, &[]);
    let shown = folder.run(&["pending"]).stdout;
    assert!(
        shown.contains("a new intent, Tidy up") && shown.contains("owns docs/**"),
        "{shown}"
    );
    let ran = folder.run(&["approve", &id, "--yes", "--json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    assert_eq!(ran.json_lines()[0]["intent_id"], "INT-002");
    let ran = select(&folder, "INT-002");
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    let again = folder.run(&["approve", &id, "--yes"]);
    assert_eq!(again.code, Some(3), "{}", again.shown());
    let log = folder.run(&["log", "--json"]).stdout;
    let told = format!("\"proposal\":\"{id}\",\"accepted\":true");
    assert!(log.contains(&told), "{log}");
}

/// H18: a wider scope keeps what the intent owned.
#[test]
fn an_accepted_wider_scope_is_added() {
    let folder = set_up();
    let id = propose(&folder, &["--id", "INT-001"]);
    let ran = folder.run(&["approve", &id, "--yes"]);
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    let text = fs::read_to_string(folder.path().join(".orchestration/active_intents.yaml"));
    let text = text.unwrap();
    assert!(
        text.contains("src/**") && text.contains("docs/**"),
        "{text}"
    );
}

/// H18: a refusal changes nothing.
#[test]
fn a_rejected_proposal_is_no_intent() {
    let folder = set_up();
    let file = folder.path().join(".orchestration/active_intents.yaml");
    let before = fs::read(&file).unwrap();
    let id = propose(&folder, &[]);
    let ran = folder.run(&["reject", &id, "--yes", "--reason", "not now"]);
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    assert_eq!(fs::read(&file).unwrap(), before);
    assert!(folder.run(&["pending"]).shown().contains("nothing waits"));
}
