//! A process of many threads that edits a few files over and over: the storm test starts several,
//! and kills some.
//!
//! `storm ROOT STATE LOG SECONDS THREADS SEED` appends one line per transaction to one or more
//! files and writes to LOG what it was told about each.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test program: a panic is a finding"
)]

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use tagout_vocab::{CallId, Timestamp};
use tagout_workspace::{Alone, Error, Options, RelPath, Workspace, WriterProbe};

const FILES: [&str; 6] = ["f0", "f1", "dir/f2", "dir/f3", "g0", "g1"];

struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % below
    }
}

fn say(mut log: &File, line: &str) {
    // One write of few bytes to a file opened for appending: a kill leaves at most the last one
    // torn.
    log.write_all(format!("{line}\n").as_bytes()).unwrap();
}

fn one(workspace: &Workspace, log: &File, id: &str, dice: &mut Dice) {
    let files: Vec<&str> = FILES.into_iter().filter(|_| dice.roll(3) == 0).collect();
    let mut transaction = match workspace.begin(&CallId::new(id).unwrap()) {
        Ok(transaction) => transaction,
        Err(error) => panic!("begin: {error}"),
    };
    for file in &files {
        let path = RelPath::new(file.as_bytes()).unwrap();
        let staged = transaction.read(&path).and_then(|mut bytes| {
            bytes.extend_from_slice(format!("{id}\n").as_bytes());
            transaction.write(&path, &bytes)
        });
        match staged {
            Ok(()) => {}
            // The file changes too fast to be read as one, or someone moves it right now.
            Err(Error::Conflict { .. } | Error::Missing { .. }) => return,
            Err(error) => panic!("stage: {error}"),
        }
    }
    if dice.roll(5) == 0 {
        transaction.rollback();
        say(log, &format!("rolled {id}"));
        return;
    }
    say(log, &format!("try {id} {}", files.join(" ")));
    match transaction.commit(Timestamp::from_millis(0), b"x") {
        Ok(committed) => {
            say(log, &format!("ack {id}"));
            let due = committed.checkpoint_due;
            committed.confirm();
            if due {
                workspace.checkpoint(|| Ok(())).unwrap();
            }
        }
        Err(Error::Conflict { .. }) => say(log, &format!("conflict {id}")),
        Err(error) => panic!("commit: {error}"),
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let text = |at: usize| arguments.get(at).cloned().expect("an argument");
    let number = |at: usize| text(at).parse::<u64>().expect("a number");
    let (root, state) = (PathBuf::from(text(1)), PathBuf::from(text(2)));
    let log = OpenOptions::new()
        .append(true)
        .create(true)
        .open(text(3))
        .unwrap();
    // As the gate opens it.
    let options = Options {
        writers: WriterProbe::Lease(tagout_sandbox::lease),
        alone: Some(Alone {
            take: tagout_sandbox::lease_alone,
            lost: tagout_sandbox::lease_lost,
        }),
        ..Options::default()
    };
    let workspace = Workspace::open(&root, &state, options).unwrap();
    let settled = workspace.recover().unwrap().settled;
    let dead: Vec<CallId> = settled.into_iter().map(|one| one.execution).collect();
    workspace.confirm(&dead).unwrap();
    let end = Instant::now() + Duration::from_secs(number(4));
    std::thread::scope(|scope| {
        for thread in 0..number(5) {
            let (workspace, log, seed) = (&workspace, &log, number(6));
            scope.spawn(move || {
                let mut dice =
                    Dice((seed * 1000 + thread + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
                for count in 0.. {
                    if Instant::now() > end {
                        return;
                    }
                    one(
                        workspace,
                        log,
                        &format!("s{seed}.t{thread}.{count}"),
                        &mut dice,
                    );
                }
            });
        }
    });
}
