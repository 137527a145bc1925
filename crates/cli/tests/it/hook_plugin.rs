//! The plugin that `install` writes for opencode, in the engine that runs it there: a session's
//! beginning is told before anything else of that session.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use tagout_agents::Client;
use tagout_agents::install::plan::Scope;
use tagout_agents::install::{Binary, Texts, install_plan};
use tempfile::TempDir;

/// Stands in for the hook: notes when an event begins and ends, and lets the beginning of a session
/// take its time and fail as often as it is told to.
const HOOK: &str = r#"#!/bin/sh
here=$(dirname "$0")
event=$5
cat > /dev/null
echo "begin $event" >> "$here/log"
if [ "$event" = session.created ]; then
  sleep 0.3
  fails=$(cat "$here/fails")
  if [ "$fails" -gt 0 ]; then
    echo $((fails - 1)) > "$here/fails"
    echo "failed $event" >> "$here/log"
    exit 3
  fi
fi
echo "end $event" >> "$here/log"
echo '{"decision":"none"}'
"#;

/// What opencode does with a plugin: events are not waited for, hooks are.
const CLIENT: &str = r#"
import { Tagout } from "./tagout.mjs"
const hooks = await Tagout({ directory: "/p", worktree: "/p" })
const created = { type: "session.created",
  properties: { sessionID: "child", info: { id: "child", parentID: "main" } } }
hooks.event({ event: created })
await hooks["chat.message"]({ sessionID: "child" }, { parts: [] })
const call = { tool: "read", sessionID: "child", callID: "c1" }
try {
  await hooks["tool.execute.before"](call, { args: {} })
  console.log("ran")
} catch (error) {
  console.log(`refused: ${error.message}`)
}
"#;

/// What became of the tool, and what the hook was asked, in order.
fn played(fails: u32) -> (String, Vec<String>) {
    let dir = TempDir::new().unwrap();
    let hook = dir.path().join("hook");
    fs::write(&hook, HOOK).unwrap();
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(dir.path().join("fails"), fails.to_string()).unwrap();
    let binary = Binary {
        program: hook.to_str().unwrap().to_owned(),
        workspace: Some("/p".to_owned()),
        state: Some("/s".to_owned()),
    };
    let plan = install_plan(Client::Opencode, Scope::Project, &binary, &Texts::default());
    let plugin = plan.unwrap()[0].text.clone().unwrap();
    fs::write(dir.path().join("tagout.mjs"), plugin).unwrap();
    fs::write(dir.path().join("client.mjs"), CLIENT).unwrap();
    let mut node = Command::new("node");
    let ran = node.arg("client.mjs").current_dir(&dir).output().unwrap();
    let said = String::from_utf8(ran.stdout).unwrap();
    assert!(
        ran.status.success(),
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    let log = fs::read_to_string(dir.path().join("log")).unwrap();
    (said, log.lines().map(str::to_owned).collect())
}

/// §13.3: whose subagent a session is comes before its task and its tools.
#[test]
fn the_beginning_is_told_first() {
    let (said, log) = played(0);
    assert_eq!(said, "ran\n");
    let expected = [
        "begin session.created",
        "end session.created",
        "begin chat.message",
        "end chat.message",
        "begin tool.execute.before",
        "end tool.execute.before",
    ];
    assert_eq!(log, expected);
}

/// A beginning that could not be told is told again before a tool runs.
#[test]
fn a_beginning_that_failed_is_told_again() {
    let (said, log) = played(1);
    assert_eq!(said, "ran\n");
    let at = |word: &str| log.iter().position(|line| line == word);
    assert!(
        at("failed session.created") < at("end session.created"),
        "{log:?}"
    );
    assert!(at("end session.created").is_some(), "{log:?}");
    assert!(
        at("end session.created") < at("begin tool.execute.before"),
        "{log:?}"
    );
}

/// Where it can't be told at all, nobody knows whose session it is, and no tool of it runs.
#[test]
fn a_beginning_that_nobody_takes_refuses_the_tools() {
    let (said, log) = played(100);
    assert!(said.starts_with("refused: tagout: "), "{said}");
    assert!(
        !log.iter().any(|line| line.contains("tool.execute")),
        "{log:?}"
    );
}
