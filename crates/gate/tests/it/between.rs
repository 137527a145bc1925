//! What fails or dies between the verdict and the permit: a denial, and an end for every execution.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;

use tagout_gate::{Admission, Clockwork, Engine, Outcome, Registry};
use tagout_ledger::LifecycleState;
use tagout_policy::session::PromptSource;
use tagout_vocab::limits::PERMIT_OPEN_MS_MAX;
use tagout_vocab::{Call, CallId, Refusal, State, Timestamp};

use crate::support::*;

fn named(mut call: Call, id: &str) -> Call {
    call.id = Some(CallId::new(id).unwrap());
    call
}

fn refused(engine: &Engine, call: &Call) -> Refusal {
    match engine.admit(call) {
        Admission::Deny(refusal) => *refusal,
        other => panic!("{other:?}"),
    }
}

fn permits(world: &World) -> PathBuf {
    world.site().state().join("gate/permits")
}

fn is_open(world: &World) -> bool {
    std::fs::read_dir(permits(world)).is_ok_and(|entries| entries.count() > 0)
}

/// An engine in which something happens whenever it asks for random bytes, which it does before
/// every event that it makes.
fn meddled(world: &World, meddle: impl Fn() + Send + Sync + 'static) -> Engine {
    let site = world.site();
    let books = site
        .shelve(catalogue().clone(), None, &world.sources())
        .unwrap();
    let mut registry = Registry::new(books.books.catalogue.clone());
    for tool in [reader(), writer(), selector()] {
        registry.register(Box::new(tool)).unwrap();
    }
    let honest = world.time.clockwork();
    let (now, random) = (Arc::new(honest), Arc::new(world.time.clockwork()));
    let clockwork = Clockwork::new(
        move || now.now(),
        move || {
            meddle();
            random.random()
        },
    );
    Engine::open(site, books, registry, clockwork).unwrap().0
}

/// C3: a permit that can't be stored is a denial, recorded with its reason; nothing was authorised.
#[test]
fn a_permit_that_cannot_be_stored_is_denied() {
    let world = World::new();
    world.write("src/a.txt", "old");
    let engine = in_action(&world, vec![]);
    drop(engine.execute(&read("src/a.txt")));
    let folder = permits(&world);
    std::fs::remove_dir_all(&folder).unwrap();
    std::fs::write(&folder, "no folder").unwrap();
    let refusal = refused(&engine, &named(write("src/a.txt", "new"), "c-1"));
    assert!(refusal.reason.contains("permits"), "{refusal:?}");
    assert_eq!(world.states_of("c-1"), ["DECLARED", "VALIDATED", "DENIED"]);
    let events = world.events();
    let last = &events.last().unwrap().body;
    assert_eq!(last.verdict_code.as_deref(), Some(refusal.code.as_str()));
    assert_eq!(last.error.as_ref().unwrap().message, refusal.reason);
    // Mended, the same call goes through, and its path is free.
    std::fs::remove_file(&folder).unwrap();
    std::fs::create_dir(&folder).unwrap();
    let again = engine.admit(&named(write("src/a.txt", "new"), "c-2"));
    assert!(matches!(again, Admission::Permit(_)), "{again:?}");
}

/// H6: a yes is not used up by a call that could not be permitted.
#[test]
fn a_yes_outlives_a_permit_that_cannot_be_stored() {
    let world = World::with_policy("version: 1\nprofile: strict\n");
    let engine = in_action(&world, vec![]);
    let asked = |id: &str| engine.admit(&named(write("src/a.txt", "new"), id));
    let Admission::Pending { approval, .. } = asked("c-1") else {
        panic!("nobody was asked");
    };
    engine.approve(&approval, "ann").unwrap();
    let folder = permits(&world);
    std::fs::remove_dir_all(&folder).unwrap();
    std::fs::write(&folder, "no folder").unwrap();
    let refusal = refused(&engine, &named(write("src/a.txt", "new"), "c-2"));
    assert!(!refusal.reason.contains("used up"), "{refusal:?}");
    let used = |event: &tagout_ledger::Event| {
        let data = event.body.data.as_ref();
        data.is_some_and(|data| data["used"] == true)
    };
    assert!(!world.events().iter().any(used));
    std::fs::remove_file(&folder).unwrap();
    std::fs::create_dir(&folder).unwrap();
    assert!(matches!(asked("c-3"), Admission::Permit(_)));
    assert_eq!(world.events().iter().filter(|event| used(event)).count(), 1);
}

/// G3: a session that leaves its intent has left it before that is recorded: whoever dies in
/// between leaves one that may do less than the ledger says.
#[test]
fn an_intent_is_left_before_that_is_recorded() {
    let world = World::new();
    let engine = in_action(&world, vec![]);
    let session = read("src/a.txt").session.unwrap();
    let lock = world.site().ledger().join("lock");
    std::fs::rename(&lock, lock.with_extension("away")).unwrap();
    let told = engine.prompted(&session, PromptSource::Person, false);
    assert!(told.is_err(), "{told:?}");
    std::fs::rename(lock.with_extension("away"), &lock).unwrap();
    assert_eq!(
        engine.session(&session).unwrap().session.state,
        State::Reasoning
    );
    assert_eq!(
        refused(&engine, &named(write("src/a.txt", "new"), "c-1"))
            .code
            .as_str(),
        "STATE_VIOLATION"
    );
}

/// L1, L10: what fails after the record is durable is a denial, and the execution has its end.
#[test]
fn a_failure_after_the_record_has_its_end() {
    let world = World::new();
    drop(in_action(&world, vec![]));
    let (folder, sessions) = (permits(&world), world.site().state().join("gate/sessions"));
    // As soon as the permit is stored, the session's file can't be replaced any more.
    let engine = meddled(&world, move || {
        if std::fs::read_dir(&folder).unwrap().next().is_none() {
            return;
        }
        for session in std::fs::read_dir(&sessions).unwrap() {
            let session = session.unwrap().path();
            for file in std::fs::read_dir(&session).unwrap() {
                let file = file.unwrap().path();
                if file.is_file() {
                    std::fs::remove_file(&file).unwrap();
                    std::fs::create_dir(&file).unwrap();
                }
            }
        }
    });
    let refusal = refused(&engine, &named(write("src/a.txt", "new"), "c-1"));
    assert_eq!(
        world.states_of("c-1"),
        [
            "DECLARED",
            "VALIDATED",
            "AUTHORIZED",
            "EXECUTING",
            "ABORTED",
            "ROLLED_BACK"
        ]
    );
    let events = world.events();
    let aborted = events
        .iter()
        .find(|event| event.body.state == Some(LifecycleState::Aborted));
    let told = aborted.unwrap().body.error.clone().unwrap();
    assert!(
        told.message.contains(&refusal.reason),
        "{told:?} {refusal:?}"
    );
    assert!(!is_open(&world), "no permit is left");
}

/// L1: a process that dies before the record is durable leaves nothing that holds others up.
#[test]
fn dead_before_the_record() {
    let world = World::new();
    drop(in_action(&world, vec![]));
    let folder = permits(&world);
    let engine = meddled(&world, move || {
        assert!(
            std::fs::read_dir(&folder).unwrap().next().is_none(),
            "the process dies here"
        );
    });
    let call = named(write("src/a.txt", "new"), "c-1");
    let died = catch_unwind(AssertUnwindSafe(|| engine.admit(&call)));
    assert!(died.is_err());
    drop(engine);
    assert!(is_open(&world) && world.states_of("c-1").is_empty());
    let engine = world.engine();
    let session = call.session.clone().unwrap();
    let late = Timestamp::from_millis(i64::MAX);
    assert_eq!(engine.settle_missing(&session, late).unwrap().len(), 0);
    assert!(!is_open(&world));
    let other = engine.admit(&named(write("src/a.txt", "new"), "c-2"));
    assert!(matches!(other, Admission::Permit(_)), "{other:?}");
}

/// L1: a process that dies after it claimed a path and before it stored anything holds nobody up,
/// whatever session comes next.
#[test]
fn dead_between_claim_and_permit() {
    let world = World::new();
    drop(in_action(&world, vec![]));
    let claims = world.site().state().join("claims");
    let claimed = move || {
        let files = std::fs::read_dir(&claims).into_iter().flatten().flatten();
        files
            .filter_map(|file| std::fs::read_to_string(file.path()).ok())
            .any(|text| text.contains("c-1"))
    };
    let seen = claimed.clone();
    let engine = meddled(&world, move || {
        assert!(!seen(), "the process dies here");
    });
    let call = named(write("src/a.txt", "new"), "c-1");
    let died = catch_unwind(AssertUnwindSafe(|| engine.admit(&call)));
    assert!(died.is_err());
    drop(engine);
    assert!(claimed() && !is_open(&world), "a claim, and no permit");
    let engine = world.engine();
    let next = engine.admit(&named(write("src/a.txt", "new"), "c-2"));
    assert!(matches!(next, Admission::Permit(_)), "{next:?}");
    // A claim whose permit is open stays.
    let third = refused(&engine, &named(write("src/a.txt", "other"), "c-3"));
    assert_eq!(third.code.as_str(), "PATH_BUSY");
}

/// L1: what a dead process held for one session is freed for another, once it is old enough.
#[test]
fn dead_for_another_session() {
    let world = World::new();
    drop(in_action(&world, vec![]));
    let folder = permits(&world);
    let engine = meddled(&world, move || {
        assert!(
            std::fs::read_dir(&folder).unwrap().next().is_none(),
            "the process dies here"
        );
    });
    let call = named(write("src/a.txt", "new"), "c-1");
    let died = catch_unwind(AssertUnwindSafe(|| engine.admit(&call)));
    assert!(died.is_err());
    drop(engine);
    let engine = world.engine();
    assert_eq!(
        engine.free_ungiven(world.time.now()).unwrap(),
        0,
        "too young"
    );
    let late = Timestamp::from_millis(world.time.now().as_millis() + 1);
    assert_eq!(engine.free_ungiven(late).unwrap(), 1);
    assert!(!is_open(&world));
    let next = engine.admit(&named(write("src/a.txt", "new"), "c-2"));
    assert!(matches!(next, Admission::Permit(_)), "{next:?}");
    assert_eq!(
        engine.free_ungiven(late).unwrap(),
        0,
        "a given permit stays"
    );
}

/// L1, L4: a process that dies right after the record of a call that it was to run itself: the next
/// one ends it.
#[test]
fn dead_right_after_the_record() {
    let world = World::new();
    drop(in_action(&world, vec![]));
    let ledger = world.site().ledger();
    let authorised = move || {
        let reader = tagout_ledger::Reader::open(&ledger).unwrap();
        let last = reader.event(reader.size().unwrap() - 1).unwrap();
        last.body.state == Some(LifecycleState::Authorized)
    };
    let engine = meddled(&world, move || {
        assert!(!authorised(), "the process dies here");
    });
    let died = catch_unwind(AssertUnwindSafe(|| {
        engine.execute(&write("src/a.txt", "new")).outcome
    }));
    assert!(
        died.as_ref().map_or(true, |one| *one != Outcome::Completed),
        "{died:?}"
    );
    drop(engine);
    let (engine, recovered) = world.open(vec![reader(), writer(), selector()]);
    let id = world
        .events()
        .iter()
        .rev()
        .find(|event| event.body.state == Some(LifecycleState::Authorized))
        .and_then(|event| event.body.execution_id.clone())
        .unwrap();
    assert_eq!(
        world.states_of(&id).last(),
        Some(&"ROLLED_BACK"),
        "{recovered:?}"
    );
    assert_eq!(world.read("src/a.txt"), None);
    let again = engine.execute(&write("src/a.txt", "new"));
    assert_eq!(again.outcome, Outcome::Completed, "{again:?}");
}

/// L1, L10: an execution of which only the ledger still knows is ended after a day, once.
#[test]
fn what_only_the_ledger_knows_is_ended() {
    let world = World::new();
    let engine = in_action(&world, vec![]);
    let call = named(write("src/a.txt", "new"), "c-1");
    assert!(matches!(engine.admit(&call), Admission::Permit(_)));
    // A power failure took what was stored about it.
    for entry in std::fs::read_dir(permits(&world)).unwrap() {
        std::fs::remove_file(entry.unwrap().path()).unwrap();
    }
    let authorised = ["DECLARED", "VALIDATED", "AUTHORIZED"];
    world.time.pass(PERMIT_OPEN_MS_MAX - 1);
    assert_eq!(engine.tidy().unwrap().permits, 0, "not yet");
    assert_eq!(world.states_of("c-1"), authorised);
    world.time.pass(2);
    assert_eq!(engine.tidy().unwrap().permits, 1);
    let ended = ["EXECUTING", "ABORTED", "ROLLED_BACK"];
    assert_eq!(world.states_of("c-1"), [authorised, ended].concat());
    world.time.pass(PERMIT_OPEN_MS_MAX);
    assert_eq!(engine.tidy().unwrap().permits, 0, "once");
    // The session's intent may be leased anew, and the path is free.
    drop(engine.execute(&select("INT-001")));
    let other = engine.admit(&named(write("src/a.txt", "new"), "c-2"));
    assert!(matches!(other, Admission::Permit(_)), "{other:?}");
}
