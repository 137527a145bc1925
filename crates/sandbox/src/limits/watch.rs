//! Looks after the limits that no part of the kernel holds, or that the kernel holds silently.

mod tree;

use std::os::fd::{BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use super::choice::{Chosen, Counter};
use super::oversize::Oversize;
use super::size::Sizes;
use super::{Limit, LimitHit, Limits};
use tree::{Sample, Tree};

/// How often it looks: at a hundred times a second a greedy process gets a few percent beyond its
/// memory before it is seen, and looking costs less than a percent of one processor.
const INTERVAL: Duration = Duration::from_millis(10);

/// How often it looks through open descriptors, which costs more and changes more slowly.
const SLOW_INTERVAL: Duration = Duration::from_millis(100);

const BY: &str = "watcher in the sandbox's first process";

/// Looks after the limits that no part of the kernel holds; lives in the sandbox's first process,
/// which sees all others in `/proc` as pid 2 and up.
///
/// It has to be made before the command is started: what the kernel tells about files that become
/// too long is inherited from here.
#[derive(Debug)]
pub(crate) struct Watcher {
    limits: Limits,
    counter: Counter,
    /// Whether the kernel holds the memory itself.
    memory_held: bool,
    started: Instant,
    slow_at: Instant,
    tree: Option<Tree>,
    sizes: Sizes,
    oversize: Option<Oversize>,
    peak_bytes: Option<u64>,
    /// Bytes of files without a name, as of the last slow look: on disk, in memory.
    nameless: (u64, u64),
}

impl Watcher {
    /// A watcher for these limits; `uppers` are handles of the folders that the command writes to.
    pub(crate) fn new(chosen: &Chosen, uppers: Vec<OwnedFd>) -> Self {
        let now = Instant::now();
        // Without its notice the resource limit still holds; what is lost is only that a shell can
        // hide that it was hit.
        let oversize = chosen
            .limits
            .file_bytes
            .filter(|_| chosen.oversize_told)
            .and_then(|bytes| Oversize::install(bytes).ok());
        Self {
            limits: chosen.limits.clone(),
            counter: chosen.processes,
            memory_held: chosen.memory.is_some(),
            started: now,
            slow_at: now,
            tree: None,
            sizes: Sizes::new(uppers),
            oversize,
            peak_bytes: None,
            nameless: (0, 0),
        }
    }

    /// The command starts now, from when on its time counts.
    pub(crate) fn begin(&mut self) {
        self.started = Instant::now();
    }

    /// How often it wants to look; `None` if it has nothing to watch.
    pub(crate) fn interval(&self) -> Option<Duration> {
        (self.limits != Limits::default()).then_some(INTERVAL)
    }

    /// Becomes readable when [`Watcher::look`] should not wait for its turn: a process inside
    /// stands still until then.
    pub(crate) fn listener(&self) -> Option<BorrowedFd<'_>> {
        self.oversize.as_ref().map(Oversize::listener)
    }

    /// Looks once. A hit ends the run.
    pub(crate) fn look(&mut self) -> Option<LimitHit> {
        if let Some(hit) = self.wall().or_else(|| self.file_size()) {
            return Some(hit);
        }
        if let Some(hit) = self.crowd() {
            return Some(hit);
        }
        let Ok(sample) = self.sample() else {
            // Who can't be watched may be doing anything.
            let detail = "the processes of the run could not be looked at";
            return Some(LimitHit::new(Limit::Processes, BY, detail));
        };
        self.slow();
        self.judge(&sample)
            .or_else(|| self.descriptors())
            .or_else(|| self.total_size(false))
    }

    /// Looks a last time, after the command has ended and before the layers are let go.
    pub(crate) fn last(&mut self) -> Option<LimitHit> {
        let used = self.tree.as_ref().map(Tree::waited).unwrap_or_default();
        self.file_size()
            .or_else(|| self.cpu(used))
            .or_else(|| self.total_size(true))
    }

    /// The most memory that it saw in use.
    pub(crate) fn peak_memory(&self) -> Option<u64> {
        self.peak_bytes
    }

    fn sample(&mut self) -> std::io::Result<Sample> {
        self.tree()?.sample()
    }

    fn tree(&mut self) -> std::io::Result<&mut Tree> {
        Ok(match &mut self.tree {
            Some(tree) => tree,
            none => none.insert(Tree::open()?),
        })
    }

    fn wall(&self) -> Option<LimitHit> {
        let most = self.limits.wall?;
        (self.started.elapsed() >= most).then(|| {
            let detail = format!("it ran for {} ms", self.started.elapsed().as_millis());
            LimitHit::new(Limit::Wall, BY, detail)
        })
    }

    fn file_size(&mut self) -> Option<LimitHit> {
        let most = self.limits.file_bytes?;
        let wanted = self.oversize.as_mut()?.take()?;
        let detail = format!("a file was to become {wanted} bytes long, of {most} allowed");
        Some(LimitHit::new(
            Limit::FileSize,
            "resource limit, told by seccomp",
            detail,
        ))
    }

    /// Too many processes are seen by their number alone: to look at each of a thousand takes long
    /// while all of them are busy.
    fn crowd(&mut self) -> Option<LimitHit> {
        let most = self.limits.processes?;
        let number = self.tree().ok()?.number()?;
        (number > most).then(|| self.too_many(number, most))
    }

    fn judge(&mut self, sample: &Sample) -> Option<LimitHit> {
        if let Some(hit) = self.count(sample) {
            return Some(hit);
        }
        let memory = sample.bytes.saturating_add(self.nameless.1);
        self.peak_bytes = self.peak_bytes.max(Some(memory));
        if let Some(most) = self.limits.memory_bytes
            && memory > most
            && !self.memory_held
        {
            // Pages that several processes share were counted for each; only now that it matters
            // is the dearer count made.
            let tree = self.tree.as_mut()?;
            let shared = tree.proportional(most).saturating_add(self.nameless.1);
            self.peak_bytes = self
                .peak_bytes
                .max(Some(shared).filter(|bytes| *bytes != u64::MAX));
            if shared > most {
                let detail = format!("{shared} bytes in use, of {most} allowed");
                return Some(LimitHit::new(Limit::Memory, BY, detail));
            }
        }
        self.cpu(sample.cpu)
    }

    fn count(&self, sample: &Sample) -> Option<LimitHit> {
        let most = self.limits.processes?;
        (sample.threads > most).then(|| self.too_many(sample.threads, most))
    }

    fn too_many(&self, number: u64, most: u64) -> LimitHit {
        let by = match self.counter {
            Counter::Rlimit => "resource limit of the sandbox's user namespace",
            Counter::Group => "control group",
            Counter::Watcher => BY,
        };
        let detail = format!("{number} processes and threads, of {most} allowed");
        LimitHit::new(Limit::Processes, by, detail)
    }

    fn cpu(&self, used: Duration) -> Option<LimitHit> {
        let most = self.limits.cpu?;
        (used >= most).then(|| {
            let detail = format!(
                "{} ms of processor time, of {} allowed",
                used.as_millis(),
                most.as_millis()
            );
            LimitHit::new(Limit::Cpu, BY, detail)
        })
    }

    /// Files without a name take room on disk or in memory that no other count shows.
    fn slow(&mut self) {
        let now = Instant::now();
        if now < self.slow_at {
            return;
        }
        self.slow_at = now + SLOW_INTERVAL;
        if let Some(tree) = &mut self.tree {
            self.nameless = tree.nameless();
        }
    }

    fn descriptors(&self) -> Option<LimitHit> {
        let most = self.limits.descriptors?;
        let open = self.tree.as_ref()?.descriptors();
        (open >= most).then(|| {
            let detail = format!("a process had {open} open, of {most} allowed");
            LimitHit::new(Limit::Descriptors, "resource limit", detail)
        })
    }

    fn total_size(&mut self, last: bool) -> Option<LimitHit> {
        let most = self.limits.total_bytes;
        let seen = if last {
            self.sizes.finish(most)
        } else {
            self.sizes.step(most)
        }?;
        if let Some(longest) = self.limits.file_bytes
            && seen.longest_bytes >= longest
        {
            let detail = format!("a file reached {} bytes", seen.longest_bytes);
            return Some(LimitHit::new(Limit::FileSize, "resource limit", detail));
        }
        let most = most?;
        let total = seen.total_bytes.saturating_add(self.nameless.0);
        (total > most || seen.too_deep).then(|| {
            let detail = if seen.too_deep {
                "folders are nested too deeply to be measured".to_owned()
            } else {
                format!("{total} bytes written, of {most} allowed")
            };
            LimitHit::new(Limit::TotalSize, BY, detail)
        })
    }
}
