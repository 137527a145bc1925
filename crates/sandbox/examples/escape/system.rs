//! Reaching the machine through the files of its kernel.

use std::fs::{self, OpenOptions};
use std::io::Read as _;

use crate::outcome::{Attempt, Outcome, any, at, only_if};
use crate::setting::Setting;

pub(crate) const ATTEMPTS: &[Attempt] = &[
    ("core-pattern", |_| {
        writable("/proc/sys/kernel/core_pattern")
    }),
    ("modprobe-path", |_| writable("/proc/sys/kernel/modprobe")),
    ("hotplug-path", |_| writable("/proc/sys/kernel/hotplug")),
    ("hostname-file", |_| writable("/proc/sys/kernel/hostname")),
    ("overcommit", |_| writable("/proc/sys/vm/overcommit_memory")),
    ("user-namespaces-file", |_| {
        writable("/proc/sys/user/max_user_namespaces")
    }),
    ("network-setting", |_| {
        writable("/proc/sys/net/ipv4/ip_forward")
    }),
    ("sysrq", |_| writable("/proc/sysrq-trigger")),
    ("binfmt", |_| writable("/proc/sys/fs/binfmt_misc/register")),
    ("last-pid", |_| writable("/proc/sys/kernel/ns_last_pid")),
    ("mtrr", |_| writable("/proc/mtrr")),
    ("irq", |_| writable("/proc/irq/default_smp_affinity")),
    ("kcore", |_| readable("/proc/kcore")),
    ("kmsg-proc", |_| readable("/proc/kmsg")),
    ("kpage", |_| readable("/proc/kpagecount")),
    ("kernel-addresses", kernel_addresses),
    ("timer-list", |_| readable("/proc/timer_list")),
    ("keys-listed", keys_listed),
    ("uevent-helper", |_| writable("/sys/kernel/uevent_helper")),
    ("power-state", |_| writable("/sys/power/state")),
    ("kernel-memory-debug", |_| listed("/sys/kernel/debug")),
    ("tracing", |_| writable("/sys/kernel/tracing/trace_marker")),
    ("security-fs", |_| writable("/sys/kernel/security/lsm")),
    ("firmware", |_| listed("/sys/firmware/efi/efivars")),
    ("device-power", |_| writable("/sys/bus/pci/rescan")),
    ("block-setting", block_setting),
    ("hugepages", |_| {
        writable("/sys/kernel/mm/transparent_hugepage/enabled")
    }),
    ("release-agent", release_agent),
    ("group-made", group_made),
    ("group-left", group_left),
    ("group-limit-raised", group_limit_raised),
    ("oom-score-lowered", oom_score_lowered),
    ("timer-slack-of-init", |_| writable("/proc/1/timerslack_ns")),
    ("login-id", |_| writable("/proc/self/loginuid")),
    ("coredump-filter-of-init", |_| {
        writable("/proc/1/coredump_filter")
    }),
    ("schedule-group", |_| writable("/proc/1/autogroup")),
];

/// Opening alone changes nothing and is as good as writing.
fn writable(name: &str) -> Outcome {
    OpenOptions::new().write(true).open(name)?;
    Ok(())
}

fn readable(name: &str) -> Outcome {
    let mut file = OpenOptions::new().read(true).open(name)?;
    let mut bytes = [0; 8];
    only_if(file.read(&mut bytes)? > 0, "it looks empty")
}

fn listed(name: &str) -> Outcome {
    let mut entries = fs::read_dir(name)?;
    only_if(entries.next().is_some(), "it looks empty")
}

fn kernel_addresses(_: &Setting) -> Outcome {
    let text = fs::read_to_string("/proc/kallsyms")?;
    let shown = text
        .lines()
        .take(100)
        .any(|line| !line.starts_with("0000000000000000"));
    only_if(shown, "all addresses are zero")
}

fn keys_listed(_: &Setting) -> Outcome {
    let text = fs::read_to_string("/proc/keys")?;
    only_if(!text.trim().is_empty(), "none is listed")
}

fn block_setting(_: &Setting) -> Outcome {
    let mut outcomes = vec![];
    for entry in fs::read_dir("/sys/block").map_err(at("list"))?.flatten() {
        let name = entry.path().join("queue/read_ahead_kb");
        outcomes.push(writable(&name.to_string_lossy()));
    }
    any(outcomes)
}

/// Every control group file system that is mounted.
fn hierarchies() -> Vec<String> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let groups = mounts.lines().filter(|line| {
        let kind = line.split(" - ").nth(1).unwrap_or_default();
        kind.starts_with("cgroup")
    });
    groups
        .filter_map(|line| line.split(' ').nth(4).map(str::to_owned))
        .collect()
}

fn in_hierarchies(act: impl Fn(&str) -> Outcome) -> Outcome {
    let all = hierarchies();
    if all.is_empty() {
        return only_if(false, "no control groups are shown");
    }
    any(all.iter().map(|place| act(place)).collect())
}

/// A program that the kernel runs outside when a group becomes empty.
fn release_agent(_: &Setting) -> Outcome {
    in_hierarchies(|place| writable(&format!("{place}/release_agent")))
}

fn group_made(_: &Setting) -> Outcome {
    in_hierarchies(|place| {
        let name = format!("{place}/tagout-escape");
        fs::create_dir(&name)?;
        drop(fs::remove_dir(&name));
        Ok(())
    })
}

/// Out of the group that holds the limits.
fn group_left(_: &Setting) -> Outcome {
    in_hierarchies(|place| writable(&format!("{place}/cgroup.procs")))
}

fn group_limit_raised(_: &Setting) -> Outcome {
    let own = fs::read_to_string("/proc/self/cgroup")?;
    let mut outcomes = vec![];
    for line in own.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(names), Some(path)) = (fields.next(), fields.next()) else {
            continue;
        };
        for file in ["memory.limit_in_bytes", "memory.max", "pids.max"] {
            outcomes.push(writable(&format!("/sys/fs/cgroup/{names}{path}/{file}")));
        }
    }
    any(outcomes)
}

fn oom_score_lowered(_: &Setting) -> Outcome {
    Ok(fs::write("/proc/self/oom_score_adj", "-1000")?)
}
