//! What a command changed, path by path.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

/// One extended attribute: name and value.
pub type Attribute = (Vec<u8>, Vec<u8>);

/// A point in time as the file system keeps it.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Ord, PartialOrd, Serialize, Deserialize)]
pub struct Time {
    /// Seconds since the epoch.
    pub seconds: i64,
    /// Nanoseconds beyond them.
    pub nanos: i64,
}

/// Everything about a path but its content.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
pub struct Attributes {
    /// Permission bits.
    pub mode: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Time of the last change.
    pub mtime: Time,
    /// Extended attributes as the command saw them, sorted by name; links, pipes and sockets have
    /// none.
    pub xattrs: Vec<Attribute>,
}

/// What stands under a path after the command.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Nothing any more.
    Deleted,
    /// A regular file, whose bytes are in the upper layer.
    File {
        /// How many.
        bytes: u64,
    },
    /// A folder.
    Folder {
        /// Nothing shows through from the folder that stood there. What that one held is listed as
        /// deleted where it did not come again.
        opaque: bool,
    },
    /// A symbolic link.
    Symlink {
        /// Where it points, as written.
        target: Vec<u8>,
    },
    /// Another name of a file: of one that changed too, or of one that stayed as it was.
    Link {
        /// The name that the file is known by.
        to: Vec<u8>,
    },
    /// A named pipe.
    Pipe,
    /// A socket.
    Socket,
    /// A device, which can't be taken over.
    Device,
}

/// What stands under a path in the workspace.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Was {
    /// Nothing.
    Nothing,
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Symlink,
    /// A pipe, a socket or a device.
    Special,
}

/// What a change of an existing path is about.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Extent {
    /// Its content or its kind, or it came or went.
    Whole,
    /// Mode, owner, attributes or, of a file, its time.
    Attributes,
    /// The time of a folder, which follows from what changed in it. It is applied with the rest,
    /// but is nothing to judge, and alone it is no change.
    FolderTime,
}

/// One changed path.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The path beneath the workspace, as bytes; empty for the workspace itself.
    pub path: Vec<u8>,
    /// What stands there now.
    pub kind: Kind,
    /// What stands there in the workspace.
    pub was: Was,
    /// What the change is about.
    pub extent: Extent,
    /// What belongs to it; meaningless for what is deleted.
    pub attributes: Attributes,
}

/// Everything that a command changed, in path order: a folder before what it holds.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
pub struct ChangeSet {
    /// The changed paths.
    pub entries: Vec<Entry>,
    /// Bytes of the files among them.
    pub bytes: u64,
}

impl ChangeSet {
    /// Whether nothing changed but times of folders.
    pub fn is_empty(&self) -> bool {
        self.judged().next().is_none()
    }

    /// The entries that have to be judged.
    pub fn judged(&self) -> impl Iterator<Item = &Entry> {
        self.entries
            .iter()
            .filter(|entry| entry.extent != Extent::FolderTime)
    }

    /// The part of it that a test admits, with the times of the folders.
    ///
    /// A second name of a file that is left out becomes a file of its own.
    pub fn only(&self, admits: impl Fn(&Entry) -> bool) -> Self {
        let kept = |entry: &&Entry| entry.extent == Extent::FolderTime || admits(entry);
        let entries: Vec<Entry> = self.entries.iter().filter(kept).cloned().collect();
        let bytes = entries
            .iter()
            .map(|entry| match entry.kind {
                Kind::File { bytes } => bytes,
                Kind::Deleted
                | Kind::Folder { .. }
                | Kind::Symlink { .. }
                | Kind::Link { .. }
                | Kind::Pipe
                | Kind::Socket
                | Kind::Device => 0,
            })
            .sum();
        Self { entries, bytes }
    }
}

/// Compares paths segment by segment, so that a folder comes before what it holds and what it holds
/// before the folder's next sibling.
pub(super) fn path_order(one: &[u8], other: &[u8]) -> Ordering {
    if one.is_empty() || other.is_empty() {
        return one.len().cmp(&other.len());
    }
    let segments = |path| <[u8]>::split(path, |byte: &u8| *byte == b'/');
    segments(one).cmp(segments(other))
}
