//! `tagout` at a terminal, where people type.

use std::io::{Read as _, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use crate::machine::Machine;

/// A generous wait for the next thing to be shown.
const PATIENCE: Duration = Duration::from_secs(60);

/// A program at a terminal, which `script` provides.
pub(crate) struct Terminal {
    child: Child,
    typed: Option<ChildStdin>,
    shown: Receiver<Vec<u8>>,
    /// Everything that was shown since the last look.
    text: String,
}

impl Terminal {
    /// Starts `tagout` with these words.
    pub(crate) fn start(machine: &Machine, words: &str) -> Self {
        Self::run(machine, &format!("{} {words}", machine.program().display()))
    }

    /// What `tagout` shows at a terminal of so many columns.
    pub(crate) fn shows(machine: &Machine, columns: usize, words: &str) -> String {
        let line = format!(
            "stty cols {columns}; {} {words}",
            machine.program().display()
        );
        let (code, shown) = Self::run(machine, &line).ended();
        assert_eq!(code, Some(0), "{shown}");
        shown.replace('\r', "")
    }

    /// Starts a line of the shell.
    pub(crate) fn run(machine: &Machine, line: &str) -> Self {
        let mut command = Command::new("script");
        let own = machine.command(&[]);
        command
            .args(["-qefc", line, "/dev/null"])
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
    pub(crate) fn answer(&mut self, question: &str, typed: &str) {
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
    pub(crate) fn ended(mut self) -> (Option<i32>, String) {
        while let Ok(bytes) = self.shown.recv_timeout(PATIENCE) {
            self.text.push_str(&String::from_utf8_lossy(&bytes));
        }
        drop(self.typed.take());
        let code = self.child.wait().unwrap().code();
        (code, self.text)
    }
}
