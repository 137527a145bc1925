//! Overlay layers as files: what a command changed is read from its upper layer, and what belongs
//! to a session alone is kept in a private layer.

mod change;
#[cfg(not(target_os = "linux"))]
mod none;
#[cfg(target_os = "linux")]
mod prepare;
#[cfg(target_os = "linux")]
mod private;
#[cfg(target_os = "linux")]
mod read;
#[cfg(target_os = "linux")]
mod sys;
#[cfg(target_os = "linux")]
mod upper;

use std::io;
use std::path::Path;

use thiserror::Error;

pub use self::change::{Attribute, Attributes, ChangeSet, Entry, Extent, Kind, Time, Was};
#[cfg(not(target_os = "linux"))]
pub use self::none::{Private, Put, Upper, apart, prepare, put, read, remove};
#[cfg(target_os = "linux")]
pub use self::prepare::{Put, apart, prepare, put, remove};
#[cfg(target_os = "linux")]
pub use self::private::Private;
#[cfg(target_os = "linux")]
pub use self::read::read;
#[cfg(target_os = "linux")]
pub use self::upper::Upper;

/// Answers whether a path beneath the workspace belongs to the session alone: the path as bytes,
/// and whether it is a folder. What lies beneath a private folder is private without being asked.
pub type IsPrivate<'a> = &'a dyn Fn(&[u8], bool) -> bool;

/// What reading an upper layer needs to know.
#[derive(Clone, Copy)]
pub struct Reading<'a> {
    /// The workspace that the layer lay on.
    pub workspace: &'a Path,
    /// What is left out because it belongs to the session alone.
    pub is_private: IsPrivate<'a>,
    /// Entries at most.
    pub entries_max: usize,
    /// Bytes of files at most.
    pub bytes_max: u64,
}

impl std::fmt::Debug for Reading<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Reading")
            .field("workspace", &self.workspace)
            .field("entries_max", &self.entries_max)
            .field("bytes_max", &self.bytes_max)
            .finish_non_exhaustive()
    }
}

/// Why a layer could not be read, kept or removed.
#[derive(Debug, Error)]
pub enum LayerError {
    /// A system call failed.
    #[error("cannot {doing} `{path}`: {source}")]
    Io {
        /// What was tried.
        doing: &'static str,
        /// Where; odd bytes are replaced.
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// The command changed more than one change set may hold.
    #[error("the command changed more than {max} {what}; change less at once")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// The bound.
        max: u64,
    },
    /// A file that a command may write in its place is larger than one that can be taken back.
    #[error("`{path}` is larger than {max} bytes, so what a command writes to it can't be undone")]
    TooLarge {
        /// Where; odd bytes are replaced.
        path: String,
        /// The bound.
        max: u64,
    },
    /// This system has no overlays.
    #[error("this system has no overlay file system; commands that write are refused here")]
    Unsupported,
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
