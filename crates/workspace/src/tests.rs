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
use crate::sys::FileTime;

fn record(name: &str) -> Record {
    Record {
        execution: CallId::new(name).unwrap(),
        at_ms: 5,
        boot: Some([7; 16]),
        units: Vec::new(),
        folders: Vec::new(),
        closing: b"closing".to_vec(),
        links: Vec::new(),
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

/// A record that uses everything the first format knew.
fn full() -> Record {
    let time = FileTime {
        seconds: 1_700_000_000,
        nanos: 5,
    };
    let identity = Identity {
        dev: 1,
        ino: 2,
        nlink: 2,
        size: 3,
        mtime: time,
        ctime: time,
    };
    let meta = Meta {
        mode: 0o644,
        owner: Some((1000, 100)),
        mtime: Some(time),
        xattrs: Some(vec![(b"user.a".to_vec(), b"v".to_vec())]),
    };
    let file = |text: &[u8]| Node::File {
        digest: Digest::of(text),
        size: text.len() as u64,
        place: Place::Memory(text.into()),
    };
    let item = |sub: &[u8], node: Node| Item {
        sub: RelPath::new(sub).unwrap(),
        node,
        meta: meta.clone(),
        identity: Some(identity),
    };
    let target = b"x".to_vec();
    Record {
        units: vec![
            Unit {
                path: RelPath::new(b"a").unwrap(),
                before: vec![item(b"", file(b"old"))],
                after: vec![item(b"", file(b"new"))],
                in_place: false,
            },
            Unit {
                path: RelPath::new(b"d").unwrap(),
                before: vec![item(b"", Node::Dir), item(b"l", Node::Symlink { target })],
                after: Vec::new(),
                in_place: false,
            },
        ],
        folders: vec![(RelPath::root(), time)],
        ..record("call")
    }
}

fn bytes_of(hex: &str) -> Vec<u8> {
    hex.as_bytes()
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .chain([0; frame::SLOT_BYTES])
        .collect()
}

/// What a program of the first format wrote, its empty slot aside.
const FIRST: &str = concat!(
    "5441474f55544a3127010000060000000000000028cb55591d071c1db7733a17b7df5bb05d2b6159632e5e31",
    "7c3baf4a46ed0b7c0463616c6c0a0107070707070707070707070707070707020161010000cba06b5736faf6",
    "7e54b07b561eae94395e774c517a7d910a54369e1263ccfbd4030000a40301e807640180c49fd50c0a010106",
    "757365722e610176010102020380c49fd50c0a80c49fd50c0a01000011507a0e2f5e69d5dfa40a62a1bd7b6e",
    "e57e6bcd85c67c9b8431b36fff21c437030003a40301e807640180c49fd50c0a010106757365722e61017601",
    "0102020380c49fd50c0a80c49fd50c0a000164020002a40301e807640180c49fd50c0a010106757365722e61",
    "0176010102020380c49fd50c0a80c49fd50c0a016c010178a40301e807640180c49fd50c0a01010675736572",
    "2e610176010102020380c49fd50c0a80c49fd50c0a0000010080c49fd50c0a07636c6f73696e676f6c646e65",
    "77",
);

/// What this program writes for the same with a pipe, a socket and a link, its empty slot aside.
const SECOND: &str = concat!(
    "5441474f55544a32440100000600000000000000b0dfa96815e1f79b9a3ccfcf941374ee12ee83255034ac19",
    "2c0470d9aecd98150463616c6c0a0107070707070707070707070707070707040161010000cba06b5736faf6",
    "7e54b07b561eae94395e774c517a7d910a54369e1263ccfbd4030000a40301e807640180c49fd50c0a010106",
    "757365722e610176010102020380c49fd50c0a80c49fd50c0a01000011507a0e2f5e69d5dfa40a62a1bd7b6e",
    "e57e6bcd85c67c9b8431b36fff21c437030003a40301e807640180c49fd50c0a010106757365722e61017601",
    "0102020380c49fd50c0a80c49fd50c0a000164020002a40301e807640180c49fd50c0a010106757365722e61",
    "0176010102020380c49fd50c0a80c49fd50c0a016c010178a40301e807640180c49fd50c0a01010675736572",
    "2e610176010102020380c49fd50c0a80c49fd50c0a0000017000010003000000000000017300010004000000",
    "000000010080c49fd50c0a07636c6f73696e6701016201616f6c646e6577",
);

fn second() -> Record {
    let plain = |node| Item {
        sub: RelPath::root(),
        node,
        meta: Meta::default(),
        identity: None,
    };
    let unit = |path: &[u8], node| Unit {
        path: RelPath::new(path).unwrap(),
        before: Vec::new(),
        after: vec![plain(node)],
        in_place: false,
    };
    let mut record = full();
    record.units.push(unit(b"p", Node::Pipe));
    record.units.push(unit(b"s", Node::Socket));
    let (path, to) = (RelPath::new(b"b").unwrap(), RelPath::new(b"a").unwrap());
    record.links.push((path, to));
    record
}

/// L4: both formats are read for ever, and today's bytes are written to the last one.
#[test]
fn golden_vectors_of_the_journal() {
    let frame = frame::decode(&bytes_of(FIRST), 0).unwrap();
    assert_eq!(frame.record, full().written().0);
    assert_eq!(frame.inline, b"oldnew");
    let mut reader = std::io::Cursor::new(bytes_of(FIRST));
    assert!(frame::head(&mut reader, 0, frame::Carried::Checked).is_some());
    let written = frame::encode(&second()).unwrap().0;
    assert_eq!(written, bytes_of(SECOND));
    let frame = frame::decode(&bytes_of(SECOND), 0).unwrap();
    assert_eq!(frame.record, second().written().0);
    // One segment may hold both.
    let both = [bytes_of(FIRST), bytes_of(SECOND)].concat();
    assert_eq!(frame::scan(&both).unwrap().0.len(), 2);
}
