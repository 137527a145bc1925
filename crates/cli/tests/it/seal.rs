//! `tagout seal` is for people, and its checkpoints only ever grow in number.

use std::fs;

use tagout_ledger::SignedCheckpoint;

use crate::ledgers::key;
use crate::ran::Folder;

/// Invariant: what an agent could run refuses, and tells no way around.
#[test]
fn it_is_for_people() {
    let folder = Folder::with_events();
    let before = fs::read(folder.segment()).unwrap();
    insta::assert_snapshot!(folder.run(&["seal"]).shown());
    let governed = folder
        .command(&["seal", "--yes"])
        .env("TAGOUT_GOVERNED", "1")
        .output()
        .unwrap();
    assert_eq!(governed.status.code(), Some(2));
    let said = String::from_utf8(governed.stderr).unwrap();
    insta::assert_snapshot!(said);
    assert!(!said.contains("--yes"));
    assert_eq!(fs::read(folder.segment()).unwrap(), before);
}

#[test]
fn sealing_covers_everything() {
    let folder = Folder::with_events();
    let ran = folder.run(&["seal", "--yes", "--to", "kept"]);
    insta::assert_snapshot!(ran.shown());
    let ran = folder.run(&["verify", "--json"]);
    assert_eq!(ran.json_lines()[0]["completeness"], "complete");
    // Nothing new since: the same checkpoint, kept once more.
    let ran = folder.run(&["seal", "--yes", "--json", "--to", "kept"]);
    let answer = &ran.json_lines()[0];
    assert_eq!(answer["events"], 11);
    assert_eq!(answer["key"], key().verifier().to_string());
    let kept = SignedCheckpoint::read_kept(&folder.path().join("kept")).unwrap();
    assert_eq!(kept.len(), 2);
    assert_eq!(kept[1].text(), answer["checkpoint"].as_str().unwrap());
}

#[test]
fn an_empty_ledger_can_be_sealed() {
    let folder = Folder::with_ledger();
    let ran = folder.run(&["seal", "--yes"]);
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    assert_eq!(folder.run(&["verify"]).code, Some(0));
}

/// A ledger whose events do not link is not signed.
#[test]
fn a_changed_ledger_is_not_sealed() {
    let folder = Folder::with_events();
    let text = fs::read_to_string(folder.segment()).unwrap();
    let changed = text.replace(
        "ex-3\",\"state\":\"AUTHORIZED",
        "ex-9\",\"state\":\"AUTHORIZED",
    );
    assert_ne!(changed, text);
    fs::write(folder.segment(), changed).unwrap();
    let checkpoint = fs::read(folder.ledger().join("checkpoint")).unwrap();
    insta::assert_snapshot!(folder.run(&["seal", "--yes"]).shown());
    let after = fs::read(folder.ledger().join("checkpoint")).unwrap();
    assert_eq!(after, checkpoint);
}
