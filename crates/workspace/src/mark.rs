//! Marks in time, by which someone else's work is told from what was there before.
//!
//! Only times that the file system itself gave are compared with each other: the time of change of
//! a file, which no program can set, with that of a file that was touched for the mark. What the
//! clock that people see says is never asked. If that clock was set while the mark was in use, the
//! file system's times jumped with it; whoever noticed says so, and then nothing is taken for
//! unchanged.

use std::time::{Duration, Instant};

use tagout_vocab::limits::MARK_WAIT_MS_MAX;

use crate::error::{Error, at};
use crate::node::{Identity, Item};
use crate::relpath::RelPath;
use crate::sys::{self, FileTime};
use crate::workspace::Workspace;

/// A moment of the workspace's file system: everything that changed before it has an older time of
/// change, and nothing that changes from now on has.
#[derive(Clone, Copy, Debug, Eq, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Mark {
    at: FileTime,
    clock_was_set: bool,
}

impl Mark {
    /// The same mark with the news that the machine's clock was set since: then everything that is
    /// touched counts as someone else's work.
    pub const fn with_clock_set(self, clock_was_set: bool) -> Self {
        Self {
            at: self.at,
            clock_was_set: self.clock_was_set || clock_was_set,
        }
    }

    /// A mark that lies this many whole seconds later.
    pub const fn later(self, seconds: i64) -> Self {
        let at = FileTime {
            seconds: self.at.seconds.saturating_add(seconds),
            nanos: self.at.nanos,
        };
        Self { at, ..self }
    }

    /// Whether a file may have changed since.
    pub(crate) fn may_have_changed(&self, identity: &Identity) -> bool {
        self.clock_was_set || identity.ctime >= self.at
    }

    /// The same for one that was looked at.
    pub(crate) fn is_foreign(&self, item: &Item) -> bool {
        item.identity
            .is_none_or(|identity| self.may_have_changed(&identity))
    }
}

impl Workspace {
    /// The permission bits of a file that nobody touched since a mark.
    pub fn mode_before(&self, path: &RelPath, mark: &Mark) -> Result<Option<u32>, Error> {
        let found = self.root.stat(path)?;
        let old = found.filter(|stat| {
            stat.kind == sys::Kind::File && !mark.may_have_changed(&Identity::of(stat))
        });
        Ok(old.map(|stat| stat.mode))
    }

    /// Marks this moment.
    ///
    /// A file system's times move in steps, so the mark waits for the next one: at once where the
    /// kernel makes a finer step when one is needed, and some milliseconds elsewhere.
    pub fn mark(&self) -> Result<Mark, Error> {
        let doing = || at("mark the time in", self.root().display().to_string());
        let file = sys::nameless(self.root.handle())
            .or_else(|_| sys::open_or_create(&self.state.handle, b"mark", 0o600))
            .map_err(doing())?;
        let touched = || -> std::io::Result<FileTime> {
            sys::set_mtime(&file, FileTime::default())?;
            Ok(sys::stat(&file)?.ctime)
        };
        let first = touched().map_err(doing())?;
        let started = Instant::now();
        loop {
            let now = touched().map_err(doing())?;
            if now > first {
                return Ok(Mark {
                    at: now,
                    clock_was_set: false,
                });
            }
            // A clock that stands or runs backwards can't tell before from after.
            if now < first || started.elapsed() > Duration::from_millis(MARK_WAIT_MS_MAX) {
                return Ok(Mark {
                    at: now,
                    clock_was_set: true,
                });
            }
            std::thread::sleep(Duration::from_micros(200));
        }
    }
}
