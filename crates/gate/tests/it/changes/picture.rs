//! A picture of a tree: everything about it that a transaction has to keep, as lines that can be
//! compared and written down.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::Path;

use serde::{Deserialize, Serialize};

/// One path's facts.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
pub(crate) struct Facts {
    pub(crate) what: String,
    pub(crate) mode: u32,
    pub(crate) owner: (u32, u32),
    pub(crate) mtime: (i64, i64),
    pub(crate) xattrs: Vec<(String, Vec<u8>)>,
    pub(crate) inode: u64,
}

/// A tree: paths with odd bytes written as `\xNN`, and which files share an inode.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
pub(crate) struct Picture {
    pub(crate) paths: BTreeMap<String, Facts>,
    pub(crate) groups: Vec<Vec<String>>,
}

pub(crate) fn shown(path: &[u8]) -> String {
    path.escape_ascii().to_string()
}

impl Picture {
    /// Looks at a tree.
    pub(crate) fn of(root: &Path) -> Self {
        let mut picture = Self::default();
        let mut names: BTreeMap<(u64, u64), Vec<String>> = BTreeMap::new();
        let mut open = vec![Vec::new()];
        while let Some(path) = open.pop() {
            let here = root.join(std::ffi::OsStr::from_bytes(&path));
            let stat = fs::symlink_metadata(&here).unwrap();
            picture.paths.insert(shown(&path), facts(&here, &stat));
            if stat.is_dir() {
                for entry in fs::read_dir(&here).unwrap() {
                    let name = entry.unwrap().file_name();
                    let separator: &[u8] = if path.is_empty() { b"" } else { b"/" };
                    open.push([&path, separator, name.as_bytes()].concat());
                }
            } else if stat.is_file() {
                let key = (stat.dev(), stat.ino());
                names.entry(key).or_default().push(shown(&path));
            }
        }
        for mut group in names.into_values().filter(|group| group.len() > 1) {
            group.sort();
            picture.groups.push(group);
        }
        picture.groups.sort();
        picture
    }

    /// The same without inodes, which a file that was made again does not keep.
    pub(crate) fn without_inodes(&self) -> Self {
        let mut picture = self.clone();
        for facts in picture.paths.values_mut() {
            facts.inode = 0;
        }
        picture
    }
}

fn facts(path: &Path, stat: &fs::Metadata) -> Facts {
    let kind = stat.file_type();
    let what = if kind.is_symlink() {
        let target = fs::read_link(path).unwrap();
        format!("link to {}", shown(target.as_os_str().as_bytes()))
    } else if kind.is_dir() {
        "folder".to_owned()
    } else if kind.is_file() {
        let digest = tagout_vocab::Digest::of(&fs::read(path).unwrap());
        format!("file of {} bytes, {digest}", stat.size())
    } else if kind.is_fifo() {
        "pipe".to_owned()
    } else if kind.is_socket() {
        "socket".to_owned()
    } else {
        "device".to_owned()
    };
    Facts {
        what,
        mode: stat.mode() & 0o7777,
        owner: (stat.uid(), stat.gid()),
        mtime: (stat.mtime(), stat.mtime_nsec()),
        xattrs: if kind.is_symlink() {
            Vec::new()
        } else {
            xattrs(path)
        },
        inode: stat.ino(),
    }
}

fn xattrs(path: &Path) -> Vec<(String, Vec<u8>)> {
    let mut names = vec![0_u8; 4096];
    let count = rustix::fs::llistxattr(path, &mut names[..]).unwrap_or(0);
    names.truncate(count);
    let mut found: Vec<(String, Vec<u8>)> = names
        .split(|byte| *byte == 0)
        .filter(|name| !name.is_empty())
        .map(|name| {
            let name = std::str::from_utf8(name).unwrap().to_owned();
            let mut value = vec![0_u8; 4096];
            let size = rustix::fs::lgetxattr(path, &name, &mut value[..]).unwrap_or(0);
            value.truncate(size);
            (name, value)
        })
        .collect();
    found.sort();
    found
}
