//! Gaining rights that the command was started without.

use std::fs;
use std::os::fd::AsRawFd as _;

use crate::outcome::{Attempt, Outcome, at, last, only_if};
use crate::setting::Setting;
use crate::sys::{self, address, call};

pub(crate) const ATTEMPTS: &[Attempt] = &[
    ("user-namespace", user_namespace),
    ("user-namespace-clone", user_namespace_clone),
    ("user-namespace-clone3", user_namespace_clone3),
    ("mount-namespace", mount_namespace),
    ("pid-namespace", pid_namespace),
    ("network-namespace", network_namespace),
    ("time-namespace", time_namespace),
    ("cgroup-namespace", cgroup_namespace),
    ("capabilities-held", capabilities_held),
    ("capabilities-set", capabilities_set),
    ("capabilities-bounding", capabilities_bounding),
    ("capabilities-ambient", capabilities_ambient),
    ("set-user", set_user),
    ("set-group", set_group),
    ("set-groups", set_groups),
    ("setuid-program", setuid_program),
    ("no-new-privileges-off", no_new_privileges_off),
    ("securebits", securebits),
    ("user-map-rewritten", user_map_rewritten),
    ("limit-raised", limit_raised),
    ("priority-raised", priority_raised),
    ("real-time", real_time),
    ("filter-listener", filter_listener),
    ("dumpable-program", dumpable_program),
    ("old-architecture", old_architecture),
    ("x32-architecture", x32_architecture),
    ("own-program-from-memory", own_program_from_memory),
];

fn unshare(kind: i32) -> Outcome {
    // SAFETY: takes a plain number, and this program has one thread.
    sys::checked(unsafe { libc::unshare(kind) })?;
    Ok(())
}

fn user_namespace(_: &Setting) -> Outcome {
    unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNS)
}

fn mount_namespace(_: &Setting) -> Outcome {
    unshare(libc::CLONE_NEWNS)
}

fn pid_namespace(_: &Setting) -> Outcome {
    unshare(libc::CLONE_NEWPID)
}

fn network_namespace(_: &Setting) -> Outcome {
    unshare(libc::CLONE_NEWNET)
}

fn time_namespace(_: &Setting) -> Outcome {
    unshare(0x80)
}

fn cgroup_namespace(_: &Setting) -> Outcome {
    unshare(libc::CLONE_NEWCGROUP)
}

fn user_namespace_clone(_: &Setting) -> Outcome {
    let flags = i64::from(libc::CLONE_NEWUSER | libc::SIGCHLD);
    let child = call(libc::SYS_clone, &[flags, 0, 0, 0, 0])?;
    if child == 0 {
        // SAFETY: ends the child at once.
        unsafe { libc::_exit(0) }
    }
    Ok(())
}

fn user_namespace_clone3(_: &Setting) -> Outcome {
    let mut arguments = [0_u64; 11];
    arguments[0] = libc::CLONE_NEWUSER as u64;
    arguments[4] = libc::SIGCHLD as u64;
    let child = call(libc::SYS_clone3, &[address(&arguments), 88])?;
    if child == 0 {
        // SAFETY: ends the child at once.
        unsafe { libc::_exit(0) }
    }
    Ok(())
}

fn status(field: &str) -> Option<u64> {
    let text = fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find(|line| line.starts_with(field))?;
    u64::from_str_radix(line.split(':').nth(1)?.trim(), 16).ok()
}

fn capabilities_held(_: &Setting) -> Outcome {
    let held = ["CapInh", "CapPrm", "CapEff", "CapAmb"]
        .iter()
        .map(|field| status(field).unwrap_or(u64::MAX))
        .fold(0, |all, one| all | one);
    only_if(held != 0, "none is held")
}

fn capabilities_set(_: &Setting) -> Outcome {
    let header = [0x2008_0522_u32, 0];
    let all = [u32::MAX; 6];
    call(libc::SYS_capset, &[address(&header), address(&all)])?;
    Ok(())
}

fn capabilities_bounding(_: &Setting) -> Outcome {
    let mut held = 0;
    for number in 0..41 {
        // SAFETY: takes plain numbers.
        held += i32::from(unsafe { libc::prctl(libc::PR_CAPBSET_READ, number) } == 1);
    }
    only_if(held > 0, "the bounding set is empty")
}

fn capabilities_ambient(_: &Setting) -> Outcome {
    // SAFETY: takes plain numbers.
    sys::checked(unsafe { libc::prctl(libc::PR_CAP_AMBIENT, 2, 21, 0, 0) })?;
    Ok(())
}

fn set_user(_: &Setting) -> Outcome {
    // SAFETY: takes nothing.
    if unsafe { libc::getuid() } == 0 {
        // Already that user: another one is what must not be had.
        // SAFETY: takes a plain number.
        sys::checked(unsafe { libc::setuid(1) })?;
        return Ok(());
    }
    // SAFETY: takes a plain number.
    sys::checked(unsafe { libc::setuid(0) })?;
    Ok(())
}

fn set_group(_: &Setting) -> Outcome {
    // SAFETY: take plain numbers.
    let own = unsafe { libc::getgid() };
    // SAFETY: as above.
    sys::checked(unsafe { libc::setgid(u32::from(own == 0)) })?;
    Ok(())
}

fn set_groups(_: &Setting) -> Outcome {
    let groups = [0, 1, 4, 6];
    // SAFETY: the pointer is to as many live numbers as the length says.
    sys::checked(unsafe { libc::setgroups(groups.len(), groups.as_ptr()) })?;
    Ok(())
}

/// A program of the system that would run as root.
fn setuid_program(_: &Setting) -> Outcome {
    // SAFETY: takes plain numbers.
    let locked = unsafe { libc::prctl(libc::PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) } == 1;
    only_if(!locked, "no_new_privs is set")
}

fn no_new_privileges_off(_: &Setting) -> Outcome {
    // SAFETY: takes plain numbers.
    sys::checked(unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0) })?;
    Ok(())
}

fn securebits(_: &Setting) -> Outcome {
    // SAFETY: takes plain numbers.
    sys::checked(unsafe { libc::prctl(libc::PR_SET_SECUREBITS, 0, 0, 0, 0) })?;
    Ok(())
}

fn user_map_rewritten(_: &Setting) -> Outcome {
    Ok(fs::write("/proc/self/uid_map", "0 0 4294967295\n")?)
}

fn limit_raised(_: &Setting) -> Outcome {
    let most = libc::rlimit {
        rlim_cur: libc::RLIM_INFINITY,
        rlim_max: libc::RLIM_INFINITY,
    };
    // SAFETY: the pointer is to a live value.
    sys::checked(unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &raw const most) })?;
    Ok(())
}

fn priority_raised(_: &Setting) -> Outcome {
    // SAFETY: takes plain numbers.
    sys::checked(unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, -10) })?;
    Ok(())
}

fn real_time(_: &Setting) -> Outcome {
    let wanted = libc::sched_param { sched_priority: 1 };
    // SAFETY: the pointer is to a live value.
    sys::checked(unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const wanted) })?;
    Ok(())
}

/// A filter that lets this program answer the system calls of others. Harmless to those outside: it
/// only ever sees its own descendants.
fn filter_listener(_: &Setting) -> Outcome {
    let mut pass = libc::sock_filter {
        code: (libc::BPF_RET | libc::BPF_K) as u16,
        jt: 0,
        jf: 0,
        k: libc::SECCOMP_RET_ALLOW,
    };
    let program = libc::sock_fprog {
        len: 1,
        filter: &raw mut pass,
    };
    let fd = call(libc::SYS_seccomp, &[1, 8, address(&program)])?;
    drop(sys::owned(fd)?);
    Ok(())
}

/// A program that can't be read can't be looked into by its parent either; none may gain that.
fn dumpable_program(_: &Setting) -> Outcome {
    // SAFETY: takes plain numbers.
    let answer = unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 2, 0, 0, 0) };
    if answer != 0 {
        return Err(last("prctl"));
    }
    Ok(())
}

/// System calls of the 32-bit interface have other numbers, which a careless filter lets pass.
#[cfg(target_arch = "x86_64")]
fn old_architecture(_: &Setting) -> Outcome {
    let answer: i64;
    // SAFETY: `getpid` of the 32-bit interface touches no memory.
    unsafe {
        std::arch::asm!("int 0x80", inlateout("rax") 20_i64 => answer);
    }
    only_if(answer > 0, "no answer")
}

#[cfg(not(target_arch = "x86_64"))]
fn old_architecture(_: &Setting) -> Outcome {
    only_if(false, "no such interface")
}

#[cfg(target_arch = "x86_64")]
fn x32_architecture(_: &Setting) -> Outcome {
    call(0x4000_0000 + libc::SYS_getpid, &[])?;
    Ok(())
}

#[cfg(not(target_arch = "x86_64"))]
fn x32_architecture(_: &Setting) -> Outcome {
    only_if(false, "no such interface")
}

/// A program that lies in no file. It runs behind the same walls; what must not happen is that it
/// gains rights.
fn own_program_from_memory(_: &Setting) -> Outcome {
    use std::io::Write as _;
    let name = c"program";
    let fd = call(
        libc::SYS_memfd_create,
        &[address(name.to_bytes_with_nul()), 0],
    )
    .map_err(at("memfd_create"))?;
    let mut file = fs::File::from(sys::owned(fd)?);
    file.write_all(b"#!/bin/sh\ngrep -q 'CapEff:.*[1-9a-f]' /proc/self/status\n")?;
    let code = sys::in_child(|| {
        let empty = c"";
        let words = [c"program".as_ptr(), std::ptr::null()];
        let none: [*const libc::c_char; 1] = [std::ptr::null()];
        let arguments = [
            i64::from(file.as_raw_fd()),
            address(empty.to_bytes_with_nul()),
            words.as_ptr() as i64,
            none.as_ptr() as i64,
            i64::from(libc::AT_EMPTY_PATH),
        ];
        drop(call(libc::SYS_execveat, &arguments));
        126
    })?;
    only_if(code == 0, "it runs without any capability")
}
