//! A thing to do becomes the call of each client.

use serde_json::json;

use super::super::run;
use super::Spoken;

fn spoken(value: &serde_json::Value) -> Spoken {
    serde_json::from_value(value.clone()).unwrap()
}

#[test]
fn every_client_says_it_in_its_own_words() {
    let clients = run::all().unwrap();
    let write = spoken(&json!({"write": "a.txt", "text": "x\n"}));
    let patch = "*** Begin Patch\n*** Add File: a.txt\n+x\n*** End Patch";
    assert_eq!(clients["codex"].says(&write).input, json!(patch));
    for (name, client) in &clients {
        for one in [
            json!({"write": "a.txt", "text": "x\n"}),
            json!({"edit": "a.txt", "old": "x", "new": "y"}),
            json!({"run": "true"}),
            json!({"delegate": "look"}),
        ] {
            let said = client.says(&spoken(&one)).input.to_string();
            let said = said.replace("{workspace}", "");
            assert!(
                !said.contains('{') || said.starts_with('{'),
                "{name}: {said}"
            );
            let places = ["{path}", "{text}", "{old}", "{new}", "{command}", "{task}"];
            assert!(
                !places.iter().any(|place| said.contains(place)),
                "{name}: {said}"
            );
        }
    }
}

#[test]
fn a_command_that_is_not_rewritten_is_tried_both_ways() {
    let clients = run::all().unwrap();
    let turns = [
        vec![spoken(&json!({"run": "echo 'x'"}))],
        vec![spoken(&json!({"run": "{tagout} approve x"}))],
    ];
    let said = clients["goose"].turns(&turns);
    let commands: Vec<_> = said.iter().map(|turn| &turn[0].input["command"]).collect();
    let told = "--workspace {workspace} --state-dir {home}/.local/state/tagout";
    let wrapped = format!(r"{{tagout}} exec {told} -- 'echo '\''x'\'''");
    assert_eq!(
        commands,
        ["echo 'x'", wrapped.as_str(), "{tagout} approve x"]
    );
    assert_eq!(clients["claude-code"].turns(&turns).len(), 2);
}
