//! What the tests share: fixed keys, fixed times, and events that look like real ones.

use std::path::{Path, PathBuf};

use tagout_ledger::{
    Commitment, Ledger, LifecycleState, NewEvent, Options, PathChange, Report, SealKey, Stamp,
    ToolRef, Usage, VerifyOptions, verify,
};
use tagout_vocab::{Digest, IntentId, SessionId, Timestamp};
use tempfile::TempDir;

pub(crate) const ORIGIN: &str = "tagout.test/ledger";

pub(crate) fn key() -> SealKey {
    SealKey::new("tagout.test/seal", [7; 32]).unwrap()
}

/// A ledger that seals only when it is told to.
pub(crate) fn quiet() -> Options {
    Options {
        key: Some(key().into()),
        seal: None,
        ..Options::default()
    }
}

pub(crate) struct Place {
    _root: TempDir,
    pub(crate) dir: PathBuf,
}

pub(crate) fn place() -> Place {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().join("ledger");
    Ledger::create(&dir, ORIGIN).unwrap();
    Place { _root: root, dir }
}

pub(crate) fn time(n: u64) -> Timestamp {
    Timestamp::from_millis(1_780_000_000_000 + i64::try_from(n).unwrap() * 10)
}

pub(crate) fn stamp(n: u64) -> Stamp {
    Stamp {
        event_id: format!("ev-{n:06}"),
        timestamp: time(n),
    }
}

/// A lifecycle event with everything in it that a real one has.
pub(crate) fn event(n: u64) -> NewEvent {
    let tool = ToolRef {
        id: "write_to_file".to_owned(),
        version: "1.0.0".to_owned(),
    };
    let states = [
        LifecycleState::Declared,
        LifecycleState::Validated,
        LifecycleState::Authorized,
        LifecycleState::Completed,
    ];
    let state = states[usize::try_from(n % 4).unwrap()];
    let input = Commitment::new([1; 32], &n.to_be_bytes()).digest;
    let mut event = NewEvent::lifecycle(stamp(n), tool, format!("ex-{:06}", n / 4), state, input);
    event.capabilities = vec!["filesystem.write".to_owned()];
    event.intent = Some(IntentId::new("INT-001").unwrap());
    event.session = Some(SessionId::new("s-1").unwrap());
    event.agent = Some("test-client".to_owned());
    event.model = Some("test-model".to_owned());
    event.verdict_code = Some("ALLOWED".to_owned());
    event.rule = Some("built-in: balanced".to_owned());
    if state == LifecycleState::Completed {
        event.duration = Some(n);
        event.output_hash = Some(Commitment::new([2; 32], &n.to_be_bytes()).digest);
        event.usage = Some(Usage {
            cpu_ms: 1,
            memory_bytes: n,
            read_bytes: 10,
            written_bytes: 20,
        });
        event.undoable_until = Some(time(n + 1_000));
        event.paths = vec![PathChange {
            path: format!("src/file{}.rs", n % 7),
            before: Some(Digest::of(&n.to_be_bytes())),
            after: Some(Digest::of(&(n + 1).to_be_bytes())),
        }];
    }
    event
}

/// A ledger of `count` events, in steps of three, sealed at its end.
pub(crate) fn filled(count: u64, options: Options) -> Place {
    let place = place();
    let ledger = Ledger::open(&place.dir, options).unwrap();
    fill(&ledger, 0..count);
    ledger.seal(time(count)).unwrap();
    place
}

pub(crate) fn fill(ledger: &Ledger, range: std::ops::Range<u64>) {
    let all: Vec<NewEvent> = range.map(event).collect();
    for step in all.chunks(3) {
        ledger.append(step).unwrap();
    }
}

pub(crate) fn options() -> VerifyOptions {
    VerifyOptions {
        keys: vec![key().verifier()],
        threads: 1,
        ..VerifyOptions::default()
    }
}

pub(crate) fn check(dir: &Path) -> Report {
    verify(dir, &options()).unwrap()
}

pub(crate) fn segment(dir: &Path) -> PathBuf {
    dir.join("00000001.jsonl")
}

#[expect(
    clippy::disallowed_methods,
    reason = "tests tamper with files on purpose"
)]
pub(crate) fn write(path: &Path, bytes: &[u8]) {
    std::fs::write(path, bytes).unwrap();
}

pub(crate) fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap()
}

/// Whether the long form of a test is wanted: `cargo xtask test --all` sets it.
#[expect(
    clippy::disallowed_methods,
    reason = "it is how a run says how long it may take"
)]
pub(crate) fn all() -> bool {
    std::env::var_os("TAGOUT_TEST_ALL").is_some()
}

/// Fails with the tool's name when it is not there: a test that silently does nothing proves
/// nothing.
#[expect(
    clippy::disallowed_methods,
    reason = "tools are looked for where a shell looks"
)]
pub(crate) fn need(tool: &str) {
    let found = std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(tool).exists()))
        || Path::new("/usr/sbin").join(tool).exists();
    assert!(found, "this test needs `{tool}`, which is not installed");
}

/// The names of everything in a folder, for asserting that something stayed as it was.
pub(crate) fn copy(from: &Path, to: &Path) {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new().mode(0o700).create(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_file() {
            std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}
