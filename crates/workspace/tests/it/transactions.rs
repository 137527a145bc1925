//! What a transaction promises while everything goes well, and when someone else is in the way.

use std::fs;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

use tagout_workspace::{ChangeKind, Clash, Error, Options, Outcome, Swap};

use crate::support::{NOW, Place, call, commit, picture, quiet, rel};

fn clashes(error: &Error) -> Vec<(String, Clash)> {
    let Error::Conflict { paths } = error else {
        panic!("not a conflict: {error}")
    };
    paths
        .iter()
        .map(|one| (one.path.clone(), one.found))
        .collect()
}

/// L4: a transaction sees its own changes before anybody else does.
#[test]
fn reads_its_own_writes() {
    let place = Place::new();
    place.put("a", "one");
    place.put("dir/b", "two");
    let workspace = place.open();
    let mut transaction = workspace.begin(&call("1")).unwrap();
    transaction.append(&rel("a"), b" more").unwrap();
    transaction.write(&rel("new/deep/c"), b"three").unwrap();
    transaction.rename(&rel("dir"), &rel("moved")).unwrap();
    assert_eq!(transaction.read(&rel("a")).unwrap(), b"one more");
    assert_eq!(transaction.read(&rel("moved/b")).unwrap(), b"two");
    assert!(!transaction.exists(&rel("dir/b")).unwrap());
    assert_eq!(
        transaction.list(&rel("")).unwrap(),
        [&b"a"[..], b"moved", b"new"]
    );
    assert_eq!(transaction.list(&rel("new")).unwrap(), [b"deep"]);
    assert!(matches!(
        transaction.rmdir(&rel("new")),
        Err(Error::NotEmpty { .. })
    ));
    assert_eq!(place.text("a"), "one");
    commit(transaction).unwrap();
    assert_eq!(place.text("a"), "one more");
    assert_eq!(place.text("moved/b"), "two");
    assert_eq!(place.text("new/deep/c"), "three");
    assert!(!place.root().join("dir").exists());
}

/// L4: dropping and rolling back leave everything as it was.
#[test]
fn dropped_or_rolled_back_is_as_before() {
    let place = Place::new();
    place.put("a", "one");
    let before = picture(&place.root());
    let workspace = place.open();
    for settle in [false, true] {
        let mut transaction = workspace.begin(&call("1")).unwrap();
        transaction.write(&rel("a"), b"two").unwrap();
        transaction.mkdir(&rel("dir")).unwrap();
        if settle {
            transaction.rollback();
        } else {
            drop(transaction);
        }
        assert_eq!(picture(&place.root()), before);
    }
}

/// L4: the digests before and after come with the commit, and an identical write is no change.
#[test]
fn changes_are_reported_with_digests() {
    let place = Place::new();
    place.put("a", "one");
    place.put("b", "same");
    place.put("c", "mode");
    let workspace = place.open();
    let mut transaction = workspace.begin(&call("1")).unwrap();
    transaction.write(&rel("a"), b"two").unwrap();
    transaction.write(&rel("b"), b"same").unwrap();
    transaction.set_mode(&rel("c"), 0o600).unwrap();
    transaction.write(&rel("d"), b"new").unwrap();
    let committed = transaction.commit(NOW, b"").unwrap();
    let told: Vec<_> = committed
        .changes
        .iter()
        .map(|one| {
            (
                one.path.to_string(),
                one.kind,
                one.before.is_some(),
                one.after.is_some(),
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            ("a".to_owned(), ChangeKind::Modified, true, true),
            ("c".to_owned(), ChangeKind::Attributes, true, true),
            ("d".to_owned(), ChangeKind::Created, false, true),
        ]
    );
    let before = committed.changes[0].before.unwrap();
    assert_eq!(workspace.image(&before).unwrap(), b"one");
    assert!(committed.undoable_until > NOW);
    committed.confirm();
}

/// L4: mode and attributes of a file stay when it is written; a new file follows the mask.
#[test]
fn writing_keeps_mode_and_attributes() {
    for swap in [Swap::Exchange, Swap::TwoSteps] {
        let place = Place::new();
        place.put("a", "one");
        let path = place.root().join("a");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o751)).unwrap();
        rustix::fs::setxattr(&path, "user.note", b"kept", rustix::fs::XattrFlags::empty()).unwrap();
        rustix::fs::chown(&path, Some(rustix::fs::Uid::from_raw(1234)), None).unwrap();
        let workspace = place.open_with(Options { swap, ..quiet() });
        let mut transaction = workspace.begin(&call("1")).unwrap();
        transaction.write(&rel("a"), b"two").unwrap();
        commit(transaction).unwrap();
        let stat = fs::metadata(&path).unwrap();
        assert_eq!((stat.mode() & 0o7777, stat.uid()), (0o751, 1234));
        let mut value = [0_u8; 8];
        assert_eq!(
            rustix::fs::getxattr(&path, "user.note", &mut value[..]).unwrap(),
            4
        );
        assert_eq!(
            fs::read_dir(place.root()).unwrap().count(),
            1,
            "nothing is left behind"
        );
    }
}

/// H13, L4: a file that someone changed after the transaction looked is a conflict, and theirs
/// stays.
#[test]
fn a_foreign_change_before_the_commit_is_a_conflict() {
    let place = Place::new();
    place.put("a", "one");
    place.put("b", "one");
    let workspace = place.open();
    let mut transaction = workspace.begin(&call("1")).unwrap();
    transaction.write(&rel("a"), b"ours").unwrap();
    transaction.write(&rel("b"), b"ours").unwrap();
    transaction.write(&rel("c"), b"ours").unwrap();
    place.put("b", "theirs");
    place.put("c", "theirs");
    let error = commit(transaction).unwrap_err();
    let expected = [
        ("b".to_owned(), Clash::Changed),
        ("c".to_owned(), Clash::Existence),
    ];
    assert_eq!(clashes(&error), expected);
    assert_eq!(place.text("a"), "one");
    assert_eq!(place.text("b"), "theirs");
    assert_eq!(place.text("c"), "theirs");
}

/// L4: touching a file without changing it is no conflict.
#[test]
fn a_touched_file_is_no_conflict() {
    let place = Place::new();
    place.put("a", "one");
    let workspace = place.open();
    let mut transaction = workspace.begin(&call("1")).unwrap();
    transaction.write(&rel("a"), b"ours").unwrap();
    place.put("a", "one");
    commit(transaction).unwrap();
    assert_eq!(place.text("a"), "ours");
}

/// L4: a file that someone holds open for writing is a conflict; what they write later is not lost,
/// and nothing else of the transaction stays.
#[test]
fn a_held_file_is_a_conflict() {
    for swap in [Swap::Exchange, Swap::TwoSteps] {
        let place = Place::new();
        place.put("a", "one");
        place.put("z", "one");
        let before = picture(&place.root());
        let mut editor = fs::OpenOptions::new()
            .write(true)
            .read(true)
            .open(place.root().join("z"))
            .unwrap();
        let workspace = place.open_with(Options {
            swap,
            ..Options::default()
        });
        let mut transaction = workspace.begin(&call("1")).unwrap();
        transaction.write(&rel("a"), b"ours").unwrap();
        transaction.write(&rel("new"), b"ours").unwrap();
        transaction.write(&rel("z"), b"ours").unwrap();
        let error = commit(transaction).unwrap_err();
        assert_eq!(clashes(&error), [("z".to_owned(), Clash::HeldOpen)]);
        assert_eq!(picture(&place.root()), before);
        editor.seek(SeekFrom::End(0)).unwrap();
        editor.write_all(b" and theirs").unwrap();
        assert_eq!(place.text("z"), "one and theirs");
        drop(editor);
        let mut transaction = workspace.begin(&call("1")).unwrap();
        transaction.append(&rel("z"), b" and ours").unwrap();
        commit(transaction).unwrap();
        assert_eq!(place.text("z"), "one and theirs and ours");
    }
}

/// L4: a folder that is to be removed and grew in the meantime stays with everything in it.
#[test]
fn a_removed_folder_that_grew_is_a_conflict() {
    let place = Place::new();
    place.put("dir/a", "one");
    place.put("dir/sub/b", "one");
    let workspace = place.open();
    let mut transaction = workspace.begin(&call("1")).unwrap();
    transaction.remove_tree(&rel("dir")).unwrap();
    place.put("dir/sub/foreign", "theirs");
    let before = picture(&place.root());
    let error = commit(transaction).unwrap_err();
    assert_eq!(clashes(&error), [("dir".to_owned(), Clash::FolderGrew)]);
    assert_eq!(picture(&place.root()), before);
}

/// S3: a link that is put in the way between looking and writing leads nowhere.
#[test]
fn a_link_put_in_the_way_gains_nothing() {
    let place = Place::new();
    place.put("dir/a", "one");
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("a"), "one").unwrap();
    let workspace = place.open();
    let mut transaction = workspace.begin(&call("1")).unwrap();
    transaction.write(&rel("dir/a"), b"ours").unwrap();
    transaction.write(&rel("dir/new"), b"ours").unwrap();
    fs::rename(place.root().join("dir"), place.root().join("away")).unwrap();
    symlink(outside.path(), place.root().join("dir")).unwrap();
    let error = commit(transaction).unwrap_err();
    assert!(
        clashes(&error)
            .iter()
            .all(|(_, clash)| *clash == Clash::WayChanged),
        "{error}"
    );
    assert_eq!(fs::read_to_string(outside.path().join("a")).unwrap(), "one");
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);

    let mut transaction = workspace.begin(&call("1")).unwrap();
    assert!(
        transaction.write(&rel("dir/a"), b"ours").is_err(),
        "nor does it before"
    );
}

/// L4: writing a file with several names breaks the link and says so; the other names keep the
/// bytes.
#[test]
fn a_write_breaks_hard_links_and_says_so() {
    let place = Place::new();
    place.put("a", "one");
    fs::hard_link(place.root().join("a"), place.root().join("b")).unwrap();
    let before = picture(&place.root());
    let workspace = place.open();
    let mut transaction = workspace.begin(&call("1")).unwrap();
    transaction.write(&rel("a"), b"two").unwrap();
    let committed = transaction.commit(NOW, b"").unwrap();
    assert!(committed.changes[0].link_broken);
    committed.confirm();
    assert_eq!(
        (place.text("a").as_str(), place.text("b").as_str()),
        ("two", "one")
    );
    let mut undo = workspace.begin(&call("2")).unwrap();
    undo.revert(&call("1")).unwrap();
    commit(undo).unwrap();
    let after = picture(&place.root());
    assert_eq!(after[&b"/a"[..]], before[&b"/a"[..]]);
    assert_eq!(after[&b"/b"[..]], before[&b"/b"[..]]);
}

/// B4's ground: the inverse of a transaction is refused where someone worked on since.
#[test]
fn reverting_respects_later_work() {
    let place = Place::new();
    place.put("a", "one");
    let workspace = place.open();
    let mut transaction = workspace.begin(&call("1")).unwrap();
    transaction.write(&rel("a"), b"two").unwrap();
    commit(transaction).unwrap();
    place.put("a", "later");
    let mut undo = workspace.begin(&call("2")).unwrap();
    assert!(matches!(
        undo.revert(&call("1")),
        Err(Error::Conflict { .. })
    ));
    assert!(matches!(
        undo.revert(&call("no-such")),
        Err(Error::Unknown { .. })
    ));
}

/// L4: a living transaction is never recovered, a dead one's closing events are handed back.
#[test]
fn only_the_dead_are_recovered() {
    let place = Place::new();
    place.put("a", "one");
    let (mine, other) = (place.open(), place.open());
    let mut transaction = mine.begin(&call("1")).unwrap();
    transaction.write(&rel("a"), b"two").unwrap();
    assert!(other.recover().unwrap().settled.is_empty());
    assert!(
        other.begin(&call("1")).is_err(),
        "one call has one transaction"
    );
    let committed = transaction.commit(NOW, b"the end").unwrap();
    assert!(
        other.recover().unwrap().settled.is_empty(),
        "its holder will tell the ledger"
    );
    drop(committed);
    let settled = other.recover().unwrap().settled;
    assert_eq!(settled.len(), 1);
    assert_eq!(
        (settled[0].outcome, settled[0].closing.as_slice()),
        (Outcome::Committed, &b"the end"[..])
    );
    other.confirm(&[call("1")]).unwrap();
    assert!(other.recover().unwrap().settled.is_empty());
}

/// L4: what a transaction cannot do is refused with what is there and what would be needed.
#[test]
fn impossible_changes_are_refused_when_staged() {
    let place = Place::new();
    place.put("file", "one");
    place.put("dir/a", "one");
    symlink("file", place.root().join("link")).unwrap();
    let status = std::process::Command::new("mkfifo")
        .arg(place.root().join("pipe"))
        .status();
    assert!(status.unwrap().success());
    let workspace = place.open();
    let mut transaction = workspace.begin(&call("1")).unwrap();
    assert!(matches!(
        transaction.write(&rel("dir"), b""),
        Err(Error::WrongKind { .. })
    ));
    assert!(matches!(
        transaction.write(&rel("link"), b""),
        Err(Error::WrongKind { .. })
    ));
    assert!(matches!(
        transaction.write(&rel("file/x"), b""),
        Err(Error::WrongKind { .. })
    ));
    assert!(matches!(
        transaction.write(&rel("pipe"), b""),
        Err(Error::WrongKind { .. })
    ));
    assert!(matches!(
        transaction.delete(&rel("none")),
        Err(Error::Missing { .. })
    ));
    assert!(matches!(
        transaction.rmdir(&rel("dir")),
        Err(Error::NotEmpty { .. })
    ));
    assert!(matches!(
        transaction.rename(&rel("dir"), &rel("dir/x")),
        Err(Error::BadPath { .. })
    ));
    assert!(matches!(
        transaction.write(&rel(""), b""),
        Err(Error::BadPath { .. })
    ));
    transaction.rollback();
}

/// L4: a name that is not UTF-8 is a name like any other.
#[test]
fn names_need_not_be_text() {
    let place = Place::new();
    let workspace = place.open();
    let name = tagout_workspace::RelPath::new(b"odd \xff\n name/\xc3").unwrap();
    let mut transaction = workspace.begin(&call("1")).unwrap();
    transaction.write(&name, b"bytes").unwrap();
    commit(transaction).unwrap();
    assert_eq!(workspace.read(&name, 100).unwrap(), b"bytes");
    assert!(name.to_workspace().is_err());
}

/// Guard: what a client changes by itself is seen against the snapshot, and its bytes are kept.
#[test]
fn a_snapshot_shows_what_a_client_changed() {
    let place = Place::new();
    place.put("a", "one");
    place.put("b", "one");
    place.put("gone", "one");
    let workspace = place.open();
    let paths = [rel("a"), rel("b"), rel("gone"), rel("new/x")];
    workspace.snapshot(&call("1"), &paths, NOW).unwrap();
    assert!(workspace.diff(&call("1")).unwrap().is_empty());
    place.put("a", "two");
    place.put("new/x", "two");
    fs::remove_file(place.root().join("gone")).unwrap();
    let changed: Vec<_> = workspace
        .diff(&call("1"))
        .unwrap()
        .into_iter()
        .map(|one| (one.path.to_string(), one.kind))
        .collect();
    assert_eq!(
        changed,
        [
            ("a".to_owned(), ChangeKind::Modified),
            ("gone".to_owned(), ChangeKind::Deleted),
            ("new/x".to_owned(), ChangeKind::Created),
        ]
    );
    assert_eq!(
        workspace
            .snapshot_bytes(&call("1"), &rel("a"))
            .unwrap()
            .unwrap(),
        b"one"
    );
    workspace.drop_snapshot(&call("1")).unwrap();
    assert!(matches!(
        workspace.diff(&call("1")),
        Err(Error::Unknown { .. })
    ));
}

/// L4: a damaged record in the middle of the journal stops everything and is never cut off.
#[test]
fn a_damaged_journal_is_not_repaired() {
    let place = Place::new();
    place.put("a", "0");
    let workspace = place.open();
    for version in 1..4 {
        let mut transaction = workspace.begin(&call(&version.to_string())).unwrap();
        transaction
            .write(&rel("a"), version.to_string().as_bytes())
            .unwrap();
        commit(transaction).unwrap();
    }
    let path = place.state().join("journal/00000001.wal");
    let mut bytes = fs::read(&path).unwrap();
    bytes[100] ^= 1;
    fs::write(&path, &bytes).unwrap();
    fs::remove_file(place.state().join("journal/00000001.done")).unwrap();
    assert!(matches!(
        workspace.recover(),
        Err(Error::StateDamaged { .. })
    ));
    let mut now = Vec::new();
    fs::File::open(&path)
        .unwrap()
        .read_to_end(&mut now)
        .unwrap();
    assert_eq!(now, bytes);
    assert_eq!(place.text("a"), "3");
}

/// L4: a torn record at the journal's end was never acknowledged and is dropped.
#[test]
fn a_torn_tail_is_dropped() {
    let place = Place::new();
    place.put("a", "0");
    let workspace = place.open();
    let mut transaction = workspace.begin(&call("1")).unwrap();
    transaction.write(&rel("a"), b"1").unwrap();
    commit(transaction).unwrap();
    let path = place.state().join("journal/00000001.wal");
    let whole = fs::read(&path).unwrap();
    for keep in [8, 60, whole.len() - 65, whole.len() - 1] {
        let mut torn = whole.clone();
        torn.extend_from_slice(&whole[..keep]);
        fs::write(&path, &torn).unwrap();
        workspace.recover().unwrap();
        let mut transaction = workspace.begin(&call("2")).unwrap();
        transaction.write(&rel("a"), b"2").unwrap();
        commit(transaction).unwrap();
        assert_eq!(place.text("a"), "2");
        fs::write(&path, &whole).unwrap();
        place.put("a", "1");
    }
}

/// L4: what a program writes into a displaced file that nobody saw it open is found at the second
/// checkpoint and put where people see it.
#[test]
fn a_late_writer_loses_nothing() {
    let place = Place::new();
    place.put("a", "one");
    let mut late = fs::OpenOptions::new()
        .append(true)
        .open(place.root().join("a"))
        .unwrap();
    // This probe sees nobody, as any would for a program in the middle of opening the file.
    let workspace = place.open();
    let mut transaction = workspace.begin(&call("1")).unwrap();
    transaction.write(&rel("a"), b"ours").unwrap();
    commit(transaction).unwrap();
    assert!(
        workspace
            .checkpoint(|| Ok(()))
            .unwrap()
            .conflicts
            .is_empty()
    );
    late.write_all(b" and late").unwrap();
    drop(late);
    let second = workspace.checkpoint(|| Ok(())).unwrap();
    assert_eq!(second.conflicts.len(), 1);
    let kept = second.conflicts[0].kept.clone().unwrap();
    assert_eq!(place.text(&kept), "one and late");
    assert_eq!(place.text("a"), "ours");
    assert_eq!(
        fs::read_dir(place.state().join("displaced"))
            .unwrap()
            .count(),
        0
    );
}
