//! A displaced file is filled again for the path that it came from, if nobody can tell.

use std::fs;
use std::io::{Seek as _, Write as _};
use std::os::fd::BorrowedFd;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use tagout_vocab::limits::LEASE_SURE_MS;
use tagout_workspace::{Alone, LeaseProbe, Options, Workspace};

use crate::support::{Place, call, commit, nobody_waits, quiet, rel};

fn write(workspace: &Workspace, name: &str, text: &str) {
    let mut transaction = workspace.begin(&call(name)).unwrap();
    transaction.write(&rel("f"), text.as_bytes()).unwrap();
    commit(transaction).unwrap();
}

fn inode(place: &Place) -> u64 {
    fs::metadata(place.root().join("f")).unwrap().ino()
}

fn displaced(place: &Place) -> usize {
    let yard = fs::read_dir(place.state().join("displaced")).unwrap();
    yard.count()
}

/// L4: a path that is written again and again goes to and fro between two files.
#[test]
fn two_files_take_turns() {
    let place = Place::new();
    place.put("f", "the first, which is longer than the others");
    let workspace = place.open();
    let first = inode(&place);
    write(&workspace, "c1", "one");
    let second = inode(&place);
    assert_ne!(first, second);
    for round in 1..6 {
        write(&workspace, &format!("to{round}"), &format!("to {round}"));
        assert_eq!((inode(&place), displaced(&place)), (first, 1));
        assert_eq!(place.text("f"), format!("to {round}"));
        write(&workspace, &format!("fro{round}"), "");
        assert_eq!((inode(&place), displaced(&place)), (second, 1));
        assert_eq!(place.text("f"), "");
    }
    assert!(workspace.checkpoint(|| Ok(())).unwrap().done);
    let before = inode(&place);
    write(&workspace, "later", "later");
    assert!(
        inode(&place) != first && inode(&place) != before,
        "what the segment does not know is not used"
    );
}

/// L4: an undo restores what was there although the file that held it was filled again.
#[test]
fn what_was_filled_again_can_be_undone() {
    let place = Place::new();
    place.put("f", "first");
    let workspace = place.open();
    for (name, text) in [("c1", "one"), ("c2", "two"), ("c3", "three")] {
        write(&workspace, name, text);
    }
    for (name, text) in [("c3", "two"), ("c2", "one"), ("c1", "first")] {
        let mut undo = workspace.begin(&call(&format!("undo-{name}"))).unwrap();
        undo.revert(&call(name)).unwrap();
        commit(undo).unwrap();
        assert_eq!(place.text("f"), text);
    }
}

/// L4: a file that differs in anything but its content, or that has another name, stays what it
/// is.
#[test]
fn a_file_that_is_not_alike_is_not_used() {
    let place = Place::new();
    place.put("f", "first");
    let workspace = place.open();
    let first = inode(&place);
    write(&workspace, "c1", "one");
    let path = place.root().join("f");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    write(&workspace, "c2", "two");
    assert_ne!(inode(&place), first, "its mode was another");
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o600);

    let place = Place::new();
    place.put("f", "first");
    let workspace = place.open();
    let kept = place.folder.path().join("other name");
    fs::hard_link(place.root().join("f"), &kept).unwrap();
    for name in ["c1", "c2", "c3"] {
        write(&workspace, name, name);
    }
    assert_eq!(fs::read_to_string(kept).unwrap(), "first");
}

/// L4: a path that took over another's file does not get that other path's displaced file.
#[test]
fn a_file_serves_only_the_path_it_came_from() {
    let place = Place::new();
    place.put("g", "first");
    let workspace = place.open();
    let first = fs::metadata(place.root().join("g")).unwrap().ino();
    let mut transaction = workspace.begin(&call("c1")).unwrap();
    transaction.write(&rel("g"), b"one").unwrap();
    commit(transaction).unwrap();
    fs::rename(place.root().join("g"), place.root().join("f")).unwrap();
    write(&workspace, "c2", "two");
    assert_ne!(inode(&place), first);
}

/// L4: what someone wrote into a displaced file is neither lost nor built upon.
#[test]
fn a_file_that_was_written_in_the_yard_is_not_used() {
    let place = Place::new();
    place.put("f", "first");
    let workspace = place.open();
    // Nobody is asked here, so this is one that was in the middle of opening the file.
    let mut late = fs::OpenOptions::new()
        .write(true)
        .open(place.root().join("f"))
        .unwrap();
    write(&workspace, "c1", "one");
    late.rewind().unwrap();
    late.write_all(b"FIRST").unwrap();
    drop(late);
    write(&workspace, "c2", "two");
    assert_eq!(place.text("f"), "two");
    let mut found = Vec::new();
    for _ in 0..2 {
        found.extend(workspace.checkpoint(|| Ok(())).unwrap().conflicts);
    }
    let kept = found.first().and_then(|one| one.kept.clone()).unwrap();
    assert_eq!(place.text(&kept), "FIRST");
}

/// The bytes of the files in the yard, sorted.
fn yard(place: &Place) -> Vec<String> {
    let mut found: Vec<String> = fs::read_dir(place.state().join("displaced"))
        .unwrap()
        .map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap())
        .collect();
    found.sort();
    found
}

fn bytes_of(file: BorrowedFd<'_>) -> std::io::Result<Vec<u8>> {
    let mut bytes = vec![0; 100];
    let length = rustix::io::pread(file, &mut bytes, 0)?;
    bytes.truncate(length);
    Ok(bytes)
}

/// L4: a file that the kernel does not leave to us alone stays what it is, whenever that is found
/// out: at once, when it is empty, when it is filled.
#[test]
fn a_file_that_someone_holds_is_not_used() {
    let no: LeaseProbe = |_| Ok(false);
    let yes: LeaseProbe = |_| Ok(true);
    let unknown: LeaseProbe = |_| Err(std::io::Error::from(std::io::ErrorKind::Unsupported));
    let hollow: LeaseProbe = |file| Ok(bytes_of(file)?.iter().all(|byte| *byte == 0));
    let filled: LeaseProbe = |file| Ok(bytes_of(file)? == b"two");
    let cases = [(yes, no), (unknown, no)].into_iter();
    let cases = cases.chain([yes, unknown, hollow, filled].map(|lost| (no, lost)));
    let cases = cases.map(|(take, lost)| Some(Alone { take, lost }));
    for (number, alone) in cases.chain([None]).enumerate() {
        for old in ["first", "1", "a first one that is longer than what follows"] {
            let place = Place::new();
            place.put("f", old);
            let workspace = place.open_with(Options { alone, ..quiet() });
            let first = inode(&place);
            let changed = fs::metadata(place.root().join("f"))
                .unwrap()
                .modified()
                .unwrap();
            write(&workspace, "c1", "one");
            let second = inode(&place);
            write(&workspace, "c2", "two");
            assert!(![first, second].contains(&inode(&place)), "case {number}");
            assert_eq!(place.text("f"), "two", "case {number}");
            let mut wanted = vec![old.to_owned(), "one".to_owned()];
            wanted.sort();
            assert_eq!(yard(&place), wanted, "case {number}");
            let rests = fs::read_dir(place.state().join("displaced")).unwrap();
            let same =
                |stat: fs::Metadata| stat.ino() == first && stat.modified().unwrap() == changed;
            let mut rests = rests.map(|entry| entry.unwrap().metadata().unwrap());
            assert!(rests.any(same), "case {number}: its time is another");
            for _ in 0..2 {
                let found = workspace.checkpoint(|| Ok(())).unwrap().conflicts;
                assert!(found.is_empty(), "case {number}: {found:?}");
            }
        }
    }
}

/// L4: who was let into a file after the kernel lost its patience has it, with all that was
/// written.
#[test]
fn a_file_that_was_taken_by_force_is_theirs() {
    fn forced(file: BorrowedFd<'_>) -> std::io::Result<bool> {
        if bytes_of(file)?.iter().any(|byte| *byte != 0) {
            return Ok(false);
        }
        let since = std::time::Instant::now();
        while since.elapsed().as_millis() <= u128::from(LEASE_SURE_MS) {
            std::thread::yield_now();
        }
        rustix::io::pwrite(file, b"theirs", 0)?;
        Ok(true)
    }
    let place = Place::new();
    place.put("f", "the first");
    let lost: LeaseProbe = forced;
    let alone = Some(Alone {
        lost,
        ..nobody_waits()
    });
    let workspace = place.open_with(Options { alone, ..quiet() });
    write(&workspace, "c1", "one");
    write(&workspace, "c2", "two");
    assert_eq!(place.text("f"), "two");
    let mut found = Vec::new();
    for _ in 0..2 {
        found.extend(workspace.checkpoint(|| Ok(())).unwrap().conflicts);
    }
    let kept = found.first().and_then(|one| one.kept.clone()).unwrap();
    assert!(place.text(&kept).starts_with("theirs"), "{kept}");
}
