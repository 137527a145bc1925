//! Crash states: what was written to a recorded disk, rebuilt as every disk that its flushes allow,
//! mounted and looked at. The ledger's tests share this file.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use super::recorder::{Event, Recorder};
use crate::support::{all, need};

/// A file system under test, with the smallest disk that it takes.
#[derive(Clone, Copy)]
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    size_mib: usize,
    make: &'static [&'static str],
    options: &'static str,
}

pub(crate) const EXT4: Kind = Kind {
    name: "ext4",
    size_mib: 32,
    make: &["mkfs.ext4", "-q", "-b", "4096", "-J", "size=4"],
    options: "defaults",
};
pub(crate) const XFS: Kind = Kind {
    name: "xfs",
    size_mib: 320,
    make: &["mkfs.xfs", "-q", "-f"],
    options: "nouuid",
};
pub(crate) const BTRFS: Kind = Kind {
    name: "btrfs",
    size_mib: 128,
    make: &["mkfs.btrfs", "-q", "-f"],
    options: "defaults",
};

/// Fails with the name of what is missing.
pub(crate) fn tools() {
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

pub(crate) fn run(program: &str, arguments: &[&str]) -> bool {
    let status = Command::new(program)
        .args(arguments)
        .stderr(Stdio::null())
        .status();
    status.is_ok_and(|status| status.success())
}

pub(crate) fn output(program: &Path, arguments: &[&str]) -> String {
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

/// A loop device on an image; it goes with the value.
struct Loop(String);

impl Loop {
    fn on(image: &Path) -> Self {
        let image = image.to_str().unwrap();
        let device = output(Path::new("losetup"), &["-f", "--show", image]);
        assert!(
            device.starts_with("/dev/loop"),
            "this test needs a free loop device: {device}"
        );
        Self(device)
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        // A device that stays is the next test's trouble, and a second panic helps nobody.
        run("losetup", &["-d", &self.0]);
    }
}

/// The disk before some work, and what the work did to it.
pub(crate) struct Recording {
    base: BTreeMap<usize, Vec<u8>>,
    size: usize,
    pub(crate) events: Vec<Event>,
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

/// Prepares a disk and records what some work writes to it. The work is given the place where the
/// disk is mounted and a file for labels: `begin N` before its step N and `acked N` after it.
pub(crate) fn record(
    kind: Kind,
    prepare: impl FnOnce(&Path),
    work: impl FnOnce(&Path, &Path),
) -> Recording {
    let folder = tempfile::tempdir().unwrap();
    let (front, mounted) = (folder.path().join("front"), folder.path().join("fs"));
    fs::create_dir(&front).unwrap();
    fs::create_dir(&mounted).unwrap();
    let recorder = Recorder::mount(&front, kind.size_mib);
    let device = Loop::on(&front.join("disk.img"));
    let mut make: Vec<&str> = kind.make[1..].to_vec();
    make.push(&device.0);
    assert!(run(kind.make[0], &make), "{} fails", kind.make[0]);
    let place = mounted.to_str().unwrap();
    assert!(
        run("mount", &["-t", kind.name, &device.0, place]),
        "{} does not mount",
        kind.name
    );
    prepare(&mounted);
    assert!(run("sync", &["-f", place]));
    let base = {
        let mut disk = recorder.disk.lock().unwrap();
        disk.recording = true;
        disk.events.clear();
        blocks(&disk.image)
    };
    work(&mounted, &front.join("mark"));
    let events = {
        let mut disk = recorder.disk.lock().unwrap();
        disk.recording = false;
        std::mem::take(&mut disk.events)
    };
    assert!(run("umount", &[place]));
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

/// A disk after a power loss, with the last step that was acknowledged before and the last one that
/// had begun.
struct Crashed {
    blocks: BTreeMap<usize, Vec<u8>>,
    size: usize,
    least: u64,
    most: u64,
}

impl Crashed {
    fn put(&mut self, at: usize, bytes: &[u8]) {
        let mut done = 0;
        while done < bytes.len() {
            let (block, within) = ((at + done) / BLOCK, (at + done) % BLOCK);
            let count = (BLOCK - within).min(bytes.len() - done);
            let block = self.blocks.entry(block).or_insert_with(|| vec![0; BLOCK]);
            block[within..within + count].copy_from_slice(&bytes[done..done + count]);
            done += count;
        }
    }
}

/// When the power fails: at any event, or, as often, right after a step was acknowledged, where a
/// promise has just been made.
fn moment(recording: &Recording, dice: &mut Dice) -> usize {
    let mut any = |count: usize| usize::try_from(dice.roll()).unwrap() % count;
    let events = recording.events.len() + 1;
    let is_promise = |event: &Event| matches!(event, Event::Label(text) if text.starts_with("ack"));
    let promises: Vec<usize> = (1..events)
        .filter(|at| is_promise(&recording.events[at - 1]))
        .collect();
    if any(2) == 0 && !promises.is_empty() {
        promises[any(promises.len())]
    } else {
        any(events)
    }
}

/// The disk after a power loss at an event: everything before the last flush, and of what came
/// later any subset, torn at sectors.
fn crash(recording: &Recording, at: usize, dice: &mut Dice) -> Crashed {
    let mut crashed = Crashed {
        blocks: recording.base.clone(),
        size: recording.size,
        least: 0,
        most: 0,
    };
    let happened = &recording.events[..at];
    let flushed = happened
        .iter()
        .rposition(|event| matches!(event, Event::Flush))
        .unwrap_or(0);
    let in_order = dice.roll().is_multiple_of(4);
    for (index, event) in happened.iter().enumerate() {
        match event {
            Event::Write { at, bytes } if index < flushed || in_order => crashed.put(*at, bytes),
            Event::Write { at, bytes } => match dice.roll() % 4 {
                0 => {}
                1 => {
                    for (number, sector) in bytes.chunks(512).enumerate() {
                        if dice.roll().is_multiple_of(2) {
                            crashed.put(at + number * 512, sector);
                        }
                    }
                }
                _ => crashed.put(*at, bytes),
            },
            Event::Flush => {}
            Event::Label(text) => {
                let step = |word: &str| text.strip_prefix(word)?.trim().parse().ok();
                crashed.least = step("acked").unwrap_or(crashed.least);
                crashed.most = step("begin").unwrap_or(crashed.most);
            }
        }
    }
    crashed
}

/// How a disk is looked at: where it is mounted, the step that was acknowledged last and the one
/// that had begun last. The answer begins with `ok`, or says what is broken.
pub(crate) type Look<'l> = &'l dyn Fn(&Path, u64, u64) -> String;

#[derive(Debug, Default)]
pub(crate) struct Tally {
    whole: usize,
    broken: BTreeMap<String, usize>,
    unmountable: usize,
    unsteady: usize,
}

impl Tally {
    pub(crate) fn violations(&self) -> usize {
        self.broken.values().sum()
    }

    /// The disks that were mounted and looked at.
    pub(crate) fn examined(&self) -> usize {
        self.whole + self.violations()
    }
}

/// Looks at crash states until so many were examined. Disks that do not mount count for nothing,
/// and too many of them are a failure.
pub(crate) fn replay(
    kind: Kind,
    recording: &Recording,
    (states, seed): (usize, u64),
    look: Look<'_>,
) -> Tally {
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut tally = Tally::default();
    while tally.examined() < states {
        let crashed = crash(recording, moment(recording, &mut dice), &mut dice);
        let said = revive(kind, &crashed, look);
        if said == UNMOUNTABLE {
            // A superblock that is torn in itself is the file system's own limit.
            tally.unmountable += 1;
            let most = (states / 20).max(3);
            assert!(tally.unmountable <= most, "{} mounts too rarely", kind.name);
            continue;
        }
        if said.starts_with("ok") {
            tally.whole += 1;
            continue;
        }
        // What is on a disk decides what is found on it. A finding that comes neither the second
        // nor the third time on the same bytes is the loop device's, which may still show blocks of
        // the disk before.
        if (0..2).any(|_| !revive(kind, &crashed, look).starts_with("ok")) {
            let said: String = said
                .chars()
                .filter(|c| !c.is_ascii_digit())
                .take(160)
                .collect();
            *tally.broken.entry(said).or_default() += 1;
        } else {
            tally.unsteady += 1;
            tally.whole += 1;
        }
    }
    tally
}

const UNMOUNTABLE: &str = "unmountable";

/// Writes a disk, mounts it and looks.
fn revive(kind: Kind, crashed: &Crashed, look: Look<'_>) -> String {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let (image, mounted) = (folder.path().join("image"), folder.path().join("fs"));
    fs::create_dir(&mounted).unwrap();
    let file = fs::File::create(&image).unwrap();
    file.set_len(crashed.size as u64).unwrap();
    for (index, block) in &crashed.blocks {
        file.write_all_at(block, (index * BLOCK) as u64).unwrap();
    }
    drop(file);
    let device = Loop::on(&image);
    assert!(run("blockdev", &["--flushbufs", &device.0]));
    let to = mounted.to_str().unwrap();
    let how = ["-t", kind.name, "-o", kind.options, &device.0, to];
    if !run("mount", &how) {
        return UNMOUNTABLE.to_owned();
    }
    let said = look(&mounted, crashed.least, crashed.most);
    assert!(run("umount", &[to]), "the replayed disk can't be unmounted");
    said
}

/// No violation in any of so many states.
pub(crate) fn holds(kind: Kind, recording: &Recording, states: usize, look: Look<'_>) {
    let tally = replay(kind, recording, (states, 7), look);
    println!(
        "{}: {} events, {} states examined, {} violations, {tally:?}",
        kind.name,
        recording.events.len(),
        tally.examined(),
        tally.violations()
    );
    assert!(tally.examined() >= states, "{}: {tally:#?}", kind.name);
    assert_eq!(tally.violations(), 0, "{}: {tally:#?}", kind.name);
}

/// With a sync left out: looks until a violation is found, in steps.
pub(crate) fn notices(
    kind: Kind,
    (recording, skip): (&Recording, &str),
    states_max: usize,
    look: Look<'_>,
) {
    const STEP: usize = 10;
    let (mut states, mut broken) = (0, BTreeMap::new());
    while states < states_max && (broken.is_empty() || all()) {
        let tally = replay(kind, recording, (STEP, 11 + states as u64), look);
        states += STEP;
        for (said, count) in tally.broken {
            *broken.entry(said).or_insert(0) += count;
        }
    }
    let count: usize = broken.values().sum();
    println!(
        "{} without {skip}: {count} of {states} broken, {broken:?}",
        kind.name
    );
    assert!(count > 0, "{} without {skip} was not noticed", kind.name);
}
