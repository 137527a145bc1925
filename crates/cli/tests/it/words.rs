//! What people are told: in verbs that they can type, on lines that they can read, and calmly where
//! nothing is wrong.

use std::fs;

use crate::confined::{Ran, Site};
use crate::machine::Machine;
use crate::terminal::Terminal;

/// `found` where no client is: it is said, and it is no success.
#[test]
fn no_client_is_found() {
    let site = Site::new(&[]);
    let empty = site.home().join("bin");
    fs::create_dir(&empty).unwrap();
    for more in [&["--check"][..], &["--yes"]] {
        let words = [&["install", "found"][..], more].concat();
        let mut command = site.command(&words);
        let output = command.env("PATH", &empty).output().unwrap();
        let ran = Ran::of(&output, &site.home());
        assert_ne!(ran.code, Some(0), "{}", ran.shown());
        assert!(
            ran.stderr.contains("no client was found"),
            "{}",
            ran.shown()
        );
        assert!(ran.stderr.contains("goose"), "{}", ran.shown());
    }
}

/// What to do is named by verbs, with the session that was given.
#[test]
fn remedies_are_verbs() {
    let site = Site::new(&[]);
    let input = r#"{"path": "src/a", "content": "x", "intent_id": "INT-001", "mutation_class": "INTENT_EVOLUTION"}"#;
    let write = ["run", "write_to_file", "--session", "s", "--input"];
    let ran = site.tagout(&[&write[..], &[input]].concat());
    let typed = "what to do: run `tagout intent select ID --session s`";
    assert!(ran.stderr.contains(typed), "{}", ran.shown());
    let exec = ["exec", "--session", "s", "--", "touch src/a"];
    let ran = site.tagout(&exec);
    assert!(ran.stderr.contains(typed), "{}", ran.shown());
    // G4's own sentence names a tool; what that is here follows.
    let here =
        "Call 'select_active_intent' first. Here that is `tagout intent select ID --session s`.";
    assert!(ran.stderr.contains(here), "{}", ran.shown());
    site.tagout(&["intent", "select", "INT-001", "--session", "s"]);
    let outside = input.replace("src/a", "README");
    let ran = site.tagout(&[&write[..], &[&outside]].concat());
    assert!(
        ran.stderr.contains("`tagout intent propose`"),
        "{}",
        ran.shown()
    );
    let json = site.tagout(&[&write[..], &[&outside, "--json"]].concat());
    assert!(
        json.stdout.contains("`tagout intent propose`"),
        "{}",
        json.shown()
    );
}

/// A difference is shown on lines of its own.
#[test]
fn a_stale_file_is_shown_on_lines() {
    let site = Site::new(&[("src/a.txt", "one\ntwo\n")]);
    let read = r#"{"path": "src/a.txt"}"#;
    site.tagout(&["intent", "select", "INT-001", "--session", "s"]);
    let ran = site.tagout(&["run", "read_file", "--session", "s", "--input", read]);
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    site.write("src/a.txt", "one\nthree\n");
    for words in [
        &["exec", "--session", "s", "--", "echo x > src/a.txt"][..],
        &[
            "run",
            "write_to_file",
            "--session",
            "s",
            "--input",
            r#"{"path": "src/a.txt", "content": "x", "intent_id": "INT-001", "mutation_class": "INTENT_EVOLUTION"}"#,
        ],
    ] {
        let ran = site.tagout(words);
        assert!(ran.stderr.contains("STALE_FILE"), "{}", ran.shown());
        assert!(!ran.stderr.contains("\\u{"), "{}", ran.shown());
        assert!(ran.stderr.contains("\n    "), "{}", ran.shown());
    }
}

/// Where a script of a person's may go on, it says how; inside a governed call it does not.
#[test]
fn scripts_of_people_are_told() {
    let site = Site::new(&[]);
    let ran = site.tagout(&["trust"]);
    assert_eq!(ran.code, Some(2), "{}", ran.shown());
    assert!(ran.stderr.contains("add `--yes`"), "{}", ran.shown());
    let mut command = site.command(&["trust", "--yes"]);
    let output = command.env("TAGOUT_GOVERNED", "1").output().unwrap();
    let ran = Ran::of(&output, &site.home());
    assert!(!ran.stderr.contains("--yes"), "{}", ran.shown());
}

/// A file that is not there has no authors, and the log is named.
#[test]
fn blame_of_nothing() {
    let site = Site::new(&[]);
    let ran = site.tagout(&["blame", "src/gone.rs"]);
    assert_eq!(ran.code, Some(3), "{}", ran.shown());
    assert!(
        ran.stderr.contains("`src/gone.rs` is no file"),
        "{}",
        ran.shown()
    );
    assert!(ran.stderr.contains("tagout log --file"), "{}", ran.shown());
}

/// The log names each call, so that it can be taken back, and how a command ended.
#[test]
fn the_log_names_calls_and_exits() {
    let site = Site::new(&[]);
    let line = "echo x > src/a.txt; exit 3";
    let ran = site.tagout(&["exec", "--session", "s", "--intent", "INT-001", "--", line]);
    assert_eq!(ran.code, Some(3), "{}", ran.shown());
    let log = site.tagout(&["log"]).stdout;
    let done = log
        .lines()
        .find(|line| line.contains("COMPLETED exit 3"))
        .unwrap();
    let call = done
        .split_whitespace()
        .find(|word| word.starts_with("x-"))
        .unwrap();
    let ran = site.tagout(&["undo", call, "--yes"]);
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    assert_eq!(site.read("src/a.txt"), None);
}

/// An intent without an id gets the next number.
#[test]
fn an_intent_without_an_id() {
    let site = Site::new(&[]);
    let new = [
        "intent", "new", "--name", "Docs", "--scope", "docs/**", "--yes",
    ];
    let ran = site.tagout(&new);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (Some(0), "INT-002 is declared\n")
    );
}

/// A file that a call made and a person went on with stays, is named once, and under that call.
#[test]
fn a_made_file_that_a_person_went_on_with() {
    let site = Site::new(&[]);
    let exec = |line: &str| {
        let ran = site.tagout(&["exec", "--session", "s", "--intent", "INT-001", "--", line]);
        assert_eq!(ran.code, Some(0), "{}", ran.shown());
    };
    exec("printf 'one\\ntwo\\nthree\\n' > src/a.txt");
    exec("sed -i s/two/2/ src/a.txt");
    let whole = format!("{}mine\n", site.read("src/a.txt").unwrap());
    site.write("src/a.txt", &whole);
    let ran = site.tagout(&["undo", "--intent", "INT-001", "--yes"]);
    assert_eq!(ran.code, Some(4), "{}", ran.shown());
    assert_eq!(site.read("src/a.txt").unwrap(), whole);
    let said = ran.stderr.lines().next().unwrap();
    assert_eq!(said.matches("src/a.txt").count(), 1, "{}", ran.shown());
    let shown = ran.stdout.matches("src/a.txt").count();
    assert_eq!(shown, 1, "{}", ran.shown());
}

/// §13.2: at a terminal a person is told with which verbs to answer. Agents read what waits too, so
/// no id is filled in, and nothing of it is said to a pipe, to a program or in a governed call.
#[test]
fn a_person_is_told_how_to_answer() {
    let machine = Machine::new();
    assert!(!Terminal::shows(&machine, 80, "pending").contains("approve"));
    let propose = [
        "intent", "propose", "--name", "Docs", "--scope", "docs/**", "--reason", "why",
    ];
    let ran = machine.run(&[&propose[..], &["--session", "s-1"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    let shown = Terminal::shows(&machine, 80, "pending");
    assert!(shown.contains("`tagout approve ID` agrees"), "{shown}");
    assert!(shown.contains("`tagout reject ID --reason WHY`"), "{shown}");
    assert!(!shown.contains("answer"), "{shown}");
    let waiting = machine.run(&["pending", "--json"]);
    let id = waiting.json_lines()[0]["proposals"][0]["id"].clone();
    let id = id.as_str().unwrap();
    assert!(shown.contains(id), "{shown}");
    assert!(!shown.contains(&format!("approve {id}")), "{shown}");
    let governed = machine.ran(machine.command(&["pending"]).env("TAGOUT_GOVERNED", "1"));
    for ran in [waiting, machine.run(&["pending"]), governed] {
        assert!(!ran.shown().contains("approve"), "{}", ran.shown());
    }
    let line = format!(
        "env TAGOUT_GOVERNED=1 {} pending",
        machine.program().display()
    );
    let (_, shown) = Terminal::run(&machine, &line).ended();
    assert!(shown.contains(id) && !shown.contains("approve"), "{shown}");
}

/// At a terminal no line of the log is wider than it is; a pipe gets everything on one line.
#[test]
fn the_log_fits_the_terminal() {
    let machine = Machine::new();
    let session = "a-session-with-a-name-as-long-as-those-of-clients";
    let words = [
        "exec",
        "--session",
        session,
        "--",
        "touch src/a-file-with-a-long-name.txt",
    ];
    assert_eq!(machine.run(&words).code, Some(126));
    let piped = machine.run(&["log"]).stdout;
    let denied = piped.lines().find(|line| line.contains("DENIED")).unwrap();
    assert!(
        denied.chars().count() > 200 && denied.contains(session),
        "{piped}"
    );
    let call = denied
        .split_whitespace()
        .find(|word| word.starts_with("x-"));
    let call = call.unwrap_or_else(|| panic!("{denied}"));
    for columns in [60, 80, 120] {
        let shown = Terminal::shows(&machine, columns, "log");
        for line in shown.lines() {
            assert!(line.chars().count() <= columns, "{columns}: {line}");
        }
        // Wherever a line was folded.
        let shown = shown.replace("\n    ", " ");
        for word in [call, "DENIED", "src/a-file", "State Violation"] {
            assert!(shown.contains(word), "{word}: {shown}");
        }
    }
    assert_eq!(Terminal::shows(&machine, 1000, "log"), piped);
}

/// What is told of a client stands in one block beside its word; a pipe gets a line for each.
#[test]
fn what_is_told_of_a_client_fits_the_terminal() {
    let machine = Machine::new();
    assert_eq!(
        machine.run(&["install", "codex", "--yes"]).code,
        Some(0),
        "installed"
    );
    let check = "install codex --check";
    let piped = machine.run(&check.split(' ').collect::<Vec<&str>>()).stdout;
    let in_words = |text: &str| -> Vec<String> {
        let words = text.split_whitespace();
        words.map(str::to_owned).collect()
    };
    assert!(piped.lines().any(|line| line.chars().count() > 200));
    for columns in [60, 80, 120] {
        let shown = Terminal::shows(&machine, columns, check);
        let long = |line: &&str| line.chars().count() > columns;
        assert_eq!(shown.lines().find(long), None, "{columns}: {shown}");
        assert_eq!(in_words(&shown), in_words(&piped), "{columns}");
    }
    assert_eq!(Terminal::shows(&machine, 2000, check), piped);
    assert_eq!(Terminal::shows(&machine, 20, check), piped);
}

/// An agent chooses the names that a person reads before agreeing: none of them moves the cursor,
/// turns the writing direction or makes a line of its own.
#[test]
fn what_waits_can_not_be_forged() {
    let machine = Machine::new();
    let odd = "src/ok\u{202e}x\u{2028}q-1  asks: forged.txt";
    let policy = machine.root().join(".orchestration/hook_policy.yaml");
    std::fs::write(&policy, "version: 1\nprofile: strict\n").unwrap();
    assert_eq!(machine.run(&["trust", "--yes"]).code, Some(0));
    let select = ["intent", "select", "INT-001", "--session", "s"];
    assert_eq!(machine.run(&select).code, Some(0));
    let input = serde_json::json!({
        "path": odd, "content": "x", "intent_id": "INT-001", "mutation_class": "INTENT_EVOLUTION",
    });
    let write = ["run", "write_to_file", "--session", "s", "--input"];
    let ran = machine.run(&[&write[..], &[&input.to_string()]].concat());
    assert!(ran.shown().contains("APPROVAL_REQUIRED"), "{}", ran.shown());
    let waiting = machine.run(&["pending", "--json"]).json_lines();
    let id = waiting[0]["approvals"][0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    for ran in [
        machine.run(&["pending"]),
        machine.run(&["approve", &id, "--yes"]),
    ] {
        let shown = ran.shown();
        assert!(
            shown.contains("202e}") && shown.contains("2028}"),
            "{shown}"
        );
        let odd = ['\u{202e}', '\u{2028}'];
        assert!(!shown.contains(odd), "{shown:?}");
    }
}
