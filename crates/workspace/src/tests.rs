//! The pure parts: frames, marks, torn pieces, differences, paths.

use tagout_vocab::{CallId, Digest};

use crate::error::Error;
use crate::journal::done::{self, Done};
use crate::journal::frame;
use crate::journal::record::{Record, Unit};
use crate::node::{Identity, Item, Meta, Node, Place};
use crate::relpath::RelPath;
use crate::seen::difference;
use crate::state::network_kind;

fn record(name: &str) -> Record {
    Record {
        execution: CallId::new(name).unwrap(),
        at_ms: 5,
        boot: Some([7; 16]),
        units: Vec::new(),
        folders: Vec::new(),
        closing: b"closing".to_vec(),
    }
}

/// A record that creates a file with these bytes.
fn creating(name: &str) -> Record {
    let bytes = name.as_bytes();
    let node = Node::File {
        digest: Digest::of(bytes),
        size: bytes.len() as u64,
        place: Place::Memory(bytes.into()),
    };
    let item = Item {
        sub: RelPath::root(),
        node,
        meta: Meta::default(),
        identity: None,
    };
    let unit = Unit {
        path: RelPath::new(b"file").unwrap(),
        before: Vec::new(),
        after: vec![item],
        in_place: false,
    };
    Record {
        units: vec![unit],
        ..record(name)
    }
}

fn segment() -> Vec<u8> {
    ["one", "two", "three"]
        .into_iter()
        .flat_map(|name| frame::encode(&creating(name)).unwrap().0)
        .collect()
}

/// L4: whole frames come back as they went in, with what they carry.
#[test]
fn frames_come_back() {
    let bytes = segment();
    let (frames, end) = frame::scan(&bytes).unwrap();
    assert_eq!(end, bytes.len() as u64);
    let names: Vec<&str> = frames
        .iter()
        .map(|frame| frame.record.execution.as_str())
        .collect();
    assert_eq!(names, ["one", "two", "three"]);
    assert_eq!(frames[2].inline, b"three");
    let mut reader = std::io::Cursor::new(&bytes);
    let head = frame::head(&mut reader, 0, frame::Carried::Checked).unwrap();
    assert_eq!(head.end, frames[0].end);
    assert!(head.inline.is_empty());
}

/// L4: cut anywhere, a segment is its whole frames; any flipped bit in an earlier frame is damage,
/// and in the last one a torn tail.
#[test]
fn torn_tails_and_damage_are_told_apart() {
    let bytes = segment();
    let whole = frame::scan(&bytes).unwrap().0;
    let ends: Vec<u64> = whole.iter().map(|frame| frame.end).collect();
    for cut in 0..bytes.len() {
        let (frames, end) = frame::scan(&bytes[..cut]).unwrap();
        let expected = ends.iter().filter(|end| **end <= cut as u64).count();
        assert_eq!(frames.len(), expected, "cut at {cut}");
        assert_eq!(end, if expected == 0 { 0 } else { ends[expected - 1] });
    }
    for (index, frame) in whole.iter().enumerate() {
        for at in frame.offset..frame.slot {
            let mut flipped = bytes.clone();
            flipped[usize::try_from(at).unwrap()] ^= 1;
            let found = frame::scan(&flipped);
            if index < 2 {
                assert!(
                    matches!(found, Err(Error::StateDamaged { .. })),
                    "byte {at}"
                );
            } else {
                assert_eq!(found.unwrap().0.len(), 2, "byte {at}");
            }
        }
    }
}

/// L4: only the whole mark of that very record says «aborted».
#[test]
fn an_abort_needs_its_own_mark() {
    let (mut bytes, sum) = frame::encode(&record("one")).unwrap();
    let slot = bytes.len() - frame::SLOT_BYTES;
    let mark = frame::abort_mark(&sum);
    for torn in 0..mark.len() {
        bytes[slot..slot + torn].copy_from_slice(&mark[..torn]);
        assert!(!frame::decode(&bytes, 0).unwrap().aborted, "{torn} bytes");
    }
    bytes[slot..slot + mark.len()].copy_from_slice(&mark);
    assert!(frame::decode(&bytes, 0).unwrap().aborted);
    let other = frame::abort_mark(&[0; 32]);
    bytes[slot..slot + mark.len()].copy_from_slice(&other);
    assert!(!frame::decode(&bytes, 0).unwrap().aborted);
}

/// L4: the companion's lines come back, and a torn one costs only itself.
#[test]
fn a_torn_mark_costs_only_itself() {
    let installed = vec![
        Some(Identity {
            dev: 1,
            ino: 2,
            size: 3,
            ..Identity::default()
        }),
        None,
    ];
    let done = |offset| Done {
        offset,
        end: offset + 10,
        boot: Some([9; 16]),
        installed: installed.clone(),
        confirmed: false,
        owner: "abc".to_owned(),
    };
    let (first, second) = (done::applied_line(&done(0)), done::applied_line(&done(10)));
    let text = format!(
        "{first}{}{second}{}",
        first.get(..20).unwrap(),
        done::confirmed_line(10)
    );
    let read = done::read(&text);
    assert_eq!(read.len(), 2);
    assert_eq!(read[0], done(0));
    assert!(read[1].confirmed);
    let staged = done::staged_line(10, &[Some(4), None]);
    assert_eq!(
        done::staged(&format!("{text}{staged}"), 10),
        Some(vec![Some(4), None])
    );
    assert!(done::staged(&text, 10).is_none());
}

/// A folder comes before what it holds, and what it holds before its next sibling.
#[test]
fn paths_sort_by_segment() {
    let mut paths: Vec<RelPath> = ["a/b", "a-b", "a", "b", "a/b/c", "a.b"]
        .iter()
        .map(|path| RelPath::new(path.as_bytes()).unwrap())
        .collect();
    paths.sort();
    let shown: Vec<String> = paths.iter().map(ToString::to_string).collect();
    assert_eq!(shown, ["a", "a/b", "a/b/c", "a-b", "a.b", "b"]);
}

/// S3: what cannot be a path beneath the workspace is none.
#[test]
fn paths_cannot_leave() {
    for bad in [&b"/a"[..], b"..", b"a/../b", b"a/..", b"a\0b", b"../a"] {
        assert!(RelPath::new(bad).is_err(), "{bad:?}");
    }
    let path = RelPath::new(b"./a//b/").unwrap();
    assert_eq!(path.as_bytes(), b"a/b");
    assert_eq!(path.parent().unwrap().as_bytes(), b"a");
    assert_eq!(
        path.beneath(&RelPath::new(b"a").unwrap())
            .unwrap()
            .as_bytes(),
        b"b"
    );
    assert!(path.beneath(&RelPath::new(b"a/").unwrap()).is_some());
    assert!(
        !RelPath::new(b"ab")
            .unwrap()
            .is_beneath(&RelPath::new(b"a").unwrap())
    );
}

/// H13: the refusal shows the lines that differ, and no more than it may.
#[test]
fn differences_are_short() {
    assert_eq!(
        difference(b"a\nb\nc\n", b"a\nx\ny\nc\n").unwrap(),
        "@@ -2,1 +2,2 @@\n-b\n+x\n+y\n"
    );
    assert_eq!(difference(b"\xff", b"a"), None);
    let long = "line\n".repeat(100_000);
    assert!(difference(b"", long.as_bytes()).unwrap().len() < 5000);
}

/// L4: the file systems that state may not lie on are known by the kernel's numbers.
#[test]
fn network_file_systems_are_known() {
    for number in [0x6969, 0xff53_4d42, 0xfe53_4d42, 0x0102_1997, 0x6573_5546] {
        assert!(network_kind(number).is_some(), "{number:x}");
    }
    // ext4, xfs, btrfs, tmpfs, overlay, zfs, f2fs
    for number in [
        0xef53,
        0x5846_5342,
        0x9123_683e,
        0x0102_1994,
        0x794c_7630,
        0x2fc1_2fc1,
        0xf2f5_2010,
    ] {
        assert!(network_kind(number).is_none(), "{number:x}");
    }
}
