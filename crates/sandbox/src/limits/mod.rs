//! The bounds of a run and who holds each of them.
//!
//! Three parties hold bounds. The kernel holds what it has a counter for: resource limits and
//! control groups. The sandbox's first process looks at its whole process tree and at what it
//! writes, many times a second ([`Watcher`]). The calling process sees the output. Whoever finds a
//! bound hit says which one, and the run has failed, whatever its exit code says.

mod bounds;
mod choice;

#[cfg(target_os = "linux")]
mod cgroup;
#[cfg(target_os = "linux")]
mod oversize;
#[cfg(target_os = "linux")]
mod probe;
#[cfg(target_os = "linux")]
mod rlimit;
#[cfg(target_os = "linux")]
mod size;
#[cfg(target_os = "linux")]
mod stat;
#[cfg(target_os = "linux")]
mod watch;

#[cfg(all(test, target_os = "linux"))]
mod tests;

pub use bounds::{Limit, LimitHit, Limits};
pub use choice::LimitHost;
pub(crate) use choice::{Chosen, choose, lines};

#[cfg(target_os = "linux")]
pub(crate) use cgroup::{Groups, Left, join};
#[cfg(target_os = "linux")]
pub(crate) use probe::probe;
#[cfg(target_os = "linux")]
pub(crate) use watch::Watcher;

/// Nothing is held on other systems: every run is refused there.
#[cfg(not(target_os = "linux"))]
pub(crate) fn probe(_scratch: &std::path::Path) -> LimitHost {
    LimitHost::default()
}

/// Sets the limits that belong to a process; runs in the command's process just before its program
/// starts, while it is still alone and without threads.
#[cfg(target_os = "linux")]
pub(crate) fn apply(chosen: &Chosen) -> std::io::Result<()> {
    rlimit::set(&chosen.limits, chosen.processes == choice::Counter::Rlimit)
}
