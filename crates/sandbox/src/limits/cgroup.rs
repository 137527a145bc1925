//! Control groups: found where this process may make them, made for one run, read, removed.
//!
//! Only a handful of files is written, so they are written here rather than through a library.

mod found;
mod left;

pub(super) use found::locate;
pub(crate) use left::Left;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use super::choice::{Chosen, Place, Version};
use super::rlimit::PROCESSES_SLACK;
use super::stat::Stat;
use super::{Limit, LimitHit};
use crate::kernel;

/// Groups of this product start with it, so that those of a crashed run are found.
const PREFIX: &str = "tagout-";

/// Groups that are looked at for removal each time; a run makes at most two.
const SWEPT_MAX: usize = 64;

/// What a group tells about its processes.
const PIDS: &str = "pids.events";

/// A group's counts are a few short lines.
const COUNTS_BYTES_MAX: usize = 4096;

/// Numbers the groups of this process.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// Groups of runs that are over and that the helper removes after this process. A process that goes
/// on removes them itself, as soon as it makes others.
static OVER: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// One group, removed when it is dropped.
#[derive(Debug)]
struct Group {
    path: PathBuf,
    version: Version,
    /// Files of it that are read later, already open.
    open: Vec<(&'static str, File)>,
    /// Whether a process that outlives the run removes it.
    is_left: bool,
}

impl Drop for Group {
    fn drop(&mut self) {
        if self.is_left {
            over().push(std::mem::take(&mut self.path));
        } else {
            // One that can't go now, because a process of it is still dying, is swept by a helper
            // whose caller ends after this process.
            drop(fs::remove_dir(&self.path));
        }
    }
}

fn over() -> MutexGuard<'static, Vec<PathBuf>> {
    OVER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The control groups of one run: made before the start by the calling process.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    memory: Option<Group>,
    pids: Option<Group>,
}

impl Groups {
    /// Makes what the choice needs.
    pub(crate) fn create(chosen: &Chosen) -> io::Result<Self> {
        over().retain(|path| !left::is_gone(path));
        let mut groups = Self::default();
        if let (Some(place), Some(bytes)) = (&chosen.memory, chosen.limits.memory_bytes) {
            let group = Group::make(place)?;
            group.hold_memory(bytes)?;
            groups.memory = Some(group);
        }
        if let (Some(place), Some(count)) = (&chosen.pids, chosen.limits.processes) {
            let most = count.saturating_add(PROCESSES_SLACK).to_string();
            // In the second version one group can hold both.
            let shared = groups
                .memory
                .as_ref()
                .filter(|memory| memory.path.parent() == Some(&place.path));
            if let Some(group) = shared {
                group.put("pids.max", &most)?;
            } else {
                let group = Group::make(place)?;
                group.put("pids.max", &most)?;
                groups.pids = Some(group);
            }
        }
        Ok(groups)
    }

    /// What the sandbox's first process hands to [`join`] before it starts anything.
    pub(crate) fn joins(&self) -> io::Result<Vec<OwnedFd>> {
        let groups = [&self.memory, &self.pids].into_iter().flatten();
        groups.map(Group::join_file).collect()
    }

    /// Where they are.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &Path> {
        let groups = [&self.memory, &self.pids].into_iter().flatten();
        groups.map(|group| group.path.as_path())
    }

    /// Another process was told to remove them.
    pub(crate) fn leave(&mut self) {
        let groups = [&mut self.memory, &mut self.pids].into_iter().flatten();
        groups.for_each(|group| group.is_left = true);
    }

    /// Opens what is read after the end; until then there is time.
    pub(crate) fn open(&mut self) {
        if let Some(group) = &mut self.memory {
            let files = [group.kills_file(), group.peak_file(), PIDS];
            for file in files {
                group.open(file);
            }
        }
        if let Some(group) = &mut self.pids {
            group.open(PIDS);
        }
    }

    /// The limit that the groups saw being hit; asked after the end. A group that can't be read may
    /// have seen anything, so it counts as hit.
    pub(crate) fn hit(&self) -> Option<LimitHit> {
        if let Some(group) = &self.memory {
            let kills = group
                .get(group.kills_file())
                .ok()
                .and_then(|text| counted(&text, "oom_kill"));
            if kills != Some(0) {
                let detail = match kills {
                    Some(kills) => format!("the kernel killed {kills} of its processes"),
                    None => "the group's own count could not be read".to_owned(),
                };
                return Some(LimitHit::new(Limit::Memory, group.name(), detail));
            }
        }
        let pids = self.pids.as_ref().or(self.memory.as_ref())?;
        let refused = counted(&pids.get(PIDS).ok()?, "max")?;
        (refused > 0).then(|| {
            let detail = format!("the kernel refused {refused} new ones");
            LimitHit::new(Limit::Processes, pids.name(), detail)
        })
    }

    /// The most memory that the groups saw in use; asked after the end.
    pub(crate) fn peak_memory(&self) -> Option<u64> {
        let group = self.memory.as_ref()?;
        group.get(group.peak_file()).ok()?.trim().parse().ok()
    }
}

/// Puts the calling process, which has one thread, into a group.
///
/// A thread that moves itself skips a lock of the whole machine, in the first version; taking that
/// lock costs ten milliseconds and more. So it is the new process that writes, not its maker.
pub(crate) fn join(file: &OwnedFd) -> io::Result<()> {
    rustix::io::write(file, b"0")?;
    Ok(())
}

/// The number after this word in a file of `word number` lines.
fn counted(text: &str, word: &str) -> Option<u64> {
    text.lines()
        .filter_map(|line| line.split_once(' '))
        .find(|(name, _)| *name == word)
        .and_then(|(_, number)| number.trim().parse().ok())
}

impl Group {
    fn make(place: &Place) -> io::Result<Self> {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = place.path.join(format!("{PREFIX}{}-{number}", owner()?));
        fs::create_dir(&path)?;
        Ok(Self {
            path,
            version: place.version,
            open: Vec::new(),
            is_left: false,
        })
    }

    fn kills_file(&self) -> &'static str {
        match self.version {
            Version::One => "memory.oom_control",
            Version::Two => "memory.events",
        }
    }

    fn peak_file(&self) -> &'static str {
        match self.version {
            Version::One => "memory.max_usage_in_bytes",
            Version::Two => "memory.peak",
        }
    }

    /// Opens a file for later. One that can't be opened now is asked for again then.
    fn open(&mut self, file: &'static str) {
        if let Ok(opened) = File::open(self.path.join(file)) {
            self.open.push((file, opened));
        }
    }

    fn join_file(&self) -> io::Result<OwnedFd> {
        let path = self.path.join(match self.version {
            Version::One => "tasks",
            Version::Two => "cgroup.procs",
        });
        Ok(OpenOptions::new().write(true).open(path)?.into())
    }

    fn name(&self) -> &'static str {
        self.version.as_str()
    }

    fn hold_memory(&self, bytes: u64) -> io::Result<()> {
        match self.version {
            Version::One => {
                self.put("memory.limit_in_bytes", &bytes.to_string())?;
                // Present only where swap is accounted for; without it there is no swap to limit.
                self.put_if_there("memory.memsw.limit_in_bytes", &bytes.to_string())
            }
            Version::Two => {
                self.put("memory.max", &bytes.to_string())?;
                self.put_if_there("memory.swap.max", "0")?;
                // The kernel kills the whole tree, not the one process that it likes least.
                self.put("memory.oom.group", "1")
            }
        }
    }

    fn put(&self, file: &str, text: &str) -> io::Result<()> {
        OpenOptions::new()
            .write(true)
            .open(self.path.join(file))?
            .write_all(text.as_bytes())
    }

    fn put_if_there(&self, file: &str, text: &str) -> io::Result<()> {
        match self.put(file, text) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            other => other,
        }
    }

    fn get(&self, file: &str) -> io::Result<String> {
        let Some((_, open)) = self.open.iter().find(|(name, _)| *name == file) else {
            return kernel::text(self.path.join(file));
        };
        let mut text = [0; COUNTS_BYTES_MAX];
        let length = open.read_at(&mut text, 0)?;
        let text = text.get(..length).unwrap_or_default();
        String::from_utf8(text.to_vec()).map_err(|_| io::ErrorKind::InvalidData.into())
    }
}

/// This process, in a form that a later one with the same number does not have.
fn owner() -> io::Result<String> {
    static STARTED: OnceLock<(u32, Option<u64>)> = OnceLock::new();
    let pid = std::process::id();
    let known = STARTED.get_or_init(|| (pid, started(pid)));
    // A copy of the process that found it out is another one.
    let when = if known.0 == pid {
        known.1
    } else {
        started(pid)
    };
    let when = when.ok_or(io::ErrorKind::NotFound)?;
    Ok(format!("{pid}-{when}"))
}

/// When a process was started, in the kernel's ticks since boot.
fn started(pid: u32) -> Option<u64> {
    let line = kernel::read(format!("/proc/{pid}/stat")).ok()?;
    Stat::parse(&line).map(|stat| stat.started_ticks)
}

/// Removes the groups that runs of processes that are gone have left here. Helpers do that when
/// their callers are gone; nobody else looks for groups that are not their own.
pub(super) fn sweep(place: &Path) {
    let Ok(entries) = fs::read_dir(place) else {
        return;
    };
    let left = entries.flatten().filter(|entry| {
        let name = entry.file_name();
        name.to_str()
            .is_some_and(|name| name.starts_with(PREFIX) && !alive(name))
    });
    for entry in left.take(SWEPT_MAX) {
        // One that still has processes stays; they belong to nobody and end by themselves.
        drop(fs::remove_dir(entry.path()));
    }
}

/// Whether the process that made a group of this name still runs. What can't be read may.
fn alive(name: &str) -> bool {
    let mut words = name.trim_start_matches(PREFIX).split('-');
    let numbers = (words.next(), words.next());
    let (Some(Ok(pid)), Some(Ok(at))) = (
        numbers.0.map(str::parse::<u32>),
        numbers.1.map(str::parse::<u64>),
    ) else {
        return true;
    };
    started(pid) == Some(at)
}
