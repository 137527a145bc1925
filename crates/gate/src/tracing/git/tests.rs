//! Bytes that nobody's git wrote. Repositories that git made are looked at through the binary.

#![expect(
    clippy::disallowed_methods,
    clippy::string_slice,
    reason = "the tests write what a repository could hold"
)]

use std::fs;

use super::commit::Commit;
use super::{Oid, Repository};

/// Bytes that look like chance and are the same each time.
fn noise(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        u8::try_from(state & 0xff).unwrap()
    };
    (0..length).map(|_| next()).collect()
}

#[test]
fn ids() {
    let text = "0123456789abcdef0123456789abcdef01234567";
    assert_eq!(Oid::parse(text).unwrap().to_string(), text);
    assert!(Oid::parse(&text.repeat(2)).is_none());
    for wrong in [
        "",
        "0",
        "é123",
        "ref: refs/heads/x",
        &text.replace('0', "g"),
    ] {
        assert!(Oid::parse(wrong).is_none(), "{wrong}");
    }
}

#[test]
fn commits() {
    let tree = "1".repeat(40);
    let parent = "2".repeat(40);
    let text = format!(
        "tree {tree}\nparent {parent}\nauthor A <a> 1 +0000\ncommitter > B <b> 1700000000 +0100\n\
         gpgsig -----BEGIN\n tree {parent}\n\nparent {tree}\ncommitter C <c> 5 +0000\n"
    );
    let read = Commit::read(text.as_bytes()).unwrap();
    assert_eq!(read.tree.to_string(), tree);
    assert_eq!(read.parents.len(), 1);
    assert_eq!(read.made, 1_700_000_000);
    assert!(Commit::read(b"").is_none());
    assert!(Commit::read(b"tree xyz\n").is_none());
    for seed in 0..500 {
        drop(Commit::read(&noise(seed, 200)));
    }
}

/// Objects, packs and indexes of any bytes are objects that are not there.
#[test]
fn damaged_stores() {
    let dir = tempfile::tempdir().unwrap();
    let git = dir.path().join(".git");
    let id = "0".repeat(40);
    fs::create_dir_all(git.join("objects/00")).unwrap();
    fs::create_dir_all(git.join("objects/pack")).unwrap();
    fs::create_dir_all(git.join("objects/info")).unwrap();
    fs::write(git.join("objects/info/alternates"), "../objects\n\u{0}\n").unwrap();
    fs::write(git.join("HEAD"), format!("{id}\n")).unwrap();
    for seed in 0..200 {
        let length = usize::try_from(seed).unwrap() * 20;
        fs::write(git.join("objects/00").join(&id[2..]), noise(seed, length)).unwrap();
        let mut index = b"\xfftOc\x00\x00\x00\x02".to_vec();
        // Every table says that there is one object, and it is the one that is looked for.
        index.extend([0, 0, 0, 1].repeat(256));
        index.extend([0; 20]);
        index.extend(noise(seed, 4));
        index.extend(if seed % 2 == 0 {
            [0, 0, 0, 12]
        } else {
            [0x80, 0, 0, 0]
        });
        index.extend(noise(seed, 40));
        fs::write(git.join("objects/pack/pack-1.idx"), index).unwrap();
        let pack = [b"PACK\0\0\0\x02\0\0\0\x01".to_vec(), noise(seed, 300)].concat();
        fs::write(git.join("objects/pack/pack-1.pack"), pack).unwrap();
        let mut repository = Repository::open(dir.path()).unwrap();
        let head = repository.head().unwrap();
        assert!(repository.commit(&head).is_none());
        assert!(repository.blob(&head, 1_000).is_none());
        let news = repository.news(0, |_| Ok::<bool, ()>(false)).unwrap();
        assert!(news.is_empty());
    }
}

/// A store with one object in a pack of its own.
fn packed(git: &std::path::Path, id: [u8; 20], entry: &[u8]) {
    fs::create_dir_all(git.join("objects/pack")).unwrap();
    let mut index = b"\xfftOc\x00\x00\x00\x02".to_vec();
    for first in 0..=255_u8 {
        index.extend([0, 0, 0, u8::from(first >= id[0])]);
    }
    index.extend(id);
    index.extend([0, 0, 0, 0]);
    index.extend([0, 0, 0, 12]);
    fs::write(git.join("objects/pack/pack-1.idx"), index).unwrap();
    let pack = [b"PACK\0\0\0\x02\0\0\0\x01", entry].concat();
    fs::write(git.join("objects/pack/pack-1.pack"), pack).unwrap();
}

/// A difference to itself that is small in the pack and large when it is unpacked is followed only
/// as far as there is room, not as often as git allows.
#[test]
fn bombs_are_bounded() {
    let dir = tempfile::tempdir().unwrap();
    let git = dir.path().join(".git");
    fs::create_dir_all(&git).unwrap();
    let id = [7; 20];
    fs::write(git.join("HEAD"), format!("{}\n", "07".repeat(20))).unwrap();
    let length = 256 * 1024_usize;
    let mut entry = vec![0x80 | (6 << 4) | u8::try_from(length & 0x0f).unwrap()];
    let mut rest = length >> 4;
    while rest >= 0x80 {
        entry.push(0x80 | u8::try_from(rest & 0x7f).unwrap());
        rest >>= 7;
    }
    entry.push(u8::try_from(rest).unwrap());
    // It stands on what begins where it begins itself.
    entry.push(0);
    entry.extend(miniz_oxide::deflate::compress_to_vec_zlib(
        &vec![0; length],
        6,
    ));
    assert!(entry.len() < 32 * 1024);
    packed(&git, id, &entry);
    let mut repository = Repository::open(dir.path()).unwrap();
    repository.left = super::Left(8 * length);
    let head = repository.head().unwrap();
    assert!(repository.commit(&head).is_none());
    assert!(repository.left.0 < length, "{:?}", repository.left);
}

/// Folders in each other, each many times, are looked at only as far as there is room.
#[test]
fn folders_without_end_are_bounded() {
    let dir = tempfile::tempdir().unwrap();
    let git = dir.path().join(".git");
    let put = |id: &str, kind: &str, bytes: &[u8]| {
        let folder = git.join("objects").join(&id[..2]);
        fs::create_dir_all(&folder).unwrap();
        let whole = [format!("{kind} {}\0", bytes.len()).as_bytes(), bytes].concat();
        let packed = miniz_oxide::deflate::compress_to_vec_zlib(&whole, 6);
        fs::write(folder.join(&id[2..]), packed).unwrap();
    };
    let id = |number: u8| format!("{number:02x}").repeat(20);
    for level in 1..20_u8 {
        let mut tree = Vec::new();
        for name in 0..20_u8 {
            tree.extend(format!("40000 {name:02}\0").into_bytes());
            tree.extend([level + 1; 20]);
        }
        put(&id(level), "tree", &tree);
    }
    put(&id(20), "tree", b"");
    put(&id(99), "commit", format!("tree {}\n", id(1)).as_bytes());
    fs::write(git.join("HEAD"), format!("{}\n", id(99))).unwrap();
    let mut repository = Repository::open(dir.path()).unwrap();
    let head = repository.head().unwrap();
    let commit = repository.commit(&head).unwrap();
    repository.left = super::Left(1024 * 1024);
    assert!(repository.brought(&commit, 4096).unwrap().is_cut);
}

/// Names that would lead out of the repository lead nowhere.
#[test]
fn refs_stay_inside() {
    let dir = tempfile::tempdir().unwrap();
    let git = dir.path().join(".git");
    fs::create_dir_all(&git).unwrap();
    fs::write(dir.path().join("secret"), "3".repeat(40)).unwrap();
    for name in [
        "../secret",
        "refs/../../secret",
        "/etc/passwd",
        "refs//x",
        "",
    ] {
        fs::write(git.join("HEAD"), format!("ref: {name}\n")).unwrap();
        assert_eq!(Repository::open(dir.path()).unwrap().head(), None, "{name}");
    }
    fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(
        git.join("packed-refs"),
        format!("# pack-refs\n{} refs/heads/main\n", "4".repeat(40)),
    )
    .unwrap();
    let head = Repository::open(dir.path()).unwrap().head().unwrap();
    assert_eq!(head.to_string(), "4".repeat(40));
}
