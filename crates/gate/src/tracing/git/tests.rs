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
