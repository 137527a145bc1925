//! `tagout init` at a terminal: its questions, answered well, badly and not at all.

use std::io::{Read as _, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use crate::machine::Machine;

/// A generous wait for the next thing to be shown.
const PATIENCE: Duration = Duration::from_secs(60);

const ABOUT: &str = "What is the first work about?";
const FILES: &str = "Which files may it change?";
const CLIENT: &str = "Install the hook for Goose";
const AGREED: &str = "Set this workspace up?";

/// What a person types.
const END_OF_INPUT: &str = "\u{4}";
const INTERRUPT: &str = "\u{3}";

/// A program at a terminal, which `script` provides.
struct Terminal {
    child: Child,
    typed: Option<ChildStdin>,
    shown: Receiver<Vec<u8>>,
    /// Everything that was shown since the last look.
    text: String,
}

impl Terminal {
    fn start(machine: &Machine, words: &str) -> Self {
        let line = format!("{} {words}", machine.program().display());
        let mut command = Command::new("script");
        let own = machine.command(&[]);
        command
            .args(["-qefc", &line, "/dev/null"])
            .current_dir(machine.root())
            .env_clear()
            .envs(
                own.get_envs()
                    .filter_map(|(key, value)| Some((key, value?))),
            )
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut out = child.stdout.take().unwrap();
        let (send, shown) = channel();
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(read) = out.read(&mut bytes) {
                if read == 0 || send.send(bytes[..read].to_vec()).is_err() {
                    break;
                }
            }
        });
        let typed = child.stdin.take();
        Self {
            child,
            typed,
            shown,
            text: String::new(),
        }
    }

    /// Waits for a question, and types.
    fn answer(&mut self, question: &str, typed: &str) {
        let rest = loop {
            if let Some((_, rest)) = self.text.split_once(question) {
                break rest.to_owned();
            }
            match self.shown.recv_timeout(PATIENCE) {
                Ok(bytes) => self.text.push_str(&String::from_utf8_lossy(&bytes)),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    panic!("`{question}` was not asked: {}", self.text)
                }
            }
        };
        self.text = rest;
        let input = self.typed.as_mut().unwrap();
        input.write_all(typed.as_bytes()).unwrap();
        input.flush().unwrap();
    }

    /// The code that it ends with, and what it showed at the end.
    fn ended(mut self) -> (Option<i32>, String) {
        while let Ok(bytes) = self.shown.recv_timeout(PATIENCE) {
            self.text.push_str(&String::from_utf8_lossy(&bytes));
        }
        drop(self.typed.take());
        let code = self.child.wait().unwrap().code();
        (code, self.text)
    }
}

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
