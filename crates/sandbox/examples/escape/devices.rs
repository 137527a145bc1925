//! Reaching the machine through its device files.

use std::fs;
use std::os::unix::fs::FileTypeExt as _;

use crate::outcome::{Attempt, Outcome, any, at, only_if};
use crate::setting::Setting;
use crate::sys;

pub(crate) const ATTEMPTS: &[Attempt] = &[
    ("device-disk-read", |_| disks(libc::O_RDONLY)),
    ("device-disk-write", |_| disks(libc::O_WRONLY)),
    ("device-mem", |_| device("/dev/mem", libc::O_RDWR)),
    ("device-port", |_| device("/dev/port", libc::O_RDWR)),
    ("device-kmsg-write", |_| device("/dev/kmsg", libc::O_WRONLY)),
    ("device-kmsg-read", |_| {
        device("/dev/kmsg", libc::O_RDONLY | libc::O_NONBLOCK)
    }),
    ("device-fuse", |_| device("/dev/fuse", libc::O_RDWR)),
    ("device-kvm", |_| device("/dev/kvm", libc::O_RDWR)),
    ("device-tun", |_| device("/dev/net/tun", libc::O_RDWR)),
    ("device-vsock", |_| device("/dev/vsock", libc::O_RDWR)),
    ("device-loop-control", |_| {
        device("/dev/loop-control", libc::O_RDWR)
    }),
    ("device-mapper", |_| {
        device("/dev/mapper/control", libc::O_RDWR)
    }),
    ("device-userfaultfd", |_| {
        device("/dev/userfaultfd", libc::O_RDWR)
    }),
    ("device-uinput", |_| device("/dev/uinput", libc::O_RDWR)),
    ("device-cuse", |_| device("/dev/cuse", libc::O_RDWR)),
    ("device-snapshot", |_| device("/dev/snapshot", libc::O_RDWR)),
    ("device-nvram", |_| device("/dev/nvram", libc::O_RDWR)),
    ("device-rtc", |_| device("/dev/rtc0", libc::O_RDWR)),
    ("device-watchdog", |_| device("/dev/watchdog", libc::O_RDWR)),
    ("device-hwrng", |_| device("/dev/hwrng", libc::O_RDWR)),
    ("device-log-socket", log_socket),
    ("device-create", |_| create("/dev/tagout-escape")),
    ("device-shm-outside", shm_outside),
    ("device-made", device_made),
    ("device-random-ioctl", random_ioctl),
];

fn device(name: &str, flags: i32) -> Outcome {
    drop(sys::open(name, flags)?);
    Ok(())
}

/// Every disk that is shown.
fn disks(flags: i32) -> Outcome {
    let mut outcomes = vec![];
    for entry in fs::read_dir("/dev").map_err(at("list"))?.flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_block_device()) {
            let opened = sys::open(entry.path(), flags);
            outcomes.push(opened.map(drop).map_err(Into::into));
        }
    }
    if outcomes.is_empty() {
        return only_if(false, "no disk is shown");
    }
    any(outcomes)
}

fn create(name: &str) -> Outcome {
    fs::write(name, b"x")?;
    drop(fs::remove_file(name));
    Ok(())
}

fn log_socket(_: &Setting) -> Outcome {
    let socket = std::os::unix::net::UnixDatagram::unbound().map_err(at("socket"))?;
    socket.connect("/dev/log")?;
    Ok(())
}

/// A file in the machine's shared memory folder: seen outside only if it is the same folder.
fn shm_outside(setting: &Setting) -> Outcome {
    let name = format!("/dev/shm/{}", setting.secret);
    let text = fs::read_to_string(name)?;
    only_if(text.contains(&setting.secret), "another folder")
}

/// A device file of the first disk, made where this program can write.
fn device_made(setting: &Setting) -> Outcome {
    let own = setting.own("escape-disk");
    let name = sys::path(&own);
    let number = libc::makedev(254, 0);
    // SAFETY: the name lives until the call returns.
    sys::checked(unsafe { libc::mknod(name.as_ptr(), libc::S_IFBLK | 0o600, number) })
        .map_err(at("mknod"))?;
    let opened = sys::open(&own, libc::O_RDONLY).map_err(at("open"));
    drop(fs::remove_file(&own));
    opened.map(drop)
}

/// `RNDCLEARPOOL`: empties the machine's pool of randomness.
fn random_ioctl(_: &Setting) -> Outcome {
    let file = sys::open("/dev/random", libc::O_RDWR)?;
    let fd = std::os::fd::AsRawFd::as_raw_fd(&file);
    // SAFETY: takes plain numbers.
    sys::checked(unsafe { libc::ioctl(fd, 0x5206) })?;
    Ok(())
}
