//! Power loss: the block writes of real commits, replayed as every state that the flushes allow.

pub(crate) mod recorder;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tagout_workspace::Workspace;

use self::recorder::{Event, Recorder};
use crate::support::{all, crash_program, need, quiet};

/// A file system under test, with the smallest disk that it takes.
#[derive(Clone, Copy)]
struct Kind {
    name: &'static str,
    size_mib: usize,
    make: &'static [&'static str],
    options: &'static str,
}

const EXT4: Kind = Kind {
    name: "ext4",
    size_mib: 32,
    make: &["mkfs.ext4", "-q", "-b", "4096", "-J", "size=4"],
    options: "defaults",
};
const XFS: Kind = Kind {
    name: "xfs",
    size_mib: 320,
    make: &["mkfs.xfs", "-q", "-f"],
    options: "nouuid",
};
const BTRFS: Kind = Kind {
    name: "btrfs",
    size_mib: 128,
    make: &["mkfs.btrfs", "-q", "-f"],
    options: "defaults",
};

fn run(program: &str, arguments: &[&str]) -> bool {
    let status = Command::new(program)
        .args(arguments)
        .stderr(Stdio::null())
        .status();
    status.is_ok_and(|status| status.success())
}

fn output(program: &Path, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if output.status.success() {
        return text;
    }
    let error = String::from_utf8_lossy(&output.stderr);
    let line = error
        .lines()
        .find(|line| !line.is_empty() && !line.starts_with("thread"));
    format!("bad failed: {text} {}", line.unwrap_or_default())
}

struct Recording {
    base: BTreeMap<usize, Vec<u8>>,
    size: usize,
    events: Vec<Event>,
}

const BLOCK: usize = 4096;

fn blocks(image: &[u8]) -> BTreeMap<usize, Vec<u8>> {
    image
        .chunks(BLOCK)
        .enumerate()
        .filter(|(_, block)| block.iter().any(|byte| *byte != 0))
        .map(|(index, block)| (index, block.to_vec()))
        .collect()
}

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
    let folder = tempfile::tempdir().unwrap();
    let (front, mounted) = (folder.path().join("front"), folder.path().join("fs"));
    fs::create_dir(&front).unwrap();
    fs::create_dir(&mounted).unwrap();
    let recorder = Recorder::mount(&front, kind.size_mib);
    let disk = front.join("disk.img");
    let device = output(
        Path::new("losetup"),
        &["-f", "--show", disk.to_str().unwrap()],
    );
    assert!(
        device.starts_with("/dev/loop"),
        "this test needs a free loop device: {device}"
    );
    let mut make: Vec<&str> = kind.make[1..].to_vec();
    make.push(&device);
    assert!(run(kind.make[0], &make), "{} fails", kind.make[0]);
    let place = mounted.to_str().unwrap();
    assert!(
        run("mount", &["-t", kind.name, &device, place]),
        "{} does not mount",
        kind.name
    );
    let at = |name: &str| mounted.join(name).to_str().unwrap().to_owned();
    assert_eq!(output(crash_program(), &["init", &at("w"), &at("s")]), "");
    assert!(run("sync", &["-f", place]));

    let base = {
        let mut disk = recorder.disk.lock().unwrap();
        disk.recording = true;
        disk.events.clear();
        blocks(&disk.image)
    };
    let mark = front.join("mark");
    let mark = mark.to_str().unwrap();
    let versions = versions.to_string();
    let arguments = [
        "commit",
        &at("w"),
        &at("s"),
        "1",
        &versions,
        "3",
        skip,
        mark,
    ];
    in_another_boot(folder.path(), &arguments);
    let events = {
        let mut disk = recorder.disk.lock().unwrap();
        disk.recording = false;
        std::mem::take(&mut disk.events)
    };
    assert!(run("umount", &[place]));
    assert!(run("losetup", &["-d", &device]));
    Recording {
        base,
        size: kind.size_mib << 20,
        events,
    }
}

/// Small, repeatable randomness.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 11
    }
}

/// The disk after a power loss at an event: everything before the last flush, and of what came
/// later any subset, torn at sectors. Also the least and the most that may be found in the
/// workspace.
fn crash(
    recording: &Recording,
    at: usize,
    dice: &mut Dice,
) -> (BTreeMap<usize, Vec<u8>>, u64, u64) {
    let mut image = recording.base.clone();
    let mut put = |at: usize, bytes: &[u8]| {
        let mut done = 0;
        while done < bytes.len() {
            let (block, within) = ((at + done) / BLOCK, (at + done) % BLOCK);
            let count = (BLOCK - within).min(bytes.len() - done);
            image.entry(block).or_insert_with(|| vec![0; BLOCK])[within..within + count]
                .copy_from_slice(&bytes[done..done + count]);
            done += count;
        }
    };
    let happened = &recording.events[..at];
    let flushed = happened
        .iter()
        .rposition(|event| matches!(event, Event::Flush))
        .unwrap_or(0);
    let (mut least, mut most) = (0, 0);
    let in_order = dice.roll().is_multiple_of(4);
    for (index, event) in happened.iter().enumerate() {
        match event {
            Event::Write { at, bytes } if index < flushed || in_order => put(*at, bytes),
            Event::Write { at, bytes } => match dice.roll() % 4 {
                0 => {}
                1 => {
                    for (number, sector) in bytes.chunks(512).enumerate() {
                        if dice.roll().is_multiple_of(2) {
                            put(at + number * 512, sector);
                        }
                    }
                }
                _ => put(*at, bytes),
            },
            Event::Flush => {}
            Event::Label(text) => {
                let version = |word: &str| text.strip_prefix(word)?.trim().parse().ok();
                least = version("acked").unwrap_or(least);
                most = version("begin").unwrap_or(most);
            }
        }
    }
    (image, least, most)
}

#[derive(Debug, Default)]
struct Tally {
    whole: usize,
    broken: BTreeMap<String, usize>,
    unmountable: usize,
    unsteady: usize,
}

impl Tally {
    fn violations(&self) -> usize {
        self.broken.values().sum()
    }
}

fn replay(kind: Kind, recording: &Recording, states: usize, seed: u64) -> Tally {
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut tally = Tally::default();
    for _ in 0..states {
        let at = usize::try_from(dice.roll()).unwrap() % (recording.events.len() + 1);
        let (blocks, least, most) = crash(recording, at, &mut dice);
        let said = revive(kind, recording.size, &blocks, (least, most));
        // What is on a disk decides what is found on it. A finding that does not come again on the
        // same bytes is the loop device's, which may still show blocks of the disk before.
        let again = |said: &String| !said.starts_with("ok") && said != UNMOUNTABLE;
        let confirmed =
            !again(&said) || again(&revive(kind, recording.size, &blocks, (least, most)));
        if said == UNMOUNTABLE {
            // A superblock that is torn in itself is the file system's own limit.
            tally.unmountable += 1;
        } else if said.starts_with("ok") {
            tally.whole += 1;
        } else if !confirmed {
            tally.unsteady += 1;
        } else {
            let kind: String = said
                .chars()
                .filter(|c| !c.is_ascii_digit())
                .take(160)
                .collect();
            *tally.broken.entry(kind).or_default() += 1;
        }
    }
    tally
}

const UNMOUNTABLE: &str = "unmountable";

/// Writes a disk, mounts it, recovers and looks.
fn revive(
    kind: Kind,
    size: usize,
    blocks: &BTreeMap<usize, Vec<u8>>,
    (least, most): (u64, u64),
) -> String {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let (image, mounted) = (folder.path().join("image"), folder.path().join("fs"));
    fs::create_dir(&mounted).unwrap();
    let file = fs::File::create(&image).unwrap();
    file.set_len(size as u64).unwrap();
    for (index, block) in blocks {
        file.write_all_at(block, (index * BLOCK) as u64).unwrap();
    }
    drop(file);
    let image = image.to_str().unwrap();
    let device = output(Path::new("losetup"), &["-f", "--show", image]);
    assert!(
        device.starts_with("/dev/loop"),
        "this test needs a free loop device: {device}"
    );
    assert!(run("blockdev", &["--flushbufs", &device]));
    let to = mounted.to_str().unwrap();
    let said = if run("mount", &["-t", kind.name, "-o", kind.options, &device, to]) {
        let said = examine(&mounted, least, most);
        assert!(run("umount", &[to]), "the replayed disk can't be unmounted");
        said
    } else {
        UNMOUNTABLE.to_owned()
    };
    assert!(run("losetup", &["-d", &device]));
    said
}

fn examine(mounted: &Path, least: u64, most: u64) -> String {
    let at = |name: &str| -> PathBuf { mounted.join(name) };
    let (root, state) = (at("w"), at("s"));
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

fn tools() {
    for tool in [
        "mkfs.ext4",
        "mkfs.xfs",
        "mkfs.btrfs",
        "losetup",
        "blockdev",
        "mount",
        "umount",
        "unshare",
    ] {
        need(tool);
    }
    let root = rustix::process::geteuid().is_root();
    assert!(
        root,
        "this test needs to run as root: it mounts recorded disks"
    );
}

/// The states of one file system's commits: no violation in any of them.
fn holds(kind: Kind, states: usize) {
    tools();
    let recording = record(kind, 7, "none");
    let tally = replay(kind, &recording, states, 7);
    println!(
        "{}: {} events, {states} states, {} violations, {tally:?}",
        kind.name,
        recording.events.len(),
        tally.violations()
    );
    assert_eq!(tally.violations(), 0, "{}: {tally:#?}", kind.name);
    let most = (states / 20).max(1);
    assert!(
        tally.unmountable <= most,
        "{} of {states} do not mount",
        tally.unmountable
    );
    assert!(tally.unsteady <= most, "{tally:?}");
}

/// The same with a sync left out: looks until a violation is found, in steps.
fn notices(kind: Kind, skip: &str, states_max: usize) {
    const STEP: usize = 10;
    let recording = record(kind, 7, skip);
    let (mut states, mut broken) = (0, 0);
    while states < states_max && (broken == 0 || all()) {
        let tally = replay(kind, &recording, STEP, 11 + states as u64);
        states += STEP;
        broken += tally.violations();
    }
    println!("{} without {skip}: {broken} of {states} broken", kind.name);
    assert!(broken > 0, "{} without {skip} was not noticed", kind.name);
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

/// L4: whichever sync is left out, the look at the crash states finds the damage.
#[test]
fn slow_a_missing_sync_is_found() {
    tools();
    for (kind, skip, states_max) in [
        (EXT4, "journal", 60),
        (XFS, "journal", 60),
        (BTRFS, "journal", 60),
        (EXT4, "images", 120),
        (EXT4, "checkpoint_files", 200),
        (XFS, "checkpoint_files", 120),
        (BTRFS, "checkpoint_files", 120),
    ] {
        notices(kind, skip, states_max);
    }
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
