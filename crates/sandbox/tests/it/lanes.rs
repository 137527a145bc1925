//! What commands can do in each lane, as root and as an ordinary user.

use std::fs;
use std::os::unix::fs::FileTypeExt as _;

use serde_json::{Value, json};

use crate::stage::{Stage, everyone};

fn shell(stage: &Stage, lane: &str, script: &str) -> Value {
    stage.run(&[], &stage.order(lane, &["sh", "-c", script]))
}

fn names(stage: &Stage, folder: &str) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(stage.path(folder))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// S1 The read-only lane reads everything that the user reads and writes nothing of it.
#[test]
fn the_read_only_lane_reads_and_writes_nothing() {
    for who in everyone() {
        let stage = Stage::new(who);
        let before = stage.fingerprint(&["workspace", "outside"]);
        let told = shell(
            &stage,
            "read_only",
            "exec 2>/dev/null; wc -c < README.md; touch x || echo no; rm README.md || echo no; \
             chmod 700 src || echo no; echo t > /tmp/t && cat /tmp/t",
        );
        assert_eq!(told["ended"]["exit"], json!({ "code": 0 }), "{told}");
        let printed = stage.printed();
        assert!(printed.starts_with("8192\n"), "{printed}");
        assert_eq!(printed.lines().filter(|line| *line == "no").count(), 3);
        assert!(printed.lines().any(|line| line == "t"), "{printed}");
        assert_eq!(stage.fingerprint(&["workspace", "outside"]), before);
        assert_eq!(names(&stage, "scratch/tmp"), ["t"]);
    }
}

/// S1 What the transaction lane writes lands in the upper layer; the live tree stays as it is.
#[test]
fn the_transaction_lane_writes_to_the_upper_layer_only() {
    for who in everyone() {
        let stage = Stage::new(who);
        let before = stage.fingerprint(&["workspace", "outside"]);
        let told = shell(
            &stage,
            "transaction",
            "echo new > new && rm README.md && mkdir -p a/b && ln -s new link && \
             echo more >> src/main.rs && chmod 600 src/main.rs && mkfifo pipe && ls",
        );
        assert_eq!(told["ended"]["exit"], json!({ "code": 0 }), "{told}");
        assert_eq!(told["lane"], "transaction");
        assert_eq!(stage.printed(), "a\nlink\nnew\npipe\nsrc\n");
        let upper = names(&stage, "scratch/upper");
        assert_eq!(upper, ["README.md", "a", "link", "new", "pipe", "src"]);
        let gone = fs::symlink_metadata(stage.path("scratch/upper/README.md")).unwrap();
        assert!(gone.file_type().is_char_device());
        assert_eq!(stage.fingerprint(&["workspace", "outside"]), before);
    }
}

/// S1 The snapshot lane writes the given paths in place and nothing else, and no metadata.
#[test]
fn the_snapshot_lane_writes_the_given_paths_only() {
    for who in everyone() {
        let stage = Stage::new(who);
        let before = stage.fingerprint(&["outside"]);
        let mut order = stage.order(
            "snapshot",
            &[
                "sh",
                "-c",
                "exec 2>/dev/null; echo more >> src/main.rs && echo wrote; \
                 echo x >> README.md || echo no; chmod 700 src/main.rs || echo no",
            ],
        );
        order["writable"] = json!([stage.path("workspace/src")]);
        let told = stage.run(&[], &order);
        assert_eq!(told["lane"], "snapshot", "{told}");
        let printed = stage.printed();
        let said: Vec<&str> = printed.lines().filter(|line| line.len() < 6).collect();
        assert_eq!(said, ["wrote", "no", "no"], "{printed}");
        let written = fs::read_to_string(stage.path("workspace/src/main.rs")).unwrap();
        assert!(written.ends_with("more\n"));
        assert_eq!(
            fs::read(stage.path("workspace/README.md")).unwrap().len(),
            8192
        );
        assert_eq!(stage.fingerprint(&["outside"]), before);
    }
}

/// Exit codes and signals come through as they are.
#[test]
fn exit_codes_and_signals_are_kept() {
    for who in everyone() {
        let stage = Stage::new(who);
        let told = shell(&stage, "read_only", "exit 42");
        assert_eq!(told["ended"]["exit"], json!({ "code": 42 }));
        let told = shell(&stage, "read_only", "kill -SEGV $$");
        assert_eq!(told["ended"]["exit"], json!({ "signal": 11 }));
        let told = stage.run(&[], &stage.order("read_only", &["no-such-program"]));
        let error = told["error"].as_str().unwrap();
        assert!(error.contains("`no-such-program`"), "{error}");
    }
}

/// Private layers are seen above the workspace, newest first, and are not written to.
#[test]
fn private_layers_lie_above_the_workspace() {
    for who in everyone() {
        for lane in ["transaction", "read_only"] {
            let stage = Stage::new(who);
            for (layer, text) in [("one", "newest"), ("two", "older")] {
                let folder = stage.path("scratch").join(layer).join("target");
                fs::create_dir_all(&folder).unwrap();
                fs::write(folder.join("built"), text).unwrap();
                fs::write(folder.join(layer), "").unwrap();
                stage.give(&stage.path("scratch").join(layer));
            }
            let script = "exec 2>/dev/null; cat target/built; ls target; echo x > target/three";
            let mut order = stage.order(lane, &["sh", "-c", script]);
            order["layers"]["lower"] =
                json!([stage.path("scratch/one"), stage.path("scratch/two")]);
            let told = stage.run(&[], &order);
            assert!(told["ended"].is_object(), "{told}");
            let printed = stage.printed();
            assert!(printed.starts_with("newestbuilt\none\ntwo\n"), "{printed}");
            assert_eq!(names(&stage, "scratch/one/target"), ["built", "one"]);
            assert!(!stage.path("workspace/target").exists());
            let wrote = stage.path("scratch/upper/target/three").exists();
            assert_eq!(wrote, lane == "transaction");
        }
    }
}

/// A cache outside of the workspace has an overlay of its own.
#[test]
fn a_cache_is_written_in_its_own_layer() {
    for who in everyone() {
        let stage = Stage::new(who);
        for name in ["home/.cache", "scratch/cache/upper", "scratch/cache/work"] {
            fs::create_dir_all(stage.path(name)).unwrap();
        }
        fs::write(stage.path("home/.cache/old"), "old").unwrap();
        stage.give(&stage.path("home"));
        stage.give(&stage.path("scratch"));
        let script = "cat ~/.cache/old; echo new > ~/.cache/new; \
                      touch ~/elsewhere 2>/dev/null || echo no";
        let mut order = stage.order("transaction", &["sh", "-c", script]);
        order["layers"]["caches"] = json!([{
            "path": stage.path("home/.cache"),
            "upper": stage.path("scratch/cache/upper"),
            "work": stage.path("scratch/cache/work"),
            "lower": [],
        }]);
        let told = stage.run(&[], &order);
        assert_eq!(told["ended"]["exit"], json!({ "code": 0 }), "{told}");
        assert!(stage.printed().starts_with("old"), "{}", stage.printed());
        assert!(stage.printed().ends_with("no\n"), "{}", stage.printed());
        assert_eq!(names(&stage, "scratch/cache/upper"), ["new"]);
        assert_eq!(names(&stage, "home/.cache"), ["old"]);
    }
}

/// Paths inside the writable area can be kept read-only.
#[test]
fn what_is_kept_stays_read_only_inside_the_overlay() {
    for who in everyone() {
        let stage = Stage::new(who);
        let script = "echo x > src/new || echo no; mv src s2 || echo no; echo y > other";
        let mut order = stage.order("transaction", &["sh", "-c", script]);
        order["read_only_inside"] = json!([stage.path("workspace/src")]);
        let told = stage.run(&[], &order);
        assert_eq!(told["ended"]["exit"], json!({ "code": 0 }), "{told}");
        assert_eq!(names(&stage, "scratch/upper"), ["other"]);
    }
}

/// Commands can talk to themselves over the loopback device; tests of servers need it.
#[test]
fn the_loopback_device_works_inside() {
    const SCRIPT: &str = "import socket\n\
        s = socket.create_server(('127.0.0.1', 0))\n\
        c = socket.create_connection(s.getsockname())\n\
        s.accept()[0].send(b'hello')\n\
        print(c.recv(5).decode())\n";
    for who in everyone() {
        let stage = Stage::new(who);
        let told = stage.run(&[], &stage.order("read_only", &["python3", "-c", SCRIPT]));
        assert_eq!(told["ended"]["exit"], json!({ "code": 0 }), "{told}");
        assert_eq!(stage.printed(), "hello\n");
    }
}

/// L4 Renaming an existing folder in one step is a known limit; the receipt says what to do.
#[test]
fn a_refused_rename_comes_with_its_remedy() {
    for who in everyone() {
        let stage = Stage::new(who);
        let script = "python3 -c 'import os; os.rename(\"src\", \"s2\")'";
        let told = shell(&stage, "transaction", script);
        let hint = told["ended"]["hint"].as_str().unwrap_or_default();
        assert!(hint.contains("`mv`"), "{told}");
        let stage = Stage::new(who);
        let told = shell(&stage, "transaction", "mv src s2 && ls s2");
        assert_eq!(stage.printed(), "main.rs\n", "{told}");
        assert_eq!(told["ended"]["hint"], Value::Null);
    }
}
