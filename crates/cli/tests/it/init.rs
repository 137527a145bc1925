//! `tagout init` as a new user meets it, and what every verb says where there is no workspace.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::Value;
use tagout_agents::Client;

use crate::hook_oracle::{Does, Said, said};
use crate::hooked::{Call, fed};
use crate::machine::{Machine, Tree};

/// From nothing to a governed client with one command.
#[test]
fn one_command() {
    let machine = Machine::bare();
    machine.client("goose", "echo 1.52.0");
    let words = "init --yes --client found --intent First --scope src/**";
    let ran = machine.run(&words.split(' ').collect::<Vec<_>>());
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    let shown = ran.shown();
    let start = shown.find("tagout/w-").unwrap() + "tagout/w-".len();
    insta::assert_snapshot!(shown.replace(shown.get(start..start + 20).unwrap(), "[ID]"));
    assert_eq!(machine.run(&["install", "--check", "goose"]).code, Some(0));
    let list = machine.run(&["intent", "list"]).stdout;
    assert_eq!(list, "INT-001  open    IN_PROGRESS  First\n");
    first_edit(&machine, Client::Goose);
}

/// Runs what `init` wrote for an event, as the client does.
fn called(machine: &Machine, event: &str, payload: &[u8]) -> Said {
    let written = machine.read("repo/.agents/plugins/tagout/hooks/hooks.json");
    let hooks: Value = serde_json::from_str(&written.unwrap()).unwrap();
    let line = hooks["hooks"][event][0]["hooks"][0]["command"].as_str();
    let mut shell = Command::new("sh");
    shell
        .args(["-c", line.unwrap()])
        .current_dir(machine.root());
    shell.env_clear().env("PATH", "/usr/bin:/bin");
    shell.env("HOME", machine.home());
    said(Client::Goose, &fed(shell, payload))
}

/// The second command is the agent's: a write is refused, the intent is selected, the same write is
/// done, and the ledger and the blame tell of it.
fn first_edit(machine: &Machine, client: Client) {
    let root = machine.root();
    let before = |call: &Call| called(machine, &call.before(), &call.payload(&root));
    let after = |call: &Call| called(machine, &call.after(), &call.reported(&root));
    let write = |id: &str, path: &str| Call::write(client, ("s", id), path, "fn first() {}\n");
    let refused = before(&write("w1", "src/first.rs"));
    assert_eq!(refused.does(), Does::Denies, "{refused:?}");
    // It is told what to run, word by word.
    let (_, told) = refused.stderr.split_once("then `").unwrap();
    let (line, rest) = told.split_once('`').unwrap();
    assert!(rest.starts_with(" as a command of its own"), "{refused:?}");
    let line = line.replace(" ID ", " INT-001 ");
    let select = Call::shell(client, ("s", "s1"), &line);
    let selected = before(&select);
    assert_eq!(selected.does(), Does::Runs, "{selected:?}");
    let words: Vec<&str> = line.split(' ').skip(1).collect();
    let ran = machine.run(&words);
    assert!(ran.stdout.contains("INT-001"), "{}", ran.shown());
    after(&select);
    let done = write("w2", "src/first.rs");
    let allowed = before(&done);
    assert_eq!(allowed.does(), Does::Runs, "{allowed:?}");
    machine.write("repo/src/first.rs", "fn first() {}\n");
    after(&done);
    let outside = before(&write("w3", "docs/first.md"));
    assert_eq!(outside.does(), Does::Denies, "{outside:?}");
    let blame = machine.run(&["blame", "src/first.rs"]);
    assert!(blame.stdout.contains("INT-001"), "{}", blame.shown());
    let log = machine
        .run(&["log", "--file", "src/first.rs", "--json"])
        .stdout;
    assert!(log.contains("COMPLETED"), "{log}");
    assert_eq!(machine.run(&["verify"]).code, Some(0));
}

/// Run again, it says what it kept and which arguments changed nothing.
#[test]
fn again() {
    let machine = Machine::new();
    let before = machine.tree();
    let words = "init --yes --intent Other --scope docs/** --profile strict";
    let ran = machine.run(&words.split(' ').collect::<Vec<_>>());
    assert_eq!(ran.code, Some(0));
    assert_eq!(machine.tree(), before);
    insta::assert_snapshot!(ran.stderr);
    let ran = machine.run(&[&words.split(' ').collect::<Vec<_>>()[..], &["--json"]].concat());
    assert_eq!(
        ran.json_lines()[0]["ignored"],
        serde_json::json!(["--intent", "--profile"])
    );
}

/// §5: the law of a clone is shown and waits for a person's word, also where a script sets the
/// clone up.
#[test]
fn a_clone_is_not_accepted_unseen() {
    let machine = Machine::bare();
    let intents = "version: 1\nactive_intents:\n  - id: INT-001\n    name: Theirs\n    status: \
                   IN_PROGRESS\n    owned_scope:\n      - \"**\"\n";
    machine.write("repo/.orchestration/active_intents.yaml", intents);
    let ran = machine.run(&["init", "--yes"]);
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    let shown = ran.stderr.contains("widens") && ran.stderr.contains("INT-001");
    assert!(shown, "{}", ran.shown());
    assert!(ran.stderr.contains("`tagout trust`"), "{}", ran.shown());
    let write = || {
        let select = ["intent", "select", "INT-001", "--session", "s"];
        machine.run(&select);
        let input = "{\"path\":\"a.txt\",\"content\":\"x\",\"intent_id\":\"INT-001\",\
                     \"mutation_class\":\"INTENT_EVOLUTION\"}";
        machine.run(&["run", "write_to_file", "--input", input, "--session", "s"])
    };
    let ran = write();
    assert_ne!(ran.code, Some(0), "{}", ran.shown());
    assert_eq!(machine.read("repo/a.txt"), None);
    // Set up again it still waits.
    let ran = machine.run(&["init", "--yes", "--json"]);
    assert_eq!(ran.json_lines()[0]["accepted"], false, "{}", ran.shown());
    assert_eq!(machine.run(&["trust", "--yes"]).code, Some(0));
    let ran = write();
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
}

/// Without an intent and with clients that are not governed, it says what to do next.
#[test]
fn what_comes_next() {
    let machine = Machine::bare();
    fs::create_dir_all(machine.home().join(".codex")).unwrap();
    machine.client("claude", "true");
    fs::remove_dir(machine.root().join(".git")).unwrap();
    let ran = machine.run(&["init", "--yes"]);
    insta::assert_snapshot!(ran.stderr);
    insta::assert_snapshot!(machine.run(&["intent", "list"]).shown());
}

/// A home and the root of the file system are no repositories.
#[test]
fn not_everywhere() {
    let machine = Machine::bare();
    let ran = machine.ran(
        machine
            .command(&["init", "--yes"])
            .current_dir(machine.home()),
    );
    insta::assert_snapshot!(ran.shown());
    let ran = machine.ran(machine.command(&["init", "--yes"]).current_dir("/"));
    insta::assert_snapshot!(ran.shown());
    let home = machine.home().display().to_string();
    let ran = machine.run(&["init", "--yes", "--workspace", &home]);
    assert_eq!(ran.code, Some(3), "{}", ran.shown());
    assert!(
        machine
            .tree()
            .keys()
            .all(|name| !name.contains(".orchestration"))
    );
}

/// A client that is not known, or a program in a build folder, is said before anything is written.
#[test]
fn refused_before_anything_is_written() {
    let machine = Machine::bare();
    let before = machine.tree();
    let ran = machine.run(&["init", "--yes", "--client", "gose"]);
    assert_eq!(ran.code, Some(3), "{}", ran.shown());
    let built = env!("CARGO_BIN_EXE_tagout");
    let mut command = std::process::Command::new(built);
    command
        .args(["init", "--yes", "--client", "goose"])
        .current_dir(machine.root())
        .env("HOME", machine.home())
        .stdin(Stdio::null());
    let ran = machine.ran(&mut command);
    assert_eq!(ran.code, Some(3), "{}", ran.shown());
    assert!(
        ran.stderr
            .contains("cargo install --locked --path crates/cli"),
        "{}",
        ran.shown()
    );
    assert_eq!(machine.tree(), before);
}

/// A set-up that fails leaves the workspace as it was, says what to mend, and once that is done the
/// same line ends in a workspace whose law holds.
#[test]
fn a_set_up_that_fails_leaves_nothing() {
    let line = "init --yes --intent First --scope src/**";
    let line: Vec<&str> = line.split(' ').collect();
    let broken: [(&str, &str); 3] = [
        (
            "home/.local/state/tagout",
            "a file where the state would lie",
        ),
        ("home/.local", "a file on the way there"),
        ("home/.config/tagout/policy.yaml", "version: [\n"),
    ];
    for (name, text) in broken {
        for before in ["", "repo/.orchestration/notes.md"] {
            let machine = Machine::bare();
            machine.write(name, text);
            if !before.is_empty() {
                machine.write(before, "by hand\n");
            }
            let repository = || {
                let tree = machine.tree().into_iter();
                tree.filter(|(name, _)| name.starts_with("repo/"))
                    .collect::<Tree>()
            };
            let tree = repository();
            let ran = machine.run(&line);
            assert_ne!(ran.code, Some(0), "{name}: {}", ran.shown());
            let told = ran
                .stderr
                .contains("this run left nothing in the workspace")
                && ran.stderr.contains("run `tagout init` again");
            assert!(told, "{name}: {}", ran.shown());
            assert!(!ran.stderr.contains("tagout trust"), "{}", ran.shown());
            assert_eq!(repository(), tree, "{name}");
            fs::remove_file(machine.path().join(name)).unwrap();
            is_set_up(&machine, &line);
        }
    }
}

/// Sets a workspace up and changes a file under its first intent.
fn is_set_up(machine: &Machine, line: &[&str]) {
    let ran = machine.run(&[line, &["--json"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    assert_eq!(ran.json_lines()[0]["accepted"], true, "{}", ran.shown());
    let select = ["intent", "select", "INT-001", "--session", "s"];
    let ran = machine.run(&select);
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
    let input = "{\"path\":\"src/a.txt\",\"content\":\"x\",\"intent_id\":\"INT-001\",\
                 \"mutation_class\":\"INTENT_EVOLUTION\"}";
    let ran = machine.run(&["run", "write_to_file", "--input", input, "--session", "s"]);
    assert_eq!(ran.code, Some(0), "{}", ran.shown());
}

/// Every verb that needs a workspace says the same where there is none, with one exit code: 3, and
/// 125 for the verb whose small codes belong to somebody else's command.
#[test]
fn one_code_without_a_workspace() {
    let verbs = [
        "log",
        "verify",
        "stats",
        "intent list",
        "intent show INT-001",
        "intent select INT-001",
        "intent complete INT-001 --yes",
        "intent release INT-001 --yes",
        "pending",
        "approve a-1 --yes",
        "reject a-1 --yes",
        "trust --yes",
        "run read_file --input {}",
        "blame a",
        "undo --intent INT-001 --yes",
        "seal --yes",
        "prove 1",
        "grant list --yes",
        "parked list",
        "trace query",
        "install goose --yes",
        "uninstall goose --yes",
        "epoch new --yes",
    ];
    let machine = Machine::bare();
    for sidecar in [false, true] {
        if sidecar {
            fs::create_dir_all(machine.root().join(".orchestration")).unwrap();
        }
        for verb in verbs {
            // Declarations and other people's files can be looked at and mended without a state.
            if sidecar && (verb.starts_with("intent list") || verb.starts_with("uninstall")) {
                continue;
            }
            let ran = machine.run(&verb.split(' ').collect::<Vec<_>>());
            let shown = ran.shown();
            assert_eq!(ran.code, Some(3), "{verb}: {shown}");
            let unknown = verb.starts_with("intent show") && sidecar;
            assert!(unknown || shown.contains("tagout init"), "{verb}: {shown}");
        }
        assert_eq!(machine.run(&["exec", "--", "true"]).code, Some(125));
    }
}

/// H17: whoever finds an intent taken learns by whom and until when.
#[test]
fn a_held_intent_names_its_holder() {
    let machine = Machine::new();
    let select =
        |session: &str| machine.run(&["intent", "select", "INT-001", "--session", session]);
    assert_eq!(select("first").code, Some(0));
    let ran = select("second");
    assert_eq!(ran.code, Some(2));
    let told = &ran.stderr;
    assert!(
        told.contains("LEASED: intent INT-001 is held by session first until 20"),
        "{told}"
    );
    let list = machine.run(&["intent", "list"]).stdout;
    assert!(
        list.starts_with("INT-001  held    IN_PROGRESS  Work  (held by first until 20"),
        "{list}"
    );
    let json = machine.run(&["intent", "list", "--json"]);
    assert_eq!(json.json_lines()[0]["intents"][0]["held_by"], "first");
    let show = machine.run(&["intent", "show", "INT-001"]).stdout;
    assert!(show.contains("only that session can select it"), "{show}");
    assert_eq!(
        machine.run(&["intent", "release", "INT-001", "--yes"]).code,
        Some(0)
    );
    assert_eq!(select("second").code, Some(0));
}
