//! Ending every process of a run, whatever it did to get away.

use std::collections::{HashMap, HashSet};
use std::io;

use rustix::process::{Pid, Signal, getpid, kill_process, set_child_subreaper};

use super::sys;

/// Orphans become children of this process, so that they can be found and ended. Only needed where
/// there is no pid name space.
pub(super) fn adopt_orphans() -> io::Result<()> {
    Ok(set_child_subreaper(Some(getpid()))?)
}

/// Kills everything that the run has started.
///
/// In a pid name space that is everything else there is. Without one, descendants are looked for
/// and killed until none is found: a chain that forks faster than this looks can outlive a round,
/// so the form without name spaces is named as the weaker one.
pub(super) fn end_all() {
    const ROUNDS_MAX: usize = 1_000;
    if getpid().as_raw_nonzero().get() == 1 {
        sys::kill_all_others();
        return;
    }
    for _ in 0..ROUNDS_MAX {
        let found = descendants();
        if found.is_empty() {
            return;
        }
        for pid in found {
            // A process that is gone already is what is wanted.
            kill_process(pid, Signal::KILL).ok();
        }
        std::thread::yield_now();
    }
}

/// The names of living descendants, each once and as text, at most so many.
pub(super) fn names(most: usize) -> Vec<String> {
    let mut found = Vec::new();
    for pid in descendants() {
        let path = format!("/proc/{}/comm", pid.as_raw_nonzero());
        let Ok(name) = std::fs::read(path) else {
            continue;
        };
        let name = String::from_utf8_lossy(&name);
        let plain = |letter: char| if letter.is_control() { '?' } else { letter };
        let name: String = name.trim_end_matches('\n').chars().map(plain).collect();
        if found.len() < most && !found.contains(&name) {
            found.push(name);
        }
    }
    found.sort();
    found
}

/// Living descendants of this process, by the parents that `/proc` names.
fn descendants() -> Vec<Pid> {
    let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
    let Ok(entries) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        if let Some(pid) = name.to_str().and_then(|name| name.parse().ok())
            && let Some(parent) = living_parent(pid)
        {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    let mut open = vec![getpid().as_raw_nonzero().get()];
    while let Some(parent) = open.pop() {
        for &child in children.get(&parent).into_iter().flatten() {
            if seen.insert(child) {
                open.push(child);
                found.extend(Pid::from_raw(child));
            }
        }
    }
    found
}

/// The parent of a process that still lives.
fn living_parent(pid: i32) -> Option<i32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name stands in brackets and may hold anything, so the fields begin after the last one.
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    let state = fields.next()?;
    (state != "Z" && state != "X").then_some(())?;
    fields.next()?.parse().ok()
}
