//! Power loss: the block writes of real commits, replayed as every state that the flushes allow.

pub(crate) mod disks;
pub(crate) mod recorder;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use tagout_workspace::Workspace;

use self::disks::{BTRFS, EXT4, Kind, Recording, XFS, output, tools};
use crate::support::{all, crash_program, need, quiet};

/// Runs the crash program so that it believes to run in another boot of the machine.
fn in_another_boot(folder: &Path, arguments: &[&str]) {
    let boot = folder.join("boot_id");
    fs::write(&boot, "11111111-2222-3333-4444-555555555555\n").unwrap();
    let script = "mount --bind \"$1\" /proc/sys/kernel/random/boot_id && shift && exec \"$@\"";
    let status = Command::new("unshare")
        .args(["-m", "sh", "-c", script, "sh"])
        .arg(&boot)
        .arg(crash_program())
        .args(arguments)
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success(), "the program fails in another boot");
}

/// Runs commits on a recorded disk. They believe to run in another boot, so that the recovery
/// afterwards knows that the machine went down.
fn record(kind: Kind, versions: u64, skip: &str) -> Recording {
    let at = |mounted: &Path, name: &str| mounted.join(name).to_str().unwrap().to_owned();
    let prepare = |mounted: &Path| {
        let (root, state) = (at(mounted, "w"), at(mounted, "s"));
        assert_eq!(output(crash_program(), &["init", &root, &state]), "");
    };
    disks::record(kind, prepare, |mounted, mark| {
        let (root, state) = (at(mounted, "w"), at(mounted, "s"));
        let (versions, mark) = (versions.to_string(), mark.to_str().unwrap());
        let arguments = ["commit", &root, &state, "1", &versions, "3", skip, mark];
        let elsewhere = tempfile::tempdir().unwrap();
        in_another_boot(elsewhere.path(), &arguments);
    })
}

fn examine(mounted: &Path, least: u64, most: u64) -> String {
    let (root, state) = (mounted.join("w"), mounted.join("s"));
    let (root, state) = (root.to_str().unwrap(), state.to_str().unwrap());
    let recovered = output(crash_program(), &["recover", root, state]);
    if !recovered.is_empty() {
        return recovered;
    }
    output(
        crash_program(),
        &["check", root, state, &least.to_string(), &most.to_string()],
    )
}

/// The states of one file system's commits: no violation in any of them.
fn holds(kind: Kind, states: usize) {
    tools();
    disks::holds(kind, &record(kind, 7, "none"), states, &examine);
}

/// The same with a sync left out.
fn notices(kind: Kind, skip: &str, states_max: usize) {
    let recording = record(kind, 7, skip);
    disks::notices(kind, (&recording, skip), states_max, &examine);
}

/// How many crash states a file system is tried with. The short forms are more than a thousand
/// together; a state of XFS takes longest, because its disks are the largest.
fn states(short: usize) -> usize {
    if all() { 4 * short } else { short }
}

/// L4: after a power loss the workspace is wholly before or wholly after, no acknowledged commit is
/// lost and the ledger agrees; and with a sync left out the same look finds the damage.
#[test]
fn power_may_fail_at_any_block() {
    holds(EXT4, 20);
    notices(EXT4, "journal", 60);
}

/// L4: the same in more states, on ext4.
#[test]
fn slow_power_may_fail_at_any_block_of_ext4() {
    holds(EXT4, states(450));
}

/// L4: the same on XFS.
#[test]
fn slow_power_may_fail_at_any_block_of_xfs() {
    holds(XFS, states(200));
}

/// L4: the same on btrfs.
#[test]
fn slow_power_may_fail_at_any_block_of_btrfs() {
    holds(BTRFS, states(400));
}

/// L4: with a sync left out, the look at the crash states finds the damage. The changed folders are
/// missed on btrfs alone, because on ext4 and XFS the sync of any file takes along every name that
/// was changed before it. The folder of a new journal segment is missed nowhere: the sync of a new
/// file takes its own name along. Nothing promises that elsewhere, so that sync is held by
/// `a_journal_segment_is_named_before_it_is_used`.
#[test]
fn slow_a_missing_sync_is_found() {
    tools();
    for (kind, skip, states_max) in [
        (EXT4, "journal", 60),
        (XFS, "journal", 60),
        (BTRFS, "journal", 60),
        (EXT4, "images", 120),
        (XFS, "images", 120),
        (BTRFS, "images", 120),
        (EXT4, "checkpoint_files", 200),
        (XFS, "checkpoint_files", 120),
        (BTRFS, "checkpoint_files", 120),
        (BTRFS, "checkpoint_folders", 200),
    ] {
        notices(kind, skip, states_max);
    }
}

/// L4: a checkpoint makes the changed files and their folders durable, then begins a segment and
/// makes its name durable.
#[test]
fn a_journal_segment_is_named_before_it_is_used() {
    need("strace");
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (root, state, log) = (at("w"), at("s"), at("log"));
    assert_eq!(output(crash_program(), &["init", &root, &state]), "");
    let status = Command::new("strace")
        .args(["-f", "-y", "-o", &log])
        .args(["-e", "trace=fsync,fdatasync"])
        .arg(crash_program())
        .args(["commit", &root, &state, "1", "1", "1"])
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
    let trace = fs::read_to_string(&log).unwrap();
    let place = |path: &str| {
        let end = format!("{path}>)");
        let found = trace.rfind(&end);
        found.unwrap_or_else(|| panic!("{path} is not synced: {trace}"))
    };
    let changed = ["w/a.txt", "w/dir/sub/c.txt", "w/dir/sub", "w/dir", "/w"];
    let changed = changed.map(place).into_iter().max().unwrap();
    let begun = place("s/journal/00000002.wal");
    assert!(changed < begun, "{trace}");
    assert!(begun < place("s/journal"), "{trace}");
}

/// L4: after a power loss torn pieces of ours are made whole, and someone else's work stays.
#[test]
fn after_a_power_loss_foreign_work_stays() {
    tools();
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let (root, state) = (folder.path().join("w"), folder.path().join("s"));
    let (root_text, state_text) = (root.to_str().unwrap(), state.to_str().unwrap());
    assert_eq!(
        output(crash_program(), &["init", root_text, state_text]),
        ""
    );
    let whole = ["commit", root_text, state_text, "1", "3", "64"];
    in_another_boot(folder.path(), &whole);

    fs::File::create(root.join("a.txt")).unwrap();
    let mut zeroed = fs::read(root.join("dir/sub/c.txt")).unwrap();
    let complete = zeroed.clone();
    zeroed[512..4096].fill(0);
    fs::write(root.join("dir/sub/c.txt"), &zeroed).unwrap();
    fs::write(root.join("dir/b.txt"), "a person's own words\n").unwrap();
    fs::remove_file(root.join("link")).unwrap();

    let workspace = Workspace::open(&root, &state, quiet()).unwrap();
    let recovery = workspace.recover().unwrap();
    let foreign: Vec<&str> = recovery
        .conflicts
        .iter()
        .map(|one| one.path.as_str())
        .collect();
    assert_eq!(foreign, ["dir/b.txt", "link"]);
    assert_eq!(fs::read(root.join("dir/sub/c.txt")).unwrap(), complete);
    assert_eq!(
        fs::read(root.join("dir/b.txt")).unwrap(),
        b"a person's own words\n"
    );
    assert!(
        fs::read_to_string(root.join("a.txt"))
            .unwrap()
            .starts_with("a.txt version 3")
    );
    assert!(
        !root.join("link").is_symlink(),
        "what someone removed stays removed"
    );
    assert_eq!(
        recovery.settled.len(),
        3,
        "the ledger may have lost them all"
    );
    let again = workspace.recover().unwrap();
    assert!(again.conflicts.is_empty(), "reported once");
}
