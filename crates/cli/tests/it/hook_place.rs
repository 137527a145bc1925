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
    let mut remote = windsurf(
        "pre_mcp_tool_use",
        &json!({"mcp_server_name": "s", "mcp_tool_name": "t", "mcp_tool_arguments": {}}),
    );
    assert!(!answer(&site, client, &remote, &root).runs());
    remote["trajectory_id"] = "another".into();
    assert!(answer(&site, client, &remote, &other).runs(), "nobody's");
    let mut elsewhere = windsurf("pre_write_code", &edit(&other.join("a.txt")));
    elsewhere["trajectory_id"] = "another".into();
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
        let line = "find \"$ELSEWHERE\" -delete";
        let mut call = claude(cwd, ("Bash", json!({ "command": line })));
        call["session_id"] = "main".into();
        answer(&site, Client::ClaudeCode, &call, &other)
    };
    assert_eq!(remove(&other).does(), Does::Runs, "nobody's");
    select(&site, Client::ClaudeCode, "main", "INT-001");
    let said = remove(&other);
    assert_ne!(said.does(), Does::Runs, "{said:?}");
}

/// §12: a conversation that began inside is no visitor, whatever it names afterwards and wherever
/// from.
#[test]
fn who_began_inside_is_no_visitor() {
    let (site, other) = beside();
    let root = site.root();
    let client = Client::Windsurf;
    // Its folder is not told: the hook is started inside, and the call names a file there.
    let named = windsurf("pre_write_code", &edit(&root.join("src/a.txt")));
    answer(&site, client, &named, &root);
    let remote = windsurf(
        "pre_mcp_tool_use",
        &json!({"mcp_server_name": "s", "mcp_tool_name": "t", "mcp_tool_arguments": {}}),
    );
    assert!(!answer(&site, client, &remote, &other).runs());

    let client = Client::ClaudeCode;
    let begin = json!({"session_id": "b", "transcript_path": "/nowhere", "cwd": root,
        "hook_event_name": "SessionStart", "source": "startup"});
    answer(&site, client, &begin, &root);
    let ask = |session: &str, cwd: &Path, (tool, input): (&str, Value)| {
        let mut call = claude(cwd, (tool, input));
        call["session_id"] = session.into();
        answer(&site, client, &call, &other)
    };
    let write = |path: &Path| ("Write", json!({"file_path": path, "content": "x"}));
    let inside = root.join("src/a.txt");
    let outside = other.join("a.txt");
    assert!(!ask("b", &other, write(&inside)).runs());
    assert!(!ask("b", &other, write(&outside)).runs(), "it began inside");
    let mut part = claude(&other, write(&outside));
    (part["session_id"], part["agent_id"]) = ("b".into(), "unannounced".into());
    let said = answer(&site, client, &part, &other);
    assert!(
        !said.runs(),
        "a part of it, whose beginning nobody told: {said:?}"
    );
    // One that only visits stays free, until it comes in.
    assert!(!ask("v", &other, write(&inside)).runs());
    assert!(ask("v", &other, write(&outside)).runs(), "nobody's");
    assert!(!ask("v", &root, write(&inside)).runs());
    assert!(!ask("v", &other, write(&outside)).runs(), "it came in");
}

/// §12: what would take a workspace away from above is refused, and all else there is nobody's.
#[test]
fn folders_around_a_workspace() {
    let (site, other) = beside();
    let root = site.root();
    let parent = root.parent().unwrap();
    let shown = parent.to_str().unwrap();
    let above = parent.parent().unwrap().to_str().unwrap();
    let name = parent.file_name().unwrap().to_str().unwrap();
    fs::create_dir(other.join("build")).unwrap();
    symlink(root.join("src"), other.join("link")).unwrap();
    symlink(parent, other.join("up")).unwrap();
    let run = |line: &str| ("Bash", json!({ "command": line }));
    let refused = [
        run("rm -rf up/*"),
        run("rm -rf up/ws"),
        run(&format!("rm -rf {shown}")),
        run(&format!("rm -rf '{shown}/'")),
        run(&format!("rm -rf {shown}/*")),
        run("rm -rf .."),
        run("rm -rf ../*"),
        run("rm -rf ../w?"),
        run("cd .. && rm -rf ws"),
        run("cd .. && rm -rf w?"),
        run(&format!("cd {above} && rm -rf {name}")),
        run(&format!("cd {above} && rm -rf {name}/ws")),
        run(&format!("mv {shown} {shown}-gone")),
        run("cd .. && mv ws gone"),
        run(&format!("chmod -R 000 {shown}")),
        run(&format!("find {shown} -delete")),
        run("find .. -delete"),
        run("git -C .. clean -fdx"),
        run("cd .. && git -C ws reset --hard"),
        run("cd .. && make -C ws clean"),
        run(&format!(
            "python3 -c 'import shutil; shutil.rmtree(\"{shown}\")'"
        )),
        run("rm -rf link/../.git"),
        ("mcp__fs__delete_directory", json!({ "path": shown })),
        ("mcp__fs__move", json!({ "from": "..", "to": "/tmp/gone" })),
    ];
    let before = site.tagout(&["log", "--json"]).stdout.lines().count();
    let ask = |call: &(&str, Value)| {
        let payload = claude(&other, call.clone());
        answer(&site, Client::ClaudeCode, &payload, &other)
    };
    for call in &refused {
        let said = ask(call);
        let confined = said.does() == Does::RunsRewritten;
        assert!(!said.runs() || confined, "{call:?}: {said:?}");
    }
    let after = site.tagout(&["log", "--json"]).stdout.lines().count();
    assert!(after > before, "the ledger tells it");
    let harmless = [
        run("ls -la .."),
        run("git log main..HEAD && echo ..."),
        run(&format!("find {shown} -name '*.rs'")),
        run("cd build && cmake .."),
        run("mkdir -p ../other/x && rm -rf ../other/x"),
        run("cp a.txt .."),
        run("rm -rf build/*"),
        run("rm -rf ./*"),
        run("echo 'a / b' > c.txt"),
        run("cd .. && make"),
        ("Glob", json!({"pattern": "*.rs", "path": shown})),
        ("mcp__x__y", json!({"separator": "/"})),
    ];
    for call in &harmless {
        assert_eq!(ask(call).does(), Does::Runs, "{call:?}: {:?}", ask(call));
    }
}

/// §12: a call that concerns two workspaces is refused; where it starts goes first.
#[test]
fn two_workspaces_in_one_call() {
    let (site, other) = beside();
    let root = site.root();
    let second = root.parent().unwrap().join("ws2");
    fs::create_dir_all(second.join("src")).unwrap();
    let init = ["init", "--yes", "--intent", "Work", "--scope", "src/**"];
    let made = site.command(&init).current_dir(&second).output().unwrap();
    assert!(made.status.success(), "{made:?}");
    let run = |cwd: &Path, line: String| {
        let call = claude(cwd, ("Bash", json!({ "command": line })));
        answer(&site, Client::ClaudeCode, &call, &other)
    };
    let both = format!("cat {}/a {}/b", root.display(), second.display());
    let said = run(&other, both.clone());
    assert_eq!(said.does(), Does::Denies, "{said:?}");
    assert!(said.stdout.contains("two workspaces"), "{said:?}");
    // Which of them one name means is plain.
    let one = run(&other, format!("ls {}", second.display()));
    assert!(one.runs(), "{one:?}");
    // What starts in one of them is that one's.
    assert!(run(&root, both).runs());

    let client = Client::Windsurf;
    let write = |path: &Path| windsurf("pre_write_code", &edit(path));
    let said = answer(&site, client, &write(&second.join("src/a")), &root);
    assert!(!said.runs());
    assert!(said.stderr.contains("two workspaces"), "{said:?}");
    let said = answer(&site, client, &write(&root.join("src/a")), &root);
    assert!(!said.runs() && !said.stderr.contains("two"), "{said:?}");
}

/// §13: where what is open can't be looked up, the repeated call is refused.
#[test]
fn an_open_call_that_cant_be_looked_up() {
    let site = site_for(&[Client::ClaudeCode]);
    let root = site.root();
    let write = || {
        let input = json!({"file_path": "src/claude-code/a.txt", "content": "x"});
        let mut call = claude(&root, ("Write", input));
        call["session_id"] = "main".into();
        answer(&site, Client::ClaudeCode, &call, &root)
    };
    assert!(write().runs());
    assert!(write().runs(), "it is open");
    let tickets = site.state().join("gate/permits");
    let found: Vec<PathBuf> = fs::read_dir(&tickets)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert_eq!(found.len(), 1);
    // The same words under the same name mean other files elsewhere.
    let elsewhere = || {
        let input = json!({"file_path": "src/claude-code/a.txt", "content": "x"});
        let mut call = claude(&root.join("src"), ("Write", input));
        call["session_id"] = "main".into();
        answer(&site, Client::ClaudeCode, &call, &root)
    };
    assert!(!elsewhere().runs());
    fs::write(&found[0], "[]").unwrap();
    let said = write();
    assert!(!said.runs(), "{said:?}");
}
