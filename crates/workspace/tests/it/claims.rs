//! One open permit per path.

use tagout_workspace::{Claim, Claiming, Holding, Workspace};

use crate::support::{Place, call, rel};

fn held(workspace: &Workspace, id: &str, paths: &[&str], holding: Holding) -> Option<Claim> {
    let paths: Vec<_> = paths.iter().map(|path| rel(path)).collect();
    match workspace.claim(&call(id), &paths, holding).unwrap() {
        Claiming::Held(claim) => Some(claim),
        Claiming::Busy { by, .. } => {
            assert!(by.is_some(), "who has it is known");
            None
        }
    }
}

/// A path has one holder; a second one learns who it is and gets none of its paths.
#[test]
fn one_holder_per_path() {
    let place = Place::new();
    let (one, two) = (place.open(), place.open());
    let first = held(&one, "1", &["a", "b"], Holding::WhileAlive).unwrap();
    match two
        .claim(&call("2"), &[rel("c"), rel("b")], Holding::WhileAlive)
        .unwrap()
    {
        Claiming::Busy { path, by, alive } => {
            assert_eq!((path, by, alive), (rel("b"), Some(call("1")), true));
        }
        Claiming::Held(_) => panic!("two holders"),
    }
    let free = held(&two, "3", &["c"], Holding::WhileAlive);
    assert!(free.is_some(), "nothing of the refused claim stays");
    drop(first);
    assert!(held(&two, "2", &["b"], Holding::WhileAlive).is_some());
}

/// A claim that outlives its process stays until its call is released, by whichever process.
#[test]
fn a_parked_claim_waits_for_its_release() {
    let place = Place::new();
    let one = place.open();
    drop(held(&one, "1", &["a"], Holding::UntilReleased).unwrap());
    let two = place.open();
    assert!(held(&two, "2", &["a"], Holding::WhileAlive).is_none());
    assert!(
        held(&two, "1", &["a"], Holding::UntilReleased).is_some(),
        "the call itself goes on"
    );
    two.release(&call("1")).unwrap();
    assert!(held(&two, "2", &["a"], Holding::WhileAlive).is_some());
}

/// Whoever finds a path held until its release is told whether the process that claimed it lives.
#[test]
fn a_dead_holder_is_told_from_a_living_one() {
    let place = Place::new();
    let (one, two) = (place.open(), place.open());
    let alive = || {
        let claimed = two.claim(&call("2"), &[rel("a")], Holding::UntilReleased);
        match claimed.unwrap() {
            Claiming::Busy { alive, .. } => alive,
            Claiming::Held(_) => panic!("two holders"),
        }
    };
    let claim = held(&one, "1", &["a"], Holding::UntilReleased).unwrap();
    assert!(alive());
    drop(claim);
    assert!(!alive());
}

/// Sixteen threads, one path: never two holders at once.
#[test]
fn never_two_at_once() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    let place = Place::new();
    let workspace = place.open();
    let (inside, taken) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for thread in 0..16 {
            let (workspace, inside, taken) = (&workspace, &inside, &taken);
            scope.spawn(move || {
                for round in 0..50 {
                    let id = format!("t{thread}-{round}");
                    let claimed = workspace.claim(&call(&id), &[rel("a")], Holding::WhileAlive);
                    if let Claiming::Held(claim) = claimed.unwrap() {
                        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                        taken.fetch_add(1, Ordering::SeqCst);
                        inside.fetch_sub(1, Ordering::SeqCst);
                        drop(claim);
                    }
                    if round % 10 == 0 {
                        workspace.release(&call(&id)).unwrap();
                    }
                }
            });
        }
    });
    assert!(taken.into_inner() > 0);
}
