//! Linux: name spaces, overlays, Landlock and seccomp, built by a helper process.
//!
//! Three processes take part. The *caller* is Tagout itself and may have threads. The *helper* is
//! the same program with one thread, started anew or copied; it receives requests, clones, and
//! removes the control groups of a caller that is gone, with those that others left beside them.
//! The *first process* is what was cloned: pid 1 of the sandbox, which builds the walls, starts the
//! command, watches it and reports.

mod ahead;
mod caller;
mod carve;
mod channel;
mod clock;
mod command;
mod direct;
mod helper;
mod ids;
mod init;
mod keeper;
mod landlock;
mod mounts;
mod privileges;
mod seccomp;
mod session;
mod spec;
mod sys;
mod tree;
mod wire;

pub(crate) use caller::prepare;
pub use caller::{Prepared, Running, Stopper, start_helper_early, use_helper};
pub use helper::serve_if_helper;
pub(crate) use session::{alive, stop, stop_one};

/// The kernel's Landlock version; 0 where there is none.
pub(crate) fn landlock_abi() -> u32 {
    sys::landlock_abi()
}

/// How many processors this process may use; whoever bounds it in another way is not asked, which
/// would take a dozen files.
pub fn processors() -> usize {
    let all = rustix::thread::sched_getaffinity(None);
    all.map_or(1, |set| usize::try_from(set.count()).unwrap_or(1))
}

/// Who runs this: user and group.
pub(crate) fn user() -> String {
    let uid = rustix::process::geteuid().as_raw();
    let gid = rustix::process::getegid().as_raw();
    format!("{uid}:{gid}")
}
