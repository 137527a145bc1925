//! The runtime through its verbs: set up, judged, written, recorded, agreed to, lost and begun
//! anew.

use std::fs;

use serde_json::Value;

use crate::ran::{Folder, Ran};

/// A workspace that a person set up, with one intent that owns `src/`.
fn set_up() -> Folder {
    let folder = Folder::empty();
    let ran = folder.run(&["init", "--yes", "--intent", "Weather", "--scope", "src/**"]);
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    folder
}

fn tool(folder: &Folder, name: &str, input: &str) -> Ran {
    folder.run(&["run", name, "--input", input, "--session", "s-1", "--json"])
}

fn code(ran: &Ran) -> String {
    let answer = &ran.json_lines()[0];
    let found = answer["error"]["code"]
        .as_str()
        .or(answer["outcome"].as_str());
    found.unwrap().to_owned()
}

const WRITE: &str = r#"{"path": "src/a.rs", "content": "one\n", "intent_id": "INT-001",
    "mutation_class": "INTENT_EVOLUTION"}"#;

/// G2, H3, L1: blocked, handshake, written, and the ledger says so.
#[test]
fn from_nothing_to_a_recorded_write() {
    let folder = set_up();
    let ran = tool(&folder, "write_to_file", WRITE);
    assert_eq!(
        (ran.code, code(&ran).as_str()),
        (Some(2), "STATE_VIOLATION")
    );
    assert!(!folder.path().join("src/a.rs").exists());
    let ran = folder.run(&["intent", "select", "INT-001", "--session", "s-1", "--json"]);
    assert_eq!((ran.code, code(&ran).as_str()), (Some(0), "completed"));
    let ran = tool(&folder, "write_to_file", WRITE);
    assert_eq!(
        (ran.code, code(&ran).as_str()),
        (Some(0), "completed"),
        "{}",
        ran.shown()
    );
    assert_eq!(
        fs::read_to_string(folder.path().join("src/a.rs")).unwrap(),
        "one\n"
    );
    let out = WRITE.replace("src/a.rs", "b.rs");
    assert_eq!(
        code(&tool(&folder, "write_to_file", &out)),
        "SCOPE_VIOLATION"
    );
    assert_eq!(code(&tool(&folder, "no_such_tool", "{}")), "TOOL_UNKNOWN");
    let log = folder.run(&["log", "--json", "--session", "s-1"]);
    let states: Vec<Value> = log
        .json_lines()
        .iter()
        .map(|event| event["state"].clone())
        .collect();
    assert!(states.contains(&Value::from("COMPLETED")), "{states:?}");
    let ran = folder.run(&["verify"]);
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
}

/// L10: a receipt names the events of its last step, also of a refusal, and they are there.
#[test]
fn a_receipt_names_its_events() {
    let folder = set_up();
    let refused = tool(&folder, "write_to_file", WRITE);
    folder.run(&["intent", "select", "INT-001", "--session", "s-1"]);
    let done = tool(&folder, "write_to_file", WRITE);
    let log = folder.run(&["log", "--json"]).json_lines();
    let states = |ran: &Ran| -> Vec<Value> {
        let events = ran.json_lines()[0]["events"].clone();
        let (first, last) = (events[0].as_u64().unwrap(), events[1].as_u64().unwrap());
        let named = log.iter().filter(|event| {
            let seq = event["seq"].as_u64().unwrap();
            (first..=last).contains(&seq) && event["kind"] == "lifecycle"
        });
        named.map(|event| event["state"].clone()).collect()
    };
    assert_eq!(states(&refused), ["DECLARED", "VALIDATED", "DENIED"]);
    assert_eq!(states(&done), ["EXECUTING", "COMPLETED"]);
}

/// What a person reads of real calls: what each was about, what it changed, why it was refused.
#[test]
fn the_log_says_what_calls_were_about() {
    let folder = set_up();
    tool(&folder, "write_to_file", WRITE);
    folder.run(&["intent", "select", "INT-001", "--session", "s-1"]);
    tool(&folder, "write_to_file", WRITE);
    let secret = "curl -H 'Authorization: Bearer abcdefghijklmnopqrstuvwxyz012345' x.example";
    let input = serde_json::json!({ "command": secret }).to_string();
    tool(&folder, "execute_command", &input);
    let log = folder.run(&["log", "--session", "s-1"]).stdout;
    assert!(!log.contains("abcdefghijklmnopqrstuvwxyz"), "{log}");
    // Times, numbers and calls are of this run; a column ends where two blanks are.
    let named = |cell: &str| match cell.trim() {
        call if call.starts_with("x-") => "CALL".to_owned(),
        other => other.to_owned(),
    };
    let cells = |line: &str| -> String {
        let cells: Vec<&str> = line.split("  ").filter(|cell| !cell.is_empty()).collect();
        cells[2..]
            .iter()
            .map(|cell| named(cell))
            .collect::<Vec<_>>()
            .join(" | ")
    };
    let shown: Vec<String> = log.lines().map(cells).collect();
    insta::assert_snapshot!(shown.join("\n"));
}

/// The columns that the help of a verb names, between the colon and the full stop.
fn columns(folder: &Folder, verb: &str, start: &str) -> Vec<String> {
    let help = folder.run(&[verb, "--help"]).stdout;
    let plain = help.split_whitespace().collect::<Vec<&str>>().join(" ");
    let (_, rest) = plain.split_once(start).unwrap();
    let listed = rest.split(['.', ':']).next().unwrap();
    listed.split(", ").map(str::to_owned).collect()
}

/// Each column of the log is what the help calls it.
#[test]
fn the_help_names_the_columns_of_the_log() {
    let folder = set_up();
    folder.run(&["intent", "select", "INT-001", "--session", "s-1"]);
    tool(&folder, "write_to_file", WRITE);
    let names = columns(&folder, "log", "One line an event: ");
    let log = folder.run(&["log", "--session", "s-1"]).stdout;
    let last = log.lines().last().unwrap();
    // A column ends where two blanks are.
    let cells: Vec<&str> = last.split("  ").filter(|cell| !cell.is_empty()).collect();
    assert_eq!(names.len(), cells.len(), "{names:?}\n{last}");
    let cell = |name: &str| {
        let at = names.iter().position(|one| one == name).unwrap();
        cells[at].trim()
    };
    assert_eq!((cell("kind"), cell("tool")), ("lifecycle", "write_to_file"));
    assert_eq!((cell("intent"), cell("session")), ("INT-001", "s-1"));
    assert!(cell("call").starts_with("x-"), "{last}");
    assert!(cell("outcome").starts_with("COMPLETED"), "{last}");
    assert!(cell("number").parse::<u64>().is_ok(), "{last}");
    let about = cell("and then what it was about");
    assert!(about.ends_with("src/a.rs"), "{last}");
}

/// The person in the record is the user of the process, whatever the environment says.
#[test]
fn the_environment_names_nobody() {
    let folder = set_up();
    let mut command = folder.command(&["intent", "release", "INT-001", "--yes"]);
    command.env("USER", "mallory").env("LOGNAME", "mallory");
    drop(command.output().unwrap());
    let mut command = folder.command(&["trust", "--yes"]);
    command.env("USER", "mallory").env("LOGNAME", "mallory");
    drop(command.output().unwrap());
    let log = folder.run(&["log", "--json"]);
    let people: Vec<String> = log
        .json_lines()
        .iter()
        .filter_map(|event| event["userId"].as_str().map(str::to_owned))
        .collect();
    assert!(!people.is_empty(), "{}", log.shown());
    assert!(!log.stdout.contains("mallory"), "{people:?}");
}

/// H13: a file that somebody else changed is not overwritten.
#[test]
fn a_stale_file_is_refused() {
    let folder = set_up();
    folder.run(&["intent", "select", "INT-001", "--session", "s-1"]);
    tool(&folder, "write_to_file", WRITE);
    fs::write(folder.path().join("src/a.rs"), "by hand\n").unwrap();
    assert_eq!(code(&tool(&folder, "write_to_file", WRITE)), "STALE_FILE");
    assert_eq!(
        fs::read_to_string(folder.path().join("src/a.rs")).unwrap(),
        "by hand\n"
    );
}

/// H6: whoever is asked sees the whole of what will be done, under whatever name it stands.
#[test]
fn what_is_asked_for_is_shown_whole() {
    let folder = set_up();
    folder.run(&["intent", "select", "INT-001", "--session", "s-1"]);
    let message = format!("{} and then remove everything", "look at it ".repeat(60));
    let task = serde_json::json!({"mode": "code", "message": message}).to_string();
    assert_eq!(code(&tool(&folder, "new_task", &task)), "APPROVAL_REQUIRED");
    let shown = folder.run(&["pending"]).stdout;
    assert!(shown.contains(&format!("message: {message}")), "{shown}");
}

/// H6: asked, agreed to, used once.
#[test]
fn an_approval_is_used_once() {
    let folder = set_up();
    folder.run(&["intent", "select", "INT-001", "--session", "s-1"]);
    let task = r#"{"mode": "code", "message": "finish"}"#;
    let ran = tool(&folder, "new_task", task);
    assert_eq!(
        (ran.code, code(&ran).as_str()),
        (Some(2), "APPROVAL_REQUIRED")
    );
    let pending = folder.run(&["pending", "--json"]);
    let id = pending.json_lines()[0]["approvals"][0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let refused = folder.run(&["approve", &id]);
    assert_eq!(refused.code, Some(2), "{}", refused.shown());
    assert!(
        refused.stderr.contains("PERSON_ONLY"),
        "{}",
        refused.shown()
    );
    assert_eq!(folder.run(&["approve", &id, "--yes"]).code, Some(0));
    assert_eq!(code(&tool(&folder, "new_task", task)), "completed");
    assert_eq!(code(&tool(&folder, "new_task", task)), "APPROVAL_REQUIRED");
}

/// The law is pinned: what the tree narrows holds at once, what it widens waits for a person.
#[test]
fn widening_waits_for_trust() {
    let folder = set_up();
    let path = folder.path().join(".orchestration/active_intents.yaml");
    let wider = fs::read_to_string(&path).unwrap().replace("src/**", "'**'");
    fs::write(&path, wider).unwrap();
    folder.run(&["intent", "select", "INT-001", "--session", "s-1"]);
    let out = WRITE.replace("src/a.rs", "b.rs");
    assert_eq!(
        code(&tool(&folder, "write_to_file", &out)),
        "SCOPE_VIOLATION"
    );
    let ran = folder.run(&["trust", "--yes"]);
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    assert!(ran.stderr.contains("widens"), "{}", ran.shown());
    assert_eq!(code(&tool(&folder, "write_to_file", &out)), "completed");
}

/// A workspace whose state is gone is refused until a person starts a new epoch.
#[test]
fn a_lost_state_needs_a_new_epoch() {
    let folder = set_up();
    fs::remove_dir_all(folder.home().join(".local/state/tagout")).unwrap();
    let ran = folder.run(&["run", "list_files", "--input", r#"{"path": "."}"#]);
    assert_eq!(ran.code, Some(1), "{}", ran.shown());
    assert!(ran.stderr.contains("epoch new"), "{}", ran.shown());
    assert_eq!(folder.run(&["epoch", "new", "--yes"]).code, Some(0));
    let ran = folder.run(&["run", "list_files", "--input", r#"{"path": "."}"#]);
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
}

/// What people's verbs write is accepted with it; running `init` again changes nothing.
#[test]
fn intents_of_people() {
    let folder = set_up();
    let new = [
        "intent", "new", "INT-002", "--name", "Docs", "--scope", "docs/**", "--yes",
    ];
    assert_eq!(folder.run(&new).code, Some(0));
    let ran = folder.run(&["intent", "select", "INT-002", "--session", "s-1", "--json"]);
    assert_eq!(code(&ran), "completed", "{}", ran.shown());
    assert_eq!(
        folder.run(&["intent", "complete", "INT-002", "--yes"]).code,
        Some(0)
    );
    let ran = folder.run(&["intent", "select", "INT-002", "--session", "s-2", "--json"]);
    assert_eq!(code(&ran), "INTENT_CLOSED", "{}", ran.shown());
    let before =
        fs::read_to_string(folder.path().join(".orchestration/active_intents.yaml")).unwrap();
    assert_eq!(folder.run(&["init", "--yes"]).code, Some(0));
    let after =
        fs::read_to_string(folder.path().join(".orchestration/active_intents.yaml")).unwrap();
    assert_eq!(before, after);
}

/// H6: a question is stored, a person answers it once, and the agent gets the answer when it asks
/// again.
#[test]
fn a_question_is_answered_once() {
    let folder = set_up();
    let asks = r#"{"question": "Which port?", "follow_up": [{"text": "80"}, {"text": "8080"}]}"#;
    let ran = tool(&folder, "ask_followup_question", asks);
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    let ran = folder.run(&["pending", "--json"]);
    assert!(ran.stdout.contains("Which port?"), "{}", ran.shown());
    let id = ran
        .stdout
        .split('"')
        .find(|word| word.starts_with("q-"))
        .unwrap()
        .to_owned();
    let ran = folder.run(&["answer", &id, "8080", "--yes"]);
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    assert!(ran.stdout.contains("answered"), "{}", ran.shown());
    assert!(!folder.run(&["pending", "--json"]).stdout.contains(&id));
    let ran = tool(&folder, "ask_followup_question", asks);
    assert!(ran.stdout.contains("8080"), "{}", ran.shown());
    let log = folder.run(&["log", "--json"]).stdout;
    assert!(
        log.contains(&id) && log.contains("\"answered\":true"),
        "{log}"
    );
    let again = folder.run(&["answer", &id, "80", "--yes"]);
    assert_eq!(again.code, Some(4), "{}", again.shown());
    assert!(again.stderr.contains(&id), "{}", again.shown());
    let ran = tool(&folder, "ask_followup_question", asks);
    assert!(!ran.stdout.contains("\"80\""), "{}", ran.shown());
    let unknown = folder.run(&["answer", "q-0", "80", "--yes"]);
    assert_eq!(unknown.code, Some(3), "{}", unknown.shown());
}
