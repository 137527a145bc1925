//! The limits that the kernel holds for each process: set once, inherited by all that follow.

use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::Limits;

/// How far above the declared number the kernel stops new processes: the watcher reports a run that
/// has more than the declared number, and could not see that if forking failed right there.
pub(super) const PROCESSES_SLACK: u64 = 8;

/// Sets the limits of this process. One that the host already holds lower stays lower.
pub(super) fn set(limits: &Limits, count_processes: bool) -> io::Result<()> {
    // A dump of memory is a file that nobody asked for. One byte, not none: a host whose dumps go
    // to a program runs that program for a limit of zero, and not for a limit of one.
    lower(Resource::Core, Some(1))?;
    lower(Resource::Fsize, limits.file_bytes)?;
    lower(Resource::Nofile, limits.descriptors)?;
    // The whole tree is watched. This stops a single runaway even where the watcher starves; a
    // second more lets the watcher name the limit first.
    let cpu = limits.cpu.map(|cpu| cpu.as_secs().saturating_add(2));
    lower(Resource::Cpu, cpu)?;
    // Locked memory can't be reclaimed, and real-time priority would starve the watcher.
    lower(
        Resource::Memlock,
        limits.memory_bytes.map(|bytes| bytes / 8),
    )?;
    lower(Resource::Rtprio, Some(0))?;
    if count_processes {
        let most = limits
            .processes
            .map(|count| count.saturating_add(PROCESSES_SLACK));
        lower(Resource::Nproc, most)?;
    }
    Ok(())
}

/// Soft and hard limit alike, so that nothing inside can raise it again.
fn lower(resource: Resource, most: Option<u64>) -> io::Result<()> {
    let Some(most) = most else {
        return Ok(());
    };
    let value = match getrlimit(resource).maximum {
        Some(now) => most.min(now),
        None => most,
    };
    let wanted = Rlimit {
        current: Some(value),
        maximum: Some(value),
    };
    setrlimit(resource, wanted)?;
    Ok(())
}
