//! What a command prints: head and tail in memory, the whole in an artifact.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;

use serde::{Deserialize, Serialize};
use tagout_vocab::limits::{OUTPUT_HEAD_BYTES_MAX, OUTPUT_TAIL_BYTES_MAX};

/// Bytes that are taken from one end before the other is looked at: small, so that the order of
/// what both print stays near to the order in which it was printed.
const CHUNK_BYTES: usize = 8 * 1024;

/// Which of the two.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

/// What is called with each piece of output.
pub type Listener = dyn Fn(Stream, &[u8]) + Send + Sync;

/// Someone who is handed the output while it comes.
#[derive(Clone)]
pub struct LiveSink(pub Arc<Listener>);

impl fmt::Debug for LiveSink {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("LiveSink")
    }
}

/// Where the output goes.
#[derive(Clone, Debug)]
pub struct Output {
    /// The file that takes the whole of it; created with the first byte, its folder must exist.
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
    /// The file that holds the whole; there is none where nothing was printed.
    pub artifact: PathBuf,
}

/// Head and tail of a stream of bytes, in bounded memory.
#[derive(Debug, Default)]
struct Ends {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    bytes: u64,
}

impl Ends {
    fn take(&mut self, mut bytes: &[u8]) {
        self.bytes = self.bytes.saturating_add(bytes.len() as u64);
        let room = OUTPUT_HEAD_BYTES_MAX.saturating_sub(self.head.len());
        if let Some((first, rest)) = bytes.split_at_checked(room.min(bytes.len())) {
            self.head.extend_from_slice(first);
            bytes = rest;
        }
        let skipped = bytes.len().saturating_sub(OUTPUT_TAIL_BYTES_MAX);
        let kept = bytes.get(skipped..).unwrap_or_default();
        let beyond = (self.tail.len() + kept.len()).saturating_sub(OUTPUT_TAIL_BYTES_MAX);
        self.tail.drain(..beyond.min(self.tail.len()));
        self.tail.extend(kept);
    }
}

/// Keeps head and tail of what is read from the two ends, writes the whole to the artifact and
/// hands it on; runs in the calling process.
pub(crate) struct Collector {
    artifact: PathBuf,
    reader: JoinHandle<io::Result<(Ends, bool)>>,
}

impl fmt::Debug for Collector {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Collector")
    }
}

impl Collector {
    /// Begins; `bytes_max` is the limit on output, beyond which `hit` is called once.
    pub(crate) fn start(
        output: &Output,
        ends: [File; 2],
        bytes_max: Option<u64>,
        hit: Box<dyn Fn() + Send + Sync>,
    ) -> io::Result<Self> {
        let mut reading = Reading {
            path: output.artifact.clone(),
            artifact: None,
            live: output.live.clone(),
            left: bytes_max.unwrap_or(u64::MAX),
            cut: false,
            kept: Ends::default(),
            hit,
        };
        let reader = std::thread::Builder::new()
            .name("output".to_owned())
            .spawn(move || {
                let done = reading.all(ends);
                if done.is_err() {
                    // An output that can't be kept is not let go on unkept.
                    (reading.hit)();
                }
                done.map(|()| (reading.kept, reading.cut))
            })?;
        Ok(Self {
            artifact: output.artifact.clone(),
            reader,
        })
    }

    /// Waits until both ends are closed; says besides whether the limit was hit.
    pub(crate) fn finish(self) -> io::Result<(Captured, bool)> {
        let ended = self.reader.join();
        let (kept, cut) =
            ended.map_err(|_| io::Error::other("the reader of the output ended"))??;
        let captured = Captured {
            head: kept.head,
            tail: kept.tail.into(),
            bytes: kept.bytes,
            artifact: self.artifact,
        };
        Ok((captured, cut))
    }
}

struct Reading {
    path: PathBuf,
    artifact: Option<File>,
    live: Option<LiveSink>,
    left: u64,
    cut: bool,
    kept: Ends,
    hit: Box<dyn Fn() + Send + Sync>,
}

impl Reading {
    /// Reads both ends until they are closed, the one that has something first.
    fn all(&mut self, ends: [File; 2]) -> io::Result<()> {
        let [out, err] = ends;
        let mut open = vec![(Stream::Out, out), (Stream::Err, err)];
        let mut buffer = vec![0; CHUNK_BYTES];
        while !open.is_empty() {
            let ready = ready(&open)?;
            let mut still = Vec::new();
            for ((stream, mut file), ready) in open.into_iter().zip(ready) {
                if !ready || self.some(stream, &mut file, &mut buffer)? {
                    still.push((stream, file));
                }
            }
            open = still;
        }
        Ok(())
    }

    /// The file that takes it, made when there is something to take.
    fn artifact(&mut self) -> io::Result<&mut File> {
        Ok(match &mut self.artifact {
            Some(file) => file,
            none => {
                let mut fresh = OpenOptions::new();
                none.insert(fresh.write(true).create_new(true).open(&self.path)?)
            }
        })
    }

    /// Reads once; says whether the end is still open.
    fn some(&mut self, from: Stream, file: &mut File, buffer: &mut [u8]) -> io::Result<bool> {
        let count = match file.read(buffer) {
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(true),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(true),
            Err(error) => return Err(error),
        };
        if count == 0 {
            return Ok(false);
        }
        let bytes = buffer.get(..count).unwrap_or_default();
        // What comes beyond the limit, while the run is being ended, is read and dropped: a full
        // pipe must not hold up the end.
        let kept = usize::try_from(self.left)
            .unwrap_or(usize::MAX)
            .min(bytes.len());
        let within = bytes.get(..kept).unwrap_or_default();
        self.left = self.left.saturating_sub(kept as u64);
        self.artifact()?.write_all(within)?;
        self.kept.take(within);
        if let Some(LiveSink(live)) = &self.live
            && !within.is_empty()
        {
            live(from, within);
        }
        if kept < bytes.len() && !self.cut {
            self.cut = true;
            (self.hit)();
        }
        Ok(true)
    }
}

/// Which of these have something to read or are closed; waits until one has or is.
#[cfg(unix)]
fn ready(open: &[(Stream, File)]) -> io::Result<Vec<bool>> {
    use rustix::event::{PollFd, PollFlags, poll};
    let mut asked: Vec<PollFd<'_>> = open
        .iter()
        .map(|(_, file)| PollFd::new(file, PollFlags::IN))
        .collect();
    match poll(&mut asked, None) {
        Ok(_) | Err(rustix::io::Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(asked.iter().map(|one| !one.revents().is_empty()).collect())
}

/// Without a way to ask, one after the other.
#[cfg(not(unix))]
fn ready(open: &[(Stream, File)]) -> io::Result<Vec<bool>> {
    Ok(open.iter().map(|_| true).collect())
}
