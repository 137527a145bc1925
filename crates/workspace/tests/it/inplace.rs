//! What is done in place under a snapshot is taken back exactly, and can be staged again.

use std::fs;
use std::os::unix::fs::symlink;

use tagout_workspace::{Error, Options};

use crate::support::{NOW, Place, call, commit, picture, quiet, rel};

fn place() -> Place {
    let place = Place::new();
    place.put("src/a", "one");
    place.put("src/b", "two");
    place.put("src/deep/er/c", "three");
    place.put("src/folder/d", "four");
    place.put("src/big", &"x".repeat(400_000));
    place.put("single", "five");
    symlink("a", place.root().join("src/link")).unwrap();
    place
}

/// Everything that a command can do to a tree, kinds exchanged too.
fn work(place: &Place) {
    let at = |path: &str| place.root().join("src").join(path);
    fs::write(at("a"), "changed").unwrap();
    fs::remove_file(at("b")).unwrap();
    fs::create_dir_all(at("b/now/a/folder")).unwrap();
    fs::write(at("b/now/f"), "f").unwrap();
    fs::remove_dir_all(at("folder")).unwrap();
    fs::write(at("folder"), "now a file").unwrap();
    fs::rename(at("deep"), at("moved")).unwrap();
    fs::write(at("big"), "y".repeat(500_000)).unwrap();
    fs::remove_file(at("link")).unwrap();
    symlink("big", at("link")).unwrap();
    fs::write(place.root().join("single"), "six").unwrap();
}

/// L4: whatever was done, everything is as it was, times included, and done again on demand.
#[test]
fn everything_comes_back_and_goes_again() {
    let place = place();
    let workspace = place.open();
    let before = picture(&place.root().join("src"));
    let first = contents(&place);
    let paths = [rel("single"), rel("src")];
    workspace.snapshot(&call("1"), &paths, NOW).unwrap();
    workspace.secure().unwrap();
    work(&place);
    let after = contents(&place);
    let whole = picture(&place.root().join("src"));
    let taken = workspace
        .take_back(&call("1"), &call("1-restored"), (NOW, None))
        .unwrap();
    assert!(taken.whole && taken.conflicts.is_empty());
    assert_eq!(picture(&place.root().join("src")), before);
    let again = workspace
        .take_back(&call("1"), &call("1-restored"), (NOW, None))
        .unwrap();
    assert_eq!(again.changes, []);
    let mut transaction = workspace.begin(&call("1")).unwrap();
    transaction.stage_taken(&taken).unwrap();
    let mut named: Vec<String> = taken
        .changes
        .iter()
        .map(|one| one.path.to_string())
        .collect();
    let staged = transaction.staged().unwrap();
    let mut staged: Vec<String> = staged.iter().map(|one| one.path.to_string()).collect();
    named.sort();
    staged.sort();
    assert_eq!(named, staged, "what is judged is what is staged");
    commit(transaction).unwrap();
    assert_eq!(contents(&place), after);
    assert_eq!(picture(&place.root().join("src")), whole);
    let mut transaction = workspace.begin(&call("2")).unwrap();
    transaction.revert(&call("1")).unwrap();
    commit(transaction).unwrap();
    assert_eq!(contents(&place), first);
    assert_eq!(picture(&place.root().join("src")), before);
}

/// L4: what someone changed after everything was put back is a conflict, and nothing is staged.
#[test]
fn work_after_it_was_put_back_is_a_conflict() {
    let place = place();
    let workspace = place.open();
    workspace.snapshot(&call("1"), &[rel("src")], NOW).unwrap();
    fs::write(place.root().join("src/a"), "the command's").unwrap();
    let taken = workspace
        .take_back(&call("1"), &call("1-restored"), (NOW, None))
        .unwrap();
    fs::write(place.root().join("src/a"), "a person's").unwrap();
    let mut transaction = workspace.begin(&call("1")).unwrap();
    let refused = transaction.stage_taken(&taken).unwrap_err();
    assert!(matches!(refused, Error::Conflict { .. }), "{refused}");
    transaction.rollback();
    assert_eq!(place.text("src/a"), "a person's");
    let mut left = Vec::new();
    workspace
        .each_taken(&taken, |path, stood| {
            left.push((path.to_string(), stood.and_then(|one| one.bytes)));
            Ok::<(), Error>(())
        })
        .unwrap();
    let theirs = b"the command's".to_vec();
    assert_eq!(left, [("src/a".to_owned(), Some(theirs))]);
}

/// Paths with what they hold.
fn contents(place: &Place) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut open = vec![place.root()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let (path, kind) = (entry.path(), entry.file_type().unwrap());
            let content = if kind.is_dir() {
                open.push(path.clone());
                "a folder".to_owned()
            } else if kind.is_symlink() {
                fs::read_link(&path).unwrap().display().to_string()
            } else {
                fs::read_to_string(&path).unwrap()
            };
            found.push((path.display().to_string(), content));
        }
    }
    found.sort();
    found
}

/// L4: what is too large to be kept is cleared away, and what was there before is put back.
#[test]
fn too_much_is_cleared_away() {
    let place = place();
    let workspace = place.open_with(Options {
        image_bytes_max: 450_000,
        ..quiet()
    });
    let before = contents(&place);
    workspace.snapshot(&call("1"), &[rel("src")], NOW).unwrap();
    fs::write(place.root().join("src/a"), "x".repeat(500_000)).unwrap();
    fs::create_dir(place.root().join("src/new")).unwrap();
    fs::write(place.root().join("src/new/f"), "x".repeat(500_000)).unwrap();
    let taken = workspace
        .take_back(&call("1"), &call("1-restored"), (NOW, None))
        .unwrap();
    assert!(!taken.whole);
    assert_eq!(contents(&place), before);
}

/// L4: what changed after the mark is someone else's and stays; the rest comes back.
#[test]
fn later_work_is_left_alone() {
    let place = place();
    let workspace = place.open();
    workspace.snapshot(&call("1"), &[rel("src")], NOW).unwrap();
    fs::write(place.root().join("src/a"), "the command's").unwrap();
    fs::create_dir(place.root().join("src/new")).unwrap();
    fs::write(place.root().join("src/new/mine"), "the command's").unwrap();
    let mark = workspace.mark().unwrap();
    fs::write(place.root().join("src/b"), "a person's").unwrap();
    fs::write(place.root().join("src/new/theirs"), "a person's").unwrap();
    let taken = workspace
        .take_back(&call("1"), &call("1-restored"), (NOW, Some(mark)))
        .unwrap();
    let mut left: Vec<&str> = taken
        .conflicts
        .iter()
        .map(|one| one.path.as_str())
        .collect();
    left.sort_unstable();
    assert_eq!(left, ["src/b", "src/new/theirs"]);
    assert_eq!(place.text("src/a"), "one");
    assert_eq!(place.text("src/b"), "a person's");
    assert_eq!(place.text("src/new/theirs"), "a person's");
    assert!(!place.root().join("src/new/mine").exists());
}

/// L4: what another call committed meanwhile is not taken back.
#[test]
fn another_calls_commit_is_left_alone() {
    let place = place();
    let workspace = place.open();
    workspace.snapshot(&call("1"), &[rel("src")], NOW).unwrap();
    fs::write(place.root().join("src/a"), "the command's").unwrap();
    let mut other = workspace.begin(&call("other")).unwrap();
    other.write(&rel("src/b"), b"another call's").unwrap();
    other.write(&rel("src/made/e"), b"another call's").unwrap();
    commit(other).unwrap();
    let taken = workspace
        .take_back(&call("1"), &call("1-restored"), (NOW, None))
        .unwrap();
    assert!(taken.conflicts.iter().any(|one| one.path == "src/b"));
    assert_eq!(place.text("src/a"), "one");
    assert_eq!(place.text("src/b"), "another call's");
    assert_eq!(place.text("src/made/e"), "another call's");
}

/// Invariant 10: what a snapshot's look reads is bounded for all files and both sides together;
/// what does not fit is still known by its digest.
#[test]
fn a_look_reads_no_more_than_it_may() {
    let place = Place::new();
    for name in ["a", "b", "c"] {
        place.put(name, "ten bytes.");
    }
    let workspace = place.open();
    let paths = [rel("a"), rel("b"), rel("c")];
    workspace.snapshot(&call("1"), &paths, NOW).unwrap();
    for name in ["a", "b", "c"] {
        place.put(name, "10 others.");
    }
    for max in [0, 5, 10, 30, 45, 60] {
        let found = workspace.snapshot_effects(&call("1"), max).unwrap();
        let sides = found.iter().flat_map(|one| [&one.before, &one.after]);
        let sides: Vec<_> = sides.flatten().collect();
        assert_eq!(sides.len(), 6);
        let read: usize = sides
            .iter()
            .filter_map(|one| one.bytes.as_ref())
            .map(Vec::len)
            .sum();
        assert_eq!(read as u64, max / 10 * 10, "{max}");
        let after = tagout_vocab::Digest::of(b"10 others.");
        assert!(
            found
                .iter()
                .all(|one| one.after.as_ref().unwrap().digest == after)
        );
    }
}

/// Design §7: what nobody settled is kept as long as other before-images, and then goes.
#[test]
fn old_snapshots_go() {
    let place = Place::new();
    place.put("a", &"x".repeat(400_000));
    let workspace = place.open();
    workspace.snapshot(&call("1"), &[rel("a")], NOW).unwrap();
    let horizon = Options::default().undo_horizon_ms;
    workspace.prune(NOW.plus_millis(horizon)).unwrap();
    assert!(workspace.diff(&call("1")).is_ok());
    workspace.prune(NOW.plus_millis(horizon + 1)).unwrap();
    assert!(matches!(
        workspace.diff(&call("1")),
        Err(Error::Unknown { .. })
    ));
}
