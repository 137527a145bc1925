//! Indexes of each version, whole and damaged.
#![allow(
    clippy::disallowed_methods,
    reason = "tests set up the files that they look at"
)]

use super::{Names, Tracked};

fn index(version: u32, names: &[(&[u8], &[u8])]) -> Vec<u8> {
    let mut bytes = b"DIRC".to_vec();
    bytes.extend(version.to_be_bytes());
    bytes.extend(u32::try_from(names.len()).unwrap().to_be_bytes());
    for (prefix, name) in names {
        bytes.extend([0; 62]);
        bytes.extend(*prefix);
        bytes.extend(*name);
        let zeros = if version == 4 {
            1
        } else {
            8 - (62 + name.len()) % 8
        };
        bytes.extend(vec![0; zeros]);
    }
    bytes
}

#[test]
fn names_of_the_plain_versions() {
    let read = Names::read(&index(2, &[(b"", b"Cargo.toml"), (b"", b"target/kept.rs")])).unwrap();
    assert!(read.hold(b"Cargo.toml") && read.hold(b"target") && read.hold(b"target/kept.rs"));
    assert!(!read.hold(b"targe") && !read.hold(b"target/debug") && !read.hold(b"src"));
}

#[test]
fn names_that_share_their_beginning() {
    let read = Names::read(&index(4, &[(b"\0", b"src/a.rs"), (b"\x04", b"b.rs")])).unwrap();
    assert!(read.hold(b"src/a.rs") && read.hold(b"src/b.rs"));
}

/// A damaged index is no index; it never takes more than it holds.
#[test]
fn what_is_no_index() {
    let whole = index(2, &[(b"", b"Cargo.toml"), (b"", b"src/a.rs")]);
    for end in 0..whole.len() {
        assert_eq!(Names::read(&whole[..end]), None, "{end}");
    }
    assert_eq!(Names::read(&index(9, &[])), None);
    assert_eq!(Names::read(b"something else"), None);
    assert!(Names::read(&index(2, &[])).is_some());
}

/// Names that an index holds only as a part of others, that are beneath others, and none at all.
#[test]
fn a_repository_is_asked() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    assert!(!Tracked::of(root).holds(b"target"));
    std::fs::create_dir(root.join(".git")).unwrap();
    let plain = index(
        2,
        &[(b"", b"src/target.rs"), (b"", b"out/kept"), (b"", b"b")],
    );
    let shared = index(4, &[(b"\0", b"out/kept"), (b"\x04", b"more")]);
    for bytes in [plain, shared] {
        std::fs::write(root.join(".git/index"), bytes).unwrap();
        let tracked = Tracked::of(root);
        assert!(tracked.holds(b"out") && tracked.holds(b"out/kept"));
        assert!(!tracked.holds(b"target") && !tracked.holds(b"out/k") && !tracked.holds(b"kept"));
    }
    assert!(Tracked::of(root).holds(b"out/more"));
}
