//! L11: what a tool used on its own thread, as the kernel counts it.

use std::fs;

use tagout_ledger::Usage;

/// The counters of the calling thread. What the system does not count stays at zero.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counters {
    cpu_ns: u64,
    read_bytes: u64,
}

fn number(text: &str) -> u64 {
    text.trim().parse().unwrap_or_default()
}

impl Counters {
    /// The counters as they stand.
    pub(crate) fn now() -> Self {
        let text = |file: &str| fs::read_to_string(file).unwrap_or_default();
        let time = text("/proc/thread-self/schedstat");
        let bytes = text("/proc/thread-self/io");
        let read = bytes.lines().find_map(|line| line.strip_prefix("rchar:"));
        Self {
            cpu_ns: time.split(' ').next().map_or(0, number),
            read_bytes: read.map_or(0, number),
        }
    }

    /// What was used since, with what the engine itself counted of the tool.
    pub(crate) fn since(self, staged: u64, returned: u64) -> Usage {
        let now = Self::now();
        Usage {
            cpu_ms: now.cpu_ns.saturating_sub(self.cpu_ns).div_ceil(1_000_000),
            memory_bytes: staged.saturating_add(returned),
            read_bytes: now.read_bytes.saturating_sub(self.read_bytes),
            written_bytes: staged,
        }
    }
}
