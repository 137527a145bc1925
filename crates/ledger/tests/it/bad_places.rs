//! Bad places: one clear error each, and the ledger whole afterwards.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use tagout_ledger::{Ledger, LedgerError, Options, Reader};

use crate::recorder;
use crate::support::{ORIGIN, check, event, fill, filled, place, quiet, read, segment, write};

/// What tells a copy of this test program that it stands in a bad place, and which.
const PLACE: &str = "TAGOUT_LEDGER_TEST_PLACE";

fn message(error: &LedgerError, dir: &Path) -> String {
    error.to_string().replace(&*dir.to_string_lossy(), "LEDGER")
}

/// A missing folder is not created, and the message says what to do.
#[test]
fn a_missing_folder_is_told() {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path().join("gone");
    let error = Ledger::open(&dir, quiet()).unwrap_err();
    assert!(matches!(error, LedgerError::MissingFolder { .. }));
    insta::assert_snapshot!(
        message(&error, &dir),
        @"the ledger folder `LEDGER` does not exist: restore the state, or start a new epoch"
    );
    assert!(!dir.exists());
}

/// A folder that is no ledger, a file, and a folder that others can enter are told apart.
#[test]
fn what_is_no_ledger_is_told() {
    let root = tempfile::tempdir().unwrap();
    let dir = root.path();
    std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o700)).unwrap();
    let error = Ledger::open(dir, quiet()).unwrap_err();
    insta::assert_snapshot!(
        message(&error, dir),
        @"`LEDGER/format` is not a ledger: the file is missing; restore it, or start a new epoch"
    );
    let file = dir.join("file");
    write(&file, b"x");
    let error = Ledger::open(&file, quiet()).unwrap_err();
    assert!(matches!(error, LedgerError::NotALedger { .. }), "{error}");

    let place = place();
    std::fs::set_permissions(&place.dir, std::fs::Permissions::from_mode(0o755)).unwrap();
    let error = Ledger::open(&place.dir, quiet()).unwrap_err();
    assert!(message(&error, &place.dir).contains("chmod 700"), "{error}");
    std::fs::set_permissions(&place.dir, std::fs::Permissions::from_mode(0o700)).unwrap();
    let error = Ledger::create(&place.dir, ORIGIN).unwrap_err();
    assert!(matches!(error, LedgerError::AlreadyThere { .. }), "{error}");
    write(&place.dir.join("format"), b"{}");
    let error = Ledger::open(&place.dir, quiet()).unwrap_err();
    assert!(matches!(error, LedgerError::NotALedger { .. }), "{error}");
}

/// A folder that disappears under a running process is told; nothing is made up in its place.
#[test]
fn a_folder_that_disappears_is_told() {
    let place = filled(3, quiet());
    let ledger = Ledger::open(&place.dir, quiet()).unwrap();
    ledger.append(&[event(4)]).unwrap();
    std::fs::remove_dir_all(&place.dir).unwrap();
    let error = ledger.append(&[event(5)]).unwrap_err();
    assert!(
        matches!(error, LedgerError::MissingFolder { .. }),
        "{error}"
    );
    assert!(!place.dir.exists());
}

/// L10 Bad place: a segment that is moved away, replaced or cut under a running process. Nothing is
/// acknowledged that a reader would not find; put back, all goes on.
#[test]
fn a_segment_that_is_moved_away_is_told() {
    let place = filled(3, quiet());
    let ledger = Ledger::open(&place.dir, quiet()).unwrap();
    ledger.append(&[event(4)]).unwrap();
    let (file, away) = (segment(&place.dir), place.dir.join("away"));
    let whole = read(&file);
    let refused = |ledger: &Ledger| {
        let error = ledger.append(&[event(5)]).unwrap_err();
        assert!(matches!(error, LedgerError::Moved { .. }), "{error}");
        assert!(ledger.confirm(1).is_err());
    };
    std::fs::rename(&file, &away).unwrap();
    refused(&ledger);
    refused(&ledger);
    assert_eq!(read(&away), whole, "the moved file has not grown");
    assert!(!file.exists(), "nothing was made up in its place");
    // An older copy in its place is another file.
    let older = whole.len()
        - 1
        - whole[..whole.len() - 1]
            .iter()
            .rev()
            .position(|b| *b == b'\n')
            .unwrap();
    write(&file, &whole[..older]);
    refused(&ledger);
    assert_eq!(read(&file), &whole[..older]);
    // The very file, put back.
    std::fs::rename(&away, &file).unwrap();
    ledger.append(&[event(5)]).unwrap();
    // Cut in place, it has lost what this process saw.
    let longer = read(&file);
    let handle = std::fs::OpenOptions::new().write(true).open(&file).unwrap();
    handle.set_len(older as u64).unwrap();
    refused(&ledger);
    write(&file, &longer);
    ledger.append(&[event(6)]).unwrap();
    assert!(check(&place.dir).ok);
}

/// L10 Bad place: the whole folder is exchanged under a running process. The lock that it holds
/// keeps nobody out of the other one, so it writes to neither.
#[test]
fn a_folder_that_is_exchanged_is_told() {
    let (place, other) = (filled(3, quiet()), filled(3, quiet()));
    let ledger = Ledger::open(&place.dir, quiet()).unwrap();
    ledger.append(&[event(4)]).unwrap();
    let (here, there) = (read(&segment(&place.dir)), read(&segment(&other.dir)));
    let away = place.dir.with_extension("away");
    std::fs::rename(&place.dir, &away).unwrap();
    std::fs::rename(&other.dir, &place.dir).unwrap();
    let error = ledger.append(&[event(5)]).unwrap_err();
    assert!(matches!(error, LedgerError::Moved { .. }), "{error}");
    assert_eq!(read(&segment(&away)), here);
    assert_eq!(read(&segment(&place.dir)), there);
}

/// L10 Segments that another process begins are followed; that is no move.
#[test]
fn rotation_by_another_process_is_followed() {
    let place = filled(3, quiet());
    let small = Options {
        segment_bytes_max: 600,
        ..quiet()
    };
    let ours = Ledger::open(&place.dir, quiet()).unwrap();
    let theirs = Ledger::open(&place.dir, small).unwrap();
    for number in 0..10 {
        ours.append(&[event(2 * number)]).unwrap();
        theirs.append(&[event(2 * number + 1)]).unwrap();
    }
    let report = check(&place.dir);
    assert!(report.ok, "{report:?}");
    let segments = std::fs::read_dir(&place.dir).unwrap();
    let is_segment = |entry: &std::io::Result<std::fs::DirEntry>| {
        let name = entry.as_ref().unwrap().file_name();
        name.to_string_lossy().ends_with(".jsonl")
    };
    assert!(segments.filter(is_segment).count() > 5);
}

/// A process that holds the lock for ever does not hold up the others for ever.
#[test]
fn a_lock_that_is_never_released_is_told() {
    let place = filled(3, quiet());
    let holder = std::fs::File::open(place.dir.join("lock")).unwrap();
    holder.lock().unwrap();
    let options = Options {
        lock_wait_ms_max: 20,
        ..quiet()
    };
    let ledger = Ledger::open(&place.dir, options).unwrap();
    let error = ledger.append(&[event(4)]).unwrap_err();
    assert!(matches!(error, LedgerError::Busy { .. }), "{error}");
    holder.unlock().unwrap();
    ledger.append(&[event(4)]).unwrap();
    assert!(check(&place.dir).ok);
}

/// Starts this program again in namespaces of its own, after some shell commands.
#[expect(
    clippy::disallowed_methods,
    reason = "a bad place needs mounts of its own"
)]
fn in_a_bad_place(test: &str, flags: &str, setup: &str, dir: &Path) {
    let program = std::env::current_exe().unwrap();
    let script = format!(
        "set -e\n{setup}\nexec '{}' --exact bad_places::{test} --nocapture",
        program.display()
    );
    let output = Command::new("unshare")
        .args(flags.split(' '))
        .args(["sh", "-c", &script])
        .env(PLACE, dir)
        .output()
        .expect("unshare makes a place of its own");
    let said = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{errors}");
    assert!(said.contains("1 passed"), "{said}{errors}");
}

#[expect(
    clippy::disallowed_methods,
    reason = "it is how a test tells its own copy where it is"
)]
fn inside() -> Option<std::path::PathBuf> {
    std::env::var_os(PLACE).map(Into::into)
}

/// Bad place: a file system that may reach over a network, really mounted under its name. Those of
/// the kernel itself are known by their numbers.
#[test]
fn a_mounted_network_file_system_is_told() {
    let Some(dir) = inside() else {
        let root = tempfile::tempdir().unwrap();
        std::fs::set_permissions(root.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
        let name = "a_mounted_network_file_system_is_told";
        in_a_bad_place(name, "-Urm", "true", root.path());
        return;
    };
    for kind in ["fuse.sshfs", "fuse"] {
        let mounted = recorder::Recorder::mount_as(kind, &dir, 1);
        let opened = Ledger::open(&dir, quiet()).map(drop);
        for refused in [opened, Ledger::create(&dir, ORIGIN)] {
            let error = refused.unwrap_err();
            let is_named = |name: &str| name == kind;
            assert!(
                matches!(&error, LedgerError::NetworkFileSystem { name, .. } if is_named(name)),
                "{kind}: {error}"
            );
        }
        drop(mounted);
    }
    // The same folder without it is none.
    let error = Ledger::open(&dir, quiet()).unwrap_err();
    assert!(matches!(error, LedgerError::NotALedger { .. }), "{error}");
}

/// Bad place: a full disk. The step that does not fit is refused whole; with room, all goes on.
#[test]
fn a_full_disk_is_told() {
    let Some(dir) = inside() else {
        let root = tempfile::tempdir().unwrap();
        let setup = format!(
            "mount -t tmpfs -o size=256k tmpfs '{}'",
            root.path().display()
        );
        in_a_bad_place("a_full_disk_is_told", "-Urm", &setup, root.path());
        return;
    };
    let ledger_dir = dir.join("ledger");
    Ledger::create(&ledger_dir, ORIGIN).unwrap();
    let ledger = Ledger::open(&ledger_dir, quiet()).unwrap();
    fill(&ledger, 0..10);
    let ballast = dir.join("ballast");
    write(&ballast, &vec![1; 64 * 1024]);
    let mut acknowledged = 10;
    let error = loop {
        match ledger.append(&[event(acknowledged), event(acknowledged + 1)]) {
            Ok(_) => acknowledged += 2,
            Err(error) => break error,
        }
    };
    insta::assert_snapshot!(
        message(&error, &ledger_dir),
        @"no room left to write `LEDGER/00000001.jsonl`: free some disk space and try again"
    );
    assert!(acknowledged > 20);
    let report = check(&ledger_dir);
    assert!(report.ok && report.events == acknowledged, "{report:?}");
    assert_eq!(report.torn_bytes, 0);
    let sealing = ledger.seal(crate::support::time(acknowledged));
    assert!(
        matches!(sealing, Err(LedgerError::FullDisk { .. })),
        "{sealing:?}"
    );
    std::fs::remove_file(ballast).unwrap();
    let later = ledger.append(&[event(acknowledged)]).unwrap();
    assert!(later.repair.is_none());
    ledger.seal(crate::support::time(acknowledged)).unwrap();
    assert!(check(&ledger_dir).ok);
}

/// Bad place: a read-only file system. Nothing is written, reading and verifying go on.
#[test]
fn a_read_only_file_system_is_told() {
    let Some(dir) = inside() else {
        let place = filled(5, quiet());
        let before = read(&segment(&place.dir));
        let setup = format!(
            "mount --bind '{0}' '{0}' && mount -o remount,bind,ro '{0}'",
            place.dir.display()
        );
        in_a_bad_place(
            "a_read_only_file_system_is_told",
            "-Urm",
            &setup,
            &place.dir,
        );
        assert_eq!(read(&segment(&place.dir)), before);
        return;
    };
    let error = Ledger::open(&dir, quiet()).unwrap_err();
    assert!(matches!(error, LedgerError::ReadOnly { .. }), "{error}");
    let text = message(&error, &dir);
    assert!(text.contains("read-only file system: remount it"), "{text}");
    assert_eq!(Reader::open(&dir).unwrap().size().unwrap(), 6);
    assert!(check(&dir).ok);
    let index = tagout_ledger::Index::open(&dir).unwrap();
    let found = index.query(&tagout_ledger::Query::default()).unwrap();
    assert_eq!(found.len(), 6, "the index is private then");
}

/// Bad place: files that this user may not open.
#[test]
fn a_lack_of_permission_is_told() {
    let Some(dir) = inside() else {
        let place = filled(5, quiet());
        std::fs::set_permissions(segment(&place.dir), std::fs::Permissions::from_mode(0o400))
            .unwrap();
        in_a_bad_place("a_lack_of_permission_is_told", "-U", ":", &place.dir);
        assert!(check(&place.dir).ok);
        return;
    };
    let ledger = Ledger::open(&dir, quiet()).unwrap();
    let error = ledger.append(&[event(9)]).unwrap_err();
    insta::assert_snapshot!(
        message(&error, &dir).replace("00000001.jsonl", "SEGMENT"),
        @"no permission for `LEDGER/SEGMENT`: it must belong to the user who runs this program"
    );
}
