//! The other files that Tagout writes.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use proptest::prelude::*;
use tagout_workspace::files::{
    Markers, Opened, append_lines, create_note, ensure_dir_private, make_scratch_dir, merge_block,
    read, remove_block, remove_note, write_atomic, write_new_note, write_note,
};

const MARKERS: Markers<'static> = Markers {
    begin: "<!-- tagout:begin -->",
    end: "<!-- tagout:end -->",
};

/// H15: a block comes, changes and goes, and everything around it stays byte for byte.
#[test]
fn a_block_is_merged_and_taken_out() {
    let text = "# Mine\r\n\r\nwords\r\n";
    let with = merge_block(text, "be careful\nplease", MARKERS);
    assert_eq!(
        with,
        "# Mine\r\n\r\nwords\r\n<!-- tagout:begin -->\r\nbe careful\r\nplease\r\n\
         <!-- tagout:end -->\r\n"
    );
    let edited = format!("{with}more of mine\r\n");
    let again = merge_block(&edited, "shorter", MARKERS);
    assert!(again.ends_with("shorter\r\n<!-- tagout:end -->\r\nmore of mine\r\n"));
    assert_eq!(
        remove_block(&again, MARKERS),
        "# Mine\r\n\r\nwords\r\nmore of mine\r\n"
    );
    assert_eq!(remove_block("no block", MARKERS), "no block");
    let open = "<!-- tagout:begin -->\nnever ended\n";
    assert_eq!(
        remove_block(open, MARKERS),
        open,
        "half a block is not ours to remove"
    );
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 400,
        failure_persistence: None,
        rng_seed: proptest::test_runner::RngSeed::Fixed(7),
        ..ProptestConfig::default()
    })]

    /// H15: merging is reversible and repeatable for any text around it.
    #[test]
    fn merging_is_reversible(
        lines in prop::collection::vec("[a-z#\\- \u{e9}]{0,12}", 0..6),
        crlf in any::<bool>(),
        closed in any::<bool>(),
        first in "[a-z\n ]{0,30}",
        second in "[a-z\n ]{0,30}",
    ) {
        let end = if crlf { "\r\n" } else { "\n" };
        let mut text = lines.join(end);
        if closed && !text.is_empty() {
            text.push_str(end);
        }
        let once = merge_block(&text, &first, MARKERS);
        prop_assert_eq!(&merge_block(&once, &first, MARKERS), &once);
        let twice = merge_block(&once, &second, MARKERS);
        prop_assert!(twice.starts_with(&text));
        prop_assert_eq!(remove_block(&twice, MARKERS), text.clone());
        prop_assert_eq!(remove_block(&once, MARKERS), text);
    }
}

/// A file is replaced in one step, keeps its mode, and a link to it stays a link.
#[test]
fn files_are_replaced_in_one_step() {
    let folder = tempfile::tempdir().unwrap();
    let (real, link) = (folder.path().join("real"), folder.path().join("link"));
    write_atomic(&real, b"one", Some(0o600)).unwrap();
    assert_eq!(
        fs::metadata(&real).unwrap().permissions().mode() & 0o777,
        0o600
    );
    symlink("real", &link).unwrap();
    write_atomic(&link, b"two", None).unwrap();
    assert_eq!(read(&real, 10).unwrap().unwrap(), b"two");
    assert_eq!(
        fs::metadata(&real).unwrap().permissions().mode() & 0o777,
        0o600
    );
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(
        fs::read_dir(folder.path()).unwrap().count(),
        2,
        "no temporary file stays"
    );
    assert!(read(&real, 2).is_err(), "longer than the caller takes");
    assert!(read(&folder.path().join("none"), 2).unwrap().is_none());
    assert!(
        write_atomic(folder.path(), b"", None).is_err(),
        "a folder is no file"
    );
}

/// State folders are for their owner alone.
#[test]
fn private_folders_are_private() {
    let folder = tempfile::tempdir().unwrap();
    let deep = folder.path().join("a/b/c");
    ensure_dir_private(&deep).unwrap();
    fs::set_permissions(&deep, fs::Permissions::from_mode(0o755)).unwrap();
    ensure_dir_private(&deep).unwrap();
    for path in [folder.path().join("a"), deep] {
        assert_eq!(
            fs::metadata(path).unwrap().permissions().mode() & 0o777,
            0o700
        );
    }
}

/// H11: several writers, one view file: every line whole, a torn one spoils no other.
#[test]
fn appended_lines_stay_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("agent_trace.jsonl");
    fs::write(&path, "{\"torn\":").unwrap();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let path = &path;
            scope.spawn(move || {
                for number in 0..100 {
                    let filler = "x".repeat(number * 37);
                    append_lines(path, format!("{thread} {number} {filler}").as_bytes()).unwrap();
                }
            });
        }
    });
    let text = fs::read_to_string(&path).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("{\"torn\":"));
    let mut next = [0_usize; 8];
    for line in lines {
        let words: Vec<&str> = line.split(' ').collect();
        let (thread, number): (usize, usize) =
            (words[0].parse().unwrap(), words[1].parse().unwrap());
        assert_eq!((next[thread], words[2].len()), (number, number * 37));
        next[thread] += 1;
    }
    assert_eq!(next, [100; 8]);
}

/// What need not be durable is as private and as whole as the rest.
#[test]
fn scratch_is_made_replaced_and_removed() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("layers");
    make_scratch_dir(&folder).unwrap();
    assert!(make_scratch_dir(&folder).is_err(), "it must be fresh");
    let file = folder.join("file");
    assert!(create_note(&file).unwrap());
    assert!(!create_note(&file).unwrap(), "one makes it");
    write_note(&file, b"old", None).unwrap();
    write_note(&file, b"new", None).unwrap();
    assert_eq!(read(&file, 10).unwrap().unwrap(), b"new");
    for (path, mode) in [(&folder, 0o700), (&file, 0o600)] {
        assert_eq!(
            fs::metadata(path).unwrap().permissions().mode() & 0o777,
            mode
        );
    }
    remove_note(&file).unwrap();
    remove_note(&file).unwrap();
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
}

/// How often this thread has read something, this time included.
#[cfg(target_os = "linux")]
fn reads() -> u64 {
    let text = fs::read("/proc/thread-self/io").unwrap();
    let text = String::from_utf8(text).unwrap();
    let count = text.lines().find_map(|line| line.strip_prefix("syscr: "));
    count.unwrap().parse().unwrap()
}

/// A small file costs one read, whatever its size; one that grew since is read whole all the same.
#[cfg(target_os = "linux")]
#[test]
fn a_small_file_is_read_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    let own = {
        let before = reads();
        reads() - before
    };
    for size in [0, 1, 4_095, 4_096, 100_000] {
        fs::write(&file, vec![b'x'; size]).unwrap();
        let before = reads();
        let bytes = read(&file, 100_000).unwrap().unwrap();
        let count = reads() - before - own;
        assert_eq!((bytes.len(), count), (size, 1));
    }
    fs::write(&file, vec![b'x'; 100_001]).unwrap();
    assert!(read(&file, 100_000).is_err(), "it is longer");
    assert_eq!(read(&file, 100_001).unwrap().unwrap().len(), 100_001);
    // This one does not know its length.
    let told = read(std::path::Path::new("/proc/self/status"), 1 << 20);
    assert!(told.unwrap().unwrap().starts_with(b"Name:"));
}

/// A new note is its owner's alone; one that is there, whole or cut off, is replaced as a whole,
/// and what is no file is left alone.
#[test]
fn a_new_note_is_written_in_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("note");
    for bytes in [b"one".as_slice(), b"another one", b""] {
        write_new_note(&path, bytes).unwrap();
        assert_eq!(read(&path, 100).unwrap().unwrap(), bytes);
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
    let taken = folder.path().join("folder");
    make_scratch_dir(&taken).unwrap();
    write_new_note(&taken, b"x").unwrap_err();
    write_new_note(&folder.path().join("none/note"), b"x").unwrap_err();
}

/// Of an open file parts are read, as it was when it was opened: what replaces it is another file,
/// and what is cut off is missed.
#[test]
fn parts_of_an_open_file_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    write_note(&path, b"0123456789", None).unwrap();
    assert!(Opened::plain(&path, 9).unwrap().is_none(), "too long");
    assert!(Opened::plain(folder.path(), 9000).unwrap().is_none());
    let missing = Opened::plain(&folder.path().join("none"), 9).unwrap_err();
    assert_eq!(missing.kind(), std::io::ErrorKind::NotFound);
    let link = folder.path().join("link");
    symlink(&path, &link).unwrap();
    Opened::plain(&link, 10).unwrap_err();
    let file = Opened::plain(&path, 10).unwrap().unwrap();
    assert_eq!(file.length(), 10);
    let (backwards, empty) = (std::ops::Range { start: 5, end: 4 }, 3..3);
    for (range, found) in [
        (0..10, Some(b"0123456789".as_slice())),
        (3..5, Some(b"34")),
        (empty, Some(b"")),
        (9..11, None),
        (backwards, None),
    ] {
        assert_eq!(file.read(range.clone()).as_deref(), found, "{range:?}");
    }
    write_note(&path, b"other bytes", None).unwrap();
    assert_eq!(file.read(8..10).unwrap(), b"89");
    let other = Opened::plain(&path, 100).unwrap().unwrap();
    let writer = fs::OpenOptions::new().write(true).open(&path).unwrap();
    writer.set_len(4).unwrap();
    assert_eq!(other.read(0..4).unwrap(), b"othe");
    assert_eq!(other.read(2..6), None);
}
