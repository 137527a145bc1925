//! A `/dev` with what programs need and nothing of the machine's.

use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{Mode, OFlags, mkdirat, openat, symlinkat};
use rustix::io::Errno;

use super::super::sys::{self, MountAttributes, NO_DEV, NO_SUID, READ_ONLY};
use super::super::wire::{At, Failed};
use super::make;

/// Devices that are shown as they are.
const SHOWN: &[&str] = &["null", "zero", "full", "random", "urandom", "tty"];

/// Links that programs expect.
const LINKS: &[(&str, &str)] = &[
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
    ("ptmx", "pts/ptmx"),
];

/// The devices that exist here, as detached mounts.
pub(super) fn copies() -> Result<Vec<(&'static str, OwnedFd)>, Failed> {
    let mut copies = Vec::new();
    for name in SHOWN {
        let path = Path::new("/dev").join(name);
        let device = match rustix::fs::open(&path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) {
            Err(Errno::NOENT) => continue,
            other => other.at(format!("the device `{}`", path.display()))?,
        };
        copies.push((*name, make::bind(&device, false).at("a device")?));
    }
    Ok(copies)
}

/// Puts the new `/dev` in place.
pub(super) fn put(devices: Vec<(&'static str, OwnedFd)>) -> Result<(), Failed> {
    let dev = make::file_system("tmpfs", &[("mode", Some("0755")), ("size", Some("64k"))])
        .at("a new /dev")?;
    for (name, copy) in devices {
        let target = openat(
            &dev,
            name,
            OFlags::CREATE | OFlags::EXCL | OFlags::RDONLY | OFlags::CLOEXEC,
            Mode::from_raw_mode(0o666),
        )
        .at("a place for a device")?;
        make::attach(&copy, &target).at("placing a device")?;
    }
    for (name, target) in LINKS {
        symlinkat(*target, &dev, *name).at("a link in /dev")?;
    }
    let terminals = make::file_system(
        "devpts",
        &[
            ("newinstance", None),
            ("ptmxmode", Some("0666")),
            ("mode", Some("0620")),
        ],
    )
    .at("a new /dev/pts")?;
    let memory = make::file_system("tmpfs", &[("mode", Some("1777")), ("size", Some("64m"))])
        .at("a new /dev/shm")?;
    for (name, made) in [("pts", &terminals), ("shm", &memory)] {
        mkdirat(&dev, name, Mode::from_raw_mode(0o755)).at("a folder in /dev")?;
        let target = openat(
            &dev,
            name,
            OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC,
            Mode::empty(),
        )
        .at("a folder in /dev")?;
        make::attach(made, &target).at("placing a part of /dev")?;
    }
    restrict(&memory, NO_SUID | NO_DEV).at("a safe /dev/shm")?;
    make::attach(&dev, &make::folder(Path::new("/dev"))?).at("placing /dev")?;
    restrict(&dev, READ_ONLY | NO_SUID).at("a read-only /dev")
}

fn restrict(mount: &OwnedFd, set: u64) -> std::io::Result<()> {
    sys::mount_setattr(
        mount,
        MountAttributes {
            set,
            ..MountAttributes::default()
        },
        false,
    )
}
