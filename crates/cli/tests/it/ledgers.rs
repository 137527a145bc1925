//! A workspace with a state and a ledger, made through the ledger crate with fixed key and times.

use std::fs;
use std::path::PathBuf;

use tagout_ledger::{
    Commitment, Kind, Ledger, LifecycleState, NewEvent, Options, PathChange, SealKey, Stamp,
    ToolRef, Usage,
};
use tagout_vocab::{Digest, IntentId, SessionId, Timestamp};

use crate::ran::Folder;

pub(crate) const ORIGIN: &str = "tagout-w-1";

impl Folder {
    /// A workspace whose state is there and whose ledger is empty.
    pub(crate) fn with_ledger() -> Self {
        let folder = Self::workspace().with(".orchestration/.tagout-id", "w-1\n");
        fs::create_dir_all(folder.state()).unwrap();
        Ledger::create(&folder.ledger(), ORIGIN).unwrap();
        key().create_file(&folder.state().join("seal.key")).unwrap();
        folder
    }

    /// The same with ten events, sealed after the eighth.
    pub(crate) fn with_events() -> Self {
        let folder = Self::with_ledger();
        let ledger = folder.open();
        let first = &events()[..7];
        drop(ledger.append(first).unwrap());
        ledger.seal(time(7)).unwrap();
        drop(ledger.append(&events()[7..]).unwrap());
        folder
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.home().join(".local/state/tagout/w-1")
    }

    pub(crate) fn ledger(&self) -> PathBuf {
        self.state().join("ledger")
    }

    pub(crate) fn segment(&self) -> PathBuf {
        self.ledger().join("00000001.jsonl")
    }

    /// The ledger, sealed only when told.
    pub(crate) fn open(&self) -> Ledger {
        let options = Options {
            key: Some(key().into()),
            seal: None,
            ..Options::default()
        };
        Ledger::open(&self.ledger(), options).unwrap()
    }
}

pub(crate) fn key() -> SealKey {
    SealKey::new(ORIGIN, [7; 32]).unwrap()
}

pub(crate) fn time(n: i64) -> Timestamp {
    Timestamp::from_millis(1_780_000_000_000 + n * 1_000)
}

fn stamp(n: i64) -> Stamp {
    Stamp {
        event_id: format!("ev-{n}"),
        timestamp: time(n),
    }
}

/// One transition of an execution.
pub(crate) fn step(n: i64, tool: &str, execution: &str, state: LifecycleState) -> NewEvent {
    let tool = ToolRef {
        id: tool.to_owned(),
        version: "1.0.0".to_owned(),
    };
    let input = Commitment::new([1; 32], b"input").digest;
    let mut event = NewEvent::lifecycle(stamp(n), tool, execution.to_owned(), state, input);
    event.session = Some(SessionId::new("s-1").unwrap());
    event
}

fn events() -> Vec<NewEvent> {
    use LifecycleState::{Authorized, Completed, Declared, Denied, RolledBack};
    let served = |mut event: NewEvent| {
        event.intent = Some(IntentId::new("INT-001").unwrap());
        event.verdict_code = Some("ALLOWED".to_owned());
        event
    };
    let mut epoch = NewEvent::new(stamp(0), Kind::Epoch);
    epoch.user_id = Some("someone".to_owned());
    let mut written = served(step(3, "write_to_file", "ex-1", Completed));
    written.duration = Some(40);
    written.usage = Some(Usage {
        cpu_ms: 3,
        memory_bytes: 4096,
        read_bytes: 10,
        written_bytes: 20,
    });
    written.paths = ["src/weather/a.rs", "tests/a.rs"].map(changed).into();
    let mut denied = step(5, "delete_file", "ex-2", Denied);
    denied.verdict_code = Some("SCOPE_VIOLATION".to_owned());
    let mut back = served(step(8, "edit", "ex-3", RolledBack));
    back.duration = Some(60);
    back.paths = vec![changed("src/weather/a.rs")];
    vec![
        epoch,
        step(1, "write_to_file", "ex-1", Declared),
        served(step(2, "write_to_file", "ex-1", Authorized)),
        written,
        step(4, "delete_file", "ex-2", Declared),
        denied,
        step(6, "edit", "ex-3", Declared),
        served(step(7, "edit", "ex-3", Authorized)),
        back,
    ]
}

fn changed(path: &str) -> PathChange {
    PathChange {
        path: path.to_owned(),
        before: None,
        after: Some(Digest::of(path.as_bytes())),
    }
}
