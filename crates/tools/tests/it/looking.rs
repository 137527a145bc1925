//! Reading, listing, searching, ranking and outlines.

use serde_json::{Value, json};
use tagout_vocab::Digest;

use crate::support::Place;

fn paths(value: &Value, key: &str) -> Vec<String> {
    let list = value[key].as_array().unwrap();
    list.iter()
        .map(|one| one["path"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_reading_shows_lines_and_notes_what_was_seen() {
    let place = Place::new(&[("a.txt", b"one\r\ntwo\r\nthree")]);
    let ran = place.call(
        "read_file",
        json!({"path": "./a.txt", "offset": 2, "limit": 1}),
    );
    assert_eq!(
        ran.output.unwrap(),
        json!({
            "path": "a.txt", "content": "two", "start_line": 2, "end_line": 2, "total_lines": 3,
            "bytes": 15, "binary": false, "truncated": false, "encoding": "utf-8", "line_endings": "crlf", "final_newline": false,
        })
    );
    assert_eq!(ran.seen, ["a.txt"]);
    let block = json!({"path": "a.txt", "mode": "indentation", "indentation": {"anchor_line": 2}});
    assert!(place.call("read_file", block).output.is_ok());
    for wrong in [
        json!({"path": "a.txt", "offset": 9}),
        json!({"path": "a.txt", "mode": "x"}),
    ] {
        let ran = place.call("read_file", wrong);
        assert!(ran.output.is_err() && ran.seen.is_empty());
    }
}

/// H13 A file that is not text, or too large to be decoded, is seen all the same, so that it can be
/// deleted or replaced.
#[test]
fn files_that_can_not_be_shown_are_seen() {
    let mut large = b"one\r\ntw\xc3\xa9\r\n".to_vec();
    large.extend(b"more\r\n".repeat(1_500_000));
    large.extend(b"end");
    let size = large.len();
    let place = Place::new(&[("bin", b"a\0b"), ("large", &large)]);
    let ran = place.call("read_file", json!({"path": "bin"}));
    assert_eq!(
        ran.output.unwrap(),
        json!({
            "path": "bin", "content": "", "start_line": 0, "end_line": 0, "total_lines": 0,
            "bytes": 3, "binary": true, "truncated": true, "encoding": "binary",
            "digest": Digest::of(b"a\0b").hex(), "line_endings": "none", "final_newline": false,
        })
    );
    assert_eq!(ran.seen, ["bin"]);
    let last = 1_500_003;
    for (offset, limit, content, truncated) in [
        (1, 2, "one\ntwé", false),
        (last - 1, 9, "more\nend", false),
        (last, 1, "end", false),
    ] {
        let ran = place.call(
            "read_file",
            json!({"path": "large", "offset": offset, "limit": limit}),
        );
        let shown = content.lines().count();
        assert_eq!(
            ran.output.unwrap(),
            json!({
                "path": "large", "content": content, "start_line": offset,
                "end_line": offset + shown - 1, "total_lines": last, "bytes": size,
                "binary": false, "truncated": truncated, "encoding": "utf-8",
                "line_endings": "crlf", "final_newline": false,
            })
        );
        assert_eq!(ran.seen, ["large"]);
    }
    let whole = place.call("read_file", json!({"path": "large"})).output;
    let whole = whole.unwrap();
    assert_eq!(
        (&whole["truncated"], &whole["end_line"]),
        (&json!(true), &json!(2_000))
    );
    for wrong in [
        json!({"path": "large", "offset": last + 1}),
        json!({"path": "large", "mode": "indentation"}),
    ] {
        let ran = place.call("read_file", wrong);
        assert!(ran.output.is_err() && ran.seen.is_empty());
    }
}

#[test]
fn a_listing_honours_ignore_files_on_the_way() {
    let place = Place::new(&[
        (".gitignore", b"*.log\n/build/\n"),
        ("src/a.rs", b""),
        ("src/b.log", b""),
        ("src/deep/c.rs", b""),
        ("build/out", b""),
        (".git/config", b""),
        (".github/ci.yml", b""),
    ]);
    let list = |path: &str, recursive: bool| {
        let ran = place.call("list_files", json!({"path": path, "recursive": recursive}));
        paths(&ran.output.unwrap(), "entries")
    };
    assert_eq!(list(".", false), [".github", ".gitignore", "src"]);
    assert_eq!(list("src", true), ["src/a.rs", "src/deep", "src/deep/c.rs"]);
    // A folder that is left out is shown to whoever asks for it by name.
    assert_eq!(list("build", false), ["build/out"]);
    assert_eq!(list("src/deep", true), ["src/deep/c.rs"]);
}

#[test]
fn a_search_finds_lines_in_every_encoding() {
    let utf16: Vec<u8> = [0xFF, 0xFE]
        .into_iter()
        .chain("nädel\r\n".encode_utf16().flat_map(u16::to_le_bytes))
        .collect();
    let place = Place::new(&[
        ("a.rs", b"hay\nn\xC3\xA4del\nhay\n"),
        ("b.txt", &utf16),
        ("c.txt", b"n\xE4del"),
        ("d.bin", b"n\xC3\xA4del\0"),
        ("sub/e.rs", b"none\n"),
    ]);
    let ran = place.call("search_files", json!({"path": ".", "regex": "n.del"}));
    let found = ran.output.unwrap();
    assert_eq!(paths(&found, "results"), ["a.rs", "b.txt", "c.txt"]);
    assert_eq!(
        (
            &found["matched_lines"],
            &found["files_searched"],
            &found["files_skipped"]
        ),
        (&json!(3), &json!(4), &json!(1))
    );
    let only = json!({"path": ".", "regex": "n", "file_pattern": "*.rs"});
    let found = place.call("search_files", only).output.unwrap();
    assert_eq!(paths(&found, "results"), ["a.rs", "sub/e.rs"]);
    for wrong in ["[", "!*.rs", ""] {
        let input = json!({"path": ".", "regex": "n", "file_pattern": wrong});
        assert!(place.call("search_files", input).output.is_err(), "{wrong}");
    }
    assert!(
        place
            .call("search_files", json!({"path": ".", "regex": "("}))
            .output
            .is_err()
    );
}

#[test]
fn a_ranked_search_answers_in_a_stable_order() {
    let place = Place::new(&[
        ("src/ledger.rs", b"fn append_event(event: &Event) {}\n"),
        ("src/paint.rs", b"fn colour() {}\n"),
        ("docs/a.md", b"events are appended\n"),
    ]);
    let ask = |query: &str| {
        place
            .call("codebase_search", json!({"query": query}))
            .output
    };
    let found = ask("where are events appended to the ledger").unwrap();
    assert_eq!(paths(&found, "results"), ["src/ledger.rs", "docs/a.md"]);
    assert_eq!(
        found,
        ask("where are events appended to the ledger").unwrap()
    );
    let within = json!({"query": "event", "path": "docs"});
    let found = place.call("codebase_search", within).output.unwrap();
    assert_eq!(paths(&found, "results"), ["docs/a.md"]);
    assert!(ask("what is the").is_err());
}

#[test]
fn definitions_of_a_folder_are_listed() {
    let place = Place::new(&[
        ("src/a.rs", b"pub fn f() {}\n"),
        ("src/b.py", b"class A:\n    def m(self): pass\n"),
        ("src/c.txt", b"fn no() {}\n"),
        ("src/deep/d.rs", b"fn g() {}\n"),
    ]);
    let list = |path: &str| {
        place
            .call("list_code_definition_names", json!({"path": path}))
            .output
    };
    assert_eq!(
        paths(&list("src").unwrap(), "files"),
        ["src/a.rs", "src/b.py"]
    );
    assert_eq!(
        list("src/a.rs").unwrap()["files"][0]["definitions"][0]["name"],
        "f"
    );
    assert!(list("src/c.txt").is_err());
}

#[test]
fn large_results_are_cut_and_say_so() {
    let place = Place::new(&[("many.txt", "x\n".repeat(2_000).as_bytes())]);
    let found = place
        .call("search_files", json!({"path": ".", "regex": "x"}))
        .output
        .unwrap();
    assert_eq!(
        (&found["matched_lines"], &found["truncated"]),
        (&json!(300), &json!(true))
    );
    for index in 0..1_100 {
        std::fs::write(place.root().join(format!("f{index}")), "").unwrap();
    }
    let found = place
        .call("list_files", json!({"path": "."}))
        .output
        .unwrap();
    assert_eq!(found["entries"].as_array().unwrap().len(), 1_000);
    assert_eq!(found["truncated"], true);
}
