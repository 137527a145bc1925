//! The native tools behind the real gate: judged, recorded, committed or rolled back.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};
use tagout_gate::policy::catalogue::Catalogue;
use tagout_gate::{Clockwork, Engine, Outcome, Places, Receipt, Registry, Site, Sources, Text};
use tagout_vocab::{Call, Digest, SessionId, Timestamp};

const INTENTS: &str = "version: 1\nactive_intents:\n  - id: INT-001\n    name: Weather\n    \
                       status: IN_PROGRESS\n    owned_scope: [src/**]\n";

struct World {
    _folder: tempfile::TempDir,
    root: PathBuf,
    engine: Engine,
}

fn clockwork() -> Clockwork {
    static DRAWN: AtomicU64 = AtomicU64::new(0);
    Clockwork::new(
        || Timestamp::from_millis(1_780_000_000_000),
        || *Digest::of(&DRAWN.fetch_add(1, Ordering::SeqCst).to_be_bytes()).as_bytes(),
    )
}

/// A workspace whose files a person has accepted, with every native tool.
fn world() -> World {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let root = folder.path().join("work");
    std::fs::create_dir_all(root.join(".orchestration")).unwrap();
    let places = Places {
        root: root.clone(),
        state_home: folder.path().join("state"),
    };
    Site::create(&places, &clockwork(), "ann").unwrap();
    let sources = Sources {
        policies: Vec::new(),
        intents: Some(Text {
            name: "active_intents.yaml".to_owned(),
            text: INTENTS.to_owned(),
        }),
        ignores: Vec::new(),
    };
    let open = || {
        let catalogue = Catalogue::built_in().unwrap();
        let site = Site::open(&places).unwrap();
        let shelf = site.shelve(catalogue.clone(), None, &sources).unwrap();
        let mut registry = Registry::new(catalogue.clone());
        for tool in tagout_tools::native(&catalogue).unwrap() {
            registry.register(tool).unwrap();
        }
        Engine::open(site, shelf, registry, clockwork()).unwrap().0
    };
    open().accept(&sources, "ann").unwrap();
    let engine = open();
    World {
        _folder: folder,
        root,
        engine,
    }
}

impl World {
    fn call(&self, tool: &str, mut arguments: Value) -> Receipt {
        if ["write_to_file", "apply_patch", "delete_file"].contains(&tool) {
            arguments["intent_id"] = json!("INT-001");
            arguments["mutation_class"] = json!("INTENT_EVOLUTION");
        }
        let mut call = Call::new(tool, arguments.as_object().unwrap().clone());
        call.session = Some(SessionId::new("s-1").unwrap());
        self.engine.execute(&call)
    }

    fn read(&self, path: &str) -> Option<String> {
        std::fs::read_to_string(self.root.join(path)).ok()
    }
}

fn code(receipt: &Receipt) -> String {
    let refusal = receipt.refusal.as_ref();
    refusal.map_or_else(String::new, |refusal| format!("{:?}", refusal.code))
}

/// H1, H2, H3, L1, L4: the handshake, a write, a patch over two files, a patch that is rolled back.
#[test]
fn native_tools_run_through_the_whole_lifecycle() {
    let world = world();
    let write = json!({"path": "src/a.txt", "content": "one\r\ntwo\r\n"});
    assert_eq!(
        world.call("write_to_file", write.clone()).outcome,
        Outcome::Denied
    );
    let selected = world.call("select_active_intent", json!({"intent_id": "INT-001"}));
    let context = selected.output.unwrap()["context"].to_string();
    assert!(context.contains("<intent_context>"), "{context}");
    let written = world.call("write_to_file", write);
    assert_eq!(written.outcome, Outcome::Completed, "{written:?}");
    let read = world.call("read_file", json!({"path": "src/a.txt"}));
    assert_eq!(read.output.unwrap()["content"], "one\ntwo");
    let patch = "*** Begin Patch\n*** Update File: src/a.txt\n@@\n-two\n+deux\n\
                 *** Add File: src/b.txt\n+new\n*** End Patch\n";
    let patched = world.call("apply_patch", json!({"patch": patch}));
    assert_eq!(patched.outcome, Outcome::Completed, "{patched:?}");
    assert_eq!(world.read("src/a.txt").as_deref(), Some("one\r\ndeux\r\n"));
    let again = world.call("select_active_intent", json!({"intent_id": "INT-001"}));
    let context = again.output.unwrap()["context"].to_string();
    let event = patched.seqs.start + 1;
    let told = format!("apply_patch changed src/a.txt, src/b.txt (event {event})");
    assert!(
        context.contains("write_to_file changed src, src/a.txt"),
        "{context}"
    );
    assert!(context.contains(&told), "{context}");
    let bad = "*** Begin Patch\n*** Update File: src/a.txt\n@@\n-one\n+un\n\
               *** Update File: src/b.txt\n@@\n-nowhere\n+x\n*** End Patch\n";
    let failed = world.call("apply_patch", json!({"patch": bad}));
    assert_ne!(failed.outcome, Outcome::Completed);
    assert_eq!(world.read("src/a.txt").as_deref(), Some("one\r\ndeux\r\n"));
}

/// H13: what a refusal tells to do can be done, also with files that can't be shown: they are read,
/// and then deleted or replaced; a change since is still found.
#[test]
fn binary_and_large_files_are_no_dead_end() {
    let world = world();
    drop(world.call("select_active_intent", json!({"intent_id": "INT-001"})));
    std::fs::create_dir_all(world.root.join("src")).unwrap();
    let large = vec![b'x'; 9 * 1024 * 1024];
    for (name, bytes) in [("src/bin", &b"a\0b"[..]), ("src/large", &large)] {
        let put = || std::fs::write(world.root.join(name), bytes).unwrap();
        let read = || world.call("read_file", json!({"path": name})).outcome;
        let delete = || world.call("delete_file", json!({"path": name}));
        let write = || world.call("write_to_file", json!({"path": name, "content": "new"}));
        put();
        assert_eq!(code(&delete()), "StaleFile", "{name}");
        assert_eq!(code(&write()), "StaleFile", "{name}");
        assert_eq!(read(), Outcome::Completed, "{name}");
        std::fs::write(world.root.join(name), [bytes, b"y"].concat()).unwrap();
        assert_eq!(code(&write()), "StaleFile", "{name}");
        assert_eq!(read(), Outcome::Completed, "{name}");
        let written = write();
        assert_eq!(written.outcome, Outcome::Completed, "{name} {written:?}");
        assert_eq!(world.read(name).as_deref(), Some("new"));
        put();
        assert_eq!(read(), Outcome::Completed, "{name}");
        let deleted = delete();
        assert_eq!(deleted.outcome, Outcome::Completed, "{name} {deleted:?}");
        assert_eq!(world.read(name), None);
    }
}

/// H7, H13: outside of the scope and over unseen files nothing is written.
#[test]
fn the_scope_and_the_stale_check_hold_for_native_tools() {
    let world = world();
    let selected = world.call("select_active_intent", json!({"intent_id": "INT-001"}));
    assert_eq!(selected.outcome, Outcome::Completed);
    let outside = world.call("write_to_file", json!({"path": "docs/a", "content": "x"}));
    assert_eq!(code(&outside), "ScopeViolation");
    let patch = "*** Begin Patch\n*** Add File: docs/a\n+x\n*** End Patch\n";
    assert_eq!(
        code(&world.call("apply_patch", json!({"patch": patch}))),
        "ScopeViolation"
    );
    std::fs::create_dir_all(world.root.join("src")).unwrap();
    std::fs::write(world.root.join("src/theirs"), "theirs").unwrap();
    let unseen = json!({"path": "src/theirs", "content": "ours"});
    assert_eq!(
        code(&world.call("write_to_file", unseen.clone())),
        "StaleFile"
    );
    let read = world.call("read_file", json!({"path": "src/theirs"}));
    assert_eq!(read.outcome, Outcome::Completed);
    assert_eq!(
        world.call("write_to_file", unseen).outcome,
        Outcome::Completed
    );
    assert_eq!(world.read("src/theirs").as_deref(), Some("ours"));
}
