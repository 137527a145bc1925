//! Many processes at once, and processes that die without notice.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tagout_ledger::{Kind, Ledger, Options, Reader, SealPolicy};

use crate::support::{check, event, key, place};

/// What tells a copy of this test program that it is to write, and where.
const WRITER: &str = "TAGOUT_LEDGER_TEST_WRITER";

fn sealing() -> Options {
    Options {
        key: Some(key().into()),
        seal: Some(SealPolicy {
            events_max: 64,
            ms_max: i64::MAX,
        }),
        segment_bytes_max: 512 * 1024,
        ..Options::default()
    }
}

/// Appends in steps of two and says each number once it was acknowledged.
fn write_events(dir: &Path, steps: u64, mut say: impl FnMut(u64, &str)) {
    let ledger = Ledger::open(dir, sealing()).unwrap();
    for step in 0..steps {
        let done = ledger
            .append(&[event(step * 2), event(step * 2 + 1)])
            .unwrap();
        for (seq, hash) in done.seqs.zip(done.hashes) {
            say(seq, &hash.to_string());
        }
    }
}

/// The writer that the other tests start as a process of its own; alone it writes a few events.
#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "it is how a test tells its own copy what to do"
)]
fn writer() {
    use std::io::Write as _;
    let Ok(task) = std::env::var(WRITER) else {
        let place = place();
        let mut said = Vec::new();
        write_events(&place.dir, 3, |seq, _| said.push(seq));
        assert_eq!(said, [0, 1, 3, 4, 5, 6], "event 2 is the first seal");
        return;
    };
    let (steps, dir) = task.split_once(' ').unwrap();
    let mut out = std::io::stdout().lock();
    write_events(Path::new(dir), steps.parse().unwrap(), |seq, hash| {
        writeln!(out, "ack {seq} {hash}").unwrap();
        out.flush().unwrap();
    });
}

#[expect(
    clippy::disallowed_methods,
    reason = "the writers must be processes that can be killed"
)]
fn start_writer(dir: &Path, steps: u64) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "processes::writer",
            "--nocapture",
            "--test-threads=1",
        ])
        .env(WRITER, format!("{steps} {}", dir.display()))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

type Acknowledged = BTreeMap<u64, String>;

fn acknowledgements(out: impl std::io::Read, mut each: impl FnMut(u64, String)) {
    for line in BufReader::new(out).split(b'\n') {
        let line = String::from_utf8(line.unwrap()).unwrap();
        // A killed writer may leave half a line behind; only whole ones are acknowledgements.
        let mut words = line
            .split(' ')
            .skip_while(|word| !word.ends_with("ack"))
            .skip(1);
        if let (Some(seq), Some(hash)) = (words.next(), words.next())
            && hash.len() == "sha256:".len() + 64
        {
            each(seq.parse().unwrap(), hash.to_owned());
        }
    }
}

/// The chain is whole and every acknowledged event stands where its writer was told.
fn assert_nothing_lost(dir: &Path, acknowledged: &Acknowledged) -> (u64, u64) {
    let report = check(dir);
    assert!(report.ok, "{report:?}");
    let mut repairs = 0;
    let mut found = 0;
    for one in Reader::open(dir).unwrap().events_from(0).unwrap() {
        let one = one.unwrap();
        repairs += u64::from(one.body.kind == Kind::Repair);
        if let Some(hash) = acknowledged.get(&one.seq) {
            assert_eq!(*hash, one.hash.to_string(), "event {}", one.seq);
            found += 1;
        }
    }
    assert_eq!(found, acknowledged.len());
    (report.events, repairs)
}

/// L10: eight processes append 1,000 events each at once: the chain is whole and has them all.
#[test]
fn eight_processes_append_at_once() {
    let place = place();
    let writers: Vec<Child> = (0..8).map(|_| start_writer(&place.dir, 500)).collect();
    let mut acknowledged = Acknowledged::new();
    for mut writer in writers {
        let out = writer.stdout.take().unwrap();
        acknowledgements(out, |seq, hash| {
            assert_eq!(
                acknowledged.insert(seq, hash),
                None,
                "{seq} was given twice"
            );
        });
        assert!(writer.wait().unwrap().success());
    }
    assert_eq!(acknowledged.len(), 8_000);
    let (events, repairs) = assert_nothing_lost(&place.dir, &acknowledged);
    println!("8 processes, 8000 events acknowledged, {events} in the ledger with its seals");
    assert!(events > 8_000, "seals are events too");
    assert_eq!(repairs, 0);
}

/// L10: a storm of kill -9 on eight writers: the chain is whole, nothing acknowledged is lost.
#[test]
fn a_storm_of_kills_loses_nothing() {
    const KILLS: usize = 1_000;
    let place = place();
    let kills = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    let dir = place.dir.as_path();
    let storm = |seed: u64| {
        let mut acknowledged = Acknowledged::new();
        let mut random = seed;
        while kills.load(Ordering::Relaxed) < KILLS && !failed.load(Ordering::Relaxed) {
            let mut writer = start_writer(dir, 1_000_000);
            let out = writer.stdout.take().unwrap();
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            // The number of acknowledgements before the kill varies; where in the next append
            // the kill falls is up to the scheduler.
            let mut left = 1 + (random >> 33) % 12;
            let mut heard = 0;
            acknowledgements(out, |seq, hash| {
                acknowledged.insert(seq, hash);
                heard += 1;
                left = left.saturating_sub(1);
                if left == 0 {
                    writer.kill().unwrap();
                }
            });
            writer.wait().unwrap();
            if heard == 0 {
                failed.store(true, Ordering::Relaxed);
            }
            kills.fetch_add(1, Ordering::Relaxed);
        }
        acknowledged
    };
    let mut all = Acknowledged::new();
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..8).map(|n| scope.spawn(move || storm(n))).collect();
        for writer in writers {
            for (seq, hash) in writer.join().unwrap() {
                assert_eq!(all.insert(seq, hash), None, "{seq} was given twice");
            }
        }
    });
    assert!(!failed.load(Ordering::Relaxed), "a writer could not append");
    assert!(kills.load(Ordering::Relaxed) >= KILLS);
    let (events, repairs) = assert_nothing_lost(dir, &all);
    println!(
        "{KILLS} kills, {events} events, {} acknowledged, {repairs} repairs",
        all.len()
    );
}
