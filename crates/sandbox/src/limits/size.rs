//! How much the layers of a run take on disk, measured a little at a time.

use std::ffi::CString;
use std::os::fd::{AsFd as _, OwnedFd};
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, openat, statat};
use tagout_vocab::limits::TREE_DEPTH_MAX;

/// Entries that one step looks at: a few milliseconds of work.
const STEP_ENTRIES_MAX: usize = 2_000;

/// The least pause between two measurements.
const PAUSE_MIN: Duration = Duration::from_millis(200);

/// A measurement that took long is made more seldom: this share of the time at most.
const PAUSE_FACTOR: u32 = 20;

/// What an entry costs at least: its inode, its name, a block for what it holds.
const ENTRY_BYTES: u64 = 4096;

/// Entries that the last measurement looks at unless the file system shows that much was written.
const LAST_ENTRIES_MAX: usize = 20_000;

/// What one whole measurement saw.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Seen {
    /// Bytes on disk.
    pub(super) total_bytes: u64,
    /// Length of the longest file.
    pub(super) longest_bytes: u64,
    /// Whether folders are nested too deeply to be looked at.
    pub(super) too_deep: bool,
}

/// Measures the layers below some folders.
#[derive(Debug)]
pub(super) struct Sizes {
    roots: Vec<OwnedFd>,
    free_bytes: Vec<u64>,
    under_way: Option<Walk>,
    due: Instant,
}

#[derive(Debug)]
struct Walk {
    started: Instant,
    free_bytes: Vec<u64>,
    next_root: usize,
    stack: Vec<Folder>,
    seen: Seen,
}

#[derive(Debug)]
struct Folder {
    fd: OwnedFd,
    names: Vec<CString>,
}

impl Sizes {
    pub(super) fn new(roots: Vec<OwnedFd>) -> Self {
        let free_bytes = roots.iter().map(free).collect();
        Self {
            roots,
            free_bytes,
            under_way: None,
            due: Instant::now() + PAUSE_MIN,
        }
    }

    /// Goes on with a measurement if one is due; answers when one is complete. One is due at once
    /// when the file system lost a good part of what may be written.
    pub(super) fn step(&mut self, most: Option<u64>) -> Option<Seen> {
        if self.roots.is_empty() {
            return None;
        }
        if self.under_way.is_none() {
            let suspicious = most.is_some_and(|most| self.lost() > most / 2);
            if Instant::now() < self.due && !suspicious {
                return None;
            }
        }
        self.go_on(STEP_ENTRIES_MAX)
    }

    /// Measures a last time. What is large is looked at only if the file system lost enough for the
    /// limit to be in reach.
    pub(super) fn finish(&mut self, most: Option<u64>) -> Option<Seen> {
        if self.roots.is_empty() {
            return None;
        }
        self.under_way = None;
        let in_reach = most.is_some_and(|most| self.lost() > most / 2);
        let mut entries = 0;
        loop {
            if let Some(seen) = self.go_on(STEP_ENTRIES_MAX) {
                return Some(seen);
            }
            entries += STEP_ENTRIES_MAX;
            if entries >= LAST_ENTRIES_MAX && !in_reach {
                return self.under_way.take().map(|walk| walk.seen);
            }
        }
    }

    /// By how much the free room of the layers' file systems fell since the last measurement. Other
    /// programs write and delete too, so it only says when to look.
    fn lost(&self) -> u64 {
        let now = self.roots.iter().map(free);
        let lost = self.free_bytes.iter().zip(now);
        lost.map(|(before, now)| before.saturating_sub(now))
            .max()
            .unwrap_or(0)
    }

    fn go_on(&mut self, mut entries: usize) -> Option<Seen> {
        let walk = self.under_way.get_or_insert_with(|| Walk {
            started: Instant::now(),
            free_bytes: self.roots.iter().map(free).collect(),
            next_root: 0,
            stack: Vec::new(),
            seen: Seen::default(),
        });
        while entries > 0 {
            if walk.stack.is_empty() {
                let Some(root) = self.roots.get(walk.next_root) else {
                    break;
                };
                walk.next_root += 1;
                walk.enter(root, c".");
            } else {
                walk.one();
            }
            entries -= 1;
        }
        if !walk.stack.is_empty() || walk.next_root < self.roots.len() {
            return None;
        }
        let done = self.under_way.take()?;
        self.free_bytes = done.free_bytes;
        let cost = done.started.elapsed();
        self.due = Instant::now() + (cost * PAUSE_FACTOR).max(PAUSE_MIN);
        Some(done.seen)
    }
}

impl Walk {
    /// Looks at the next entry of the innermost folder.
    fn one(&mut self) {
        let depth = self.stack.len();
        let Some(folder) = self.stack.last_mut() else {
            return;
        };
        let Some(name) = folder.names.pop() else {
            self.stack.pop();
            return;
        };
        let Ok(stat) = statat(&folder.fd, &name, AtFlags::SYMLINK_NOFOLLOW) else {
            // It went meanwhile.
            return;
        };
        let kind = FileType::from_raw_mode(stat.st_mode);
        let blocks = u64::try_from(stat.st_blocks)
            .unwrap_or(0)
            .saturating_mul(512);
        let share =
            blocks.max(ENTRY_BYTES) / u64::from(u32::try_from(stat.st_nlink).unwrap_or(1)).max(1);
        match kind {
            FileType::Directory => {
                self.add(ENTRY_BYTES);
                if depth >= TREE_DEPTH_MAX {
                    self.seen.too_deep = true;
                    return;
                }
                if let Some(folder) = self.stack.last()
                    && let Ok(inner) = open_folder(folder.fd.as_fd(), &name)
                {
                    self.push(inner);
                }
            }
            FileType::RegularFile => {
                self.add(share);
                let bytes = u64::try_from(stat.st_size).unwrap_or(0);
                self.seen.longest_bytes = self.seen.longest_bytes.max(bytes);
            }
            FileType::Symlink
            | FileType::Fifo
            | FileType::Socket
            | FileType::CharacterDevice
            | FileType::BlockDevice
            | FileType::Unknown => self.add(share),
        }
    }

    fn add(&mut self, bytes: u64) {
        self.seen.total_bytes = self.seen.total_bytes.saturating_add(bytes);
    }

    fn enter(&mut self, root: &OwnedFd, name: &std::ffi::CStr) {
        if let Ok(fd) = open_folder(root.as_fd(), name) {
            self.push(fd);
        }
    }

    fn push(&mut self, fd: OwnedFd) {
        let names = Dir::read_from(&fd).map(|entries| {
            entries
                .flatten()
                .map(|entry| entry.file_name().to_owned())
                .filter(|name| !matches!(name.to_bytes(), b"." | b".."))
                .collect()
        });
        self.stack.push(Folder {
            fd,
            names: names.unwrap_or_default(),
        });
    }
}

fn open_folder(
    at: std::os::fd::BorrowedFd<'_>,
    name: &std::ffi::CStr,
) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(at, name, flags, Mode::empty())
}

/// Free bytes of the file system that a folder is on.
fn free(folder: &OwnedFd) -> u64 {
    rustix::fs::fstatfs(folder).map_or(0, |stat| {
        let block = u64::try_from(stat.f_bsize).unwrap_or(0);
        stat.f_bfree.saturating_mul(block)
    })
}
