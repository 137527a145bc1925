//! `tagout init` at a terminal: its questions, answered well, badly and not at all.

use std::fs;

use crate::machine::Machine;
use crate::terminal::Terminal;

const ABOUT: &str = "What is the first work about?";
const FILES: &str = "Which files may it change?";
const CLIENT: &str = "Install the hook for Goose";
const AGREED: &str = "Set this workspace up?";

/// What a person types.
const END_OF_INPUT: &str = "\u{4}";
const INTERRUPT: &str = "\u{3}";

fn machine() -> Machine {
    let machine = Machine::bare();
    machine.client("goose", "echo 1.52.0");
    machine
}

/// Every question is answered, and each answer counts.
#[test]
fn answers_are_taken() {
    let machine = machine();
    let mut terminal = Terminal::start(&machine, "init");
    terminal.answer(ABOUT, "First work\n");
    terminal.answer(FILES, "lib/**, docs/** etc/*.toml\n");
    terminal.answer(CLIENT, "yes\n");
    terminal.answer(AGREED, "y\n");
    let (code, shown) = terminal.ended();
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("goose: governed"), "{shown}");
    let list = machine.run(&["intent", "list"]).stdout;
    assert_eq!(list, "INT-001  open    IN_PROGRESS  First work\n");
    let intent = machine.run(&["intent", "show", "INT-001"]).stdout;
    for pattern in ["lib/**", "docs/**", "etc/*.toml"] {
        assert!(
            intent
                .lines()
                .any(|line| line.trim_end().ends_with(pattern)),
            "{intent}"
        );
    }
    assert!(!intent.contains(','), "{intent}");
}

/// Nothing typed is the answer that the question names.
#[test]
fn nothing_is_an_answer_too() {
    let machine = machine();
    let mut terminal = Terminal::start(&machine, "init");
    terminal.answer(ABOUT, "\n");
    terminal.answer(CLIENT, "\n");
    terminal.answer(AGREED, "Y\n");
    let (code, shown) = terminal.ended();
    assert_eq!(code, Some(0), "{shown}");
    assert!(!shown.contains("goose: governed"), "{shown}");
    assert!(shown.contains("No intent is declared"), "{shown}");
}

/// A wrong answer is said to be wrong, and the question comes again; not for ever.
#[test]
fn wrong_answers_are_asked_again() {
    let machine = machine();
    let before = machine.tree();
    let mut terminal = Terminal::start(&machine, "init");
    terminal.answer(ABOUT, "Work\n");
    terminal.answer(FILES, "../elsewhere/**\n");
    // Nobody typed an option.
    terminal.answer("\npattern 1 of the scope, `../elsewhere/**`", "");
    terminal.answer(FILES, "src/**\n");
    terminal.answer(CLIENT, "perhaps\n");
    terminal.answer("`perhaps` is neither yes nor no", "");
    terminal.answer(CLIENT, "no\n");
    for wrong in ["ja", "1", "yess"] {
        terminal.answer(AGREED, &format!("{wrong}\n"));
    }
    let (code, shown) = terminal.ended();
    assert_eq!(code, Some(3), "{shown}");
    assert_eq!(machine.tree(), before);
}

/// A no, the end of input and an interrupt at any question leave everything as it was.
#[test]
fn nothing_is_left_half_written() {
    let questions = [
        (ABOUT, "Work\n"),
        (FILES, "src/**\n"),
        (CLIENT, "y\n"),
        (AGREED, "n\n"),
    ];
    for typed in [END_OF_INPUT, INTERRUPT] {
        for at in 0..questions.len() {
            let machine = machine();
            let before = machine.tree();
            let mut terminal = Terminal::start(&machine, "init");
            for (question, answer) in &questions[..at] {
                terminal.answer(question, answer);
            }
            terminal.answer(questions[at].0, typed);
            let (code, shown) = terminal.ended();
            assert_ne!(code, Some(0), "{typed:?} at {}: {shown}", questions[at].0);
            assert_eq!(machine.tree(), before, "{typed:?} at {}", questions[at].0);
        }
    }
    let machine = machine();
    let before = machine.tree();
    let mut terminal = Terminal::start(&machine, "init");
    for (question, answer) in questions {
        terminal.answer(question, answer);
    }
    let (code, shown) = terminal.ended();
    assert_ne!(code, Some(0), "{shown}");
    assert_eq!(machine.tree(), before);
    // Whoever says no has made no mistake.
    assert!(shown.contains("nothing was done"), "{shown}");
    assert!(shown.contains("no file was written"), "{shown}");
    assert!(!shown.contains("error"), "{shown}");
}

/// What a first intent owns, pattern by pattern.
fn owned(machine: &Machine) -> Vec<String> {
    let shown = machine.run(&["intent", "show", "INT-001", "--json"]);
    let shown = &shown.json_lines()[0]["owned_scope"];
    let patterns = shown.as_array().unwrap().iter();
    patterns
        .map(|one| one.as_str().unwrap().to_owned())
        .collect()
}

/// A comma ends a pattern only where a blank follows; one that may be meant either way is asked
/// about, because each guess would own other files than were meant.
#[test]
fn commas_are_not_guessed_at() {
    let machine = machine();
    let mut terminal = Terminal::start(&machine, "init");
    terminal.answer(ABOUT, "Work\n");
    terminal.answer(FILES, "data/a,b/**\n");
    terminal.answer("is it one pattern or several?", "");
    terminal.answer(FILES, "src/{a, b}/**\n");
    terminal.answer("a `{` has no `}`", "");
    terminal.answer(FILES, "src/{a,b}/**, data/a[,]b/**, docs/,\n");
    terminal.answer(CLIENT, "\n");
    terminal.answer(AGREED, "y\n");
    let (code, shown) = terminal.ended();
    assert_eq!(code, Some(0), "{shown}");
    assert_eq!(owned(&machine), ["src/{a,b}/**", "data/a[,]b/**", "docs/"]);
}

/// The same comma in an option, for people and for agents.
#[test]
fn commas_in_options_are_not_guessed_at() {
    let bare = Machine::bare();
    let before = bare.tree();
    let init = [
        "init",
        "--yes",
        "--intent",
        "Work",
        "--scope",
        "lib/**,docs/**",
    ];
    let ran = bare.run(&init);
    assert_eq!(ran.code, Some(3), "{}", ran.shown());
    assert_eq!(bare.tree(), before);

    let machine = Machine::new();
    let new = ["intent", "new", "--yes", "--name", "More", "--scope"];
    let propose = [
        "intent", "propose", "--name", "More", "--reason", "why", "--scope",
    ];
    for verb in [&new[..], &propose] {
        let ran = machine.run(&[verb, &["lib/**, docs/**"]].concat());
        assert_eq!(ran.code, Some(3), "{}", ran.shown());
        assert!(
            ran.stderr.contains("`--scope` once for each"),
            "{}",
            ran.shown()
        );
        let ran = machine.run(&[verb, &["lib/{a,b}/**"]].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.shown());
    }
}

/// Where nothing is typed, a first intent owns the folders with source, which is shown before
/// anybody agrees; and if that is everything, it says so.
#[test]
fn what_an_intent_owns_by_itself() {
    let cases = [
        (&["src/a.txt", "lib/a.rs"][..], "src/**"),
        (
            &["crates/one/src/a.rs", "xtask/src/b.rs", "target/a.rs"],
            "crates/** xtask/**",
        ),
        (
            &["shop/__init__.py", "docs/a.md", ".vscode/a.js", "setup.py"],
            "shop/**",
        ),
        (&["main.py"], "**"),
        (&[], "**"),
    ];
    for (files, wanted) in cases {
        let machine = machine();
        for file in files {
            machine.write(&format!("repo/{file}"), "x\n");
        }
        let mut terminal = Terminal::start(&machine, "init");
        terminal.answer(ABOUT, "Work\n");
        let all = wanted == "**";
        let more = if all {
            ", which is everything here"
        } else {
            ""
        };
        terminal.answer(&format!("nothing: {wanted}{more})"), "\n");
        terminal.answer(CLIENT, "\n");
        let more = if all {
            ": everything in this folder"
        } else {
            ""
        };
        terminal.answer(&format!("INT-001 would own {wanted}{more}"), "");
        terminal.answer(AGREED, "y\n");
        let (code, shown) = terminal.ended();
        assert_eq!(code, Some(0), "{shown}");
        assert_eq!(owned(&machine).join(" "), wanted, "{files:?}");
    }
}

/// A folder that a link leads to is nobody's source here.
#[test]
fn linked_folders_are_not_proposed() {
    let machine = machine();
    machine.write("elsewhere/a.rs", "x\n");
    machine.write("repo/lib/a.rs", "x\n");
    for name in ["src", "other"] {
        let link = machine.root().join(name);
        std::os::unix::fs::symlink(machine.path().join("elsewhere"), link).unwrap();
    }
    fs::create_dir(machine.root().join("empty")).unwrap();
    let mut terminal = Terminal::start(&machine, "init");
    terminal.answer(ABOUT, "Work\n");
    terminal.answer("nothing: lib/**)", "\u{4}");
    terminal.ended();
}
