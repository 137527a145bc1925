//! Indexes of each version, whole and damaged.

use super::Tracked;

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
    let read = Tracked::read(&index(2, &[(b"", b"Cargo.toml"), (b"", b"target/kept.rs")])).unwrap();
    assert!(read.holds(b"Cargo.toml") && read.holds(b"target") && read.holds(b"target/kept.rs"));
    assert!(!read.holds(b"targe") && !read.holds(b"target/debug") && !read.holds(b"src"));
}

#[test]
fn names_that_share_their_beginning() {
    let read = Tracked::read(&index(4, &[(b"\0", b"src/a.rs"), (b"\x04", b"b.rs")])).unwrap();
    assert!(read.holds(b"src/a.rs") && read.holds(b"src/b.rs"));
}

/// A damaged index is no index; it never takes more than it holds.
#[test]
fn what_is_no_index() {
    let whole = index(2, &[(b"", b"Cargo.toml"), (b"", b"src/a.rs")]);
    for end in 0..whole.len() {
        assert_eq!(Tracked::read(&whole[..end]), None, "{end}");
    }
    assert_eq!(Tracked::read(&index(9, &[])), None);
    assert_eq!(Tracked::read(b"something else"), None);
    assert!(Tracked::read(&index(2, &[])).is_some());
}
