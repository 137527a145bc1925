//! A `/dev` with what programs need and nothing of the machine's.

use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{Mode, OFlags, mkdirat, openat, symlinkat};
use rustix::io::Errno;
use rustix::mount::MountAttrFlags;

use super::super::sys::{self, MountAttributes, READ_ONLY};
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

/// What of `/dev` is placed once the tree is read-only, because it stays writable: mounts and
/// their places.
#[derive(Debug)]
pub(super) struct Rest([(OwnedFd, OwnedFd); 2]);

impl Rest {
    pub(super) fn put(self) -> Result<(), Failed> {
        let mut parts = self.0.iter();
        parts.try_for_each(|(made, target)| make::attach(made, target).at("placing a part of /dev"))
    }
}

/// Puts the new `/dev` in place. It is placed first and filled then: older kernels put nothing on a
/// mount that is not in the tree.
pub(super) fn put(devices: Vec<(&'static str, OwnedFd)>) -> Result<Rest, Failed> {
    let options = [("mode", Some("0755")), ("size", Some("64k"))];
    let dev =
        make::file_system("tmpfs", &options, MountAttrFlags::MOUNT_ATTR_NOSUID).at("a new /dev")?;
    make::attach(&dev, &make::folder(Path::new("/dev"))?).at("placing /dev")?;
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
    let options = [
        ("newinstance", None),
        ("ptmxmode", Some("0666")),
        ("mode", Some("0620")),
    ];
    let terminals = make::file_system("devpts", &options, MountAttrFlags::MOUNT_ATTR_NOSUID)
        .at("a new /dev/pts")?;
    let options = [("mode", Some("1777")), ("size", Some("64m"))];
    let memory = make::file_system("tmpfs", &options, make::harmless()).at("a new /dev/shm")?;
    let place = |name: &str| {
        mkdirat(&dev, name, Mode::from_raw_mode(0o755)).at("a folder in /dev")?;
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        openat(&dev, name, flags, Mode::empty()).at("a folder in /dev")
    };
    let rest = Rest([(terminals, place("pts")?), (memory, place("shm")?)]);
    let attributes = MountAttributes {
        set: READ_ONLY,
        ..MountAttributes::default()
    };
    sys::mount_setattr(&dev, attributes, false).at("a read-only /dev")?;
    Ok(rest)
}
