//! The same evidence with one thing wrong: each must be found, or the comparison proves nothing.

use serde_json::json;

use super::evidence::{Evidence, Kept};
use super::hands::Save;

type Mutant = (&'static str, fn(&mut Evidence));

const OTHER: &str = "sha256:0000000000000000000000000000000000000000000000000000000000000000";

const PLACE: &str = "src/one.py.tagout-conflict-01234567";

/// The person saved something that nobody else ever saw.
fn save(evidence: &mut Evidence) {
    let save = Save {
        wrote: OTHER.to_owned(),
        ..evidence.notes.saves[0].clone()
    };
    evidence.notes.saves.push(save);
}

fn keep(evidence: &mut Evidence, digest: &str) {
    let (place, digest) = (PLACE.to_owned(), digest.to_owned());
    evidence.kept.push(Kept { place, digest });
}

fn tell(evidence: &mut Evidence) {
    let answer = format!("(the other version is `{PLACE}`)");
    evidence.notes.answers.push(answer);
}

const MUTANTS: [Mutant; 13] = [
    ("the ledger is edited", |evidence| {
        evidence.is_verified = false;
    }),
    ("a record says another result", |evidence| {
        evidence.records[0]["modified_ranges"][0]["after_hash"] = json!(OTHER);
        evidence.view[0] = evidence.records[0].clone();
    }),
    ("a segment has another hash", |evidence| {
        evidence.records[0]["modified_ranges"][0]["content_hash"] = json!(OTHER);
        evidence.view[0] = evidence.records[0].clone();
    }),
    ("a range is one line off", |evidence| {
        let range = &mut evidence.records[0]["modified_ranges"][0]["new_range"];
        range["start_line"] = json!(range["start_line"].as_u64().unwrap() + 1);
        range["end_line"] = json!(range["end_line"].as_u64().unwrap() + 1);
        evidence.view[0] = evidence.records[0].clone();
    }),
    ("a record is of another event", |evidence| {
        evidence.records[0]["ledger_event"] = json!(OTHER);
        evidence.view[0] = evidence.records[0].clone();
    }),
    ("a record is missing", |evidence| {
        evidence.records.pop();
        evidence.view.pop();
    }),
    ("a record in the tree was changed", |evidence| {
        evidence.view[0]["intent_id"] = json!("INT-009");
    }),
    ("an event is missing", |evidence| {
        evidence.done.pop();
    }),
    ("a save is nowhere", save),
    ("a save is kept and nobody was told", |evidence| {
        save(evidence);
        keep(evidence, OTHER);
    }),
    ("what is kept is not what was saved", |evidence| {
        save(evidence);
        keep(evidence, &OTHER.replace('0', "1"));
        tell(evidence);
    }),
    ("a call's work is lost", |evidence| {
        // Nobody read what the call replaced, and nobody saw what it left.
        let path = &mut evidence.done[0].paths[0];
        (path.1, path.2) = (None, Some(OTHER.to_owned()));
    }),
    ("a person's line is an agent's", |evidence| {
        let call = evidence.notes.calls[0].execution.clone();
        let blamed = evidence.blamed.values_mut();
        let lines = blamed.flat_map(|file| file.text.lines().zip(&mut file.lines));
        let (_, said) = lines
            .into_iter()
            .find(|(text, _)| text.starts_with("p_") || text.starts_with("before_"))
            .unwrap();
        *said = json!({"author": "agent", "call": call, "certainty": "certain"});
    }),
];

pub(super) fn are_found(evidence: &Evidence) {
    let mut kept = evidence.clone();
    save(&mut kept);
    keep(&mut kept, OTHER);
    tell(&mut kept);
    assert_eq!(kept.findings(), evidence.findings(), "it is kept and told");
    for (name, spoil) in MUTANTS {
        let mut spoiled = evidence.clone();
        spoil(&mut spoiled);
        let found = spoiled.findings();
        assert!(!found.is_empty(), "{name}, and nobody noticed");
    }
}
