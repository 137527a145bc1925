//! Power loss: the block writes of real appends, rotations and seals, replayed as the states that
//! the flushes allow.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use tagout_ledger::{
    Completeness, Kind as EventKind, Ledger, NewEvent, Options, Reader, SyncPoint,
};

use crate::disks::{self, BTRFS, EXT4, Kind, Recording, XFS, tools};
use crate::support::{ORIGIN, all, check, event, fill, need, place, quiet, time};

/// What happens to the ledger, one after the other; each is a process that begins by opening it.
#[derive(Clone, Copy)]
enum Step {
    /// So many events are appended and acknowledged.
    Append(u64),
    /// So many events are written by a process that dies before its sync and acknowledges nothing.
    Dies(u64),
    /// Everything is sealed.
    Seal,
}

use Step::{Append, Dies, Seal};

/// With segments of 12,000 bytes, an append after a death begins a new one each time. The long step
/// is longer than what an append looks at of a segment's end.
const STEPS: [Step; 14] = [
    Append(3),
    Append(5),
    Dies(4),
    Append(6),
    Seal,
    Append(2),
    Append(150),
    Append(1),
    Dies(9),
    Append(8),
    Seal,
    Append(3),
    Dies(120),
    Append(2),
];

const fn count(step: Step) -> u64 {
    match step {
        Append(count) | Dies(count) => count,
        Seal => 0,
    }
}

fn steps(done: u64) -> &'static [Step] {
    &STEPS[..usize::try_from(done).unwrap()]
}

/// How many events there are after so many steps, without those of the ledger itself.
fn events_after(done: u64) -> u64 {
    steps(done).iter().map(|step| count(*step)).sum()
}

fn seals_after(done: u64) -> usize {
    let is_seal = |step: &&Step| matches!(step, Seal);
    steps(done).iter().filter(is_seal).count()
}

fn options(skip_sync: Option<SyncPoint>) -> Options {
    Options {
        segment_bytes_max: 12_000,
        skip_sync,
        ..quiet()
    }
}

fn record(kind: Kind, skip: Option<SyncPoint>) -> Recording {
    let prepare = |mounted: &Path| Ledger::create(&mounted.join("ledger"), ORIGIN).unwrap();
    disks::record(kind, prepare, |mounted, mark| {
        let dir = mounted.join("ledger");
        let mut mark = std::fs::OpenOptions::new().write(true).open(mark).unwrap();
        // A label is one write.
        let mut label = |text: String| mark.write_all(text.as_bytes()).unwrap();
        for (number, step) in (1..).zip(STEPS) {
            label(format!("begin {number}"));
            let first = events_after(number - 1);
            let new: Vec<NewEvent> = (first..first + count(step)).map(event).collect();
            match step {
                Append(_) => {
                    let ledger = Ledger::open(&dir, options(skip)).unwrap();
                    ledger.append(&new).unwrap();
                }
                Dies(_) => {
                    let dying = options(Some(SyncPoint::Events));
                    let ledger = Ledger::open(&dir, dying).unwrap();
                    ledger.append(&new).unwrap();
                    continue;
                }
                Seal => {
                    let ledger = Ledger::open(&dir, options(skip)).unwrap();
                    ledger.seal(time(first)).unwrap();
                }
            }
            label(format!("acked {number}"));
        }
    })
}

/// The numbers of the events that can be read, in the ledger's order, and how many seals.
fn read(dir: &Path) -> Result<(Vec<u64>, usize), String> {
    let reader = Reader::open(dir).map_err(|error| error.to_string())?;
    let all = reader.events_from(0).map_err(|error| error.to_string())?;
    let (mut numbers, mut seals) = (Vec::new(), 0);
    // What can't be read ends it: a crash may have left that beyond what was acknowledged.
    for one in all.map_while(Result::ok) {
        seals += usize::from(one.body.kind == EventKind::Seal);
        let number = one.body.event_id.strip_prefix("ev-");
        numbers.extend(number.and_then(|number| number.parse::<u64>().ok()));
    }
    Ok((numbers, seals))
}

/// All that was acknowledged is there, in order and once, and nothing that had not begun.
fn is_there(dir: &Path, least: u64, most: u64) -> Result<u64, String> {
    let (numbers, seals) = read(dir)?;
    let found = numbers.len() as u64;
    if !numbers.iter().copied().eq(0..found) {
        return Err("events are missing in between".to_owned());
    }
    if found < events_after(least) || seals < seals_after(least) {
        return Err("acknowledged events are lost".to_owned());
    }
    if found > events_after(most) || seals > seals_after(most) {
        return Err("there are events that nobody wrote".to_owned());
    }
    Ok(found)
}

fn examine(dir: &Path, least: u64, most: u64) -> Result<(), String> {
    let found = is_there(dir, least, most)?;
    let report = check(dir);
    let acknowledged = events_after(least) + seals_after(least) as u64;
    let first = report.problems.iter().map(|one| one.event).min().flatten();
    // What a crash left beyond the last acknowledged event may look like anything until the next
    // append; nothing before may.
    let is_tail = first.is_some_and(|first| first >= acknowledged && first >= report.sealed);
    if !report.ok && !is_tail {
        return Err(format!("verify says {:?}", report.problems.first()));
    }
    let told = |error: tagout_ledger::LedgerError| format!("it does not go on: {error}");
    let ledger = Ledger::open(dir, options(None)).map_err(told)?;
    ledger.append(&[event(found)]).map_err(told)?;
    let report = check(dir);
    if !report.ok || report.torn_bytes > 0 {
        let first = report.problems.first();
        return Err(format!("after an append verify says {first:?}"));
    }
    let (numbers, _) = read(dir)?;
    if !numbers.iter().copied().eq(0..=found) {
        return Err("the next append lost events".to_owned());
    }
    ledger.seal(time(found)).map_err(told)?;
    let report = check(dir);
    if !report.ok || report.completeness != Completeness::Complete {
        return Err("the next seal does not cover it".to_owned());
    }
    Ok(())
}

fn look(mounted: &Path, least: u64, most: u64) -> String {
    match examine(&mounted.join("ledger"), least, most) {
        Ok(()) => "ok".to_owned(),
        Err(problem) => problem,
    }
}

fn holds(kind: Kind, states: usize) {
    tools();
    let states = if all() { 10 * states } else { states };
    disks::holds(kind, &record(kind, None), states, &look);
}

fn notices(kind: Kind, skip: SyncPoint, states_max: usize) {
    let recording = record(kind, Some(skip));
    let name = format!("{skip:?}");
    disks::notices(kind, (&recording, &name), states_max, &look);
}

/// L10: after a power loss every acknowledged event and seal is there, nothing before them is in
/// doubt, and the ledger goes on.
#[test]
fn slow_power_may_fail_while_the_ledger_grows_on_ext4() {
    holds(EXT4, 200);
}

/// L10: the same on XFS.
#[test]
fn slow_power_may_fail_while_the_ledger_grows_on_xfs() {
    holds(XFS, 80);
}

/// L10: the same on btrfs.
#[test]
fn slow_power_may_fail_while_the_ledger_grows_on_btrfs() {
    holds(BTRFS, 120);
}

/// L10: with a sync left out the same look finds the damage. The sync of the folder is not among
/// them: on these file systems the sync of a new file takes its name along. Nothing promises that
/// elsewhere, so that one is held by `a_segment_is_named_before_it_is_filled`.
fn finds_missing_syncs(kind: Kind) {
    tools();
    for (point, states_max) in [
        (SyncPoint::Events, 60),
        (SyncPoint::Closed, 400),
        (SyncPoint::Seal, 200),
        (SyncPoint::Checkpoint, 60),
    ] {
        notices(kind, point, states_max);
    }
}

/// L10: a sync of the ledger that is left out is found on ext4.
#[test]
fn slow_a_missing_sync_of_the_ledger_is_found_on_ext4() {
    finds_missing_syncs(EXT4);
}

/// L10: the same on XFS.
#[test]
fn slow_a_missing_sync_of_the_ledger_is_found_on_xfs() {
    finds_missing_syncs(XFS);
}

/// L10: the same on btrfs.
#[test]
fn slow_a_missing_sync_of_the_ledger_is_found_on_btrfs() {
    finds_missing_syncs(BTRFS);
}

/// What tells a copy of this test program where to append.
const PLACE: &str = "TAGOUT_LEDGER_TEST_ORDER";

#[expect(
    clippy::disallowed_methods,
    reason = "it is how a test tells its own copy where it is"
)]
fn inside() -> Option<PathBuf> {
    std::env::var_os(PLACE).map(Into::into)
}

/// The calls that make something durable or name it, of one append that begins a segment, as
/// `call file`.
#[expect(
    clippy::disallowed_methods,
    reason = "the calls of a process are traced"
)]
fn calls_of_a_rotation(dir: &Path) -> Vec<String> {
    need("strace");
    let log = dir.with_extension("log");
    let output = std::process::Command::new("strace")
        .args(["-f", "-y", "-o"])
        .arg(&log)
        .args(["-e", "trace=openat,pwrite64,fsync,fdatasync"])
        .arg(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "powerloss::a_segment_is_named_before_it_is_filled",
        ])
        .env(PLACE, dir)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("1 passed"), "{said}");
    let text = std::fs::read_to_string(log).unwrap();
    let of_interest = text.lines().filter(|line| {
        let is_made = !line.contains(" openat(") || line.contains("O_EXCL");
        is_made && line.contains("/ledger")
    });
    let named = |line: &str| {
        let call = line.split_whitespace().nth(1)?.split('(').next()?;
        let after = line.rsplit_once("/ledger")?.1;
        let file: String = after
            .chars()
            .skip_while(|c| *c == '/')
            .take_while(|c| c.is_ascii_alphanumeric() || *c == '.')
            .collect();
        Some(format!("{call} {file}").trim().to_owned())
    };
    of_interest.filter_map(named).collect()
}

/// L10: a closed segment is durable before the next one begins, and the next one's name before
/// its first line is acknowledged.
#[test]
fn a_segment_is_named_before_it_is_filled() {
    if let Some(dir) = inside() {
        let ledger = Ledger::open(&dir, options(None)).unwrap();
        ledger.append(&[event(20)]).unwrap();
        return;
    }
    let place = place();
    // Longer than what the copy of this program takes for a full segment.
    fill(&Ledger::open(&place.dir, quiet()).unwrap(), 0..20);
    assert_eq!(
        calls_of_a_rotation(&place.dir),
        [
            "fdatasync 00000001.jsonl",
            "openat 00000002.jsonl",
            "fsync",
            "pwrite64 00000002.jsonl",
            "fdatasync 00000002.jsonl",
        ]
    );
}
