//! Tries to get out of a sandbox in every way that we know, and says what stopped each attempt.
//!
//! `escape SETTING.json [NAME…]` runs all attempts, or the named ones, each in a process of its
//! own, and prints one line for each: its name, `OPEN` or `stopped`, and what stopped it. An
//! attempt is open only if its effect was seen, not if a call merely succeeded. What it would
//! damage belongs to the test that runs it.

#![allow(
    unsafe_code,
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::indexing_slicing,
    clippy::exit,
    reason = "attacks are made of raw system calls, and this program is never shipped"
)]

mod calls;
mod descriptors;
mod devices;
mod files;
mod mounts;
mod network;
mod outcome;
mod overlay;
mod privileges;
mod processes;
mod secrets;
mod setting;
mod sys;
mod system;

use std::io::{Read as _, Write as _};
use std::os::fd::{FromRawFd as _, OwnedFd};
use std::time::Duration;

use outcome::{Attempt, Outcome};
use setting::Setting;

/// How long one attempt may take before it counts as stopped.
const ATTEMPT_TIME: Duration = Duration::from_secs(10);

/// All of them, by what they attack.
fn attempts() -> Vec<Attempt> {
    [
        files::ATTEMPTS,
        mounts::ATTEMPTS,
        overlay::ATTEMPTS,
        processes::ATTEMPTS,
        descriptors::ATTEMPTS,
        privileges::ATTEMPTS,
        calls::ATTEMPTS,
        devices::ATTEMPTS,
        system::ATTEMPTS,
        network::ATTEMPTS,
        secrets::ATTEMPTS,
    ]
    .concat()
}

fn main() {
    let mut words = std::env::args().skip(1);
    let Some(file) = words.next() else {
        for (name, _) in attempts() {
            println!("{name}");
        }
        return;
    };
    let setting = match Setting::read(&file) {
        Ok(setting) => setting,
        Err(error) => {
            println!("setting\tbroken\t{error}");
            return;
        }
    };
    let wanted: Vec<String> = words.collect();
    for (name, attempt) in attempts() {
        if wanted.is_empty() || wanted.iter().any(|one| one == name) {
            let line = match apart(attempt, &setting) {
                Ok(()) => format!("{name}\tOPEN\t"),
                Err(stop) => format!("{name}\tstopped\t{stop}"),
            };
            println!("{line}");
        }
    }
}

/// Makes an attempt in a process of its own: some are answered with death.
fn apart(attempt: fn(&Setting) -> Outcome, setting: &Setting) -> Outcome {
    let (mut from, to) = sys::pipe()?;
    // SAFETY: this program has one thread.
    let child = unsafe { libc::fork() };
    if child < 0 {
        return Err(outcome::last("fork"));
    }
    if child == 0 {
        let mut to = to;
        let told = match attempt(setting) {
            Ok(()) => "OPEN".to_owned(),
            Err(stop) => stop.to_string(),
        };
        // A report that can't be written reads as silence, which counts as stopped by nothing known
        // and fails the table.
        drop(to.write_all(told.as_bytes()));
        // SAFETY: ends the child at once, without running what its parent had open.
        unsafe { libc::_exit(0) }
    }
    drop(to);
    watch(child);
    let mut told = String::new();
    drop(from.read_to_string(&mut told));
    let mut status = 0;
    // SAFETY: the child is this process's own, and the pointer is to a live, writable number.
    unsafe { libc::waitpid(child, &raw mut status, 0) };
    if libc::WIFSIGNALED(status) {
        let signal = libc::WTERMSIG(status);
        return Err(outcome::stop(&format!("killed by signal {signal}")));
    }
    match told.as_str() {
        "OPEN" => Ok(()),
        other => Err(outcome::stop(other)),
    }
}

/// Kills an attempt that hangs, from a process that holds nothing open.
fn watch(child: i32) {
    let pidfd = sys::call(libc::SYS_pidfd_open, &[i64::from(child), 0]);
    let Ok(Ok(pidfd)) = pidfd.map(i32::try_from) else {
        return;
    };
    // SAFETY: the kernel just made this descriptor for this process.
    let pidfd = unsafe { OwnedFd::from_raw_fd(pidfd) };
    // SAFETY: this program has one thread.
    if unsafe { libc::fork() } == 0 {
        sys::wait_readable(&pidfd, ATTEMPT_TIME);
        // SAFETY: takes plain numbers; a child that ended has been waited for at most now, and its
        // number is not used again within a poll of this length.
        unsafe {
            if !sys::readable(&pidfd) {
                libc::kill(child, libc::SIGKILL);
            }
            libc::_exit(0)
        }
    }
}
