//! Bytes that must never change: a small ledger with a known key, its seals and its proofs.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;
use tagout_ledger::{
    ErrorDetails, Kind, Ledger, LifecycleState, NewEvent, Options, Reader, SealKey, SealPolicy,
    VerifyOptions, verify, verify_proof,
};
use tagout_vocab::Timestamp;

use crate::support::{copy, event, read, segment, stamp, time, write};

const ORIGIN: &str = "tagout.example/golden";

fn key() -> SealKey {
    SealKey::new("tagout.example/golden-key", [42; 32]).unwrap()
}

fn testdata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/v1")
}

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/verify-proof")
}

const LEDGER_FILES: [&str; 5] = [
    "format",
    "00000001.jsonl",
    "00000002.jsonl",
    "checkpoint",
    "frontier",
];

/// Writes the golden ledger: two segments, five seals, a repair, every kind of field.
fn build(dir: &Path) {
    Ledger::create(dir, ORIGIN).unwrap();
    let options = Options {
        key: Some(key().into()),
        seal: Some(SealPolicy {
            events_max: 16,
            ms_max: i64::MAX,
        }),
        segment_bytes_max: 24_000,
        ..Options::default()
    };
    let ledger = Ledger::open(dir, options.clone()).unwrap();
    for n in 0..20 {
        ledger.append(&[event(n)]).unwrap();
    }
    let mut file = std::fs::OpenOptions::new()
        .append(true)
        .open(segment(dir))
        .unwrap();
    file.write_all(b"{\"seq\":22,\"torn").unwrap();
    let ledger = Ledger::open(dir, options).unwrap();
    let mut failed = event(20);
    failed.state = Some(LifecycleState::Failed);
    failed.error = Some(ErrorDetails {
        failure: "ValidationError".to_owned(),
        message: "«path» is missing\n\ttry again \u{1f511}".to_owned(),
        context: Some("TOKEN=abcdefghijklmnop".to_owned()),
        backtrace: None,
    });
    let mut law = NewEvent::new(stamp(21), Kind::Law);
    law.data = Some(json!({"version": 2, "files": ["a", "b"]}));
    law.approver = Some("person".to_owned());
    law.user_id = Some("1000".to_owned());
    let mut early = NewEvent::new(stamp(22), Kind::parse("something.new").unwrap());
    early.timestamp = Timestamp::from_millis(-1);
    ledger.append(&[failed, law, early]).unwrap();
    for n in 23..40 {
        ledger.append(&[event(n)]).unwrap();
    }
    ledger.seal(time(40)).unwrap();
}

const PROVED: [u64; 6] = [0, 1, 16, 22, 31, 44];

/// B6: today's program writes the golden bytes, to the last one.
#[test]
fn the_format_has_not_changed() {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().join("ledger");
    build(&dir);
    for name in LEDGER_FILES {
        let (new, golden) = (
            read(&dir.join(name)),
            read(&testdata().join("ledger").join(name)),
        );
        let text = String::from_utf8(new).unwrap();
        assert_eq!(text, String::from_utf8(golden).unwrap(), "{name}");
    }
    let reader = Reader::open(&dir).unwrap();
    for seq in PROVED {
        let golden = read(&testdata().join(format!("event-{seq:03}.proof")));
        let text = reader.prove(seq).unwrap().text();
        assert_eq!(text, String::from_utf8(golden).unwrap());
    }
    let vkey = read(&testdata().join("key.vkey"));
    assert_eq!(format!("{}\n", key().verifier()).as_bytes(), vkey);
}

/// B6: the golden ledger verifies, and every event of it can be read.
#[test]
fn the_golden_ledger_verifies() {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().join("ledger");
    copy(&testdata().join("ledger"), &dir);
    let options = VerifyOptions {
        keys: vec![key().verifier()],
        ..VerifyOptions::default()
    };
    let report = verify(&dir, &options).unwrap();
    assert!(report.ok && report.sealed == report.events, "{report:?}");
    let reader = Reader::open(&dir).unwrap();
    let events: Vec<_> = reader.events_from(0).unwrap().map(Result::unwrap).collect();
    assert_eq!(events.len() as u64, report.events);
    let kinds = |kind: Kind| events.iter().filter(|one| one.body.kind == kind).count();
    assert_eq!(
        (kinds(Kind::Seal), kinds(Kind::Repair), kinds(Kind::Law)),
        (5, 1, 1)
    );
}

#[expect(
    clippy::disallowed_methods,
    reason = "the other verifier is another program"
)]
fn python(files: &[PathBuf]) -> Vec<bool> {
    let output = Command::new("python3")
        .arg(example().join("verify.py"))
        .arg(testdata().join("key.vkey"))
        .arg(ORIGIN)
        .args(files)
        .output()
        .expect("python3 runs the second verifier");
    let text = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    let verdicts: Vec<bool> = text.lines().map(|line| line.starts_with("ok ")).collect();
    assert_eq!(verdicts.len(), files.len(), "{text}{errors}");
    assert_eq!(output.status.success(), verdicts.iter().all(|good| *good));
    verdicts
}

fn rust(bytes: &[u8]) -> bool {
    verify_proof(bytes, ORIGIN, &[key().verifier()]).is_ok()
}

/// B6: a verifier of a hundred lines in another language accepts and rejects the same files.
#[test]
fn a_second_verifier_agrees() {
    let root = tempfile::tempdir().unwrap();
    let mut files = Vec::new();
    let mut expected = Vec::new();
    let mut add = |bytes: &[u8]| {
        let path = root.path().join(format!("{}.proof", files.len()));
        write(&path, bytes);
        files.push(path);
        expected.push(rust(bytes));
    };
    for seq in PROVED {
        let good = read(&testdata().join(format!("event-{seq:03}.proof")));
        assert!(rust(&good));
        add(&good);
        let text = String::from_utf8(good.clone()).unwrap();
        add(text.replace("tagout-proof/1", "tagout-proof/2").as_bytes());
        add(text.replace("golden\n", "golden2\n").as_bytes());
        add(text.replace('=', "").as_bytes());
        add(text.replace('\n', "\r\n").as_bytes());
        add(text.trim_end().as_bytes());
        add(format!("{text}\u{2014} someone.else AAAAAAAA\n").as_bytes());
        add(format!("{text}\u{2014} someone.else AAAAAAA\n").as_bytes());
        add(format!("{text}\n").as_bytes());
        add(&good[..good.len() / 2]);
        let lines: Vec<&str> = text.split('\n').collect();
        for at in 0..lines.len() {
            let mut without = lines.clone();
            without.remove(at);
            add(without.join("\n").as_bytes());
            let mut twice = lines.clone();
            twice.insert(at, lines[at]);
            add(twice.join("\n").as_bytes());
        }
    }
    // Flips all through one proof: the event, the hashes, the root, the key id, both halves of
    // the signature.
    let good = read(&testdata().join("event-022.proof"));
    for at in (0..good.len()).step_by(2) {
        let mut flipped = good.clone();
        flipped[at] ^= 1 << (at / 2 % 7);
        add(&flipped);
    }
    let accepted = expected.iter().filter(|good| **good).count();
    assert_eq!(python(&files), expected);
    assert!(
        accepted >= 2 * PROVED.len() && accepted * 10 < files.len(),
        "{accepted}"
    );
}

/// B6: the sample files beside the second verifier are what their names say.
#[test]
fn the_samples_are_what_they_say() {
    let names = [
        ("good.proof", true),
        ("edited-event.proof", false),
        ("other-event.proof", false),
        ("false-signature.proof", false),
        ("other-root.proof", false),
    ];
    let files: Vec<PathBuf> = names.iter().map(|(name, _)| example().join(name)).collect();
    let expected: Vec<bool> = names.iter().map(|(_, good)| *good).collect();
    let ours: Vec<bool> = files.iter().map(|file| rust(&read(file))).collect();
    assert_eq!(ours, expected);
    assert_eq!(python(&files), expected);
    assert_eq!(
        read(&example().join("key.vkey")),
        read(&testdata().join("key.vkey"))
    );
}
