//! One way through: the same call gets the same verdict, whichever door it comes by.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::confined::Site;

/// What is wanted, apart from how a door spells it.
#[derive(Clone, Copy, Debug)]
enum Wish {
    Read(&'static str),
    Write(&'static str),
    Command(&'static str),
    /// A tool that nobody declared, with these arguments.
    Unknown(&'static str),
}

/// A path through a link that leads out of the workspace.
const LINKED: &str = "src/out/passwd";

const WISHES: &[Wish] = &[
    Wish::Read("src/a.txt"),
    Wish::Read("../outside.txt"),
    Wish::Write("src/new.txt"),
    Wish::Write("src/../src/deep/er.txt"),
    Wish::Write("docs/page.md"),
    Wish::Write("src/../docs/page.md"),
    Wish::Write("../outside.txt"),
    Wish::Write(LINKED),
    Wish::Write(".orchestration/active_intents.yaml"),
    Wish::Write(".git/hooks/pre-commit"),
    Wish::Command("cat src/a.txt"),
    Wish::Command("printf x > src/by-command.txt"),
    Wish::Command("printf x > docs/by-command.txt"),
    Wish::Command("cat src/a.txt | tee docs/by-tee.txt"),
    Wish::Command("bash -c 'mkfs.ext4 /dev/no-such-disk'"),
    Wish::Command("git push --force origin main"),
    Wish::Command("curl http://127.0.0.1:1/"),
    Wish::Command("tagout approve ap-1"),
    Wish::Command("echo x > .orchestration/active_intents.yaml"),
    Wish::Unknown("{}"),
    Wish::Unknown(r#"{"command": "cat src/a.txt"}"#),
    Wish::Unknown(r#"{"pull_number": 1, "command": "printf x > src/by-unknown.txt"}"#),
    Wish::Unknown(r#"{"command": "cat", "args": ["src/a.txt"]}"#),
    Wish::Unknown(r#"{"command": "tagout exec -- cat src/a.txt"}"#),
];

/// A client's words for the same things.
struct Words {
    client: &'static str,
    event: &'static str,
    /// A field that this client alone sends.
    own: &'static str,
    read: &'static str,
    write: &'static str,
    shell: &'static str,
}

const CLIENTS: &[Words] = &[
    Words {
        client: "claude-code",
        event: "PreToolUse",
        own: "tool_use_id",
        read: "Read",
        write: "Write",
        shell: "Bash",
    },
    Words {
        client: "gemini-cli",
        event: "BeforeTool",
        own: "timestamp",
        read: "read_file",
        write: "write_file",
        shell: "run_shell_command",
    },
];

fn site() -> Site {
    let site = Site::new(&[("src/a.txt", "a\n"), ("docs/page.md", "page\n")]);
    symlink("/etc", site.root().join("src/out")).unwrap();
    site
}

fn unknown(arguments: &str) -> (&'static str, Value) {
    let arguments = serde_json::from_str(arguments).unwrap();
    ("nobody_declared_this", arguments)
}

fn native(wish: Wish) -> (&'static str, Value) {
    let write = |path| {
        json!({"path": path, "content": "x", "intent_id": "INT-001",
            "mutation_class": "INTENT_EVOLUTION"})
    };
    match wish {
        Wish::Read(path) => ("read_file", json!({ "path": path })),
        Wish::Write(path) => ("write_to_file", write(path)),
        Wish::Command(line) => ("execute_command", json!({ "command": line })),
        Wish::Unknown(arguments) => unknown(arguments),
    }
}

/// The codes of the verdicts that the ledger holds; what became of a call later is not one.
fn codes(site: &Site) -> Vec<Value> {
    let ran = site.tagout(&["log", "--json"]);
    let events = ran
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let verdicts = events.filter(|event| {
        ["AUTHORIZED", "DENIED", "AWAITING_APPROVAL"]
            .iter()
            .any(|state| event["state"] == *state)
    });
    verdicts.map(|event| event["verdictCode"].clone()).collect()
}

/// What the judge says when it is only asked.
fn by_explain(state: &str) -> Vec<Value> {
    let site = site();
    let mut command = site.command(&["explain", "--batch", "--json"]);
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = piped.spawn().unwrap();
    let mut questions = child.stdin.take().unwrap();
    for wish in WISHES {
        let (tool, arguments) = native(*wish);
        let line = json!({"tool": tool, "arguments": arguments, "state": state,
            "intent": (state == "ACTION").then_some("INT-001")});
        writeln!(questions, "{line}").unwrap();
    }
    drop(questions);
    let told = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    let code = |line: &str| serde_json::from_str::<Value>(line).unwrap()["code"].clone();
    told.lines().map(code).collect()
}

/// What `run` and the tools of the product come to.
fn by_run(state: &str) -> Vec<Value> {
    let site = site();
    if state == "ACTION" {
        site.tagout(&["intent", "select", "INT-001", "--session", "s-1"]);
    }
    let before = codes(&site).len();
    for wish in WISHES {
        let (tool, arguments) = native(*wish);
        let input = arguments.to_string();
        site.tagout(&["run", tool, "--input", &input, "--session", "s-1", "--json"]);
    }
    codes(&site).split_off(before)
}

/// Asks the hook as the client does, and runs the command that it is given instead of its own.
fn hook(site: &Site, words: &Words, tool: &str, input: &Value) {
    let root = site.root();
    let state = site.home().join(".local/state/tagout");
    let mut payload = json!({"session_id": "s-1", "transcript_path": "/nowhere", "cwd": root,
        "hook_event_name": words.event, "tool_name": tool, "tool_input": input});
    payload[words.own] = format!("2026-01-01T00:00:00Z {tool} {input}").into();
    let mut command = site.command(&["hook", "--client", words.client, "--event", words.event]);
    command.arg("--workspace").arg(&root);
    command.arg("--state-dir").arg(&state);
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = piped.stderr(Stdio::piped()).spawn().unwrap();
    write!(child.stdin.take().unwrap(), "{payload}").unwrap();
    let ran = child.wait_with_output().unwrap();
    let reply: Value = serde_json::from_slice(&ran.stdout).unwrap_or_default();
    if let Some(line) = ran.status.success().then(|| command_in(&reply)).flatten() {
        let own = site.command(&[]);
        let variables = own
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?)));
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(line).current_dir(&root).env_clear();
        shell.envs(variables).stdin(Stdio::null()).output().unwrap();
    }
}

/// The command line in a reply, wherever the client wants it.
fn command_in(reply: &Value) -> Option<&str> {
    let own = reply.get("command").and_then(Value::as_str);
    own.or_else(|| reply.as_object()?.values().find_map(command_in))
}

/// What the hook of a client, and the command that it sends on, come to.
fn by_hook(words: &Words, state: &str) -> Vec<Value> {
    let site = site();
    let root = site.root();
    if state == "ACTION" {
        let input = json!({"command": "tagout intent select INT-001"});
        hook(&site, words, words.shell, &input);
    }
    let before = codes(&site).len();
    for wish in WISHES {
        let (tool, input) = match *wish {
            Wish::Read(path) => (words.read, json!({"file_path": root.join(path)})),
            Wish::Write(path) => {
                let input = json!({"file_path": root.join(path), "content": "x"});
                (words.write, input)
            }
            Wish::Command(line) => (words.shell, json!({"command": line})),
            Wish::Unknown(arguments) => unknown(arguments),
        };
        hook(&site, words, tool, &input);
    }
    codes(&site).split_off(before)
}

fn beside_wishes(codes: &[Value]) -> Vec<String> {
    let wish = |at: usize| {
        WISHES
            .get(at)
            .map_or_else(String::new, |wish| format!("{wish:?}"))
    };
    let lines = codes.iter().enumerate();
    lines
        .map(|(at, code)| format!("{}: {code}", wish(at)))
        .collect()
}

fn compare_in(state: &str) -> BTreeSet<String> {
    let run = by_run(state);
    let expected = beside_wishes(&run);
    assert_eq!(expected.len(), WISHES.len());
    let explained = beside_wishes(&by_explain(state));
    // Explaining tells the law and looks at no file, so it does not know where a link leads.
    let linked = |line: &&String| !line.contains(LINKED);
    assert!(
        explained
            .iter()
            .filter(linked)
            .eq(expected.iter().filter(linked)),
        "explain in {state}: {explained:#?}"
    );
    for words in CLIENTS {
        let hooked = beside_wishes(&by_hook(words, state));
        assert_eq!(hooked, expected, "{} in {state}", words.client);
    }
    run.iter().map(Value::to_string).collect()
}

/// B1: before the handshake, every door comes to the same verdict.
#[test]
fn every_door_before_the_handshake() {
    let codes = compare_in("REQUEST");
    assert!(codes.len() >= 4, "too few kinds of verdict: {codes:?}");
}

/// B1: after the handshake, every door comes to the same verdict.
#[test]
fn every_door_after_the_handshake() {
    let codes = compare_in("ACTION");
    assert!(codes.len() >= 6, "too few kinds of verdict: {codes:?}");
}
