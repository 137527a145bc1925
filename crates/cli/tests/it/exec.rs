//! `exec` and `parked`: commands as transactions, by the real binary.

use std::fs;

use serde_json::Value;

use crate::confined::Site;

/// H4, B2: before the handshake only what reads is run, in the read-only lane.
#[test]
fn only_reading_before_the_handshake() {
    let site = Site::new(&[("src/a.txt", "one\n")]);
    let ran = site.exec_with(&[], "cat src/a.txt | tr a-z A-Z");
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (Some(0), "ONE\n"),
        "{}",
        ran.shown()
    );
    let ran = site.exec_with(&["--json"], "touch src/b.txt");
    let told: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(
        (ran.code, &told["error"]["code"]),
        (Some(126), &Value::from("STATE_VIOLATION"))
    );
    assert_eq!(site.read("src/b.txt"), None);
}

/// B2, L4: what the intent owns is applied, recorded, and can be taken back.
#[test]
fn a_write_in_scope_is_applied_and_undone() {
    let site = Site::new(&[("src/a.txt", "one\n")]);
    let before = site.tree();
    let told =
        site.receipt("printf 'two\\n' > src/b.txt; mkdir -p tests/deep; echo x > tests/deep/t");
    assert_eq!(told["outcome"], "completed", "{told:#}");
    assert_eq!(told["lane"], "transaction");
    assert!(told["enforcers"].as_array().unwrap().len() > 8, "{told:#}");
    assert!(told["wall_ms"].is_u64() && told["cpu_ms"].is_u64());
    let changed = ["src/b.txt", "tests", "tests/deep", "tests/deep/t"];
    assert_eq!(
        (&told["changed"], &told["changed_total"]),
        (&serde_json::json!(changed), &Value::from(changed.len())),
        "{told:#}"
    );
    assert!(
        told["limits"]["cpu_ms"].as_u64() >= Some(20 * 60 * 1000),
        "{told:#}"
    );
    assert_eq!(site.read("src/b.txt").as_deref(), Some("two\n"));
    assert_eq!(site.read("tests/deep/t").as_deref(), Some("x\n"));
    let execution = told["execution"].as_str().unwrap();
    assert!(site.states(execution).contains(&"COMPLETED".to_owned()));
    let ran = site.tagout(&["undo", execution, "--yes"]);
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    assert_eq!(site.tree(), before);
    assert_eq!(site.tagout(&["verify"]).code, Some(0));
}

/// L6: the receipt says how much memory the whole tree held at its most, also of a command that
/// only reads and of one whose memory is long free again.
#[test]
fn a_receipt_tells_the_peak_of_memory() {
    const PEAK_BYTES: u64 = 96 << 20;
    let site = Site::new(&[("src/a.txt", "one\n")]);
    let peak = |line: &str| {
        let told = site.receipt(line);
        assert_eq!(told["exit_code"], 0, "{told:#}");
        assert_eq!(told["changed"], serde_json::json!([]), "{told:#}");
        told["peak_memory_bytes"].as_u64().unwrap()
    };
    let small = peak("cat src/a.txt");
    let line = format!(
        "python3 -c 'b = bytearray({PEAK_BYTES}); b[::4096] = b\"x\" * (len(b) // 4096); del b'; true"
    );
    let large = peak(&line);
    println!("{small} and {large} bytes at the most");
    assert!(small > 0 && small < PEAK_BYTES / 2, "{small}");
    assert!((PEAK_BYTES..PEAK_BYTES * 4).contains(&large), "{large}");
}

/// B2, L4: what a command did before it failed stays, unless the policy takes it back; then nothing
/// of it was ever there, and the ledger says so.
#[test]
fn a_command_that_fails_is_kept_or_rolled_back() {
    let line = "echo new > src/b.txt; rm src/a.txt; exit 3";
    let site = Site::new(&[("src/a.txt", "one\n")]);
    assert_eq!(site.exec("cat src/a.txt").code, Some(0));
    let told = site.receipt(line);
    assert_eq!(told["exit_code"], 3, "{told:#}");
    assert_eq!(site.read("src/b.txt").as_deref(), Some("new\n"));
    assert_eq!(site.read("src/a.txt"), None);

    let site = Site::with_setup(&[("src/a.txt", "one\n")], |site| {
        let folder = site.home().join(".config/tagout");
        fs::create_dir_all(&folder).unwrap();
        let policy = "version: 1\non_command_failure: roll_back\n";
        fs::write(folder.join("policy.yaml"), policy).unwrap();
    });
    let number = |name: &str| {
        use std::os::unix::fs::MetadataExt as _;
        let found = fs::metadata(site.root().join(name)).unwrap();
        (found.ino(), found.mtime(), found.mtime_nsec())
    };
    assert_eq!(site.exec("cat src/a.txt").code, Some(0));
    let (before, file) = (site.tree(), number("src/a.txt"));
    let ran = site.exec_with(&["--intent", "INT-001", "--json"], line);
    assert_eq!(ran.code, Some(3), "{}", ran.shown());
    let told: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(
        (&told["outcome"], &told["exit_code"]),
        (&Value::from("rolled_back"), &Value::from(3)),
        "{told:#}"
    );
    assert!(
        told["parked"].is_null() && site.parked().is_empty(),
        "{told:#}"
    );
    assert_eq!((site.tree(), number("src/a.txt")), (before, file));
    let states = site.states(told["execution"].as_str().unwrap());
    assert!(states.contains(&"ROLLED_BACK".to_owned()), "{states:?}");
    let told = site.receipt("echo new > src/b.txt");
    assert_eq!(told["outcome"], "completed", "{told:#}");
    assert_eq!(site.tagout(&["verify"]).code, Some(0));
}

/// Exit codes are the command's own, and output comes through on both streams.
#[test]
fn codes_and_output_come_through() {
    let site = Site::new(&[]);
    let ran = site.exec("echo out; echo err >&2; exit 7");
    assert_eq!(ran.code, Some(7), "{}", ran.shown());
    assert_eq!(
        (ran.stdout.as_str(), ran.stderr.as_str()),
        ("out\n", "err\n")
    );
    assert_eq!(site.exec("kill -TERM $$").code, Some(143));
    assert_eq!(site.exec("no-such-program-here").code, Some(127));
    let ran = site.tagout(&[
        "exec",
        "--session",
        "s-1",
        "--",
        "printf",
        "%s|",
        "a b",
        "$HOME",
    ]);
    assert_eq!(ran.stdout, "a b|$HOME|", "{}", ran.shown());
    let ran = site.exec("cat; echo end");
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "end\n"));
}

/// H7, invariant 7: a write that only shows afterwards is parked, and a person can apply it.
#[test]
fn out_of_scope_is_parked_and_applied_by_a_person() {
    let site = Site::new(&[("src/a.txt", "one\n")]);
    let line = "python3 -c 'open(\"other.txt\", \"w\").write(\"x\"); open(\"src/a.txt\", \"w\").write(\"2\")'";
    let told = site.receipt(line);
    assert_eq!(told["error"]["code"], "SCOPE_VIOLATION", "{told:#}");
    assert_eq!(
        (&told["outcome"], &told["exit_code"]),
        (&Value::from("rolled_back"), &Value::from(0))
    );
    assert_eq!(
        site.read("src/a.txt").as_deref(),
        Some("one\n"),
        "nothing of it is applied"
    );
    let execution = told["execution"].as_str().unwrap();
    let states = site.states(execution);
    assert!(states.contains(&"ABORTED".to_owned()) && states.contains(&"ROLLED_BACK".to_owned()));
    let id = told["parked"].as_str().unwrap();
    assert_eq!(site.parked(), [id]);
    let shown = site.tagout(&["parked", "show", id]);
    assert!(
        shown
            .stdout
            .contains("other.txt  (outside the scope of INT-001)"),
        "{}",
        shown.shown()
    );
    assert!(
        shown.stdout.contains("src/a.txt  (in scope)"),
        "{}",
        shown.shown()
    );
    let refused = site.tagout(&["parked", "apply", id]);
    assert_eq!(refused.code, Some(2), "{}", refused.shown());
    assert!(
        refused.stderr.contains("PERSON_ONLY"),
        "{}",
        refused.shown()
    );
    let ran = site.tagout(&["parked", "apply", id, "--yes"]);
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    assert_eq!(site.read("other.txt").as_deref(), Some("x"));
    assert_eq!(site.read("src/a.txt").as_deref(), Some("2"));
    assert_eq!(site.parked(), Vec::<String>::new());
    assert_eq!(site.tagout(&["verify"]).code, Some(0));
    assert_eq!(site.tagout(&["parked", "drop", id, "--yes"]).code, Some(3));
}

/// The in-scope part can be applied alone; what is dropped is gone.
#[test]
fn a_part_is_applied_or_all_dropped() {
    let site = Site::new(&[]);
    let line = "python3 -c 'open(\"other.txt\", \"w\"); open(\"src/b.txt\", \"w\").write(\"2\")'";
    let first = site.receipt(line)["parked"].as_str().unwrap().to_owned();
    let ran = site.tagout(&["parked", "apply", &first, "--in-scope", "--yes"]);
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    assert_eq!(site.read("src/b.txt").as_deref(), Some("2"));
    assert_eq!(site.read("other.txt"), None);
    assert_eq!(
        site.parked(),
        std::slice::from_ref(&first),
        "the rest still waits"
    );
    let nothing = site.tagout(&["parked", "apply", &first, "--in-scope", "--yes"]);
    assert_eq!(nothing.code, Some(2), "{}", nothing.shown());
    let ran = site.tagout(&["parked", "drop", &first, "--yes"]);
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    let second = site.receipt("python3 -c 'open(\"third.txt\", \"w\")'");
    let second = second["parked"].as_str().unwrap().to_owned();
    let ran = site.tagout(&["parked", "drop", &second, "--yes", "--json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    assert_eq!((site.parked(), site.read("third.txt")), (Vec::new(), None));
    let left = fs::read_dir(site.state().join("layers")).unwrap().flatten();
    let layers: Vec<_> = left
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("x-"))
        .collect();
    assert!(layers.is_empty(), "{layers:?}");
}

/// Reads by commands count as reads (H13).
#[test]
fn what_a_command_read_may_be_changed() {
    let site = Site::new(&[("src/a.txt", "one\n")]);
    assert_eq!(
        site.receipt("sed -i s/one/two/ src/a.txt")["error"]["code"],
        "STALE_FILE"
    );
    assert_eq!(site.exec("cat src/a.txt").code, Some(0));
    assert_eq!(
        site.receipt("sed -i s/one/two/ src/a.txt")["outcome"],
        "completed"
    );
    assert_eq!(site.read("src/a.txt").as_deref(), Some("two\n"));
}

/// The whole output is kept, and read in parts by the tool that reads it.
#[test]
fn a_long_output_is_stored_and_read() {
    let site = Site::new(&[]);
    let told = site.receipt("seq 1 40000");
    assert_eq!(
        (&told["truncated"], &told["exit_code"]),
        (&Value::from(true), &Value::from(0))
    );
    let id = told["artifact_id"].as_str().unwrap();
    let read = |more: &str| {
        let input = format!(r#"{{"artifact_id": "{id}"{more}}}"#);
        let args = [
            "run",
            "read_command_output",
            "--input",
            &input,
            "--session",
            "s-1",
            "--json",
        ];
        let ran = site.tagout(&args);
        let told: Value = serde_json::from_str(&ran.stdout).unwrap();
        told["output"].clone()
    };
    let part = read(r#", "offset": 0, "limit": 6"#);
    assert_eq!(
        (&part["content"], &part["total_bytes"]),
        (&Value::from("1\n2\n3\n"), &told["output_bytes"])
    );
    assert_eq!(
        read(r#", "search": "3999""#)["content"]
            .as_str()
            .unwrap()
            .lines()
            .count(),
        14
    );
    let other = site.tagout(&[
        "run",
        "read_command_output",
        "--input",
        r#"{"artifact_id": "../seal.key"}"#,
    ]);
    assert_eq!(other.code, Some(1), "{}", other.shown());
}

/// H14: a verification that failed is kept as a lesson, once; its exit decides.
#[test]
fn a_failed_verification_is_a_lesson() {
    let site = Site::new(&[]);
    for _ in 0..2 {
        assert_eq!(site.exec("sh -c 'echo broken; exit 3' test").code, Some(3));
    }
    assert_eq!(site.exec("sh -c 'echo fine' test").code, Some(0));
    let sessions = site.state().join("gate/sessions");
    let mut found = Vec::new();
    for entry in fs::read_dir(sessions).unwrap().flatten() {
        let text = fs::read_to_string(entry.path().join("session.jsonl")).unwrap();
        let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
        found.extend(last["lessons"].as_array().unwrap().clone());
    }
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(
        (&found[0]["exit_code"], &found[0]["output"]),
        (&Value::from(3), &Value::from("broken\n"))
    );
    let again = site.tagout(&["intent", "select", "INT-001", "--session", "s-1"]);
    let shown = again.shown();
    assert_eq!(shown.matches("<lesson>").count(), 1, "{shown}");
}

/// B4: what a command did is taken back with its folders, and done again.
#[test]
fn a_command_is_taken_back_by_the_verb() {
    let site = Site::new(&[("src/a.txt", "one\n")]);
    let line = "printf 'two\\n' > src/b.txt; mkdir -p tests/deep; echo x > tests/deep/t";
    let told = site.receipt(line);
    let execution = told["execution"].as_str().unwrap();
    let ran = site.tagout(&["undo", execution, "--yes", "--json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    assert_eq!(site.read("src/a.txt").as_deref(), Some("one\n"));
    assert_eq!(site.read("src/b.txt"), None);
    assert!(!site.root().join("tests/deep").exists());
    let undone: Value = serde_json::from_str(&ran.stdout).unwrap();
    let ran = site.tagout(&["undo", undone["execution"].as_str().unwrap(), "--yes"]);
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    assert_eq!(site.read("src/b.txt").as_deref(), Some("two\n"));
    assert_eq!(site.read("tests/deep/t").as_deref(), Some("x\n"));
}

/// L6: time over is a failure with its own code, and nothing stays.
#[test]
fn time_over_rolls_back() {
    let site = Site::new(&[]);
    let args = ["--intent", "INT-001", "--json", "--timeout", "300"];
    let ran = site.exec_with(&args, "echo x > src/late.txt; sleep 60");
    let told: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(
        (ran.code, &told["error"]["code"]),
        (Some(137), &Value::from("TIMEOUT")),
        "{told:#}"
    );
    assert_eq!(told["limit_hit"]["limit"], "wall");
    assert_eq!(site.read("src/late.txt"), None);
    assert_eq!(site.parked(), Vec::<String>::new());
}

/// A governed call can't govern another, and can't act as a person, whatever its environment says.
#[test]
fn exec_in_exec_is_refused() {
    let site = Site::new(&[]);
    // The build folder may lie in `/tmp`, which a command does not see.
    fs::copy(env!("CARGO_BIN_EXE_tagout"), site.root().join("copy")).unwrap();
    let ran = site.exec("./copy exec -- true");
    assert_eq!(ran.code, Some(126), "{}", ran.shown());
    assert!(
        ran.stderr.contains("without `tagout exec`"),
        "{}",
        ran.shown()
    );
    // What it does not see is not gone, and nobody is told to begin anew.
    for verb in ["log", "verify", "intent select INT-001"] {
        let ran = site.exec(&format!("cd . && ./copy {verb}"));
        assert_eq!(ran.code, Some(1), "{verb}: {}", ran.shown());
        assert!(
            ran.stderr.contains("as a command of its own"),
            "{verb}: {}",
            ran.shown()
        );
        assert!(!ran.stderr.contains("epoch"), "{verb}: {}", ran.shown());
    }
    let ran = site.exec("env -i HOME=$HOME ./copy parked drop x --yes");
    assert_eq!(ran.code, Some(2), "{}", ran.shown());
    assert!(
        ran.stderr.contains("this is a governed call"),
        "{}",
        ran.shown()
    );
}

/// S1: what the user's own layer opened is told as open, with what closes it.
#[test]
fn doctor_names_what_was_opened() {
    let site = Site::with_setup(&[], |site| {
        let folder = site.home().join(".config/tagout");
        fs::create_dir_all(&folder).unwrap();
        let policy = "version: 1\nnetwork: any\npass_through: [/var/cache/shared]\n";
        fs::write(folder.join("policy.yaml"), policy).unwrap();
    });
    let ran = site.tagout(&["doctor", "--json"]);
    let told: Value = serde_json::from_str(&ran.stdout).unwrap();
    let lines = told["lines"].as_array().unwrap();
    for (what, word) in [
        ("network", "network: any"),
        ("changes in /var/cache/shared", "pass_through"),
    ] {
        let mut named = lines.iter().filter(|line| line["what"] == what);
        let line = named.next().unwrap_or_else(|| panic!("{what}: {told:#}"));
        assert_eq!(line["state"], "weaker", "{line}");
        assert!(line["remedy"].as_str().unwrap().contains(word), "{line}");
    }
}

/// S1: each line names a wall or a limit, who holds it, and what to change.
#[test]
fn doctor_names_every_enforcer() {
    let site = Site::new(&[]);
    let ran = site.tagout(&["doctor", "--json"]);
    let told: Value = serde_json::from_str(&ran.stdout).unwrap();
    let lines = told["lines"].as_array().unwrap();
    for line in lines {
        let said = |key: &str| line[key].as_str().is_some_and(|text| !text.is_empty());
        assert!(said("what") && said("enforcer"), "{line}");
        assert!(line["state"] != "missing" || said("remedy"), "{line}");
    }
    let all: String = lines
        .iter()
        .map(|line| line["what"].as_str().unwrap())
        .collect::<Vec<_>>()
        .join("; ");
    for wanted in [
        "read-only lane",
        "transaction lane",
        "Landlock",
        "memory",
        "wall time",
        "processes",
        "network",
        "hidden paths",
        "environment",
        "privileges",
        "descriptors",
        "system calls",
    ] {
        assert!(all.contains(wanted), "{wanted} is not in: {all}");
    }
    // The walls of the lines are those of a command's receipt, in the receipt's own words.
    let receipt = site.receipt("true");
    for wall in receipt["enforcers"].as_array().unwrap() {
        let (what, by) = (wall["what"].as_str().unwrap(), wall["by"].as_str().unwrap());
        let mut held = lines.iter().filter(|line| {
            let name = line["what"].as_str().unwrap();
            name == what || name == format!("limit on {what}")
        });
        let said = |line: &Value| line["enforcer"].as_str().unwrap().ends_with(by);
        assert!(what == "writes" || held.any(said), "{wall}: {lines:#?}");
    }
    let weaker = lines.iter().filter(|line| line["state"] == "weaker");
    for line in weaker {
        assert_ne!(line["remedy"], "", "{line}");
    }
    assert!(site.state().join("gate/host.json").is_file());
    let outside = tempfile::tempdir().unwrap();
    let ran = site
        .command(&["doctor"])
        .current_dir(outside.path())
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&ran.stdout).contains("transaction lane"));
}
