//! What can go wrong, in words that say what happened, where, and what to do.

use std::fmt;
use std::io;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::sys;

/// One path on which someone else's work and the transaction's met.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct ConflictPath {
    /// The path in the workspace.
    pub path: String,
    /// What was found there.
    pub found: Clash,
    /// Where the other version lies, when both had to be kept.
    pub kept: Option<String>,
}

/// What a conflict consists of.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Clash {
    /// The bytes, the mode, the owner or an attribute changed since the transaction looked.
    Changed,
    /// It is gone, or something is there that was not.
    Existence,
    /// Another program holds it open for writing.
    HeldOpen,
    /// A folder that is to be removed or replaced holds something that was not there.
    FolderGrew,
    /// A folder on the way to it is gone or became a link.
    WayChanged,
}

impl fmt::Display for ConflictPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.found {
            Clash::Changed => "changed since it was last looked at",
            Clash::Existence => "was created or removed in the meantime",
            Clash::HeldOpen => "is held open for writing by another program",
            Clash::FolderGrew => "holds files that were not there before",
            Clash::WayChanged => "cannot be reached any more as it was",
        };
        write!(formatter, "`{}` {what}", self.path)?;
        self.kept.as_ref().map_or(Ok(()), |kept| {
            write!(formatter, " (the other version is `{kept}`)")
        })
    }
}

fn listed(paths: &[ConflictPath]) -> String {
    let shown: Vec<String> = paths.iter().take(5).map(ToString::to_string).collect();
    let more = paths.len().saturating_sub(shown.len());
    let tail = if more > 0 {
        format!("; and {more} more")
    } else {
        String::new()
    };
    format!("{}{tail}", shown.join("; "))
}

/// Everything that this crate's functions can fail with.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// Someone else's work is in the way. Nothing of theirs was overwritten.
    #[error("conflict: {}; nothing was changed, read it again", listed(.paths))]
    Conflict {
        /// Where.
        paths: Vec<ConflictPath>,
    },
    /// The path leads out of the workspace.
    #[error("`{path}` leads out of the workspace")]
    Outside {
        /// The path as it was given.
        path: String,
    },
    /// A link chain without an end.
    #[error("`{path}` follows too many symbolic links")]
    Loop {
        /// The path as it was given.
        path: String,
    },
    /// The name cannot be written as text, and this operation needs text.
    #[error("`{path}` holds bytes that are not UTF-8")]
    NotUtf8 {
        /// The path with the odd bytes replaced.
        path: String,
    },
    /// Not a path beneath the workspace.
    #[error("`{path}` is not a path beneath the workspace")]
    BadPath {
        /// The path with odd bytes replaced.
        path: String,
    },
    /// A pipe, socket or device.
    #[error("`{path}` is a {kind}; only files, folders and symbolic links can be changed")]
    Special {
        /// The path.
        path: String,
        /// What it is.
        kind: &'static str,
    },
    /// Something else stands there than the operation needs.
    #[error("`{path}` is {found}, but {needed} is needed")]
    WrongKind {
        /// The path.
        path: String,
        /// What is there.
        found: &'static str,
        /// What has to be there.
        needed: &'static str,
    },
    /// A folder that still holds something.
    #[error("the folder `{path}` is not empty")]
    NotEmpty {
        /// The path.
        path: String,
    },
    /// Larger than a before-image may be.
    #[error(
        "`{path}` has {size} bytes; files above {max} bytes are not changed, because they could \
         not be restored"
    )]
    TooLarge {
        /// The path.
        path: String,
        /// Its bytes.
        size: u64,
        /// The bound.
        max: u64,
    },
    /// More than one transaction may hold.
    #[error("the transaction touches more than {max} {what}")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// The bound.
        max: usize,
    },
    /// A path that the kernel does not take.
    #[error("the path `{path}` is too long for this file system")]
    TooLong {
        /// Its beginning.
        path: String,
    },
    /// The file system takes no writes.
    #[error("cannot {doing} `{path}`: the file system is read-only")]
    ReadOnly {
        /// What was tried.
        doing: &'static str,
        /// Where.
        path: String,
    },
    /// No room.
    #[error("cannot {doing} `{path}`: no space left; free some and try again")]
    Full {
        /// What was tried.
        doing: &'static str,
        /// Where.
        path: String,
    },
    /// This user may not.
    #[error("cannot {doing} `{path}`: permission denied")]
    Forbidden {
        /// What was tried.
        doing: &'static str,
        /// Where.
        path: String,
    },
    /// Nothing is there.
    #[error("`{path}` does not exist")]
    Missing {
        /// Where.
        path: String,
    },
    /// Any other failure of the system.
    #[error("cannot {doing} `{path}`: {source}")]
    Io {
        /// What was tried.
        doing: &'static str,
        /// Where.
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// The state folder is not there.
    #[error("the state folder `{path}` does not exist; a person has to start a new epoch")]
    StateMissing {
        /// Where it should be.
        path: String,
    },
    /// The state was written by a newer program.
    #[error(
        "the state in `{path}` needs format {needed} and this program knows {known}; use a newer \
         `tagout`"
    )]
    StateNewer {
        /// Where.
        path: String,
        /// The lowest format that may touch it.
        needed: u32,
        /// The format of this program.
        known: u32,
    },
    /// Locks and syncs of a network file system can't be relied on.
    #[error("the state folder `{path}` lies on {kind}; choose a folder on a local disk")]
    StateOnNetwork {
        /// Where.
        path: String,
        /// The file system.
        kind: &'static str,
    },
    /// A file of the state is not what this program writes.
    #[error("the state file `{path}` is damaged: {what}; nothing was changed")]
    StateDamaged {
        /// Which file.
        path: String,
        /// What is wrong with it.
        what: &'static str,
    },
    /// An image that is needed is not in the store any more.
    #[error("the before-image {digest} is not kept any more")]
    ImageGone {
        /// Its digest.
        digest: String,
    },
    /// Another process has held the lock for too long.
    #[error("another process has been committing for more than {waited_ms} ms; try again")]
    Locked {
        /// How long this process waited.
        waited_ms: u64,
    },
    /// No such execution in the journal.
    #[error("no transaction of the call `{execution}` is kept any more")]
    Unknown {
        /// The call.
        execution: String,
    },
    /// This system has no proven implementation.
    #[error("this system lacks what transactions need; they are proven on Linux 5.6 and newer")]
    Unsupported,
}

impl Error {
    /// The error of a failed system call: the common reasons get their own words.
    pub(crate) fn io(doing: &'static str, path: impl Into<String>, source: io::Error) -> Self {
        let path = path.into();
        if sys::is_read_only(&source) {
            Self::ReadOnly { doing, path }
        } else if sys::is_full(&source) {
            Self::Full { doing, path }
        } else if sys::is_forbidden(&source) {
            Self::Forbidden { doing, path }
        } else if sys::is_too_long(&source) {
            Self::TooLong {
                path: path.chars().take(120).collect(),
            }
        } else if source.kind() == io::ErrorKind::Unsupported {
            Self::Unsupported
        } else if sys::is_missing(&source) {
            Self::Missing { path }
        } else {
            Self::Io {
                doing,
                path,
                source,
            }
        }
    }

    /// A conflict on these paths, if there are any.
    pub(crate) fn if_any(paths: Vec<ConflictPath>) -> Result<(), Self> {
        if paths.is_empty() {
            Ok(())
        } else {
            Err(Self::Conflict { paths })
        }
    }

    /// A conflict on one path.
    pub(crate) fn conflict(path: impl Into<String>, found: Clash) -> Self {
        Self::Conflict {
            paths: vec![ConflictPath {
                path: path.into(),
                found,
                kept: None,
            }],
        }
    }
}

/// The error of a failed system call on a path, for `map_err`. The path is put into words only when
/// something went wrong.
pub(crate) fn at(doing: &'static str, path: impl ToString) -> impl FnOnce(io::Error) -> Error {
    move |source| Error::io(doing, path.to_string(), source)
}
