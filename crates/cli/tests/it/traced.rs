//! From a call to its record, its lines and back: the trace through the verbs that show it.

use std::fs;

use serde_json::Value;

use crate::ran::{Folder, Ran};

/// A workspace with a file from before, and one intent that is taken up.
pub(crate) fn set_up() -> Folder {
    let folder = Folder::empty().with("src/old.rs", "fn from_before() -> u32 {\n    41\n}\n");
    let ran = folder.run(&["init", "--yes", "--intent", "Weather", "--scope", "src/**"]);
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    let ran = folder.run(&["intent", "select", "INT-001", "--session", "s-1"]);
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    folder
}

/// Writes a file through the whole lifecycle; gives the call.
pub(crate) fn write(folder: &Folder, path: &str, content: &str) -> String {
    let input = serde_json::json!({
        "path": path, "content": content, "intent_id": "INT-001",
        "mutation_class": "INTENT_EVOLUTION",
    });
    let read = serde_json::json!({ "path": path }).to_string();
    folder.run(&["run", "read_file", "--input", &read, "--session", "s-1"]);
    let input = input.to_string();
    let words = [
        "run",
        "write_to_file",
        "--input",
        &input,
        "--session",
        "s-1",
    ];
    let ran = folder.run(&[&words[..], &["--json"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    let answer = &ran.json_lines()[0];
    assert_eq!(
        answer["warnings"].as_array().map_or(0, Vec::len),
        0,
        "{answer}"
    );
    answer["execution"].as_str().unwrap().to_owned()
}

pub(crate) fn text(folder: &Folder, path: &str) -> String {
    fs::read_to_string(folder.path().join(path)).unwrap()
}

/// What was printed with calls and times made alike.
fn masked(text: &str, calls: &[&str]) -> String {
    let mut text = text.to_owned();
    for (number, call) in calls.iter().enumerate() {
        text = text.replace(call, &format!("[CALL-{number}]"));
    }
    let mut words: Vec<String> = Vec::new();
    for word in text.split(' ') {
        let shape: String = word
            .chars()
            .map(|letter| if letter.is_ascii_digit() { '0' } else { letter })
            .collect();
        words.push(match shape.as_str() {
            "0000-00-00" => "[DATE]".to_owned(),
            "00:00:00" => "[TIME]".to_owned(),
            _ => word.to_owned(),
        });
    }
    let text = words.join(" ");
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.join("\n")
}

/// B3, H10, H11: agent, human and unknown lines are told apart.
#[test]
fn blame_tells_agent_human_and_unknown_apart() {
    let folder = set_up();
    let old = text(&folder, "src/old.rs");
    let call = write(
        &folder,
        "src/old.rs",
        &format!("{old}\nfn by_the_agent() -> u32 {{\n    42\n}}\n"),
    );
    let now = text(&folder, "src/old.rs");
    fs::write(
        folder.path().join("src/old.rs"),
        format!("{now}\nfn by_a_person() {{}}\n"),
    )
    .unwrap();
    let ran = folder.run(&["blame", "src/old.rs"]);
    insta::assert_snapshot!(masked(&ran.stdout, &[&call]), @"
    -        (unknown -                      -                   1) fn from_before() -> u32 {
    -        (unknown -                      -                   2)     41
    -?       (unknown -                      -                   3) }
    INT-001  (cli     [CALL-0] [DATE] [TIME] 4)
    INT-001  (cli     [CALL-0] [DATE] [TIME] 5) fn by_the_agent() -> u32 {
    INT-001? (cli     [CALL-0] [DATE] [TIME] 6)     42
    INT-001? (cli     [CALL-0] [DATE] [TIME] 7) }
    -        (human   -                      -                   8)
    -        (human   -                      -                   9) fn by_a_person() {}
    ");
    let ran = folder.run(&["blame", "src/old.rs", "--symbols"]);
    insta::assert_snapshot!(masked(&ran.stdout, &[&call]), @"
    1-3  function from_before  unknown
    5-7  function by_the_agent  INT-001 cli [CALL-0]
    9-9  function by_a_person  human
    ");
    let json = folder.run(&["blame", "src/old.rs", "--json"]).json_lines();
    let authors: Vec<&Value> = json[0]["lines"]
        .as_array()
        .unwrap()
        .iter()
        .map(|l| &l["author"])
        .collect();
    assert_eq!(authors[0], "unknown");
    assert_eq!(authors[4], "agent");
    assert_eq!(authors[8], "human");
    let porcelain = folder.run(&["blame", "src/old.rs", "--porcelain"]).stdout;
    assert!(
        porcelain.contains(&format!("{call} 4 certain\nintent INT-001\nsession s-1\n")),
        "{porcelain}"
    );
}

/// H11, H12, H16: the record stands in the tree with its event's hash, and is found by what it
/// says.
#[test]
fn a_change_is_a_record_in_the_tree() {
    let folder = set_up();
    let call = write(
        &folder,
        "src/shop.rs",
        "pub struct Shop;\n\nimpl Shop {\n    pub fn open(&self) {}\n}\n",
    );
    let lines = text(&folder, ".orchestration/agent_trace.jsonl");
    let record: Value = serde_json::from_str(lines.trim()).unwrap();
    assert_eq!(record["call_id"], call.as_str());
    assert_eq!(record["declared_class"], "INTENT_EVOLUTION");
    assert_eq!(record["computed_class"], "INTENT_EVOLUTION");
    let log = folder
        .run(&["log", "--json", "--file", "src/shop.rs"])
        .stdout;
    assert!(log.contains(&call), "{log}");
    assert!(
        record["ledger_event"]
            .as_str()
            .unwrap()
            .starts_with("sha256:")
    );
    let map = text(&folder, ".orchestration/intent_map.md");
    assert!(
        map.contains("- `INT-001` `src/shop.rs` `Shop::open`"),
        "{map}"
    );
    for words in [
        &["--intent", "INT-001"][..],
        &["--symbol", "Shop::open"],
        &["--file", "src/shop.rs"],
        &["--since", "1h"],
    ] {
        let ran = folder.run(&[&["trace", "query", "--json"][..], words].concat());
        assert_eq!(
            ran.json_lines()[0]["call_id"],
            call.as_str(),
            "{words:?}: {}",
            ran.shown()
        );
    }
    let ran = folder.run(&["trace", "query", "--symbol", "Shop::close"]);
    assert!(ran.stdout.is_empty(), "{}", ran.shown());
    let ran = folder.run(&["trace", "query"]);
    assert!(
        ran.stdout
            .contains("INT-001  INTENT_EVOLUTION  write_to_file"),
        "{}",
        ran.shown()
    );
}

/// H11: the other forms, and records read back where they came from.
#[test]
fn records_leave_and_come_back() {
    let folder = set_up();
    write(&folder, "src/a.rs", "pub fn one() {}\n");
    let ran = folder.run(&["trace", "export", "--format", "agent-trace"]);
    assert_eq!(ran.json_lines()[0]["version"], "0.1.0", "{}", ran.shown());
    let note = folder
        .run(&["trace", "export", "--format", "git-ai"])
        .stdout;
    assert!(
        note.starts_with("src/a.rs\n  s_") && note.contains("authorship/3.0.0"),
        "{note}"
    );
    let other = set_up().with("theirs.jsonl", &ran.stdout);
    let read = other.run(&["trace", "import", "theirs.jsonl", "--yes", "--json"]);
    assert_eq!(read.json_lines()[0]["new"], 1, "{}", read.shown());
    let again = other.run(&["trace", "import", "theirs.jsonl", "--yes", "--json"]);
    assert_eq!(again.json_lines()[0]["new"], 0, "{}", again.shown());
    let ran = other.run(&["trace", "query", "--file", "src/a.rs", "--json"]);
    assert_eq!(ran.json_lines().len(), 1, "{}", ran.shown());
}

/// A trace that is lost is made again from the ledger, and the files in the tree say nothing twice
/// that readers would count twice.
#[test]
fn a_lost_trace_is_caught_up() {
    let folder = set_up();
    let call = write(&folder, "src/a.rs", "pub fn one() {}\n");
    let before = folder.run(&["blame", "src/a.rs"]).stdout;
    let state = folder.run(&["init", "--yes", "--json"]).json_lines()[0]["state"].clone();
    let state = state
        .as_str()
        .unwrap()
        .replace("[FOLDER]/home", &folder.home().display().to_string());
    fs::remove_dir_all(format!("{state}/trace")).unwrap();
    let after = folder.run(&["blame", "src/a.rs"]);
    assert_eq!(after.stdout, before, "{}", after.shown());
    assert!(after.stdout.contains(&call));
}

pub(crate) fn undo(folder: &Folder, words: &[&str]) -> Ran {
    folder.run(&[&["undo", "--yes"][..], words].concat())
}

/// B4: exactly what the call changed, later work kept, and an undo of the undo.
#[test]
fn undo_keeps_later_work_and_is_undone_itself() {
    let folder = set_up();
    let body = "fn a() {}\n\nfn b() {}\n\nfn c() {}\n\nfn d() {}\n";
    write(&folder, "src/a.rs", body);
    let changed = body.replace("fn a() {}", "fn a() { one() }");
    let call = write(&folder, "src/a.rs", &changed);
    let later = changed.replace("fn d() {}", "fn d() { by_hand() }");
    fs::write(folder.path().join("src/a.rs"), &later).unwrap();
    let dry = folder.run(&["undo", &call, "--dry-run"]);
    insta::assert_snapshot!(masked(&dry.stdout, &[]), @"
    --- a/src/a.rs
    +++ b/src/a.rs
    @@ -1,4 +1,4 @@
    -fn a() { one() }
    +fn a() {}

     fn b() {}
    ");
    assert_eq!(text(&folder, "src/a.rs"), later);
    let ran = undo(&folder, &[&call, "--json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    assert_eq!(
        text(&folder, "src/a.rs"),
        later.replace("fn a() { one() }", "fn a() {}")
    );
    let undone = ran.json_lines()[0]["execution"]
        .as_str()
        .unwrap()
        .to_owned();
    let log = folder.run(&["log", "--json"]).stdout;
    assert!(
        log.contains("\"kind\":\"undo\"") && log.contains(&undone),
        "{log}"
    );
    let again = undo(&folder, &[&call, "--json"]);
    assert_eq!(
        again.json_lines()[0]["status"],
        "unchanged",
        "{}",
        again.shown()
    );
    let redo = undo(&folder, &[&undone]);
    assert_eq!(redo.code, Some(0), "{}", redo.shown());
    assert_eq!(text(&folder, "src/a.rs"), later);
    assert_eq!(folder.run(&["verify"]).code, Some(0));
}

/// B4: the same lines are a conflict with both sides, and nothing is written.
#[test]
fn undo_of_lines_that_changed_since_is_a_conflict() {
    let folder = set_up();
    write(&folder, "src/a.rs", "fn a() {}\n");
    let call = write(&folder, "src/a.rs", "fn a() { one() }\n");
    fs::write(folder.path().join("src/a.rs"), "fn a() { two() }\n").unwrap();
    let ran = undo(&folder, &[&call]);
    assert_eq!(ran.code, Some(4), "{}", ran.shown());
    insta::assert_snapshot!(masked(&ran.stdout, &[&call]), @"
    src/a.rs:1
    <<<<<<< as it is
    fn a() { two() }
    =======
    fn a() {}
    >>>>>>> before [CALL-0]
    ");
    assert_eq!(text(&folder, "src/a.rs"), "fn a() { two() }\n");
}

/// B4: everything of an intent, files that it made and those that it changed.
#[test]
fn undo_of_an_intent_leaves_what_was_there() {
    let folder = set_up();
    let old = text(&folder, "src/old.rs");
    write(&folder, "src/old.rs", &format!("{old}// more\n"));
    write(&folder, "src/deep/new.rs", "fn new() {}\n");
    let ran = undo(&folder, &["--intent", "INT-001"]);
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    assert_eq!(text(&folder, "src/old.rs"), old);
    assert!(!folder.path().join("src/deep").exists());
    let ran = undo(&folder, &["x-nothing"]);
    assert_eq!(ran.code, Some(3), "{}", ran.shown());
}

/// B4: undoing is for people.
#[test]
fn undo_needs_a_person() {
    let folder = set_up();
    let call = write(&folder, "src/a.rs", "fn a() {}\n");
    let ran = folder.run(&["undo", &call]);
    assert_eq!(ran.code, Some(2), "{}", ran.shown());
    assert_eq!(text(&folder, "src/a.rs"), "fn a() {}\n");
}
