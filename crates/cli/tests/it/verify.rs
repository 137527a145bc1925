//! `tagout verify`: three answers told apart, and what was done to a ledger that is not whole.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use crate::ledgers::{key, time};
use crate::ran::{Folder, Ran};

fn kinds(ran: &Ran) -> Vec<(Option<u64>, String)> {
    assert_eq!(ran.code, Some(1), "{}", ran.shown());
    let found = &ran.json_lines()[0];
    assert_eq!(found["ok"], false);
    let problems = found["problems"].as_array().unwrap();
    let one = |problem: &serde_json::Value| {
        let kind = problem["kind"].as_str().unwrap().to_owned();
        (problem["event"].as_u64(), kind)
    };
    problems.iter().map(one).collect()
}

#[test]
fn a_whole_ledger() {
    let folder = Folder::with_events();
    insta::assert_snapshot!(folder.run(&["verify"]).shown());
    folder.open().seal(time(20)).unwrap();
    insta::assert_snapshot!(folder.run(&["verify"]).shown());
}

/// L10: the fields that scripts stand on.
#[test]
fn the_json_of_verify() {
    let ran = Folder::with_events().run(&["verify", "--json"]);
    assert_eq!(ran.code, Some(0));
    assert_eq!(
        ran.json_lines()[0],
        json!({"ok": true, "events": 10, "sealed": 8, "integrity": "intact",
            "completeness": "open_tail", "attestation": "self", "torn_bytes": 0, "problems": []})
    );
}

/// L10: one changed byte is found, and the event is named; nothing is repaired.
#[test]
fn an_edited_line() {
    let folder = Folder::with_events();
    let text = fs::read_to_string(folder.segment()).unwrap();
    let changed = text.replace("SCOPE_VIOLATION", "SCOPE_VIOLATIOM");
    assert_ne!(changed, text);
    fs::write(folder.segment(), &changed).unwrap();
    insta::assert_snapshot!(folder.run(&["verify"]).shown());
    let found = kinds(&folder.run(&["verify", "--json"]));
    assert_eq!(found, [(Some(5), "edited".to_owned())]);
    assert_eq!(fs::read_to_string(folder.segment()).unwrap(), changed);
}

/// L10: sealed events that were cut off are missed.
#[test]
fn a_truncated_ledger() {
    let folder = Folder::with_events();
    let text = fs::read_to_string(folder.segment()).unwrap();
    let kept: Vec<&str> = text.split_inclusive('\n').take(5).collect();
    fs::write(folder.segment(), kept.concat()).unwrap();
    insta::assert_snapshot!(folder.run(&["verify"]).shown());
}

/// Whoever has the key can cut and sign anew; a checkpoint kept elsewhere shows it.
#[test]
fn a_kept_checkpoint_shows_a_ledger_that_was_made_anew() {
    let folder = Folder::with_events();
    let ran = folder.run(&["seal", "--yes", "--to", "kept"]);
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    let checked = folder.run(&["verify", "--checkpoint", "kept", "--json"]);
    assert_eq!(checked.code, Some(0), "{}", checked.shown());

    fs::remove_dir_all(folder.state()).unwrap();
    fs::remove_file(folder.path().join(".orchestration/.tagout-id")).unwrap();
    let other = Folder::with_ledger();
    other.open().seal(time(1)).unwrap();
    assert_eq!(other.run(&["verify"]).code, Some(0));
    let kept = folder.path().join("kept");
    let ran = other.run(&["verify", "--json", "--checkpoint", kept.to_str().unwrap()]);
    assert_eq!(kinds(&ran), [(Some(1), "truncated".to_owned())]);
}

/// A witness's signature under a kept checkpoint is told.
#[test]
fn a_witness() {
    let folder = Folder::with_events();
    let witness = tagout_ledger::SealKey::new("witness", [9; 32]).unwrap();
    let signed = folder
        .open()
        .seal(time(20))
        .unwrap()
        .cosign(&witness, 1_780_000_100);
    let folder = folder.with("kept", signed.text());
    let key = witness.witness().to_string();
    let ran = folder.run(&[
        "verify",
        "--json",
        "--checkpoint",
        "kept",
        "--witness",
        &key,
    ]);
    assert_eq!(
        ran.json_lines()[0]["attestation"],
        "witnessed",
        "{}",
        ran.shown()
    );
}

/// Someone with only a copy of the ledger and a key needs no workspace.
#[test]
fn an_outsider() {
    let folder = Folder::with_events();
    let ledger = folder.ledger();
    let outside = Folder::empty().with("tagout.vkey", format!("{}\n", key().verifier()));
    let at = ["verify", "--ledger", ledger.to_str().unwrap()];
    let run = |more: &[&str]| outside.run(&[&at[..], more].concat());
    assert_eq!(run(&["--key", "tagout.vkey"]).code, Some(0));
    assert_eq!(run(&["--key", &key().verifier().to_string()]).code, Some(0));
    assert_eq!(run(&[]).code, Some(3));
    let ran = run(&["--key", "nowhere"]);
    assert_eq!(ran.code, Some(3));
    insta::assert_snapshot!(ran.stderr);
    let other = tagout_ledger::SealKey::new("tagout-w-1", [8; 32]).unwrap();
    let found = kinds(&run(&["--json", "--key", &other.verifier().to_string()]));
    assert!(
        found.iter().all(|(_, kind)| kind == "bad_signature"),
        "{found:?}"
    );
    assert!(!found.is_empty());
}

#[test]
fn an_empty_ledger() {
    insta::assert_snapshot!(Folder::with_ledger().run(&["verify"]).shown());
}

/// Bad places: no set-up, no state, a false name of the state, folders that others can enter or
/// that this user can't.
#[test]
fn where_there_is_no_ledger() {
    let shown = |folder: &Folder| {
        let all = ["verify", "log", "stats"].map(|verb| folder.run(&[verb]).shown());
        assert!(all.iter().all(|one| *one == all[0]), "{all:?}");
        all[0].clone()
    };
    insta::assert_snapshot!(shown(&Folder::workspace()));
    let id = ".orchestration/.tagout-id";
    insta::assert_snapshot!(shown(&Folder::workspace().with(id, "w-1\n")));
    insta::assert_snapshot!(shown(&Folder::workspace().with(id, "../../x\n")));
    let folder = Folder::with_events();
    fs::set_permissions(folder.ledger(), fs::Permissions::from_mode(0o755)).unwrap();
    insta::assert_snapshot!(shown(&folder));
    fs::set_permissions(folder.ledger(), fs::Permissions::from_mode(0o000)).unwrap();
    let ran = folder.run_without_rights(&["log"]);
    fs::set_permissions(folder.ledger(), fs::Permissions::from_mode(0o700)).unwrap();
    insta::assert_snapshot!(ran.shown());
}

/// The state is found by its option, then by the environment's folders.
#[test]
fn the_state_can_lie_elsewhere() {
    let folder = Folder::with_events();
    fs::rename(
        folder.state().parent().unwrap(),
        folder.path().join("elsewhere"),
    )
    .unwrap();
    assert_eq!(folder.run(&["verify"]).code, Some(1));
    assert_eq!(
        folder.run(&["verify", "--state-dir", "elsewhere"]).code,
        Some(0)
    );
    for name in ["TAGOUT_STATE_DIR", "XDG_STATE_HOME"] {
        let found = folder
            .command(&["verify"])
            .env(name, "elsewhere")
            .output()
            .unwrap();
        let wanted = i32::from(name == "XDG_STATE_HOME");
        assert_eq!(found.status.code(), Some(wanted), "{name}");
    }
}

#[test]
fn a_key_that_is_not_there() {
    let folder = Folder::with_events();
    fs::remove_file(folder.state().join("seal.key")).unwrap();
    insta::assert_snapshot!(folder.run(&["verify"]).shown());
    let ran = folder.run(&["verify", "--key", &key().verifier().to_string()]);
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
}
