//! System calls that a command has no business with, by whether they can be reached at all.

use crate::outcome::{Attempt, Outcome};
use crate::setting::Setting;
use crate::sys::{address, call};

pub(crate) const ATTEMPTS: &[Attempt] = &[
    ("bpf", |_| reached(libc::SYS_bpf, &[0, 0, 0], libc::EINVAL)),
    ("perf-event", perf_event),
    ("userfaultfd", |_| reached(libc::SYS_userfaultfd, &[1], 0)),
    ("io-uring", io_uring),
    ("keyctl", |_| reached(libc::SYS_keyctl, &[0, -3, 0], 0)),
    ("add-key", add_key),
    ("request-key", request_key),
    ("fanotify", |_| reached(libc::SYS_fanotify_init, &[0, 0], 0)),
    ("fanotify-content", |_| {
        reached(libc::SYS_fanotify_init, &[4, 0], 0)
    }),
    ("lsm-modules", |_| reached(461, &[0, 0, 0], libc::EINVAL)),
    ("init-module", |_| {
        reached(libc::SYS_init_module, &[0, 0, 0], libc::EFAULT)
    }),
    ("finit-module", |_| {
        reached(libc::SYS_finit_module, &[-1, 0, 0], libc::EBADF)
    }),
    ("delete-module", |_| {
        reached(libc::SYS_delete_module, &[0, 0], libc::EFAULT)
    }),
    ("kexec", |_| {
        reached(libc::SYS_kexec_load, &[0, 99, 0, 0], libc::EINVAL)
    }),
    ("reboot", |_| {
        reached(libc::SYS_reboot, &[0, 0, 0, 0], libc::EINVAL)
    }),
    ("swapon", |_| {
        reached(libc::SYS_swapon, &[0, 0x7F_FFFF], libc::EINVAL)
    }),
    ("swapoff", |_| {
        reached(libc::SYS_swapoff, &[0], libc::EFAULT)
    }),
    ("acct", |_| reached(libc::SYS_acct, &[1], libc::EFAULT)),
    ("syslog", |_| reached(libc::SYS_syslog, &[10, 0, 0], 0)),
    ("settimeofday", settimeofday),
    ("clock-settime", clock_settime),
    ("adjtimex", adjtimex),
    ("sethostname", sethostname),
    ("setdomainname", setdomainname),
    ("vhangup", |_| reached(libc::SYS_vhangup, &[], 0)),
    ("personality", |_| {
        reached(libc::SYS_personality, &[0x004_0000], 0)
    }),
    ("memfd-secret", |_| reached(libc::SYS_memfd_secret, &[0], 0)),
    ("move-pages", |_| {
        reached(libc::SYS_move_pages, &[0, 0, 0, 0, 0, 0], 0)
    }),
    ("migrate-pages", |_| {
        reached(libc::SYS_migrate_pages, &[0, 0, 0, 0], 0)
    }),
    ("lookup-dcookie", lookup_dcookie),
    ("nfsservctl", nfsservctl),
    ("iopl", iopl),
    ("ioperm", ioperm),
    ("modify-ldt", modify_ldt),
    ("uselib", uselib),
    ("ustat", ustat),
    ("sysfs-call", sysfs_call),
    ("process-mrelease", |_| {
        reached(libc::SYS_process_mrelease, &[-1, 0], libc::EBADF)
    }),
    ("pidfd-getfd-self", |_| {
        reached(libc::SYS_pidfd_getfd, &[-1, 0, 0], libc::EBADF)
    }),
    ("set-mempolicy", |_| {
        reached(libc::SYS_set_mempolicy, &[0, 0, 0], 0)
    }),
    ("ptrace-traceme", |_| {
        reached(libc::SYS_ptrace, &[0, 0, 0, 0], 0)
    }),
];

/// Open if the call succeeds, or fails only because of what it was given.
fn reached(number: libc::c_long, arguments: &[i64], given: i32) -> Outcome {
    match call(number, arguments) {
        Ok(_) => Ok(()),
        Err(error) if given != 0 && error.raw_os_error() == Some(given) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// A counter of the own program: harmless, but the way to many a hole.
fn perf_event(_: &Setting) -> Outcome {
    let mut event = [0_u64; 16];
    event[0] = 1 | (128 << 32);
    event[1] = 1;
    let arguments = [address(&event), 0, -1, -1, 0];
    reached(libc::SYS_perf_event_open, &arguments, 0)
}

fn io_uring(_: &Setting) -> Outcome {
    let mut wanted = [0_u32; 30];
    let arguments = [1, &raw mut wanted as i64];
    reached(libc::SYS_io_uring_setup, &arguments, 0)
}

fn add_key(_: &Setting) -> Outcome {
    let (kind, name) = (c"user", c"tagout-escape");
    let arguments = [
        address(kind.to_bytes_with_nul()),
        address(name.to_bytes_with_nul()),
        address(b"x"),
        1,
        -1,
    ];
    reached(libc::SYS_add_key, &arguments, 0)
}

fn request_key(_: &Setting) -> Outcome {
    let (kind, name) = (c"user", c"tagout-escape-none");
    let arguments = [
        address(kind.to_bytes_with_nul()),
        address(name.to_bytes_with_nul()),
        0,
        0,
    ];
    reached(libc::SYS_request_key, &arguments, libc::ENOKEY)
}

/// Sets the time to what it is.
fn settimeofday(_: &Setting) -> Outcome {
    let mut now = [0_i64; 2];
    call(libc::SYS_gettimeofday, &[&raw mut now as i64, 0])?;
    reached(libc::SYS_settimeofday, &[address(&now), 0], 0)
}

fn clock_settime(_: &Setting) -> Outcome {
    let mut now = [0_i64; 2];
    call(libc::SYS_clock_gettime, &[0, &raw mut now as i64])?;
    reached(libc::SYS_clock_settime, &[0, address(&now)], 0)
}

/// Asks to change the frequency to what it is; reading alone is allowed to everyone.
fn adjtimex(_: &Setting) -> Outcome {
    let mut values = [0_u64; 26];
    call(libc::SYS_adjtimex, &[&raw mut values as i64])?;
    values[0] = 2;
    reached(libc::SYS_adjtimex, &[&raw mut values as i64], 0)
}

fn sethostname(_: &Setting) -> Outcome {
    reached(libc::SYS_sethostname, &[address(b"x"), -1], libc::EINVAL)
}

fn setdomainname(_: &Setting) -> Outcome {
    reached(libc::SYS_setdomainname, &[address(b"x"), -1], libc::EINVAL)
}

#[cfg(target_arch = "x86_64")]
mod of_this_machine {
    use super::{Outcome, Setting, reached};

    pub(crate) fn lookup_dcookie(_: &Setting) -> Outcome {
        reached(libc::SYS_lookup_dcookie, &[0, 0, 0], libc::EINVAL)
    }

    pub(crate) fn nfsservctl(_: &Setting) -> Outcome {
        reached(180, &[0, 0, 0], libc::EINVAL)
    }

    pub(crate) fn iopl(_: &Setting) -> Outcome {
        reached(libc::SYS_iopl, &[3], 0)
    }

    pub(crate) fn ioperm(_: &Setting) -> Outcome {
        reached(libc::SYS_ioperm, &[0x80, 1, 1], 0)
    }

    pub(crate) fn modify_ldt(_: &Setting) -> Outcome {
        reached(libc::SYS_modify_ldt, &[0, 0, 0], 0)
    }

    pub(crate) fn uselib(_: &Setting) -> Outcome {
        reached(libc::SYS_uselib, &[0], libc::EFAULT)
    }

    pub(crate) fn ustat(_: &Setting) -> Outcome {
        reached(libc::SYS_ustat, &[0, 0], libc::EINVAL)
    }

    pub(crate) fn sysfs_call(_: &Setting) -> Outcome {
        reached(libc::SYS_sysfs, &[3, 0, 0], 0)
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod of_this_machine {
    use super::{Outcome, Setting};
    use crate::outcome::stop;

    macro_rules! absent {
        ($($name:ident)*) => {$(
            pub(crate) fn $name(_: &Setting) -> Outcome {
                Err(stop("no such call"))
            }
        )*};
    }
    absent!(lookup_dcookie nfsservctl iopl ioperm modify_ldt uselib ustat sysfs_call);
}

use of_this_machine::{
    ioperm, iopl, lookup_dcookie, modify_ldt, nfsservctl, sysfs_call, uselib, ustat,
};
