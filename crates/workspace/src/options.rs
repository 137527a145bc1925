//! What a caller can choose, with the product's defaults.

use std::io;

use tagout_vocab::limits::{
    CHECKPOINT_COMMITS_MAX, IMAGE_BYTES_MAX, UNDO_HORIZON_MS, UNDO_STORE_BYTES_MAX,
};

/// How to find out whether another program holds a file open for writing.
#[derive(Clone, Copy, Debug, Default)]
pub enum WriterProbe {
    /// Look through the open files of all processes that this user may look into. It needs nothing,
    /// costs a millisecond or more, and misses mappings whose file was closed.
    #[default]
    Processes,
    /// Ask the kernel for a read lease on the open file, which it refuses while there is a writer.
    /// The call is not in any safe interface, so whoever may make it hands it in; it answers
    /// whether the lease was refused.
    Lease(LeaseProbe),
}

/// Answers whether a lease on an open file is refused because of what others may do with it.
#[cfg(unix)]
pub type LeaseProbe = fn(std::os::fd::BorrowedFd<'_>) -> io::Result<bool>;
/// Answers whether a lease on an open file is refused because of what others may do with it.
#[cfg(not(unix))]
pub type LeaseProbe = fn(&std::fs::File) -> io::Result<bool>;

/// How to hold a file alone while it is filled again. The calls are in no safe interface either.
#[derive(Clone, Copy, Debug)]
pub struct Alone {
    /// Asks for a file until it is closed; answers whether that was refused because someone else
    /// has it open.
    pub take: LeaseProbe,
    /// Answers whether someone waits for the file since it was taken, or was let in.
    pub lost: LeaseProbe,
}

/// How a file is put in the place of another.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Swap {
    /// Both names change places in one step; two steps where the file system refuses that.
    #[default]
    Exchange,
    /// The old one steps aside, then the new one takes its name.
    TwoSteps,
}

/// A place where the protocol makes something durable.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SyncPoint {
    /// The journal record: the commit point.
    Journal,
    /// The folder that holds a new journal segment.
    JournalFolder,
    /// The images that a record refers to.
    Images,
    /// The changed files, before a checkpoint lets go of their records.
    CheckpointFiles,
    /// The folders of the changed files, before the same.
    CheckpointFolders,
}

/// What a caller can choose.
#[derive(Clone, Debug)]
pub struct Options {
    /// The largest file that is changed, because a before-image of it is kept.
    pub image_bytes_max: u64,
    /// Bytes that are kept for undoing.
    pub undo_bytes_max: u64,
    /// How long a change can be undone at most.
    pub undo_horizon_ms: i64,
    /// Commits after which a checkpoint is due.
    pub checkpoint_commits: usize,
    /// How writers are found.
    pub writers: WriterProbe,
    /// How a file that was displaced is held alone, so that it can be filled again. Without it
    /// every new file is another one.
    pub alone: Option<Alone>,
    /// How files change places.
    pub swap: Swap,
    /// A sync that is left out: only the tests that must see the damage set it.
    pub skip_sync: Option<SyncPoint>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            image_bytes_max: IMAGE_BYTES_MAX,
            undo_bytes_max: UNDO_STORE_BYTES_MAX,
            undo_horizon_ms: UNDO_HORIZON_MS,
            checkpoint_commits: CHECKPOINT_COMMITS_MAX,
            writers: WriterProbe::default(),
            alone: None,
            swap: Swap::default(),
            skip_sync: None,
        }
    }
}
