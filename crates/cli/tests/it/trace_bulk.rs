//! The trace's records in numbers and of bad will: all of them come out, and nothing that comes in
//! stands in the way of the others.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;

use serde_json::Value;

use crate::traced::{set_up, write};

/// H16: every record is exported, also beyond what one question is answered with, in all forms and
/// in the order in which they came; a query that shows fewer says so.
#[test]
fn slow_export_writes_every_record() {
    const RECORDS: usize = 10_050;
    let mut text = String::new();
    for number in 0..RECORDS {
        writeln!(
            text,
            "{{\"id\":\"theirs-{number}\",\"timestamp\":{},\"file_path\":\"src/a.rs\",\
             \"intent_id\":\"INT-001\",\"content_hash\":\"n/a\"}}",
            1_700_000_000_000_u64 + u64::try_from(number).unwrap()
        )
        .unwrap();
    }
    let folder = set_up().with("theirs.jsonl", text);
    let call = write(&folder, "src/a.rs", "pub fn one() {}\n");
    let read = folder.run(&["trace", "import", "theirs.jsonl", "--yes", "--json"]);
    assert_eq!(read.json_lines()[0]["new"], RECORDS, "{}", read.stderr);
    let exported = folder.run(&["trace", "export"]).json_lines();
    assert_eq!(exported.len(), RECORDS + 1);
    assert_eq!(exported[0]["call_id"], call.as_str());
    for (number, record) in exported.iter().skip(1).enumerate() {
        assert_eq!(record["id"], format!("theirs-{number}"));
    }
    let other = folder.run(&["trace", "export", "--format", "agent-trace"]);
    assert_eq!(other.stdout.lines().count(), RECORDS + 1);
    for words in [&[][..], &["--file", "src/a.rs"], &["--since", "2001-01-01"]] {
        let ran = folder.run(&[&["trace", "query", "--json"][..], words].concat());
        assert_eq!(ran.stdout.lines().count(), 10_000);
        assert!(
            ran.stderr.contains("only the newest 10000"),
            "{}",
            ran.stderr
        );
        let first: Value = serde_json::from_str(ran.stdout.lines().next().unwrap()).unwrap();
        assert_eq!(first["call_id"], call.as_str(), "the newest comes first");
        let more = [&["trace", "query", "--json", "--limit", "20000"][..], words].concat();
        let ran = folder.run(&more);
        assert_eq!(ran.stdout.lines().count(), RECORDS + 1);
        assert_eq!(ran.stderr, "");
    }
}

/// Records of bad will: what can't be kept is told with its place, and everything else still works.
#[test]
fn hostile_records_hide_nothing() {
    let deep = format!("{}1{}", "[".repeat(4_000), "]".repeat(4_000));
    let many = vec!["{\"file\":\"a\"}"; 300_000].join(",");
    let lines = [
        // Times that nothing can write down again.
        "{\"id\":\"late\",\"timestamp\":9223372036854775807,\"file\":\"a\"}".to_owned(),
        "{\"id\":\"early\",\"timestamp\":-9223372036854775808,\"file\":\"a\"}".to_owned(),
        "{\"id\":\"out\",\"timestamp\":1,\"file\":\"../../../../etc/passwd\"}".to_owned(),
        "{\"id\":\"root\",\"timestamp\":2,\"file\":\"/etc/passwd\"}".to_owned(),
        "{\"id\":\"bell\",\"timestamp\":3,\"file\":\"src/\\u0007\\u001b[2Jx\",\"tool\":\"\\u001b]0;x\"}"
            .to_owned(),
        "{\"id\":\"hash\",\"timestamp\":4,\"file\":\"a\",\"content_hash\":\"sha256:zz\"}".to_owned(),
        format!("{{\"id\":\"deep\",\"timestamp\":5,\"file\":\"a\",\"x\":{deep}}}"),
        format!("{{\"version\":1,\"id\":\"many\",\"modified_ranges\":[{many}]}}"),
        "{\"version\":1,\"id\":\"odd\",\"modified_ranges\":7}".to_owned(),
        "{\"version\":99,\"id\":\"new\"}".to_owned(),
        "{\"id\":\"good\",\"timestamp\":6,\"file\":\"src/b.rs\",\"intent_id\":\"INT-001\"}".to_owned(),
    ];
    let folder = set_up().with("theirs.jsonl", lines.join("\n"));
    let call = write(&folder, "src/a.rs", "pub fn one() {}\n");
    let read = folder.run(&["trace", "import", "theirs.jsonl", "--yes", "--json"]);
    assert_eq!(read.code, Some(0), "{}", read.shown());
    let exported = folder.run(&["trace", "export"]);
    assert_eq!(exported.code, Some(0), "{}", exported.stderr);
    let ids: BTreeSet<String> = exported
        .json_lines()
        .iter()
        .map(|record| record["id"].as_str().unwrap().to_owned())
        .collect();
    let own = format!("t-{call}");
    let kept = [own.as_str(), "out", "root", "bell", "hash", "good"];
    assert_eq!(
        ids,
        kept.into_iter().map(str::to_owned).collect(),
        "{}",
        read.stderr
    );
    assert_eq!(read.json_lines()[0]["damaged"], 6, "{}", read.shown());
    for line in ["1:", "2:", "7:", "8:", "9:", "10:"] {
        let is_told = read.stderr.lines().any(|told| told.starts_with(line));
        assert!(is_told, "{line} {}", read.stderr);
    }
    let shown = folder.run(&["trace", "query"]);
    assert!(
        !shown.stdout.contains(['\u{7}', '\u{1b}']),
        "{:?}",
        shown.stdout
    );
    assert_eq!(
        folder
            .run(&["trace", "query", "--file", "src/b.rs"])
            .stdout
            .lines()
            .count(),
        1
    );
    let note = folder.run(&["trace", "export", "--format", "git-ai"]);
    assert!(!note.stdout.contains("passwd"), "{}", note.stdout);
    let blame = folder.run(&["blame", "src/a.rs"]);
    assert!(blame.stdout.contains(&call), "{}", blame.shown());
    let map = fs::read_to_string(folder.path().join(".orchestration/intent_map.md")).unwrap();
    assert!(!map.contains(['\u{7}', '\u{1b}']), "{map:?}");
}
