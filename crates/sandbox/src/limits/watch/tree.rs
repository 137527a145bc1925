//! The process tree of a run as `/proc` shows it.

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, openat, statat};

use crate::limits::stat::Stat;

/// How soon a dear count is made again after one that was below the limit.
const PROPORTIONAL_PAUSE: Duration = Duration::from_millis(50);

/// How long one dear count may take. To look into a process waits for what it is doing.
const PROPORTIONAL_TIME: Duration = Duration::from_millis(300);

/// Descriptors of one process that are looked at one by one; further ones are taken on trust, since
/// the number of descriptors has a limit of its own.
const DESCRIPTORS_LOOKED_AT: usize = 4096;

/// What one look at the tree saw.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sample {
    /// Memory, with shared pages counted for each process.
    pub(super) bytes: u64,
    /// Processes and threads, without the first process.
    pub(super) threads: u64,
    /// Processor time so far, of those that are gone too.
    pub(super) cpu: Duration,
}

/// A process, also when its number is used again.
type Id = (u32, u64);

/// The tree below this process: all of its pid namespace if it is the first there, else what
/// descends from it.
#[derive(Debug)]
pub(super) struct Tree {
    proc: OwnedFd,
    own: u32,
    page_bytes: u64,
    ticks_a_second: u64,
    /// Own processor time of the living, as last seen.
    living: HashMap<Id, u64>,
    /// Processor time of those that were seen once and are gone.
    gone_ticks: u64,
    proportional: Option<(Instant, u64)>,
    descriptors: u64,
    memory_device: Option<u64>,
}

impl Tree {
    pub(super) fn open() -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let proc = rustix::fs::open("/proc", flags, Mode::empty())?;
        let memory = rustix::fs::memfd_create("watcher", rustix::fs::MemfdFlags::CLOEXEC);
        Ok(Self {
            proc,
            own: std::process::id(),
            page_bytes: rustix::param::page_size() as u64,
            ticks_a_second: rustix::param::clock_ticks_per_second(),
            living: HashMap::new(),
            gone_ticks: 0,
            proportional: None,
            descriptors: 0,
            memory_device: memory
                .ok()
                .and_then(|file| rustix::fs::fstat(&file).ok())
                .map(|stat| stat.st_dev),
        })
    }

    /// Processor time of all descendants that are gone and were waited for.
    pub(super) fn waited(&self) -> Duration {
        let own = self.read("self/stat").ok();
        let stat = own.and_then(|line| Stat::parse(&line)).unwrap_or_default();
        self.time(stat.waited_ticks)
    }

    fn time(&self, ticks: u64) -> Duration {
        Duration::from_millis(ticks.saturating_mul(1000) / self.ticks_a_second.max(1))
    }

    /// How many processes there are besides this one, without a look at any of them. Only where all
    /// that can be seen belong to the run.
    pub(super) fn number(&self) -> Option<u64> {
        if self.own != 1 {
            return None;
        }
        let entries = Dir::read_from(self.proc.as_fd()).ok()?.flatten();
        let is_process =
            |name: &std::ffi::CStr| name.to_bytes().first().is_some_and(u8::is_ascii_digit);
        let number = entries
            .filter(|entry| is_process(entry.file_name()))
            .count();
        u64::try_from(number).ok()?.checked_sub(1)
    }

    /// Looks at every process once.
    pub(super) fn sample(&mut self) -> io::Result<Sample> {
        let all = self.all()?;
        let mut sample = Sample::default();
        let mut counted = 0_u64;
        let mut living = HashMap::with_capacity(all.len());
        for (pid, stat) in &all {
            counted = counted.saturating_add(stat.own_ticks);
            counted = counted.saturating_add(stat.waited_ticks);
            let id = (*pid, stat.started_ticks);
            self.living.remove(&id);
            living.insert(id, stat.own_ticks);
            if *pid != self.own && !stat.dead {
                sample.threads = sample.threads.saturating_add(stat.threads);
                let bytes = stat.pages.saturating_mul(self.page_bytes);
                sample.bytes = sample.bytes.saturating_add(bytes);
            }
        }
        // Who is gone keeps the time that was last seen: a parent that never waits for its children
        // would make it vanish otherwise.
        self.gone_ticks = self.gone_ticks.saturating_add(self.living.values().sum());
        self.living = living;
        let seen = self
            .living
            .values()
            .sum::<u64>()
            .saturating_add(self.gone_ticks);
        let ticks = seen.max(counted);
        sample.cpu = self.time(ticks);
        Ok(sample)
    }

    /// Memory with shared pages counted once in all. Below the limit it is not counted anew at
    /// every look; a process that can't be looked into counts fully. The largest are looked into
    /// first: where the time is over before all were, what is missing are the smallest.
    pub(super) fn proportional(&mut self, most: u64) -> u64 {
        if let Some((at, bytes)) = self.proportional
            && at.elapsed() < PROPORTIONAL_PAUSE
            && bytes <= most
        {
            return bytes;
        }
        let Ok(all) = self.all() else {
            return u64::MAX;
        };
        let counted = |(pid, stat): &(u32, Stat)| *pid != self.own && !stat.dead;
        let mut largest: Vec<(u32, Stat)> = all.into_iter().filter(counted).collect();
        largest.sort_by_key(|(_, stat)| std::cmp::Reverse(stat.pages));
        let begun = Instant::now();
        let mut bytes = 0_u64;
        for (pid, stat) in largest {
            let full = stat.pages.saturating_mul(self.page_bytes);
            bytes = bytes.saturating_add(self.pss(pid).unwrap_or(full));
            if bytes > most || begun.elapsed() > PROPORTIONAL_TIME {
                break;
            }
        }
        self.proportional = Some((Instant::now(), bytes));
        bytes
    }

    fn pss(&self, pid: u32) -> Option<u64> {
        let text = self.read(&format!("{pid}/smaps_rollup")).ok()?;
        let text = std::str::from_utf8(&text).ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix("Pss:"))?;
        let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        kilobytes.checked_mul(1024)
    }

    /// Bytes of the open files that have no name: on disk, and in memory. Also notes the most
    /// descriptors that one process has.
    pub(super) fn nameless(&mut self) -> (u64, u64) {
        let Ok(all) = self.all() else {
            return (0, 0);
        };
        let mut files = HashMap::new();
        self.descriptors = 0;
        for (pid, stat) in all {
            if pid != self.own && !stat.dead {
                let open = self.open_files(pid, &mut files);
                self.descriptors = self.descriptors.max(open);
            }
        }
        let of = |memory: bool| {
            let chosen = files
                .iter()
                .filter(|((device, _), _)| (Some(*device) == self.memory_device) == memory);
            chosen.map(|(_, bytes)| *bytes).fold(0, u64::saturating_add)
        };
        (of(false), of(true).saturating_add(self.segments()))
    }

    /// Adds the nameless files of one process by device and inode; returns how many descriptors it
    /// has.
    fn open_files(&self, pid: u32, files: &mut HashMap<(u64, u64), u64>) -> u64 {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = format!("{pid}/fd");
        let Ok(folder) = openat(&self.proc, folder.as_str(), flags, Mode::empty()) else {
            return 0;
        };
        let Ok(entries) = Dir::read_from(&folder) else {
            return 0;
        };
        let mut count = 0;
        for entry in entries.flatten().take(DESCRIPTORS_LOOKED_AT) {
            if !entry
                .file_name()
                .to_bytes()
                .first()
                .is_some_and(u8::is_ascii_digit)
            {
                continue;
            }
            count += 1;
            if let Ok(stat) = statat(&folder, entry.file_name(), AtFlags::empty())
                && FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
                && stat.st_nlink == 0
            {
                let bytes = u64::try_from(stat.st_blocks).unwrap_or(0) * 512;
                files.insert((stat.st_dev, stat.st_ino), bytes);
            }
        }
        count
    }

    /// The most descriptors that one process had at the last look through them.
    pub(super) fn descriptors(&self) -> u64 {
        self.descriptors
    }

    /// Bytes of System V shared memory that are in use in this namespace. As the first process of
    /// its own namespace only: anywhere else it would be other people's.
    fn segments(&self) -> u64 {
        if self.own != 1 {
            return 0;
        }
        let text = self.read("sysvipc/shm").unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        text.lines()
            .skip(1)
            .filter_map(|line| line.split_ascii_whitespace().nth(14)?.parse::<u64>().ok())
            .fold(0, u64::saturating_add)
    }

    /// Every process of the tree, this one included.
    fn all(&self) -> io::Result<HashMap<u32, Stat>> {
        let mut all = HashMap::new();
        for entry in Dir::read_from(self.proc.as_fd())? {
            let entry = entry?;
            let Ok(name) = entry.file_name().to_str() else {
                continue;
            };
            let Ok(pid) = name.parse::<u32>() else {
                continue;
            };
            // A process may go between listing and looking.
            if let Ok(line) = self.read(&format!("{name}/stat"))
                && let Some(stat) = Stat::parse(&line)
            {
                all.insert(pid, stat);
            }
        }
        if self.own != 1 {
            let kept: Vec<u32> = all
                .keys()
                .copied()
                .filter(|pid| descends(&all, *pid, self.own))
                .collect();
            all.retain(|pid, _| kept.contains(pid));
        }
        Ok(all)
    }

    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let file = openat(&self.proc, path, flags, Mode::empty())?;
        let mut bytes = Vec::with_capacity(1024);
        let mut file = std::fs::File::from(file);
        io::Read::read_to_end(&mut file, &mut bytes)?;
        Ok(bytes)
    }
}

/// Whether a process is this one or descends from it.
fn descends(all: &HashMap<u32, Stat>, pid: u32, from: u32) -> bool {
    let mut at = pid;
    // No chain is longer than there are processes; more steps mean that it was read while it moved.
    for _ in 0..=all.len() {
        if at == from {
            return true;
        }
        match all.get(&at) {
            Some(stat) => at = stat.parent,
            None => return false,
        }
    }
    false
}
