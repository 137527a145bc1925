//! Two programs of different formats on one state: this one, and one that is built as the next
//! format will be.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use tagout_agents::Client;

use crate::hook_oracle::{Does, said};
use crate::hooked::{Call, Line, fed};
use crate::machine::Machine;
use crate::ran::Ran;

/// The program of the next format, built beside this one.
fn newer() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let target = test.ancestors().nth(3).unwrap().join("next-format");
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--package", "tagout", "--bin", "tagout"])
        .arg("--target-dir")
        .arg(&target)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("RUSTFLAGS", "--cfg tagout_next_format")
        .env("CARGO_PROFILE_DEV_DEBUG", "none")
        .env("CARGO_INCREMENTAL", "0")
        .status()
        .unwrap();
    assert!(
        built.success(),
        "the program of the next format does not build"
    );
    target.join("debug/tagout")
}

/// Puts a program in the place of the one that is installed.
fn install(machine: &Machine, program: &str) {
    fs::remove_file(machine.program()).unwrap();
    fs::copy(program, machine.program()).unwrap();
}

/// What a client's hook answers to a call that only reads, where the client has such a tool.
fn asked(machine: &Machine, client: Client) -> (Does, String) {
    let ids = ("conversation", "call-1");
    let call = if crate::hooked::sends(client).read.is_some() {
        Call::read(client, ids, "src/a.txt")
    } else {
        Call::shell(client, ids, "cat src/a.txt")
    };
    let event = call.before();
    let (root, states) = (machine.root(), machine.home().join(".local/state/tagout"));
    let line = Line::of(client, &event);
    let words = ["hook", "--client", line.client, "--event", line.event];
    let places = ["--workspace", root.to_str().unwrap(), "--state-dir"];
    let words = [&words[..], &places[..], &[states.to_str().unwrap()]].concat();
    let output = fed(machine.command(&words), &call.payload(&root));
    let text = [output.stdout.clone(), output.stderr.clone()].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    (said(client, &output).does(), text)
}

const READ: &[&str] = &["run", "read_file", "--input", r#"{"path":"src/a.txt"}"#];

/// The doors besides the hook, and what they are asked.
const DOORS: &[&[&str]] = &[
    READ,
    &["exec", "--", "true"],
    &["pending"],
    &["doctor"],
    &["trust", "--yes"],
    &["init", "--yes"],
    &["blame", "src/a.txt"],
    &["undo", "--yes", "call-1"],
    &["intent", "release", "INT-001", "--yes"],
];

const REFUSED: &str = "needs format 3 and this program knows 2; use a newer `tagout`";

fn state_files(machine: &Machine) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut open = vec![machine.home().join(".local/state/tagout")];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else if !path.ends_with("law/compiled") && !path.ends_with("law/programs") {
                // What is kept of the books is each build's own, and made again by any other.
                found.push((path.clone(), fs::read(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

/// L4: what a newer program took over, the older one refuses at every door, with one clear
/// reason and without touching it; the newer one goes on with what the older one left.
#[test]
fn slow_an_older_program_refuses_what_a_newer_one_took_over() {
    let newer = newer();
    let (older, newer) = (env!("CARGO_BIN_EXE_tagout"), newer.to_str().unwrap());
    let machine = Machine::new();
    machine.write("repo/src/a.txt", "text\n");
    let works = |ran: Ran| assert_eq!(ran.code, Some(0), "{}", ran.shown());
    works(machine.run(READ));
    let lines = |machine: &Machine| machine.run(&["log"]).stdout.matches("read_file").count();
    let first = lines(&machine);
    assert!(first > 0);

    install(&machine, newer);
    works(machine.run(READ));
    works(machine.run(&["verify"]));
    assert_eq!(lines(&machine), 2 * first, "both are there");
    for client in Client::ALL {
        let (does, text) = asked(&machine, *client);
        assert!(does != Does::Denies, "{client}, the newer one: {text}");
    }

    install(&machine, older);
    let before = (machine.tree(), state_files(&machine));
    for door in DOORS {
        let ran = machine.run(door);
        assert_ne!(ran.code, Some(0), "{door:?}: {}", ran.shown());
        assert!(ran.stderr.contains(REFUSED), "{door:?}: {}", ran.shown());
    }
    for client in Client::ALL {
        let (does, text) = asked(&machine, *client);
        assert!(does == Does::Denies, "{client}: {text}");
        assert!(text.contains(REFUSED), "{client}: {text}");
    }
    assert!(before.0 == machine.tree(), "the workspace was touched");
    let touched: Vec<PathBuf> = state_files(&machine)
        .into_iter()
        .filter(|file| !before.1.contains(file))
        .map(|(path, _)| path)
        .collect();
    assert_eq!(touched, Vec::<PathBuf>::new(), "the state was touched");
    assert_eq!(
        before.1.len(),
        state_files(&machine).len(),
        "a file is gone"
    );

    install(&machine, newer);
    works(machine.run(READ));
}
