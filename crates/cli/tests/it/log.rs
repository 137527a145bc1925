//! `tagout log`: what people read, what programs read, and what was asked for.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::sync::mpsc;
use std::time::Duration;

use tagout_ledger::LifecycleState;

use crate::ledgers::step;
use crate::ran::Folder;

fn numbers(folder: &Folder, args: &[&str]) -> Vec<u64> {
    let args: Vec<&str> = ["log", "--json"].iter().chain(args).copied().collect();
    let ran = folder.run(&args);
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    let lines = ran.json_lines();
    lines
        .iter()
        .map(|line| line["seq"].as_u64().unwrap())
        .collect()
}

#[test]
fn what_a_person_reads() {
    insta::assert_snapshot!(Folder::with_events().run(&["log"]).shown());
}

#[test]
fn what_was_asked_for() {
    let folder = Folder::with_events();
    assert_eq!(numbers(&folder, &[]), (0..10).collect::<Vec<u64>>());
    assert_eq!(numbers(&folder, &["--intent", "INT-001"]), [2, 3, 8, 9]);
    assert_eq!(numbers(&folder, &["--tool", "delete_file"]), [4, 5]);
    assert_eq!(numbers(&folder, &["--state", "completed"]), [3]);
    assert_eq!(numbers(&folder, &["--session", "s-2"]), [0; 0]);
    assert_eq!(numbers(&folder, &["--limit", "2"]), [8, 9]);
    assert_eq!(numbers(&folder, &["--since", "1s"]), [0; 0]);
    assert_eq!(
        numbers(&folder, &["--since", "2026-05-28T20:26:46Z"]),
        [6, 7, 8, 9]
    );
    assert_eq!(numbers(&folder, &["--file", "src/weather"]), [3, 9]);
    assert_eq!(numbers(&folder, &["--file", "./src/../tests/a.rs"]), [3]);
    assert_eq!(numbers(&folder, &["--file", "src/weather/b.rs"]), [0; 0]);
}

/// What programs get is exactly what was written, so that they can hash it.
#[test]
fn json_is_the_line_itself() {
    let folder = Folder::with_events();
    let ran = folder.run(&["log", "--json"]);
    assert_eq!(ran.stdout, fs::read_to_string(folder.segment()).unwrap());
}

/// An index that is missing or no index is built again.
#[test]
fn the_index_is_only_derived() {
    let folder = Folder::with_events();
    let before = numbers(&folder, &[]);
    fs::write(folder.ledger().join("index.db"), "nonsense").unwrap();
    assert_eq!(numbers(&folder, &[]), before);
    fs::remove_file(folder.ledger().join("index.db")).unwrap();
    assert_eq!(numbers(&folder, &[]), before);
}

#[test]
fn an_empty_ledger() {
    let folder = Folder::with_ledger();
    insta::assert_snapshot!(folder.run(&["log"]).shown(), @r"
    exit: 0
    --- stdout
    --- stderr
    no events
    ");
    assert_eq!(folder.run(&["log", "--json"]).stdout, "");
}

/// A name from elsewhere can't forge a line or move the cursor.
#[test]
fn hostile_names_are_shown_as_codes() {
    let folder = Folder::with_ledger();
    let tool = "edit\u{1b}[2K\r\n2026-01-01 00:00:00  1\u{202e}";
    drop(
        folder
            .open()
            .append(&[step(1, tool, "ex-1", LifecycleState::Declared)])
            .unwrap(),
    );
    let ran = folder.run(&["log"]);
    assert_eq!(ran.stdout.lines().count(), 1, "{}", ran.shown());
    assert!(
        !ran.stdout.contains(['\u{1b}', '\r', '\u{202e}']),
        "{}",
        ran.shown()
    );
}

#[test]
fn following() {
    let folder = Folder::with_events();
    let mut command = folder.command(&["log", "--follow", "--json", "--limit", "1"]);
    let mut child = command
        .stdout(Stdio::piped())
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    let (sender, lines) = mpsc::channel();
    let out = BufReader::new(child.stdout.take().unwrap());
    let reading = std::thread::spawn(move || {
        out.lines()
            .map_while(Result::ok)
            .try_for_each(|line| sender.send(line))
    });
    let next = || lines.recv_timeout(Duration::from_secs(60)).unwrap();
    assert!(next().starts_with("{\"seq\":9,"));
    drop(
        folder
            .open()
            .append(&[step(10, "edit", "ex-4", LifecycleState::Declared)])
            .unwrap(),
    );
    assert!(next().starts_with("{\"seq\":10,"));
    child.kill().unwrap();
    child.wait().unwrap();
    reading.join().unwrap().unwrap();
}

#[test]
fn wrong_words() {
    let folder = Folder::with_events();
    for args in [
        ["--since", "yesterday"],
        ["--state", "DONE"],
        ["--intent", ""],
        ["--limit", "many"],
    ] {
        let ran = folder.run(&["log", args[0], args[1]]);
        assert_eq!(ran.code, Some(3), "{args:?} {}", ran.shown());
        assert!(ran.stderr.contains(args[0]), "{}", ran.shown());
    }
}
