//! The bounds themselves and their names.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tagout_vocab::limits::{
    RUN_CPU_MS_MAX, RUN_DESCRIPTORS_MAX, RUN_FILE_BYTES_MAX, RUN_MEMORY_BYTES_MAX,
    RUN_OUTPUT_BYTES_MAX, RUN_PROCESSES_MAX, RUN_TOTAL_BYTES_MAX, RUN_WALL_MS_MAX,
};

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

impl Limits {
    /// The bounds of a command for which nobody asked for others.
    pub fn usual() -> Self {
        Self {
            wall: Some(Duration::from_millis(RUN_WALL_MS_MAX)),
            cpu: Some(Duration::from_millis(RUN_CPU_MS_MAX)),
            memory_bytes: Some(RUN_MEMORY_BYTES_MAX),
            processes: Some(RUN_PROCESSES_MAX),
            file_bytes: Some(RUN_FILE_BYTES_MAX),
            total_bytes: Some(RUN_TOTAL_BYTES_MAX),
            descriptors: Some(RUN_DESCRIPTORS_MAX),
            output_bytes: Some(RUN_OUTPUT_BYTES_MAX),
        }
    }
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
    /// The run's own end: nothing may go on when the command itself has ended.
    LeftBehind,
}

impl Limit {
    /// Every one that can be asked for.
    pub const ALL: [Self; 8] = [
        Self::Wall,
        Self::Cpu,
        Self::Memory,
        Self::Processes,
        Self::FileSize,
        Self::TotalSize,
        Self::Descriptors,
        Self::Output,
    ];

    /// Its name in receipts and messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Wall => "wall time",
            Self::Cpu => "processor time",
            Self::Memory => "memory",
            Self::Processes => "processes and threads",
            Self::FileSize => "file size",
            Self::TotalSize => "total size",
            Self::Descriptors => "open descriptors",
            Self::Output => "output",
            Self::LeftBehind => "processes left behind",
        }
    }
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

impl LimitHit {
    pub(crate) fn new(limit: Limit, by: &str, detail: impl Into<String>) -> Self {
        Self {
            limit,
            by: by.to_owned(),
            detail: detail.into(),
        }
    }
}

impl fmt::Display for LimitHit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.limit == Limit::LeftBehind {
            return write!(formatter, "{} (by {})", self.detail, self.by);
        }
        write!(
            formatter,
            "the limit on {} was hit: {} (seen by {})",
            self.limit.as_str(),
            self.detail,
            self.by
        )
    }
}
