//! The system calls this crate stands on, one file per system; nothing else in the crate makes one.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
pub(crate) use linux::*;

#[cfg(not(target_os = "linux"))]
mod unsupported;
#[cfg(not(target_os = "linux"))]
pub(crate) use unsupported::*;

/// What a name stands for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Kind {
    /// A regular file.
    File,
    /// A folder.
    Dir,
    /// A symbolic link.
    Symlink,
    /// A named pipe.
    Fifo,
    /// A socket.
    Socket,
    /// A block or character device.
    Device,
}

/// A point in time as the file system keeps it.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    Eq,
    PartialEq,
    Ord,
    PartialOrd,
    Hash,
    serde::Serialize,
    serde::Deserialize,
)]
pub struct FileTime {
    /// Seconds since the epoch.
    pub seconds: i64,
    /// Nanoseconds beyond them.
    pub nanos: i64,
}

/// What the kernel says of one name.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Stat {
    /// What it is.
    pub kind: Kind,
    /// The device it lies on.
    pub dev: u64,
    /// Its inode.
    pub ino: u64,
    /// Its names.
    pub nlink: u64,
    /// Its bytes.
    pub size: u64,
    /// Permission bits, without the type.
    pub mode: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// When its bytes last changed.
    pub mtime: FileTime,
    /// When anything of it last changed; no program can set it.
    pub ctime: FileTime,
}

/// How a rename treats a name that exists.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Rename {
    /// Fails if the new name exists.
    NoReplace,
    /// Swaps the two names in one step.
    Exchange,
    /// Replaces what is there.
    Replace,
}
