//! Workspaces in odd places.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::stage::{Stage, everyone};

const SCRIPT: &str = "cat f && echo new > g && rm f && ls";

fn order(stage: &Stage, workspace: &std::path::Path, lane: &str) -> Value {
    fs::create_dir_all(workspace).unwrap();
    fs::write(workspace.join("f"), "old\n").unwrap();
    stage.give(workspace);
    let mut order = stage.order(lane, &["sh", "-c", SCRIPT]);
    order["workspace"] = json!(workspace);
    order["cwd"] = json!(workspace);
    order["writable"] = json!([workspace]);
    order
}

/// No character of a path means anything.
#[test]
fn odd_names_are_only_names() {
    for who in everyone() {
        for name in [
            "a,b:c",
            "back\\slash",
            "new\nline",
            "two  spaces",
            "$(id)'\"",
            "é,…",
        ] {
            let stage = Stage::new(who);
            let workspace = stage.path("places").join(name).join(name);
            fs::create_dir_all(&workspace).unwrap();
            stage.give(&stage.path("places"));
            let told = stage.run(&[], &order(&stage, &workspace, "transaction"));
            assert_eq!(
                told["ended"]["exit"],
                json!({ "code": 0 }),
                "{name}: {told}"
            );
            assert_eq!(stage.printed(), "old\ng\n");
            assert_eq!(fs::read_to_string(workspace.join("f")).unwrap(), "old\n");
            assert!(stage.path("scratch/upper/g").exists());
        }
    }
}

/// A workspace below `/tmp` is seen where it is, in a `/tmp` of the session's own.
#[test]
fn a_workspace_below_tmp_is_there() {
    for who in everyone() {
        for lane in ["transaction", "read_only"] {
            let stage = Stage::new(who);
            let place = tempfile::tempdir_in("/tmp").unwrap();
            let workspace = place.path().join("w");
            let mut order = order(&stage, &workspace, lane);
            stage.give(place.path());
            let script = "exec 2>/dev/null; cat f; ls -A /tmp | wc -l; echo n > g";
            order["argv"][2] = json!({ "Unix": script.as_bytes() });
            let told = stage.run(&[], &order);
            assert!(told["ended"].is_object(), "{told}");
            let printed = stage.printed();
            assert!(printed.starts_with("old\n1\n"), "{printed}");
            assert!(!workspace.join("g").exists());
            let wrote = stage.path("scratch/upper/g").exists();
            assert_eq!(wrote, lane == "transaction");
        }
    }
}

/// What an earlier command left in the session's `/tmp` does not bend where the workspace is put.
#[test]
fn a_link_in_the_sessions_tmp_bends_nothing() {
    for who in everyone() {
        let stage = Stage::new(who);
        let place = tempfile::tempdir_in("/tmp").unwrap();
        let workspace = place.path().join("w");
        let order = order(&stage, &workspace, "transaction");
        stage.give(place.path());
        let name = place.path().file_name().unwrap();
        symlink(stage.path("outside"), stage.path("scratch/tmp").join(name)).unwrap();
        let before = stage.fingerprint(&["outside"]);
        let told = stage.run(&[], &order);
        assert_eq!(told["ended"]["exit"], json!({ "code": 0 }), "{told}");
        assert_eq!(stage.printed(), "old\ng\n");
        assert_eq!(stage.fingerprint(&["outside"]), before);
    }
}

/// A mount inside the workspace can't be under an overlay: refused by name, or the weaker lane that
/// the user's layer accepts.
#[test]
fn a_nested_mount_is_refused_or_the_weaker_lane_is_named() {
    for who in everyone() {
        let stage = Stage::new(who);
        fs::create_dir_all(stage.path("workspace/node_modules")).unwrap();
        stage.give(&stage.path("workspace"));
        let mut order = stage.order("transaction", &["true"]);
        for accepted in [json!([]), json!(["snapshot"])] {
            order["accept"] = accepted.clone();
            fs::remove_file(stage.path("scratch/artifact")).ok();
            let file = stage.path("scratch/order.json");
            fs::write(&file, order.to_string()).unwrap();
            let output = stage
                .command("unshare")
                .args(["-rm", "sh", "-c"])
                .arg("mount -t tmpfs none node_modules && exec \"$0\" \"$1\"")
                .arg(stage.path("bin/lane"))
                .arg(&file)
                .stdin(Stdio::null())
                .output()
                .unwrap();
            let told: Value =
                serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
            if accepted == json!([]) {
                let why = told["refused"]["why"].as_str().unwrap_or_default();
                assert!(why.contains("node_modules"), "{told}");
            } else {
                assert_eq!(told["lane"], "snapshot", "{told}");
                assert_eq!(told["enforcers"][0]["weaker"], true, "{told}");
            }
        }
    }
}
