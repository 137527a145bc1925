//! What is done before a command is known, and what is left out when it is plain.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::stage::{Stage, everyone};

/// When processes were started, in the kernel's ticks, from lines of `/proc/PID/stat`.
fn started(printed: &str) -> Vec<u64> {
    let line = |line: &str| line.rsplit(") ").next()?.split(' ').nth(19)?.parse().ok();
    printed.lines().filter_map(line).collect()
}

/// A first process that was made ahead is the one that runs the command.
#[test]
fn what_was_made_ahead_is_used() {
    for who in everyone() {
        for lane in ["read_only", "transaction"] {
            let stage = Stage::new(who);
            let mut order = stage.order(lane, &["cat", "/proc/1/stat", "/proc/self/stat"]);
            order["ahead_ms"] = 200.into();
            let told = stage.run(&[], &order);
            assert_eq!(told["ended"]["exit"], json!({ "code": 0 }), "{told}");
            let found = started(&stage.printed());
            let [first, command] = found.as_slice() else {
                panic!("{}", stage.printed());
            };
            assert!(command - first >= 15, "{who:?} {lane}: {found:?}");
        }
    }
}

/// What does not fit the one that was made ahead is run all the same.
#[test]
fn what_does_not_fit_is_made_anew() {
    for who in everyone() {
        let stage = Stage::new(who);
        let mut order = stage.order("snapshot", &["sh", "-c", "echo here > made; cat made"]);
        order["accept"] = json!(["snapshot"]);
        order["ahead_ms"] = 0.into();
        let told = stage.run(&[], &order);
        assert_eq!(told["ended"]["exit"], json!({ "code": 0 }), "{told}");
        assert_eq!(stage.printed(), "here\n");
    }
}

/// What a run printed and how it ended, with and without bash.
fn run(stage: &Stage, words: &[&str], direct: bool) -> (Vec<String>, Value) {
    let line = words.join(" ");
    let bash = ["/bin/bash", "--noprofile", "--norc", "-c", &line];
    let mut order = stage.order("read_only", &bash);
    if direct {
        let words = words.iter().map(|word| json!({ "Unix": word.as_bytes() }));
        order["direct"] = words.collect();
    }
    let told = stage.run(&[], &order);
    let mut lines: Vec<String> = stage.printed().lines().map(str::to_owned).collect();
    lines.sort();
    (lines, told["ended"]["exit"].clone())
}

/// A plain command comes to the same without the shell that would only start it.
///
/// No case prints to both streams: they are two pipes, and how their pieces follow each other is
/// nobody's promise.
#[test]
fn a_plain_command_is_the_same_without_a_shell() {
    for who in everyone() {
        let stage = Stage::new(who);
        let file = |name: &str, text: &str, mode: u32| {
            let path = stage.path("workspace").join(name);
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        };
        file("plain", "echo $0 $1 $SHLVL $_\n", 0o755);
        file("headed", "#!/bin/sh\necho $0 $1; kill -9 $$\n", 0o755);
        file("lost", "#!/nowhere/at/all\n", 0o755);
        file("closed", "#!/bin/sh\n", 0o644);
        stage.give(&stage.path("workspace"));
        let cases: &[&[&str]] = &[
            &["env"],
            &["/usr/bin/env"],
            &["true", "1"],
            &["false"],
            &["ls", "-a", "src"],
            &["ls", "nothing"],
            &["nosuchprogram", "x"],
            &["./plain", "a"],
            &["./headed", "a"],
            &["./lost"],
            &["./closed"],
            &["./src"],
            &["src"],
            &["cat", "/proc/self/cmdline"],
        ];
        for words in cases {
            let (with, without) = (run(&stage, words, false), run(&stage, words, true));
            assert_eq!(with, without, "{who:?}: {words:?}");
        }
    }
}

/// S1 What a hidden path leads to is hidden, also where it lies in the workspace and the walls
/// stood before the command was known.
#[test]
fn what_a_hidden_path_leads_to_is_hidden() {
    for who in everyone() {
        for (lane, ahead) in [
            ("read_only", true),
            ("read_only", false),
            ("transaction", true),
            ("transaction", false),
        ] {
            let stage = Stage::new(who);
            let kept = stage.path("workspace/kept");
            stage.make(&kept);
            fs::write(kept.join("token"), "token of a person").unwrap();
            let link = stage.path("home/.oci");
            std::os::unix::fs::symlink(&kept, &link).unwrap();
            stage.give(&kept);
            let script = "cat kept/token ../home/.oci/token; true";
            let mut order = stage.order(lane, &["sh", "-c", script]);
            if ahead {
                order["ahead_ms"] = 0.into();
            }
            let told = stage.run(&[], &order);
            assert_eq!(told["ended"]["exit"], json!({ "code": 0 }), "{told}");
            let printed = stage.printed();
            assert!(
                !printed.contains("person"),
                "{who:?} {lane} {ahead}: {printed}"
            );
        }
    }
}
