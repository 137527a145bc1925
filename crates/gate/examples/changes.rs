//! A program for the tests of change sets: the sandbox's helper, small tools that scripts in the
//! sandbox use, and a commit that is made to be killed.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::panic,
    reason = "a test program: its output is its purpose and a panic is a finding"
)]

#[expect(dead_code, reason = "the tests use more of it")]
#[path = "../tests/it/changes/picture.rs"]
mod picture;

use std::path::Path;

use tagout_gate::changes;
use tagout_sandbox::layer::{self, Reading};
use tagout_vocab::{CallId, Timestamp};
use tagout_workspace::{Mark, Options, Workspace, WriterProbe};

fn open(root: &str, state: &str) -> Workspace {
    // Nobody else is here to write, and looking through all processes would drown the interesting
    // system calls.
    let options = Options {
        writers: WriterProbe::Lease(|_| Ok(false)),
        ..Options::default()
    };
    Workspace::open(Path::new(root), Path::new(state), options).unwrap()
}

fn recover(workspace: &Workspace) {
    let recovery = workspace.recover().unwrap();
    assert!(recovery.conflicts.is_empty(), "{:?}", recovery.conflicts);
    let calls: Vec<CallId> = recovery
        .settled
        .into_iter()
        .map(|one| one.execution)
        .collect();
    if !calls.is_empty() {
        workspace.confirm(&calls).unwrap();
    }
}

fn main() {
    tagout_sandbox::serve_if_helper();
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["picture", root, out] => {
            let text = serde_json::to_string(&picture::Picture::of(Path::new(root))).unwrap();
            std::fs::write(out, text).unwrap();
        }
        ["attr", name, value] => {
            // The path comes from the environment, because its bytes need not be text.
            let path = std::env::var_os("P").unwrap();
            let none = rustix::fs::XattrFlags::empty();
            if value.is_empty() {
                rustix::fs::lremovexattr(&path, *name).unwrap();
            } else {
                rustix::fs::lsetxattr(&path, *name, value.as_bytes(), none).unwrap();
            }
        }
        ["socket"] => {
            let path = std::env::var_os("P").unwrap();
            drop(std::os::unix::net::UnixListener::bind(path).unwrap());
        }
        ["commit", root, state, upper, mark] => {
            let workspace = open(root, state);
            recover(&workspace);
            let mark: Mark = serde_json::from_str(mark).unwrap();
            let how = Reading {
                workspace: Path::new(root),
                is_private: &|_, _| false,
                entries_max: 10_000,
                bytes_max: 1 << 30,
            };
            let set = layer::read(Path::new(upper), how).unwrap();
            let mut transaction = workspace.begin(&CallId::new("call").unwrap()).unwrap();
            changes::stage(&set, Path::new(upper), &mut transaction, &mark).unwrap();
            let now = Timestamp::from_millis(0);
            transaction.commit(now, b"closing").unwrap().confirm();
            println!("committed");
        }
        ["recover", root, state] => recover(&open(root, state)),
        other => panic!("unknown words {other:?}"),
    }
}
