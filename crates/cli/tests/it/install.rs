//! `tagout install`, `uninstall` and `install --check` on real files, with the real program.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};
use std::process::Command;

use serde_json::Value;
use tagout_agents::Client;
use tagout_agents::install::files;
use tagout_agents::install::plan::Scope;
use tagout_vocab::limits::HOOK_FOLDER_NAMES_MAX;

use crate::machine::Machine;

fn everybody() -> Vec<&'static str> {
    Client::ALL.iter().map(|client| client.as_str()).collect()
}

/// What a person reads after `install`, and that it is true: the hook was really started.
#[test]
fn what_a_person_reads() {
    let machine = Machine::new();
    machine.client("goose", "echo ' goose 1.52.0'");
    insta::assert_snapshot!(machine.run(&["install", "goose", "--check"]).shown());
    insta::assert_snapshot!(machine.run(&["install", "goose", "--yes"]).shown());
    let again = machine.run(&["install", "goose", "--yes"]);
    assert_eq!(
        (again.code, again.stderr.as_str()),
        (Some(0), ""),
        "twice is once"
    );
    insta::assert_snapshot!(machine.run(&["uninstall", "goose", "--yes"]).shown());
    insta::assert_snapshot!(machine.run(&["uninstall", "goose", "--yes"]).shown());
}

/// Every client's registered command is started and denies a change that no intent covers, and the
/// ledger knows of it.
#[test]
fn every_canary_is_denied() {
    let machine = Machine::new();
    canaries_of(&machine, "project", &everybody());
    let log = machine.run(&["log", "--state", "DENIED", "--json"]).stdout;
    // The editor and its command line share one hook, and one client's call fails by its schema.
    assert!(log.lines().count() >= everybody().len() - 2, "{log}");
}

/// At user scope the payload's folder leads to the workspace.
#[test]
fn every_canary_is_denied_for_a_user() {
    canaries_of(&Machine::new(), "user", &everybody());
}

fn canaries_of(machine: &Machine, scope: &str, clients: &[&str]) {
    let install = [&["install", "--yes", "--json", "--scope", scope], clients].concat();
    let ran = machine.run(&install);
    let told = &ran.json_lines()[0];
    assert_eq!(told["ok"], true, "{}", ran.shown());
    for client in told["clients"].as_array().unwrap() {
        let findings = client["findings"].as_array().unwrap();
        let canary = findings.iter().find(|one| one["kind"] == "canary").unwrap();
        let text = canary["text"].as_str().unwrap();
        assert!(
            text.starts_with("a change without an intent was denied"),
            "{client}"
        );
    }
}

/// The ledger keeps what a canary did, and the log says that nobody made the call.
#[test]
fn a_canary_is_told_as_one() {
    let machine = Machine::new();
    machine.client("goose", "echo 1.52.0");
    let ran = machine.run(&["install", "goose", "--yes"]);
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    let log = machine.run(&["log"]).stdout;
    let lines: Vec<&str> = log
        .lines()
        .filter(|line| line.contains("tagout_canary"))
        .collect();
    assert!(!lines.is_empty(), "{log}");
    for line in lines {
        assert!(
            line.contains("canary: `tagout install` tried the hook"),
            "{line}"
        );
    }
    let events = machine.run(&["log", "--json"]).json_lines();
    let versions = events.iter().filter_map(|one| one["toolVersion"].as_str());
    let versions: Vec<&str> = versions.collect();
    assert!(versions.iter().all(|one| *one == "unknown"), "{versions:?}");
    assert!(!versions.is_empty());
}

/// A machine on which people already have files.
fn lived_in() -> Machine {
    let machine = Machine::new();
    machine.write("repo/AGENTS.md", "# Mine\n");
    machine.write("repo/CLAUDE.md", "no line's end");
    let settings = "{ // mine\n  \"model\": \"x\",\n}\n";
    machine.write("repo/.claude/settings.local.json", settings);
    machine.write(
        "home/.gemini/settings.json",
        "{\r\n\t\"hooks\": {}\r\n}\r\n",
    );
    machine.write("home/.codex/hooks.json", "");
    fs::create_dir_all(machine.root().join(".kiro")).unwrap();
    machine
}

/// Install and uninstall leave exactly what was there, for every client at once: files, modes,
/// links and folders.
#[test]
fn nothing_is_left_behind() {
    in_and_out("project");
}

/// The same in the home.
#[test]
fn nothing_is_left_behind_for_a_user() {
    in_and_out("user");
}

fn in_and_out(scope: &str) {
    let machine = lived_in();
    let before = machine.tree();
    let all = everybody();
    let installed = machine.run(&[&["install", "--yes", "--scope", scope], &all[..]].concat());
    assert_eq!(installed.code, Some(0), "{}", installed.shown());
    assert_ne!(machine.tree(), before);
    let out = machine.run(&[&["uninstall", "--yes", "--scope", scope], &all[..]].concat());
    assert_eq!(out.code, Some(0), "{}", out.shown());
    assert_eq!(machine.tree(), before);
}

/// One after the other comes out the same.
#[test]
fn one_after_the_other() {
    let machine = lived_in();
    let before = machine.tree();
    let names = ["goose", "codex", "cline", "claude-code"];
    for client in names {
        let ran = machine.run(&["install", "--yes", client]);
        assert_eq!(ran.code, Some(0), "{}", ran.shown());
    }
    for client in names {
        machine.run(&["uninstall", "--yes", client]);
    }
    assert_eq!(machine.tree(), before);
}

/// A file that can't be understood is one clear error, and nothing of any client is written.
#[test]
fn a_broken_file_stops_everything() {
    let machine = Machine::new();
    machine.write("repo/.claude/settings.local.json", "{\"hooks\": {\n");
    let before = machine.tree();
    let ran = machine.run(&["install", "goose", "claude-code", "--yes"]);
    assert_eq!(machine.tree(), before);
    insta::assert_snapshot!(ran.shown());
    fs::write(
        machine.root().join(".claude/settings.local.json"),
        b"\xff\xfe",
    )
    .unwrap();
    let ran = machine.run(&["install", "goose", "claude-code", "--yes"]);
    insta::assert_snapshot!(ran.shown());
}

/// Where one file can't be written, those before it are taken back.
#[test]
fn all_or_nothing() {
    let machine = Machine::new();
    // A file where a folder would have to be, behind the others in order.
    machine.write("repo/.windsurf", "not a folder");
    let before = machine.tree();
    let ran = machine.run(&["install", "goose", "codex", "windsurf", "--yes"]);
    assert_eq!(ran.code, Some(1), "{}", ran.shown());
    assert_eq!(machine.tree(), before, "{}", ran.shown());
    assert!(
        ran.stderr.contains("nothing was changed"),
        "{}",
        ran.shown()
    );
}

/// Where a folder or the home is read-only, that is said once and nothing is changed.
#[test]
fn without_rights() {
    let machine = Machine::new();
    let closed = [machine.root().join(".codex"), machine.home().join(".codex")];
    for folder in &closed {
        fs::create_dir_all(folder).unwrap();
        fs::set_permissions(folder, fs::Permissions::from_mode(0o555)).unwrap();
    }
    let before = machine.tree();
    for scope in ["project", "user"] {
        // In a user namespace nobody is above the modes of files.
        let mut outer = Command::new("unshare");
        outer
            .arg("--user")
            .arg(machine.program())
            .args(["install", "goose", "codex", "--yes", "--scope", scope])
            .current_dir(machine.root())
            .env("HOME", machine.home());
        let ran = machine.ran(&mut outer);
        assert_eq!(ran.code, Some(1), "{}", ran.shown());
        assert!(ran.stderr.contains(".codex/hooks.json"), "{}", ran.shown());
        assert!(
            ran.stderr.contains("nothing was changed"),
            "{}",
            ran.shown()
        );
        assert_eq!(machine.tree(), before);
    }
    for folder in &closed {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

/// A configuration file behind a link stays behind it.
#[test]
fn links_are_kept() {
    let machine = Machine::new();
    machine.write("home/dotfiles/hooks.json", "{}\n");
    fs::create_dir_all(machine.root().join(".codex")).unwrap();
    let target = machine.home().join("dotfiles/hooks.json");
    symlink(&target, machine.root().join(".codex/hooks.json")).unwrap();
    symlink("nowhere.md", machine.root().join("AGENTS.md")).unwrap();
    let before = machine.tree();
    let ran = machine.run(&["install", "codex", "--yes"]);
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    assert!(machine.root().join("AGENTS.md").is_symlink());
    assert!(
        machine
            .read("home/dotfiles/hooks.json")
            .unwrap()
            .contains("--client codex")
    );
    machine.run(&["uninstall", "codex", "--yes"]);
    assert_eq!(machine.tree(), before);
}

/// Several at once: each client's hooks are there afterwards, and nothing is lost.
#[test]
fn several_at_once() {
    let machine = Machine::new();
    machine.write("repo/AGENTS.md", "# Mine\n");
    let before = machine.tree();
    let names = [
        "codex",
        "goose",
        "opencode",
        "factory-droid",
        "cursor",
        "codex",
    ];
    let running: Vec<_> = names
        .iter()
        .map(|name| {
            machine
                .command(&["install", name, "--yes"])
                .spawn()
                .unwrap()
        })
        .collect();
    for mut child in running {
        assert_eq!(child.wait().unwrap().code(), Some(0));
    }
    assert_eq!(
        machine
            .run(&[&["install", "--check"], &names[..]].concat())
            .code,
        Some(0)
    );
    let agents = machine.read("repo/AGENTS.md").unwrap();
    assert_eq!(agents.matches("tagout:begin").count(), 1);
    machine.run(&[&["uninstall", "--yes"], &names[..]].concat());
    assert_eq!(machine.tree(), before);
}

/// H15: clients that read one instruction file share its block, which goes with the last of them.
#[test]
fn one_block_for_all() {
    let machine = Machine::new();
    machine.run(&["install", "goose", "--yes"]);
    let first = machine.read("repo/AGENTS.md").unwrap();
    machine.run(&["install", "codex", "--yes"]);
    machine.run(&["install", "codex", "--scope", "user", "--yes"]);
    assert_eq!(machine.read("repo/AGENTS.md").unwrap(), first);
    machine.run(&["uninstall", "goose", "--yes"]);
    assert_eq!(machine.read("repo/AGENTS.md").unwrap(), first);
    machine.run(&["uninstall", "codex", "--yes"]);
    assert_eq!(
        machine.read("repo/AGENTS.md").unwrap(),
        first,
        "the user's hook still reads it"
    );
    machine.run(&["uninstall", "codex", "--scope", "user", "--yes"]);
    assert_eq!(machine.read("repo/AGENTS.md"), None);
}

/// Folders that clients let a variable move are found where they are.
#[test]
fn moved_folders() {
    for (client, variable, file) in [
        ("codex", "CODEX_HOME", "hooks.json"),
        ("claude-code", "CLAUDE_CONFIG_DIR", "settings.json"),
        ("copilot-cli", "COPILOT_HOME", "hooks/tagout.json"),
        ("qwen-code", "QWEN_HOME", "settings.json"),
        ("gemini-cli", "GEMINI_CLI_HOME", ".gemini/settings.json"),
        ("opencode", "XDG_CONFIG_HOME", "opencode/plugin/tagout.js"),
    ] {
        let machine = Machine::new();
        let moved = machine.path().join("moved");
        let before = machine.tree();
        let run = |words: &[&str]| {
            let all = [words, &["--scope", "user", "--yes", client]].concat();
            machine.ran(machine.command(&all).env(variable, &moved))
        };
        let ran = run(&["install"]);
        assert_eq!(ran.code, Some(0), "{}", ran.shown());
        assert!(ran.stdout.contains("was denied"), "{}", ran.shown());
        assert!(moved.join(file).is_file(), "{client}");
        let named = files(Client::named(client).unwrap(), Scope::User).unwrap();
        assert!(!machine.home().join(&named[0].path).exists(), "{client}");
        assert_eq!(run(&["uninstall"]).code, Some(0));
        assert!(!moved.exists(), "{client}");
        assert_eq!(machine.tree(), before, "{client}");
    }
}

/// A hook that would not work is found by starting it, not by looking at it.
#[test]
fn a_dead_hook_is_found() {
    let machine = Machine::new();
    machine.run(&["install", "claude-code", "codex", "--yes"]);
    let elsewhere = machine.path().join("bin/moved");
    fs::rename(machine.program(), &elsewhere).unwrap();
    let mut command = Command::new(&elsewhere);
    command
        .args(["install", "--check", "claude-code", "codex"])
        .current_dir(machine.root())
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", machine.home());
    let ran = machine.ran(&mut command);
    assert_eq!(ran.code, Some(1), "{}", ran.shown());
    insta::assert_snapshot!(canaries(&ran.stdout));
    fs::rename(&elsewhere, machine.program()).unwrap();
    // A policy that can't be understood: the hook denies, but everything.
    machine.write("home/.config/tagout/policy.yaml", "version: 1\nprofil: x\n");
    let ran = machine.run(&["install", "--check", "claude-code"]);
    assert_eq!(ran.code, Some(1), "{}", ran.shown());
    insta::assert_snapshot!(canaries(&ran.stdout));
}

fn canaries(text: &str) -> String {
    let lines = text
        .lines()
        .filter(|line| line.contains("governed") || line.contains("canary"));
    lines.collect::<Vec<_>>().join("\n")
}

/// Switches of the repository and of the user, and hooks of others, are said.
#[test]
fn what_others_did_is_said() {
    let machine = Machine::new();
    let other = r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "x"}]}]}}"#;
    machine.write("repo/.claude/settings.local.json", other);
    machine.run(&["install", "claude-code", "--yes"]);
    machine.write("repo/.claude/settings.json", "{\"disableAllHooks\": true}");
    let user = "{\"permissions\": {\"defaultMode\": \"bypassPermissions\"}}";
    machine.write("home/.claude/settings.json", user);
    let ran = machine.run(&["install", "--check", "claude-code"]);
    assert_eq!(ran.code, Some(1));
    insta::assert_snapshot!(ran.shown());
}

const GROUPS: &str =
    r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "x"}]}]}}"#;
const HANDLERS: &str = r#"{"version": 1, "hooks": {"preToolUse": [{"command": "x"}]}}"#;
const TABLES: &str = "[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ntype = \"command\"\n\
                      command = \"x\"\n";

/// Files of somebody else that clients read hooks from, beside the one that `install` writes.
const OF_OTHERS: &[(&str, &str, &str)] = &[
    ("claude-code", "repo/.claude/settings.json", GROUPS),
    ("claude-code", "home/.claude/settings.json", GROUPS),
    ("codex", "repo/.codex/config.toml", TABLES),
    ("codex", "home/.codex/hooks.json", GROUPS),
    ("gemini-cli", "home/.gemini/settings.json", GROUPS),
    (
        "gemini-cli",
        "home/.gemini/extensions/other/hooks/hooks.json",
        GROUPS,
    ),
    ("copilot-cli", "repo/.github/hooks/other.json", HANDLERS),
    ("copilot-cli", "home/.copilot/hooks/other.json", HANDLERS),
    ("qwen-code", "home/.qwen/settings.json", GROUPS),
    ("cline", "repo/.clinerules/hooks/PreToolUse", "#!/bin/sh\n"),
    (
        "cline",
        "home/Documents/Cline/Hooks/PreToolUse",
        "#!/bin/sh\n",
    ),
    ("factory-droid", "repo/.factory/settings.json", GROUPS),
    ("factory-droid", "home/.factory/settings.json", GROUPS),
    (
        "goose",
        "repo/.agents/plugins/other/hooks/hooks.json",
        GROUPS,
    ),
    (
        "goose",
        "home/.agents/plugins/other/hooks/hooks.json",
        GROUPS,
    ),
    ("opencode", "repo/.opencode/plugin/other.js", "export {}\n"),
    (
        "opencode",
        "repo/opencode.json",
        "{\"plugin\": [\"other\"]}",
    ),
    (
        "opencode",
        "home/.config/opencode/plugin/other.ts",
        "export {}\n",
    ),
    ("cursor", "home/.cursor/hooks.json", HANDLERS),
    ("cursor", "repo/.claude/settings.json", GROUPS),
    ("vscode", "repo/.github/hooks/other.json", HANDLERS),
    ("vscode", "home/.claude/settings.json", GROUPS),
    ("windsurf", "home/.codeium/windsurf/hooks.json", HANDLERS),
    ("kiro", "repo/.kiro/hooks/other.json", HANDLERS),
    ("kiro", "home/.kiro/agents/other.json", HANDLERS),
];

/// The files of each client in which hooks of others were found, and the exit code.
fn of_others(machine: &Machine) -> (Option<i32>, Vec<(String, String)>) {
    let ran = machine.run(&[&["install", "--check", "--json"], &everybody()[..]].concat());
    let told: Value = serde_json::from_str(&ran.stdout).unwrap();
    let mut found = Vec::new();
    for client in told["clients"].as_array().unwrap() {
        for finding in client["findings"].as_array().unwrap() {
            if finding["kind"] == "foreign" {
                let text = |value: &Value| value.as_str().unwrap().to_owned();
                found.push((text(&client["client"]), text(&finding["file"])));
            }
        }
    }
    (ran.code, found)
}

/// A hook of somebody else is said with its file, in whichever place of the client it stands, and
/// is no reason to call the client ungoverned.
#[test]
fn hooks_of_others_are_found_everywhere() {
    let machine = Machine::new();
    machine.run(&[&["install", "--yes"], &everybody()[..]].concat());
    assert_eq!(of_others(&machine), (Some(0), Vec::new()));
    for (_, file, text) in OF_OTHERS {
        machine.write(file, text);
    }
    let (code, found) = of_others(&machine);
    assert_eq!(code, Some(0), "{found:?}");
    for (client, file, _) in OF_OTHERS {
        let place = file.trim_start_matches("repo/");
        let told = |(known, at): &(String, String)| known == client && at.ends_with(place);
        assert!(found.iter().any(told), "{client} {file} {found:#?}");
    }
    for client in everybody() {
        assert!(OF_OTHERS.iter().any(|row| row.0 == client), "{client}");
    }
}

/// A folder with more names than are looked at is said, instead of being passed over.
#[test]
fn a_folder_that_is_not_looked_at_is_said() {
    let machine = Machine::new();
    machine.run(&["install", "goose", "--yes"]);
    let plugins = machine.root().join(".agents/plugins");
    for number in 0..=HOOK_FOLDER_NAMES_MAX {
        fs::create_dir(plugins.join(format!("p{number}"))).unwrap();
    }
    let ran = machine.run(&["install", "--check", "goose"]);
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    let told = "foreign    .agents/plugins: the folder can't be listed";
    assert!(ran.stdout.contains(told), "{}", ran.shown());
}

/// Whether `tagout exec` works inside a client's own sandbox is tried where it can be.
#[test]
fn own_sandboxes_are_tried() {
    let machine = Machine::new();
    machine.run(&["install", "codex", "--yes"]);
    let exec = |machine: &Machine| {
        let ran = machine.run(&["install", "--check", "codex"]);
        let line = ran.stdout.lines().find(|line| line.starts_with("  exec"));
        line.unwrap_or_default().to_owned()
    };
    assert!(exec(&machine).contains("not tried"), "{}", exec(&machine));
    let refuses =
        "[ \"$1\" = sandbox ] && { echo 'bwrap: no' >&2; exit 1; }; echo codex-cli 0.166.0";
    machine.client("codex", refuses);
    insta::assert_snapshot!(exec(&machine));
    machine.write(
        "home/.codex/config.toml",
        "sandbox_mode = \"danger-full-access\"\n",
    );
    assert_eq!(exec(&machine), "", "its own sandbox is off");
}

/// A program that the next build replaces is not registered.
#[test]
fn not_from_a_build_folder() {
    let machine = Machine::new();
    let mut command = Command::new(env!("CARGO_BIN_EXE_tagout"));
    command
        .args(["install", "goose", "--yes"])
        .current_dir(machine.root())
        .env("HOME", machine.home());
    let ran = machine.ran(&mut command);
    assert_eq!(ran.code, Some(3), "{}", ran.shown());
    assert!(
        ran.stderr
            .contains("cargo install --locked --path crates/cli"),
        "{}",
        ran.shown()
    );
    assert!(!machine.root().join(".agents").exists());
}

/// A program that somebody else can replace is not registered: by its place, its group or its
/// owner.
#[test]
fn not_from_a_place_of_others() {
    let machine = Machine::new();
    let bin = machine.path().join("bin");
    let mode = |mode| fs::set_permissions(&bin, fs::Permissions::from_mode(mode)).unwrap();
    let refused = |why: &str| {
        let ran = machine.run(&["install", "goose", "--yes"]);
        assert_eq!(ran.code, Some(3), "{}", ran.shown());
        assert!(ran.stderr.contains(why), "{}", ran.shown());
        assert!(!machine.root().join(".agents").exists());
    };
    mode(0o757);
    refused("anybody can change");
    mode(0o775);
    let uid = fs::metadata(&bin).unwrap().uid();
    // Only root can give a folder away; an ordinary user's own group is another matter.
    if chown(&bin, None, Some(uid + 12_345)).is_ok() {
        refused("the members of group");
        chown(&bin, Some(uid + 12_345), None).unwrap();
        mode(0o755);
        refused("belongs to user");
        chown(&bin, Some(uid), Some(uid)).unwrap();
    }
    mode(0o755);
    let ran = machine.run(&["install", "goose", "--yes"]);
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
}

/// Every file or none, the list of made folders among them.
#[test]
fn a_list_that_can_not_be_written_undoes_it() {
    let machine = Machine::new();
    let list = machine.home().join(".local/state/tagout/installed.json");
    if list.exists() {
        fs::remove_file(&list).unwrap();
    }
    fs::create_dir(&list).unwrap();
    let before = machine.tree();
    let ran = machine.run(&["install", "goose", "--yes"]);
    assert_ne!(ran.code, Some(0), "{}", ran.shown());
    assert_eq!(machine.tree(), before);
    fs::remove_dir(&list).unwrap();
    let ran = machine.run(&["install", "goose", "--yes"]);
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
}

#[test]
fn names_that_are_not_known() {
    let machine = Machine::new();
    insta::assert_snapshot!(machine.run(&["install", "gose", "--yes"]).shown());
    insta::assert_snapshot!(
        machine
            .run(&["install", "goose", "--scope", "managed", "--yes"])
            .shown()
    );
}

/// Where a client still waits for a person, the headline says so, in the scopes in which it does.
#[test]
fn what_a_person_still_has_to_do_is_in_the_headline() {
    let machine = Machine::new();
    let headline = |words: &[&str]| {
        let ran = machine.run(&[&["install", "--yes"], words].concat());
        ran.stdout.lines().next().unwrap_or_default().to_owned()
    };
    let cases = [
        (
            &["codex"][..],
            "codex: governed once you trust this project and its hooks",
        ),
        (
            &["codex", "--scope", "user"],
            "codex: governed once you trust its hooks",
        ),
        (
            &["gemini-cli"],
            "gemini-cli: governed once you trust this folder",
        ),
        (&["gemini-cli", "--scope", "user"], "gemini-cli: governed"),
        (&["goose"], "goose: governed"),
    ];
    for (words, wanted) in cases {
        assert_eq!(headline(words), wanted, "{words:?}");
    }
    let ran = machine.run(&["install", "codex", "--check", "--json"]);
    let told = &ran.json_lines()[0]["clients"][0];
    assert_eq!(told["governed"], true, "{told}");
    assert_eq!(told["once"], "you trust this project and its hooks");
}

/// §5: lessons are the repository's. They stay when the hooks go, and a person is told where.
#[test]
fn lessons_that_stay_are_told() {
    let machine = Machine::new();
    machine.run(&["install", "goose", "--yes"]);
    let told = machine.run(&["uninstall", "goose", "--yes"]);
    assert!(!told.stderr.contains("taught"), "{}", told.shown());
    machine.run(&["install", "goose", "--yes"]);
    let select = ["exec", "--session", "s", "--intent", "INT-001", "--"];
    let fails = "sh -c 'echo broken; exit 3' test";
    let ran = machine.run(&[&select[..], &[fails]].concat());
    assert_eq!(ran.code, Some(3), "{}", ran.shown());
    let ran = machine.run(&["uninstall", "goose", "--yes", "--json"]);
    let holding = ["AGENT.md", "AGENTS.md", "CLAUDE.md"]
        .into_iter()
        .filter(|name| {
            let text = machine.read(&format!("repo/{name}")).unwrap_or_default();
            text.contains("Lessons Learned")
        });
    let holding: Vec<&str> = holding.collect();
    assert!(!holding.is_empty(), "{}", ran.shown());
    for name in &holding {
        assert!(
            ran.stderr.contains(&format!("stays in {name}")),
            "{}",
            ran.shown()
        );
    }
    assert_eq!(
        ran.json_lines()[0]["lessons_in"],
        serde_json::json!(holding)
    );
}
