//! The bounds of a run and who holds each of them.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::error::Refused;
use crate::host::Line;
use crate::plan::Enforcer;
use crate::wanted::Weaker;

/// The bounds of one run. `None` means that nobody asked for a bound, not that there is none.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Time from start to end.
    pub wall: Option<Duration>,
    /// Processor time of all processes together.
    pub cpu: Option<Duration>,
    /// Memory of all processes together.
    pub memory_bytes: Option<u64>,
    /// Processes and threads at one time.
    pub processes: Option<u64>,
    /// Size of any one file that it writes.
    pub file_bytes: Option<u64>,
    /// Size of all that it writes.
    pub total_bytes: Option<u64>,
    /// Open descriptors of any one process.
    pub descriptors: Option<u64>,
    /// Bytes of output.
    pub output_bytes: Option<u64>,
}

/// The name of a bound.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// Time from start to end.
    Wall,
    /// Processor time.
    Cpu,
    /// Memory.
    Memory,
    /// Processes and threads.
    Processes,
    /// Size of one file.
    FileSize,
    /// Size of all that is written.
    TotalSize,
    /// Open descriptors.
    Descriptors,
    /// Output.
    Output,
}

/// A bound that was hit: the run has failed.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct LimitHit {
    /// Which one.
    pub limit: Limit,
    /// Who saw it.
    pub by: String,
    /// What was seen, for people.
    pub detail: String,
}

/// Which enforcers of limits this machine has, found by using them. Part of [`crate::Host`].
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
pub struct LimitHost {}

/// The limits of one run with the enforcer that was chosen for each; travels to the helper.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
pub(crate) struct Chosen {
    /// The bounds themselves.
    pub(crate) limits: Limits,
}

/// Tries every enforcer once, with its scratch below the given folder.
pub(crate) fn probe(_scratch: &Path) -> LimitHost {
    LimitHost::default()
}

/// One line per limit, for people.
pub(crate) fn lines(_host: &LimitHost) -> Vec<Line> {
    Vec::new()
}

/// Chooses an enforcer for each limit that is asked for; a limit without one is refused unless the
/// weaker form is accepted.
pub(crate) fn choose(
    _host: &LimitHost,
    limits: &Limits,
    _accept: &[Weaker],
) -> Result<(Chosen, Vec<Enforcer>), Refused> {
    let chosen = Chosen {
        limits: limits.clone(),
    };
    let mut enforcers = Vec::new();
    if limits.wall.is_some() {
        enforcers.push(Enforcer::new(
            "wall time",
            "timer of the sandbox's first process",
        ));
    }
    Ok((chosen, enforcers))
}

/// The control groups of one run: made before the start by the calling process, removed when
/// dropped.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    folders: Vec<PathBuf>,
}

impl Groups {
    /// Makes what the choice needs.
    pub(crate) fn create(_chosen: &Chosen) -> io::Result<Self> {
        Ok(Self::default())
    }

    /// The folders whose `cgroup.procs` takes the sandbox's first process before it does anything.
    pub(crate) fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// The limit that the groups saw being hit; asked after the end.
    pub(crate) fn hit(&self) -> Option<LimitHit> {
        None
    }

    /// The most memory that the groups saw in use; asked after the end.
    pub(crate) fn peak_memory(&self) -> Option<u64> {
        None
    }
}

/// Sets the limits that belong to a process; runs in the command's process just before its program
/// starts, while it is still alone and without threads.
#[cfg(target_os = "linux")]
pub(crate) fn apply(_chosen: &Chosen) -> io::Result<()> {
    Ok(())
}

/// Looks after the limits that no part of the kernel holds; lives in the sandbox's first process,
/// which sees all others in `/proc` as pid 2 and up.
#[cfg(target_os = "linux")]
#[derive(Debug, Default)]
pub(crate) struct Watcher {}

#[cfg(target_os = "linux")]
impl Watcher {
    /// A watcher for these limits; `uppers` are handles of the folders that the command writes to.
    pub(crate) fn new(_chosen: &Chosen, _uppers: Vec<std::os::fd::OwnedFd>) -> Self {
        Self {}
    }

    /// How often it wants to look; `None` if it has nothing to watch.
    pub(crate) fn interval(&self) -> Option<Duration> {
        None
    }

    /// Looks once. A hit ends the run.
    pub(crate) fn look(&mut self) -> Option<LimitHit> {
        None
    }

    /// The most memory that it saw in use.
    pub(crate) fn peak_memory(&self) -> Option<u64> {
        None
    }
}
