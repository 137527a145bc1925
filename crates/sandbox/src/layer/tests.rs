//! Layers made by hand: what each thing in them means, and what bounds the reading.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a test that goes wrong fails, and it plays the programs that write as they like"
)]

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use rustix::fs::{FileType, Mode, XattrFlags};

use super::change::path_order;
use super::{ChangeSet, Extent, Kind, LayerError, Reading, Upper, Was, read, remove};

/// A workspace and an upper layer over it.
struct Pair(tempfile::TempDir);

impl Pair {
    fn new() -> Self {
        let folder = tempfile::tempdir_in("/var/tmp").unwrap();
        let pair = Self(folder);
        fs::create_dir(pair.root()).unwrap();
        super::prepare(&pair.root(), &pair.upper(), &pair.0.path().join("work")).unwrap();
        pair
    }

    fn root(&self) -> PathBuf {
        self.0.path().join("w")
    }

    fn upper(&self) -> PathBuf {
        self.0.path().join("upper")
    }

    fn how(&self, entries_max: usize, bytes_max: u64) -> Result<ChangeSet, LayerError> {
        let root = self.root();
        let how = Reading {
            workspace: &root,
            is_private: &|path, _| path.starts_with(b"private"),
            entries_max,
            bytes_max,
        };
        read(&self.upper(), how)
    }

    fn entries(&self) -> Vec<(String, Kind, Was, Extent)> {
        let set = self.how(100, 1 << 20).unwrap();
        set.judged()
            .map(|one| {
                let path = one.path.escape_ascii().to_string();
                (path, one.kind.clone(), one.was, one.extent)
            })
            .collect()
    }
}

fn put(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn whiteout(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let kind = FileType::CharacterDevice;
    rustix::fs::mknodat(rustix::fs::CWD, path, kind, Mode::empty(), 0).unwrap();
}

fn attribute(path: &Path, name: &str, value: &[u8]) {
    rustix::fs::setxattr(path, name, value, XattrFlags::empty()).unwrap();
}

/// L4: marks of deletion are listed with all that went, and those of nothing are nothing.
#[test]
fn deletions() {
    let pair = Pair::new();
    put(&pair.root(), "d/e/x", "x");
    put(&pair.root(), "f", "f");
    whiteout(&pair.upper().join("d"));
    whiteout(&pair.upper().join("f"));
    whiteout(&pair.upper().join("never"));
    whiteout(&pair.upper().join("private"));
    let gone = |path: &str, was| (path.to_owned(), Kind::Deleted, was, Extent::Whole);
    let expected = vec![
        gone("d", Was::Folder),
        gone("d/e", Was::Folder),
        gone("d/e/x", Was::File),
        gone("f", Was::File),
    ];
    assert_eq!(pair.entries(), expected);
}

/// L4: a folder that was replaced lists what did not come again; one that is only on the way is
/// nothing.
#[test]
fn replaced_folders() {
    let pair = Pair::new();
    put(&pair.root(), "d/old", "x");
    put(&pair.root(), "d/same", "x");
    put(&pair.root(), "way/deep/x", "x");
    put(&pair.upper(), "d/same", "other");
    put(&pair.upper(), "way/deep/x", "changed");
    attribute(&pair.upper().join("d"), "user.overlay.opaque", b"y");
    let file = |bytes| Kind::File { bytes };
    let expected = vec![
        ("d/old".to_owned(), Kind::Deleted, Was::File, Extent::Whole),
        ("d/same".to_owned(), file(5), Was::File, Extent::Whole),
        ("way/deep/x".to_owned(), file(7), Was::File, Extent::Whole),
    ];
    assert_eq!(pair.entries(), expected);
}

/// L4: a file that was only copied is no change; an overlay's notes are not attributes of it, and
/// what a program called so is.
#[test]
fn copies_and_notes() {
    let pair = Pair::new();
    put(&pair.root(), "a", "same");
    let copied = std::process::Command::new("cp")
        .arg("-a")
        .arg(pair.root().join("a"))
        .arg(pair.upper().join("a"))
        .status();
    assert!(copied.unwrap().success());
    attribute(&pair.upper().join("a"), "user.overlay.origin", b"note");
    assert_eq!(pair.entries(), []);
    attribute(&pair.upper().join("a"), "user.overlay.overlay.mine", b"v");
    let set = pair.how(100, 100).unwrap();
    let only = set.judged().next().unwrap();
    assert_eq!(only.extent, Extent::Attributes);
    assert_eq!(
        only.attributes.xattrs,
        [(b"user.overlay.mine".to_vec(), b"v".to_vec())]
    );
}

/// L4: names of one file are one file and links to it; one that stayed as it was is the file.
#[test]
fn links() {
    let pair = Pair::new();
    put(&pair.upper(), "one", "new");
    fs::hard_link(pair.upper().join("one"), pair.upper().join("two")).unwrap();
    let to = |path: &str| Kind::Link {
        to: path.as_bytes().to_vec(),
    };
    let entries = pair.entries();
    assert_eq!(entries[0].1, Kind::File { bytes: 3 });
    assert_eq!(entries[1].1, to("one"));
    assert_eq!(pair.how(100, 100).unwrap().bytes, 3, "counted once");
    let copied = std::process::Command::new("cp")
        .arg("-a")
        .arg(pair.upper().join("two"))
        .arg(pair.root().join("two"))
        .status();
    assert!(copied.unwrap().success());
    let entries = pair.entries();
    assert_eq!(entries.len(), 1, "{entries:?}");
    assert_eq!(entries[0].1, to("two"));
}

/// Reading is bounded in paths, bytes and length of paths.
#[test]
fn bounds() {
    let pair = Pair::new();
    for number in 0..20 {
        put(&pair.upper(), &format!("{number}"), "0123456789");
    }
    // The time of the workspace's own folder is one more.
    assert!(pair.how(21, 200).is_ok());
    let too_many = |result| matches!(result, Err(LayerError::TooMany { .. }));
    assert!(too_many(pair.how(10, 200)));
    assert!(too_many(pair.how(20, 150)));
    let names = Pair::new();
    put(&names.upper(), "one", "");
    for number in 0..30 {
        let path = names.upper().join(format!("{number}"));
        fs::hard_link(names.upper().join("one"), path).unwrap();
    }
    assert!(too_many(names.how(20, 200)), "each name counts");
    let removed = Pair::new();
    for number in 0..30 {
        put(&removed.root(), &format!("d/{number}"), "");
    }
    whiteout(&removed.upper().join("d"));
    assert!(too_many(removed.how(20, 200)), "what went counts too");
}

/// A trap in the layer is not followed, and what its owner may not read is read.
#[test]
fn opening_files() {
    let pair = Pair::new();
    symlink("/etc/passwd", pair.upper().join("link")).unwrap();
    symlink("/etc", pair.upper().join("folder")).unwrap();
    put(&pair.upper(), "closed", "text");
    let closed = fs::Permissions::from_mode(0o000);
    fs::set_permissions(pair.upper().join("closed"), closed).unwrap();
    let upper = Upper::open(&pair.upper()).unwrap();
    assert!(upper.file(b"link").is_err());
    assert!(upper.file(b"folder/passwd").is_err());
    assert!(upper.file(b"../w").is_err());
    assert!(upper.file(b"closed").is_ok());
    let mode = fs::metadata(pair.upper().join("closed")).unwrap();
    assert_eq!(mode.permissions().mode() & 0o777, 0);
}

/// What a program nests deeper than there are descriptors, or closes, is removed.
#[test]
fn removing() {
    let folder = tempfile::tempdir_in("/var/tmp").unwrap();
    let top = folder.path().join("top");
    fs::create_dir(&top).unwrap();
    let mut deep = rustix::fs::open(&top, rustix::fs::OFlags::RDONLY, Mode::empty()).unwrap();
    for _ in 0..1500 {
        rustix::fs::mkdirat(&deep, "n", Mode::from_raw_mode(0o700)).unwrap();
        let next = rustix::fs::openat(&deep, "n", rustix::fs::OFlags::RDONLY, Mode::empty());
        deep = next.unwrap();
    }
    fs::create_dir_all(top.join("closed/in")).unwrap();
    let closed = fs::Permissions::from_mode(0o000);
    fs::set_permissions(top.join("closed"), closed).unwrap();
    remove(&top).unwrap();
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    /// A folder comes before what it holds, whatever bytes names are made of.
    #[test]
    fn folders_come_first(path in "[a-c./-]{0,6}", name in "[a-c.-]{1,3}", other in "[a-c./-]{0,6}") {
        let below = format!("{path}/{name}");
        if !path.is_empty() {
            prop_assert!(path_order(path.as_bytes(), below.as_bytes()).is_lt());
        }
        let (one, two) = (path.as_bytes(), other.as_bytes());
        prop_assert_eq!(path_order(one, two), path_order(two, one).reverse());
    }
}

/// Odd names are carried as the bytes they are.
#[test]
fn odd_names() {
    let pair = Pair::new();
    let odd = [&b"new\nline"[..], b"-rf", b"x\xff\xfe", b" "];
    for name in odd {
        let path = pair.upper().join(std::ffi::OsStr::from_bytes(name));
        fs::write(path, "x").unwrap();
    }
    let set = pair.how(100, 100).unwrap();
    let mut names: Vec<&[u8]> = set.judged().map(|one| one.path.as_slice()).collect();
    names.sort_unstable();
    let mut expected = odd.to_vec();
    expected.sort_unstable();
    assert_eq!(names, expected);
}
