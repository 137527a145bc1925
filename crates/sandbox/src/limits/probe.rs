//! Finds the enforcers of limits by using each of them once on a child of this process.

#![allow(
    unsafe_code,
    reason = "what is tried has to be tried in a child process"
)]

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use tagout_vocab::limits::PROBE_MEMORY_BYTES;

use super::cgroup::{Groups, locate};
use super::choice::{Chosen, Counter, Place, Version};
use super::oversize::Oversize;
use super::{LimitHost, Limits, join, rlimit};
use crate::kernel;

/// Tries every enforcer once.
pub(crate) fn probe(_scratch: &Path) -> LimitHost {
    LimitHost {
        memory: place("memory", holds_memory),
        pids: place("pids", holds_processes),
        rlimit_counts: rlimit_counts(),
        oversize_told: oversize_told(),
        watcher: fs::read("/proc/self/stat").is_ok(),
    }
}

/// The first place where a group of this controller can be made and does what it should.
fn place(controller: &str, holds: fn(&Place) -> bool) -> Option<Place> {
    let mounts = kernel::text("/proc/self/mountinfo").ok()?;
    let own = kernel::text("/proc/self/cgroup").ok()?;
    [Version::Two, Version::One]
        .into_iter()
        .filter_map(|version| locate(&mounts, &own, controller, version))
        .flat_map(|hierarchy| hierarchy.places())
        .find(holds)
}

/// A child that takes more memory than its group has is killed, and the group says so.
fn holds_memory(place: &Place) -> bool {
    let chosen = Chosen {
        limits: Limits {
            memory_bytes: Some(PROBE_MEMORY_BYTES),
            ..Limits::default()
        },
        memory: Some(place.clone()),
        ..Chosen::default()
    };
    let Ok(groups) = Groups::create(&chosen) else {
        return false;
    };
    let Ok(files) = groups.joins() else {
        return false;
    };
    let killed = in_child(|| {
        for file in &files {
            if join(file).is_err() {
                return false;
            }
        }
        touch(4 * PROBE_MEMORY_BYTES);
        false
    });
    killed == Some(Ended::Killed) && groups.hit().is_some()
}

/// A child that may have no children is refused one.
fn holds_processes(place: &Place) -> bool {
    let chosen = Chosen {
        limits: Limits {
            processes: Some(0),
            ..Limits::default()
        },
        pids: Some(place.clone()),
        processes: Counter::Group,
        ..Chosen::default()
    };
    let Ok(groups) = Groups::create(&chosen) else {
        return false;
    };
    let Ok(files) = groups.joins() else {
        return false;
    };
    let refused = in_child(|| files.iter().all(|file| join(file).is_ok()) && forks_are_refused());
    refused == Some(Ended::Yes) && groups.hit().is_some()
}

/// A child in a user namespace of its own is refused more children than its limit, and gets as many
/// as that: other processes of the same user are not counted.
fn rlimit_counts() -> bool {
    let counted = in_child(|| {
        // SAFETY: this process has one thread, and a new user namespace touches no memory.
        if unsafe { libc::unshare(libc::CLONE_NEWUSER) } != 0 {
            return false;
        }
        let limits = Limits {
            processes: Some(0),
            ..Limits::default()
        };
        rlimit::set(&limits, true).is_ok() && forks_are_refused()
    });
    counted == Some(Ended::Yes)
}

/// The kernel reports a truncation that is too long, and goes on with it when told to.
fn oversize_told() -> bool {
    let told = in_child(|| {
        // SAFETY: takes plain numbers and changes only what later programs may gain.
        if unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) } != 0 {
            return false;
        }
        let Ok(mut oversize) = Oversize::install(1 << 20) else {
            return false;
        };
        // SAFETY: this process has one thread; the child makes one system call and ends.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // SAFETY: both take plain numbers; there is no such descriptor, which is the point.
            unsafe {
                libc::ftruncate(-1, 1 << 21);
                libc::_exit(0)
            }
        }
        for _ in 0..100 {
            if oversize.take() == Some(1 << 21) {
                return true;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        false
    });
    told == Some(Ended::Yes)
}

/// How a child of a probe ended.
#[derive(Debug, Eq, PartialEq)]
enum Ended {
    Yes,
    No,
    Killed,
}

/// Does something in a child process that is alone and short-lived. It must not allocate more than
/// a little: the allocator's locks are free because the C library takes them around a fork.
fn in_child(act: impl FnOnce() -> bool) -> Option<Ended> {
    // SAFETY: the child only runs `act`, which by its contract needs nothing that another thread of
    // the parent may hold, and ends without running anything else of this program.
    let child = unsafe { libc::fork() };
    if child < 0 {
        return None;
    }
    if child == 0 {
        let yes = act();
        // SAFETY: ends the child at once.
        unsafe { libc::_exit(i32::from(!yes)) }
    }
    let mut status = 0;
    // SAFETY: the pointer is to a live, writable number, and the child is this process's own.
    while unsafe { libc::waitpid(child, &raw mut status, 0) } < 0 {
        if io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            return None;
        }
    }
    if libc::WIFSIGNALED(status) {
        return Some(Ended::Killed);
    }
    Some(if libc::WEXITSTATUS(status) == 0 {
        Ended::Yes
    } else {
        Ended::No
    })
}

/// Takes this much memory and uses it.
fn touch(bytes: u64) {
    let mut taken = vec![0_u8; usize::try_from(bytes).unwrap_or(0)];
    for page in taken.chunks_mut(4096) {
        if let Some(first) = page.first_mut() {
            *first = 1;
        }
    }
    std::hint::black_box(&taken);
}

/// Whether the kernel lets this process have some children, and soon no more.
fn forks_are_refused() -> bool {
    let mut children = Vec::with_capacity(16);
    let mut refused = false;
    for _ in 0..2 * rlimit::PROCESSES_SLACK {
        // SAFETY: this process has one thread; the child waits to be killed and does nothing else.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // SAFETY: both take nothing or a plain number.
            unsafe {
                libc::pause();
                libc::_exit(0)
            }
        }
        if child < 0 {
            refused = true;
            break;
        }
        children.push(child);
    }
    for child in &children {
        // SAFETY: takes plain numbers, and the child is this process's own and not yet waited for.
        unsafe {
            libc::kill(*child, libc::SIGKILL);
            libc::waitpid(*child, std::ptr::null_mut(), 0);
        }
    }
    refused && !children.is_empty()
}
