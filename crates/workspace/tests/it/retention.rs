//! How long what is needed for undoing is kept.

use std::fs;

use tagout_vocab::Timestamp;
use tagout_workspace::{Error, Options};

use crate::support::quiet;
use crate::support::{NOW, Place, call, rel};

fn change(place: &Place, options: &Options, number: usize, at: Timestamp) {
    let workspace = place.open_with(options.clone());
    let mut transaction = workspace.begin(&call(&format!("c{number}"))).unwrap();
    let big = vec![u8::try_from(number % 256).unwrap(); 300_000];
    transaction.write(&rel("big"), &big).unwrap();
    transaction
        .write(&rel("small"), number.to_string().as_bytes())
        .unwrap();
    let committed = transaction.commit(at, b"").unwrap();
    assert_eq!(
        committed.undoable_until,
        at.plus_millis(options.undo_horizon_ms)
    );
    let due = committed.checkpoint_due;
    committed.confirm();
    if due {
        assert!(workspace.checkpoint(|| Ok(())).unwrap().done);
    }
}

/// B4's ground: beyond the horizon a change is not kept, within it it is; a clock that went
/// backwards drops nothing.
#[test]
fn the_horizon_is_kept() {
    let place = Place::new();
    let options = Options {
        undo_horizon_ms: 1000,
        checkpoint_commits: 1,
        ..quiet()
    };
    change(&place, &options, 1, NOW);
    change(&place, &options, 2, NOW.plus_millis(900));
    change(&place, &options, 3, NOW.plus_millis(950));
    let workspace = place.open_with(options.clone());
    let images = || fs::read_dir(place.state().join("images")).unwrap().count();
    assert_eq!(images(), 3);
    assert_eq!(workspace.prune(NOW.plus_millis(-500)).unwrap().segments, 0);
    assert_eq!(workspace.prune(NOW.plus_millis(1500)).unwrap().segments, 1);
    let mut undo = workspace.begin(&call("u")).unwrap();
    assert!(matches!(
        undo.revert(&call("c1")),
        Err(Error::Unknown { .. })
    ));
    undo.revert(&call("c3")).unwrap();
    let living = workspace.prune(NOW.plus_millis(99_999)).unwrap();
    assert_eq!(
        (living.segments, images()),
        (1, 3),
        "a living transaction may need any image"
    );
    undo.commit(NOW, b"").unwrap().confirm();
    assert_eq!(fs::read(place.root().join("small")).unwrap(), b"2");
}

/// B4's ground: the cap drops the oldest first, and never what recovery needs.
#[test]
fn the_cap_is_kept() {
    let place = Place::new();
    let options = Options {
        undo_bytes_max: 700_000,
        checkpoint_commits: 1,
        ..quiet()
    };
    for number in 1..=6 {
        change(&place, &options, number, NOW);
    }
    let workspace = place.open_with(options);
    let pruned = workspace.prune(NOW).unwrap();
    assert!(
        pruned.segments >= 3 && pruned.kept_bytes <= 700_000,
        "{pruned:?}"
    );
    let mut undo = workspace.begin(&call("u")).unwrap();
    undo.revert(&call("c6")).unwrap();
    undo.commit(NOW, b"").unwrap().confirm();
    assert_eq!(fs::read(place.root().join("small")).unwrap(), b"5");
}

/// B4's ground: an image that does not have its digest is never used.
#[test]
fn a_damaged_image_is_refused() {
    let place = Place::new();
    let options = quiet();
    change(&place, &options, 1, NOW);
    change(&place, &options, 2, NOW);
    for image in fs::read_dir(place.state().join("images"))
        .unwrap()
        .flatten()
    {
        let mut bytes = fs::read(image.path()).unwrap();
        bytes[1000] ^= 1;
        fs::write(image.path(), bytes).unwrap();
    }
    let workspace = place.open_with(options);
    let mut undo = workspace.begin(&call("u")).unwrap();
    undo.revert(&call("c2")).unwrap();
    let error = undo.commit(NOW, b"").unwrap_err();
    assert!(matches!(error, Error::StateDamaged { .. }), "{error}");
    assert_eq!(
        fs::read(place.root().join("small")).unwrap(),
        b"2",
        "and nothing was changed"
    );
    assert_eq!(fs::read_dir(place.root()).unwrap().count(), 2);
}

/// L4: a checkpoint waits while someone has not told the ledger yet.
#[test]
fn a_checkpoint_waits_for_the_ledger() {
    let place = Place::new();
    let workspace = place.open();
    let mut transaction = workspace.begin(&call("1")).unwrap();
    transaction.write(&rel("a"), b"x").unwrap();
    let committed = transaction.commit(NOW, b"the end").unwrap();
    assert!(!workspace.checkpoint(|| panic!("not now")).unwrap().done);
    committed.confirm();
    let mut synced = false;
    assert!(
        workspace
            .checkpoint(|| {
                synced = true;
                Ok(())
            })
            .unwrap()
            .done
    );
    assert!(synced);
    assert!(workspace.recover().unwrap().settled.is_empty());
    let failing = workspace.begin(&call("2")).unwrap();
    failing.commit(NOW, b"").unwrap().confirm();
    let failed = workspace.checkpoint(|| Err(std::io::Error::other("the ledger's disk is gone")));
    assert!(failed.is_err());
}
