//! What travels between the calling process, the helper and the sandbox's first process.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::ended::Exit;
use crate::limits::{Chosen, LimitHit};
use crate::wanted::Lane;

/// A path as the kernel sees it. Paths need not be text.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub(crate) struct Raw(Vec<u8>);

impl Raw {
    pub(crate) fn path(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.0))
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl From<&Path> for Raw {
    fn from(path: &Path) -> Self {
        Self(path.as_os_str().as_bytes().to_vec())
    }
}

impl From<&PathBuf> for Raw {
    fn from(path: &PathBuf) -> Self {
        Self::from(path.as_path())
    }
}

impl From<OsString> for Raw {
    fn from(text: OsString) -> Self {
        Self(text.into_vec())
    }
}

/// One overlay: layers and where it is seen.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Overlay {
    /// Where the command sees it; also its lowest layer.
    pub(crate) path: Raw,
    pub(crate) upper: Raw,
    pub(crate) work: Raw,
    /// Layers above the lowest, newest first.
    pub(crate) lower: Vec<Raw>,
    /// Nothing can be written to it, and the upper layer is left out.
    pub(crate) read_only: bool,
}

/// Which network the command is put into.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub(crate) enum Net {
    /// A new one of its own.
    Own,
    /// The one that the helper is in: the machine's, or the session's.
    Helpers,
}

/// Everything that the helper needs to know.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a question of its own that the plan has answered"
)]
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Spec {
    pub(crate) lane: Lane,
    /// Whether name spaces are used; only the snapshot lane can do without.
    pub(crate) namespaces: bool,
    pub(crate) argv: Vec<Raw>,
    /// The same without its shell, where that makes no difference; else nothing.
    pub(crate) direct: Vec<Raw>,
    /// `NAME=value` each.
    pub(crate) env: Vec<Raw>,
    /// The value of `PATH` in it.
    pub(crate) search: Raw,
    pub(crate) workspace: Raw,
    pub(crate) cwd: Raw,
    pub(crate) overlays: Vec<Overlay>,
    /// What is seen as `/tmp`.
    pub(crate) tmp: Raw,
    /// Where what is written is real at once, and what is seen there.
    pub(crate) writable: Vec<(Raw, Raw)>,
    /// What looks empty.
    pub(crate) hidden: Vec<Raw>,
    /// What can't be opened.
    pub(crate) closed: Vec<Raw>,
    pub(crate) read_only_inside: Vec<Raw>,
    pub(crate) net: Net,
    /// Whether the network reaches beyond the sandbox, so that names must resolve.
    pub(crate) resolves: bool,
    /// Whether Internet sockets may be made at all.
    pub(crate) sockets: bool,
    pub(crate) limits: Chosen,
    pub(crate) landlock_abi: u32,
    /// Whether what is writable in the workspace lies in overlays, so that what is done there to
    /// modes and times touches nothing real.
    pub(crate) laid: bool,
    /// Whether the command goes on when the caller is gone.
    pub(crate) outlives: bool,
    /// The file in which it is noted how such a command ended.
    pub(crate) noted: Option<Raw>,
}

/// What is asked of a helper, or of a session's keeper.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Request {
    /// Run this. Comes with the run's socket and the three standard descriptors.
    Launch(Box<Spec>),
    /// Remove these control groups once the caller is gone. Not answered.
    Groups(Vec<Raw>),
    /// Which long-running commands still run? Answered with their numbers.
    Alive,
    /// End this one. Answered with whether it ran.
    Stop(i32),
    /// End everything. Answered by closing the connection.
    End,
}

/// What the first process reports. Each is one message.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Report {
    /// The program runs.
    Started,
    /// The first process has this number, as seen from outside.
    Placed { pid: i32 },
    /// A step of the setup failed; nothing was run.
    Failed { step: String, errno: i32 },
    /// The program can't be run.
    NoProgram { errno: i32 },
    /// Everything is over and every process is gone.
    Ended {
        exit: Exit,
        hit: Option<LimitHit>,
        stopped: bool,
        cpu_us: u64,
        peak_memory: Option<u64>,
    },
}

/// A step of the setup that failed.
#[derive(Debug)]
pub(super) struct Failed {
    pub(super) step: String,
    pub(super) errno: i32,
}

impl From<Failed> for Report {
    fn from(failed: Failed) -> Self {
        Self::Failed {
            step: failed.step,
            errno: failed.errno,
        }
    }
}

/// Names the step that a system call belongs to.
pub(super) trait At<T> {
    fn at(self, step: impl Into<String>) -> Result<T, Failed>;
}

impl<T> At<T> for io::Result<T> {
    fn at(self, step: impl Into<String>) -> Result<T, Failed> {
        self.map_err(|error| Failed {
            step: step.into(),
            errno: error.raw_os_error().unwrap_or(libc::EIO),
        })
    }
}

impl<T> At<T> for rustix::io::Result<T> {
    fn at(self, step: impl Into<String>) -> Result<T, Failed> {
        self.map_err(|errno| Failed {
            step: step.into(),
            errno: errno.raw_os_error(),
        })
    }
}
