//! Programs that write into a file that was replaced while they opened it.

#![cfg(target_os = "linux")]

use std::io::Write as _;
use std::os::fd::AsRawFd as _;

use rustix::fs::{Mode, OFlags};
use tagout_gate::Outcome;
use tagout_vocab::limits::CHECKPOINT_COMMITS_MAX;

use crate::support::*;

/// L4: what is written into a file that was replaced comes to light with a later checkpoint, and
/// the call that made the checkpoint says where it was put.
#[test]
fn a_late_save_is_kept_and_told() {
    let world = World::new();
    world.write("src/a.txt", "first");
    let engine = in_action(&world, vec![]);
    let path = world.root.join("src/a.txt");
    // It has found the file and does not hold it yet, so nobody can see it.
    let found = rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).unwrap();
    assert_eq!(
        engine.execute(&read("src/a.txt")).outcome,
        Outcome::Completed
    );
    let receipt = engine.execute(&write("src/a.txt", "ours"));
    assert_eq!(receipt.outcome, Outcome::Completed, "{receipt:?}");
    let behind = format!("/proc/self/fd/{}", found.as_raw_fd());
    let mut late = std::fs::OpenOptions::new()
        .append(true)
        .open(behind)
        .unwrap();
    late.write_all(b" and late").unwrap();
    drop(late);

    let mut told = Vec::new();
    for number in 0..2 * CHECKPOINT_COMMITS_MAX {
        let receipt = engine.execute(&write("src/b.txt", &number.to_string()));
        assert_eq!(receipt.outcome, Outcome::Completed, "{receipt:?}");
        told.extend(receipt.warnings);
    }
    let [told] = told.as_slice() else {
        panic!("told {told:?}");
    };
    let kept = told
        .split('`')
        .find(|word| word.contains(".tagout-conflict-"));
    assert_eq!(
        world.read(kept.unwrap()).unwrap(),
        "first and late",
        "{told}"
    );
    assert_eq!(world.read("src/a.txt").unwrap(), "ours");
}
