//! Grants through their verbs.

use serde_json::Value;

use crate::ran::{Folder, Ran};

const POLICY: &str = "version: 1\ncapabilities: {allow: [filesystem.read, state]}\n";

fn set_up() -> Folder {
    let folder = Folder::empty().with(".orchestration/hook_policy.yaml", POLICY);
    let ran = folder.run(&["init", "--yes", "--intent", "Weather", "--scope", "src/**"]);
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    assert_eq!(folder.run(&["trust", "--yes"]).code, Some(0));
    let ran = folder.run(&["intent", "select", "INT-001", "--session", "s-1"]);
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    folder
}

fn write(folder: &Folder, path: &str) -> String {
    let input = format!(
        r#"{{"path": "{path}", "content": "x", "intent_id": "INT-001",
            "mutation_class": "INTENT_EVOLUTION"}}"#
    );
    let words = [
        "run",
        "write_to_file",
        "--input",
        &input,
        "--session",
        "s-1",
        "--json",
    ];
    let ran = folder.run(&words);
    let answer = &ran.json_lines()[0];
    let code = answer["code"].as_str().or(answer["outcome"].as_str());
    code.unwrap().to_owned()
}

fn issue(folder: &Folder, more: &[&str]) -> Ran {
    let words = [
        "grant",
        "issue",
        "--to",
        "session:s-1",
        "--capability",
        "filesystem.write",
    ];
    let words: Vec<&str> = words.iter().chain(more).copied().collect();
    folder.run(&words)
}

/// C2, C3: a grant lets exactly what it names through, until it is taken back.
#[test]
fn a_grant_is_given_used_and_taken_back() {
    let folder = set_up();
    assert_eq!(write(&folder, "src/a.txt"), "CAPABILITY_DENIED");
    let needs = ["--capability", "filesystem.read", "--expires", "2h"];
    let ran = issue(
        &folder,
        &[&needs[..], &["--path", "src/a/**", "--yes", "--json"]].concat(),
    );
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    let grant = ran.json_lines()[0].clone();
    assert_eq!(grant["state"], "holds");
    assert_eq!(grant["to"], "session:s-1");
    assert_eq!(
        grant["capabilities"],
        serde_json::json!(["filesystem.read", "filesystem.write"])
    );
    assert_eq!(write(&folder, "src/a/b.txt"), "completed");
    assert_eq!(write(&folder, "src/c.txt"), "CAPABILITY_DENIED");
    // Alone, it is of no use, and that is said.
    let alone = issue(&folder, &["--anywhere", "--yes"]);
    assert!(
        alone.stderr.contains("of no use without filesystem.read"),
        "{}",
        alone.shown()
    );
    assert_eq!(write(&folder, "src/c.txt"), "CAPABILITY_DENIED");
    let id = grant["grant_id"].as_str().unwrap();
    let ran = folder.run(&["grant", "revoke", id, "--reason", "done", "--yes"]);
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    assert_eq!(write(&folder, "src/a/d.txt"), "CAPABILITY_DENIED");
    let listed = folder
        .run(&["grant", "list", "--yes", "--json"])
        .json_lines()[0]
        .clone();
    assert_eq!(listed["grants"][0]["state"], "revoked");
    assert_eq!(listed["grants"][0]["revoked"], "done");
    // Each is an event, with who did it.
    let log = folder.run(&["log", "--json"]);
    let grants: Vec<Value> = log
        .json_lines()
        .into_iter()
        .filter(|event| event["kind"] == "grant")
        .collect();
    assert_eq!(grants.len(), 3);
    assert!(
        grants.iter().all(|event| event["userId"].is_string()),
        "{grants:?}"
    );
}

/// «Nothing» is not «everything»: what a grant reaches has to be said.
#[test]
fn what_can_not_be_given() {
    let folder = set_up();
    let wrong: [&[&str]; 6] = [
        &["--yes"],
        &["--path", "!src/**", "--yes"],
        &["--path", "src/**", "--rate", "often", "--yes"],
        &["--path", "src/**", "--expires", "soon", "--yes"],
        &[
            "--path",
            "src/**",
            "--capability",
            "filesystem.wirte",
            "--yes",
        ],
        &["--anywhere", "--path", "src/**", "--yes"],
    ];
    for more in wrong {
        let ran = issue(&folder, more);
        assert_eq!(ran.code, Some(3), "{more:?}: {}", ran.shown());
        assert!(ran.stdout.is_empty());
    }
    let ran = folder.run(&[
        "grant",
        "issue",
        "--to",
        "everybody",
        "--capability",
        "state",
        "--anywhere",
        "--yes",
    ]);
    insta::assert_snapshot!(ran.shown());
    let ran = folder.run(&["grant", "revoke", "g-none", "--yes"]);
    assert_eq!(ran.code, Some(3), "{}", ran.shown());
    let ran = folder.run(&["grant", "list", "--yes"]);
    insta::assert_snapshot!(ran.shown());
}

/// C2: the network can't be granted where it is off, nor to single hosts, because nobody would hold
/// that.
#[test]
fn the_network_is_not_granted_without_effect() {
    let folder = set_up();
    for more in [["--anywhere", "--yes"], ["--named=example.org", "--yes"]] {
        let words = [
            "grant",
            "issue",
            "--to",
            "session:s-1",
            "--capability",
            "network.https",
        ];
        let words: Vec<&str> = words.into_iter().chain(more).collect();
        let ran = folder.run(&words);
        assert_eq!(ran.code, Some(2), "{}", ran.shown());
        let shown = ran.shown();
        assert!(shown.contains("network: any"), "{shown}");
    }
    let listed = folder.run(&["grant", "list", "--yes", "--json"]);
    assert!(!listed.shown().contains("network"), "{}", listed.shown());
}
