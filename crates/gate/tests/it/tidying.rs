//! Records that have outlived their use go, and nothing that still counts goes with them.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use tagout_gate::{Admission, GrantDraft, Outcome, Tidied};
use tagout_policy::capability::grants::{GrantScope, Grantee, GranteeKind};
use tagout_policy::capability::{Allowance, Capability};
use tagout_vocab::limits::{
    APPROVAL_KEPT_MS, APPROVAL_PENDING_MS_MAX, GRANT_KEPT_MS, PERMIT_OPEN_MS_MAX, SESSION_KEPT_MS,
    TIDY_INTERVAL_MS, TIDY_OVERDUE_MS,
};
use tagout_vocab::{CallId, SessionId};

use crate::support::*;

fn count(world: &World, folder: &str) -> usize {
    let folder = world.site().state().join(folder);
    std::fs::read_dir(folder).map_or(0, Iterator::count)
}

/// H6: used, refused and expired requests are forgotten after a while; waiting ones are not.
#[test]
fn old_requests_are_forgotten() {
    let world = World::with_policy("version: 1\nprofile: strict\n");
    let engine = in_action(&world, vec![]);
    let used = engine.execute(&write("src/a.txt", "one")).approval.unwrap();
    engine.approve(&used, "ann").unwrap();
    assert_eq!(
        engine.execute(&write("src/a.txt", "one")).outcome,
        Outcome::Completed
    );
    let refused = engine.execute(&write("src/b.txt", "one")).approval.unwrap();
    engine.reject(&refused, "ann", "no").unwrap();
    drop(engine.execute(&write("src/c.txt", "one")));
    assert_eq!(count(&world, "gate/approvals"), 3);
    world.time.pass(APPROVAL_KEPT_MS - 1);
    assert_eq!(engine.tidy().unwrap().approvals, 0, "not yet");
    // A no holds as long as it is remembered.
    assert_eq!(
        code(&engine.execute(&write("src/b.txt", "one"))),
        "APPROVAL_REJECTED"
    );
    world.time.pass(2);
    assert_eq!(engine.tidy().unwrap().approvals, 2);
    world.time.pass(APPROVAL_PENDING_MS_MAX);
    assert_eq!(
        engine.tidy().unwrap().approvals,
        1,
        "the one that nobody answered"
    );
    let fresh = engine.execute(&write("src/b.txt", "one"));
    assert_eq!(fresh.outcome, Outcome::Pending);
    assert_eq!(engine.tidy().unwrap().approvals, 0);
}

/// A permit that nobody reports on is settled after a day, and its path is free again.
#[test]
fn permits_that_nobody_reports_on_are_settled() {
    let world = World::new();
    let engine = in_action(&world, vec![]);
    let mut call = write("src/a.txt", "new");
    call.id = Some(CallId::new("c-1").unwrap());
    let Admission::Permit(permit) = engine.admit(&call) else {
        panic!("permitted")
    };
    drop(permit);
    assert_eq!(engine.tidy().unwrap().permits, 0);
    world.time.pass(PERMIT_OPEN_MS_MAX + 1);
    assert_eq!(engine.tidy().unwrap().permits, 1);
    assert_eq!(count(&world, "gate/permits"), 0);
    assert_eq!(world.states_of("c-1").last(), Some(&"ROLLED_BACK"));
    assert_eq!(
        engine.execute(&write("src/a.txt", "other")).outcome,
        Outcome::Completed
    );
}

/// A permit that was never written whole is none; its file goes when nobody can be writing it.
#[test]
fn permits_that_were_never_written_whole_go() {
    let world = World::new();
    let engine = in_action(&world, vec![]);
    let folder = world.site().state().join("gate/permits");
    let texts: [&[u8]; 4] = [b"", b"{\"seq\":", &[0; 512], b"{\"seq\":\0\0\0\0"];
    let written = |age_ms: i64| {
        let at = world.time.now().plus_millis(-age_ms).as_millis();
        let at = Duration::from_millis(at.try_into().unwrap());
        for (number, text) in texts.iter().enumerate() {
            let path = folder.join(format!("cut-{number}"));
            std::fs::write(&path, text).unwrap();
            let file = std::fs::File::options().append(true).open(&path).unwrap();
            file.set_modified(UNIX_EPOCH + at).unwrap();
        }
    };
    written(PERMIT_OPEN_MS_MAX - 1);
    assert_eq!(engine.tidy().unwrap().permits, 0);
    assert_eq!(count(&world, "gate/permits"), texts.len());
    let call = engine.execute(&write("src/a.txt", "one"));
    assert_eq!(
        call.outcome,
        Outcome::Completed,
        "they keep nobody from anything"
    );
    written(PERMIT_OPEN_MS_MAX + 1);
    assert_eq!(engine.tidy().unwrap().permits, texts.len());
    assert_eq!(count(&world, "gate/permits"), 0);
}

/// Idle sessions are forgotten with what they had seen; if one comes back, it begins anew.
#[test]
fn idle_sessions_are_forgotten() {
    let world = World::new();
    world.write("src/a.txt", "one");
    let engine = in_action(&world, vec![]);
    drop(engine.execute(&read("src/a.txt")));
    world.time.pass(SESSION_KEPT_MS - 10);
    drop(engine.execute(&in_session(read("src/a.txt"), "s-2")));
    assert_eq!(count(&world, "gate/sessions"), 2);
    world.time.pass(20);
    assert_eq!(engine.tidy().unwrap().sessions, 1);
    assert_eq!(
        (count(&world, "gate/sessions"), count(&world, "sessions")),
        (1, 1)
    );
    let session = SessionId::new("s-1").unwrap();
    assert_eq!(
        engine.session(&session).unwrap().session.active_intent(),
        None
    );
    assert_eq!(
        code(&engine.execute(&write("src/a.txt", "two"))),
        "STATE_VIOLATION"
    );
}

/// C2: a grant that ended long ago is not listed any more; one that holds is.
#[test]
fn ended_grants_are_forgotten() {
    let world = World::new();
    let engine = world.engine();
    let draft = |expires_in: Option<i64>| GrantDraft {
        capabilities: BTreeSet::from([Capability::parse("filesystem.write").unwrap()]),
        grantee: Grantee {
            kind: GranteeKind::Session,
            id: "s-1".to_owned(),
        },
        scope: GrantScope {
            resources: Allowance::Unrestricted,
            actions: Allowance::Unrestricted,
        },
        constraints: vec![],
        expires_at: expires_in.map(|ms| world.time.now().plus_millis(ms)),
    };
    engine.issue_grant(draft(Some(1_000)), "ann").unwrap();
    let revoked = engine.issue_grant(draft(None), "ann").unwrap();
    let living = engine.issue_grant(draft(None), "ann").unwrap();
    engine
        .revoke_grant(&revoked.grant_id, "ann", "done")
        .unwrap();
    world.time.pass(GRANT_KEPT_MS);
    assert_eq!(engine.tidy().unwrap().grants, 0);
    world.time.pass(2_000);
    assert_eq!(engine.tidy().unwrap().grants, 2);
    let left = engine.grants().unwrap();
    assert_eq!(left.len(), 1);
    assert_eq!(left[0].grant.grant_id, living.grant_id);
}

/// Whoever opens the engine tidies, once an hour and not more often, also when the clock goes back.
#[test]
fn opening_tidies_now_and_then() {
    let world = World::new();
    drop(world.engine());
    let marked = || std::fs::read_to_string(world.site().state().join("gate/tidied")).unwrap();
    let first = marked();
    world.time.pass(TIDY_INTERVAL_MS);
    drop(world.engine());
    assert_eq!(marked(), first);
    world.time.pass(1);
    drop(world.engine());
    assert_ne!(marked(), first);
    world.time.pass(-10 * TIDY_INTERVAL_MS);
    drop(world.engine());
    assert_eq!(world.engine().tidy().unwrap(), Tidied::default());
    assert!(Path::new(&world.root).exists());
}

/// Whoever waits for a verdict does not tidy what others can, and does where nobody else comes by.
#[test]
fn a_verdict_does_not_wait_for_tidying() {
    let world = World::new();
    drop(world.engine());
    let marked = || std::fs::read_to_string(world.site().state().join("gate/tidied")).unwrap();
    let first = marked();
    world.time.pass(TIDY_OVERDUE_MS);
    drop(world.judge());
    assert_eq!(marked(), first);
    world.time.pass(1);
    drop(world.judge());
    assert_ne!(marked(), first);
}
