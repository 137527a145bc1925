//! A hook for all of a user's workspaces: which of them an event belongs to, and that none slips
//! between them.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tagout_agents::Client;

use crate::confined::Site;
use crate::hook_oracle::{Does, Said, said};
use crate::hooked::{fed, select, site_for};

/// A hook as `install` registers it for a user, started in a folder.
fn hook(site: &Site, client: Client, event: &str, started_in: &Path) -> Command {
    let state = site.home().join(".local/state/tagout");
    let mut command = site.command(&["hook", "--client", client.as_str(), "--event", event]);
    command
        .arg("--state-dir")
        .arg(state)
        .current_dir(started_in);
    command
}

fn answer(site: &Site, client: Client, payload: &Value, started_in: &Path) -> Said {
    let event = ["hook_event_name", "agent_action_name", "event"]
        .iter()
        .find_map(|key| payload[key].as_str())
        .unwrap();
    let command = hook(site, client, event, started_in);
    said(client, &fed(command, payload.to_string().as_bytes()))
}

/// A workspace and a folder beside it that nobody governs.
fn beside() -> (Site, PathBuf) {
    let site = site_for(&[]);
    let other = site.root().parent().unwrap().join("other");
    fs::create_dir(&other).unwrap();
    (site, other)
}

fn windsurf(event: &str, info: &Value) -> Value {
    json!({"agent_action_name": event, "trajectory_id": "t", "execution_id": "e",
        "timestamp": "2026-03-29T10:00:00.000Z", "tool_info": info})
}

fn claude(cwd: &Path, (tool, input): (&str, Value)) -> Value {
    json!({"session_id": "s", "transcript_path": "/nowhere", "cwd": cwd, "tool_use_id": "c",
        "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": input})
}

fn edit(path: &Path) -> Value {
    json!({"file_path": path, "edits": [{"old_string": "", "new_string": "x"}]})
}

/// §12: a client that does not tell its folder is governed by where it starts the hook, and by the
/// files that the call names.
#[test]
fn a_folder_that_is_not_told() {
    let (site, other) = beside();
    let (root, client) = (site.root(), Client::Windsurf);
    let file = root.join("src/a.txt");
    let write = windsurf("pre_write_code", &edit(&file));
    assert!(
        !answer(&site, client, &write, &root).runs(),
        "started there"
    );
    assert!(!answer(&site, client, &write, &other).runs(), "named");
    let remote = windsurf(
        "pre_mcp_tool_use",
        &json!({"mcp_server_name": "s", "mcp_tool_name": "t", "mcp_tool_arguments": {}}),
    );
    assert!(!answer(&site, client, &remote, &root).runs());
    assert!(answer(&site, client, &remote, &other).runs(), "nobody's");
    let elsewhere = windsurf("pre_write_code", &edit(&other.join("a.txt")));
    assert!(answer(&site, client, &elsewhere, &other).runs(), "nobody's");
}

/// A prompt without a folder reaches the workspace that it was typed in.
#[test]
fn a_prompt_without_a_folder() {
    let (site, other) = beside();
    let prompt = |session: &str| {
        let event = "UserPromptSubmit";
        json!({"event": event, "session_id": session, "message": "do it"})
    };
    let events = || site.tagout(&["log", "--json"]).stdout.lines().count();
    let before = events();
    answer(&site, Client::Goose, &prompt("a"), &other);
    assert_eq!(events(), before);
    answer(&site, Client::Goose, &prompt("b"), &site.root());
    assert!(events() > before);
}

/// §12: where nothing tells the folder, what can be stopped is stopped.
#[test]
fn no_folder_at_all() {
    let (site, other) = beside();
    let gone = other.join("gone");
    fs::create_dir(&gone).unwrap();
    let own = hook(&site, Client::Windsurf, "pre_mcp_tool_use", &gone);
    let words: Vec<_> = own.get_args().map(ToOwned::to_owned).collect();
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", "rmdir \"$PWD\" && exec \"$@\"", "sh"]);
    shell.arg(own.get_program()).args(words).current_dir(&gone);
    let payload = windsurf(
        "pre_mcp_tool_use",
        &json!({"mcp_server_name": "s", "mcp_tool_name": "t", "mcp_tool_arguments": {}}),
    );
    let ran = fed(shell, payload.to_string().as_bytes());
    assert!(!said(Client::Windsurf, &ran).runs(), "{ran:?}");
}

/// §12: a link on either side is no way out, and the workspace works through it.
#[test]
fn links_on_either_side() {
    let (site, other) = beside();
    let (root, link) = (site.root(), other.join("link"));
    symlink(&root, &link).unwrap();
    let ask = |cwd: &Path, path: PathBuf| {
        let input = json!({"file_path": path, "content": "x"});
        answer(
            &site,
            Client::ClaudeCode,
            &claude(cwd, ("Write", input)),
            &other,
        )
    };
    assert!(!ask(&link, PathBuf::from("src/claude-code/a.txt")).runs());
    let select = format!("'{}' intent select INT-001", env!("CARGO_BIN_EXE_tagout"));
    let select = claude(&link, ("Bash", json!({ "command": select })));
    assert!(answer(&site, Client::ClaudeCode, &select, &other).runs());
    let said = ask(&link, PathBuf::from("src/claude-code/a.txt"));
    assert!(said.runs(), "{said:?}");
    assert!(
        !ask(&link, PathBuf::from("src/codex/a.txt")).runs(),
        "not owned"
    );
    let inner = other.join("inner");
    symlink(root.join("src"), &inner).unwrap();
    assert!(
        !ask(&inner, PathBuf::from("codex/a.txt")).runs(),
        "not owned"
    );
    assert!(!ask(&inner, inner.join("codex/a.txt")).runs(), "not owned");
}

/// §12: files of a workspace are governed wherever a call starts from, however they are spelled.
#[test]
fn files_named_from_outside() {
    let (site, other) = beside();
    let root = site.root();
    symlink(root.join("src"), other.join("link")).unwrap();
    let shown = |path: &Path| path.to_str().unwrap().to_owned();
    let write = |path: String| ("Write", json!({"file_path": path, "content": "x"}));
    let run = |line: String| ("Bash", json!({ "command": line }));
    let patch = "*** Begin Patch\n*** Add File: ../ws/src/a.txt\n+x\n*** End Patch";
    let calls = [
        write(shown(&root.join("src/a.txt"))),
        write("../ws/src/a.txt".to_owned()),
        write("link/a.txt".to_owned()),
        run(format!("rm -rf {}", shown(&root.join("src")))),
        run(format!("cd '{}' && rm -rf src", shown(&root))),
        run("rm -rf ../ws/src".to_owned()),
        run("tee <in >../ws/src/a.txt".to_owned()),
        ("apply_patch", json!({ "input": patch })),
        (
            "mcp__fs__write",
            json!({"files": [{"uri": format!("file://{}/a", shown(&root))}]}),
        ),
    ];
    for call in calls {
        let said = answer(
            &site,
            Client::ClaudeCode,
            &claude(&other, call.clone()),
            &other,
        );
        // A command that runs confined refuses by itself.
        let confined = said.does() == Does::RunsRewritten;
        assert!(!said.runs() || confined, "{call:?}: {said:?}");
    }
    let harmless = [
        write("a.txt".to_owned()),
        write(shown(&other.join("wsx/a.txt"))),
        run("ls -l .. && rm -f a.txt".to_owned()),
        (
            "Write",
            json!({"file_path": "a.md", "content": format!("see\n{}/README", shown(&root))}),
        ),
    ];
    for call in harmless {
        let said = answer(
            &site,
            Client::ClaudeCode,
            &claude(&other, call.clone()),
            &other,
        );
        assert_eq!(said.does(), Does::Runs, "{call:?}: {said:?}");
    }
}

/// §12: a conversation that a workspace governs can't leave it by starting a call elsewhere.
#[test]
fn a_governed_conversation_elsewhere() {
    let (site, other) = beside();
    let remove = |cwd: &Path| {
        let mut call = claude(cwd, ("Bash", json!({"command": "cd .. && rm -rf w?"})));
        call["session_id"] = "main".into();
        answer(&site, Client::ClaudeCode, &call, &other)
    };
    assert_eq!(remove(&other).does(), Does::Runs, "nobody's");
    select(&site, Client::ClaudeCode, "main", "INT-001");
    let said = remove(&other);
    assert_ne!(said.does(), Does::Runs, "{said:?}");
}
