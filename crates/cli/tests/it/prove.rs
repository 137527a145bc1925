//! `tagout prove` and `verify --proof`, and the separate verifier that must agree with them.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::ledgers::{ORIGIN, key};
use crate::machine::Machine;
use crate::ran::Folder;

/// What the verifier in Python says about the file `proof`.
fn python(folder: &Folder) -> (bool, String) {
    let script =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/verify-proof/verify.py");
    let output = Command::new("python3")
        .arg(script)
        .args(["tagout.vkey", ORIGIN, "proof"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    (output.status.success(), said)
}

fn place() -> Folder {
    Folder::with_events().with("tagout.vkey", key().verifier().to_string())
}

/// B6: a proof by number or id holds for this program and for one that shares no code with it.
#[test]
fn a_proof_holds_everywhere() {
    for event in ["3", "ev-3"] {
        let folder = place();
        let ran = folder.run(&["prove", event, "--to", "proof"]);
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (Some(0), ""),
            "{}",
            ran.shown()
        );
        assert_eq!(ran.stderr, "event 3 of 8 is proven in `proof`\n");
        assert_eq!(
            python(&folder),
            (true, "ok proof event 3 of 8\n".to_owned())
        );
        insta::allow_duplicates! {
            insta::assert_snapshot!(folder.run(&["verify", "--proof", "proof"]).shown());
        }
        let ran = folder.run(&[
            "verify",
            "--proof",
            "proof",
            "--key",
            "tagout.vkey",
            "--json",
        ]);
        let wanted = json!({"ok": true, "origin": ORIGIN, "event": 3, "tree_size": 8});
        assert_eq!(ran.json_lines()[0], wanted);
        let printed = folder.run(&["prove", event]).stdout;
        assert_eq!(
            printed,
            fs::read_to_string(folder.path().join("proof")).unwrap()
        );
    }
}

/// B6: a proof of something else is refused by both.
#[test]
fn a_changed_proof_does_not_hold() {
    let folder = place();
    let text = folder.run(&["prove", "5"]).stdout;
    let folder = folder.with("proof", text.replace("delete_file", "delete_fill"));
    let ran = folder.run(&["verify", "--proof", "proof"]);
    insta::assert_snapshot!(ran.shown());
    assert!(!python(&folder).0);
    let folder = folder.with("proof", &text);
    let other = ["verify", "--proof", "proof", "--origin", "another"];
    assert_eq!(folder.run(&other).code, Some(1));
    assert_eq!(folder.run(&other[..3]).code, Some(0));
    assert!(python(&folder).0);
}

#[test]
fn what_can_not_be_proven() {
    let folder = place().with("there", "mine");
    insta::assert_snapshot!(folder.run(&["prove", "9"]).shown());
    insta::assert_snapshot!(folder.run(&["prove", "99"]).shown());
    insta::assert_snapshot!(folder.run(&["prove", "ev-99"]).shown());
    insta::assert_snapshot!(folder.run(&["prove", "3", "--to", "there"]).shown());
    assert_eq!(
        fs::read_to_string(folder.path().join("there")).unwrap(),
        "mine"
    );
    let empty = Folder::with_ledger().run(&["prove", "0"]);
    assert_eq!(empty.code, Some(3), "{}", empty.shown());
    assert_eq!(folder.run(&["verify", "--proof", "nowhere"]).code, Some(3));
}

/// The beginning of an event's id is enough where only one begins so.
#[test]
fn the_beginning_of_an_event_is_enough() {
    let folder = Folder::with_events();
    let ran = folder.run(&["prove", "ev-"]);
    assert_eq!(ran.code, Some(3), "{}", ran.shown());
    assert!(
        ran.stderr.contains("more than one event: ev-0, "),
        "{}",
        ran.shown()
    );
    let ran = folder.run(&["prove", "ev-none"]);
    assert!(
        ran.stderr.contains("there is no event `ev-none`"),
        "{}",
        ran.shown()
    );
    let machine = Machine::new();
    let log = machine.run(&["log", "--json"]).json_lines();
    let ids: Vec<&str> = log
        .iter()
        .map(|one| one["eventId"].as_str().unwrap())
        .collect();
    let (cut, _) = ids[1].split_at(ids[1].len() - 2);
    assert_eq!(
        ids.iter().filter(|id| id.starts_with(cut)).count(),
        1,
        "{ids:?}"
    );
    let ran = machine.run(&["prove", cut]);
    assert_eq!(
        ran.stdout,
        machine.run(&["prove", "1"]).stdout,
        "{}",
        ran.shown()
    );
}
