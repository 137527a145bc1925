//! Reaching processes outside, and the first process of the sandbox.

use std::fs::{self, OpenOptions};
use std::io::{Seek as _, SeekFrom, Write as _};
use std::os::fd::AsRawFd as _;
use std::path::Path;

use crate::outcome::{Attempt, Outcome, any, at, last, only_if, stop};
use crate::setting::Setting;
use crate::sys::{self, address, call};

pub(crate) const ATTEMPTS: &[Attempt] = &[
    ("victim-signal", victim_signal),
    ("victim-thread-signal", victim_thread_signal),
    ("victim-queued-signal", victim_queued_signal),
    ("victim-pidfd-signal", victim_pidfd_signal),
    ("victim-pidfd-getfd", victim_pidfd_getfd),
    ("victim-pidfd-setns", victim_pidfd_setns),
    ("victim-ptrace-seize", victim_ptrace),
    ("victim-process-madvise", victim_process_madvise),
    ("victim-memory-read", victim_memory_read),
    ("victim-memory-write", victim_memory_write),
    ("victim-proc-mem", victim_proc_mem),
    ("victim-environ", victim_environ),
    ("victim-cmdline", victim_cmdline),
    ("victim-root-write", victim_root_write),
    ("victim-cwd-write", victim_cwd_write),
    ("victim-fd", victim_fd),
    ("victim-rlimit", victim_rlimit),
    ("victim-priority", victim_priority),
    ("victim-affinity", victim_affinity),
    ("victim-kcmp", victim_kcmp),
    ("victim-perf", victim_perf),
    ("victim-setns", victim_setns),
    ("victim-oom-score", victim_oom_score),
    ("others-visible", others_visible),
    ("group-signal", group_signal),
    ("init-kill", init_kill),
    ("init-stop", init_stop),
    ("init-ptrace", init_ptrace),
    ("init-mem", init_mem),
    ("init-environ", init_environ),
    ("init-root-write", init_root_write),
    ("init-cwd-write", init_cwd_write),
    ("init-fd", init_fd),
    ("init-pidfd-getfd", init_pidfd_getfd),
    ("init-setns", init_setns),
    ("init-rlimit", init_rlimit),
    ("parent-ptrace", parent_ptrace),
    ("parent-mem", parent_mem),
    ("shared-memory", shared_memory),
];

fn victim_signal(setting: &Setting) -> Outcome {
    // SAFETY: takes plain numbers; the signal is one that nobody minds.
    sys::checked(unsafe { libc::kill(setting.victim, libc::SIGURG) })?;
    Ok(())
}

fn victim_thread_signal(setting: &Setting) -> Outcome {
    let victim = i64::from(setting.victim);
    call(libc::SYS_tgkill, &[victim, victim, i64::from(libc::SIGURG)])?;
    Ok(())
}

fn victim_queued_signal(setting: &Setting) -> Outcome {
    let value = libc::sigval {
        sival_ptr: std::ptr::null_mut(),
    };
    // SAFETY: takes plain numbers.
    sys::checked(unsafe { libc::sigqueue(setting.victim, libc::SIGURG, value) })?;
    Ok(())
}

fn pidfd(process: i32) -> Result<std::os::fd::OwnedFd, crate::outcome::Stop> {
    let fd = call(libc::SYS_pidfd_open, &[i64::from(process), 0]).map_err(at("pidfd_open"))?;
    Ok(sys::owned(fd)?)
}

fn victim_pidfd_signal(setting: &Setting) -> Outcome {
    let fd = pidfd(setting.victim)?;
    let arguments = [i64::from(fd.as_raw_fd()), i64::from(libc::SIGURG), 0, 0];
    call(libc::SYS_pidfd_send_signal, &arguments)?;
    Ok(())
}

fn getfd(process: i32) -> Outcome {
    let fd = pidfd(process)?;
    let mut outcomes = Vec::new();
    for number in 0..8 {
        let taken = call(
            libc::SYS_pidfd_getfd,
            &[i64::from(fd.as_raw_fd()), number, 0],
        );
        outcomes.push(taken.map(drop).map_err(at("pidfd_getfd")));
    }
    any(outcomes)
}

fn victim_pidfd_getfd(setting: &Setting) -> Outcome {
    getfd(setting.victim)
}

fn init_pidfd_getfd(_: &Setting) -> Outcome {
    getfd(1)
}

fn victim_pidfd_setns(setting: &Setting) -> Outcome {
    let fd = pidfd(setting.victim)?;
    let kinds = i64::from(libc::CLONE_NEWNS | libc::CLONE_NEWNET);
    call(libc::SYS_setns, &[i64::from(fd.as_raw_fd()), kinds])?;
    Ok(())
}

fn seize(process: i32) -> Outcome {
    let arguments = [i64::from(libc::PTRACE_SEIZE), i64::from(process), 0, 0];
    call(libc::SYS_ptrace, &arguments)?;
    Ok(())
}

fn victim_ptrace(setting: &Setting) -> Outcome {
    seize(setting.victim)
}

fn init_ptrace(_: &Setting) -> Outcome {
    seize(1)
}

fn parent_ptrace(_: &Setting) -> Outcome {
    // SAFETY: takes nothing.
    seize(unsafe { libc::getppid() })
}

fn victim_process_madvise(setting: &Setting) -> Outcome {
    let fd = pidfd(setting.victim)?;
    let range = [0x1000_u64, 0x1000];
    let cold = 20;
    let arguments = [i64::from(fd.as_raw_fd()), address(&range), 1, cold, 0];
    call(libc::SYS_process_madvise, &arguments)?;
    Ok(())
}

fn transfer(number: libc::c_long, process: i32) -> Outcome {
    let mut byte = 0_u8;
    let here = libc::iovec {
        iov_base: (&raw mut byte).cast(),
        iov_len: 1,
    };
    // Programs that are not moved about start here; for all others the error tells whether memory
    // could be looked at.
    let there = libc::iovec {
        iov_base: 0x40_0000 as *mut libc::c_void,
        iov_len: 1,
    };
    let arguments = [i64::from(process), address(&here), 1, address(&there), 1, 0];
    match call(number, &arguments) {
        Ok(_) => Ok(()),
        // The place is wrong, but the right to look was given.
        Err(error) if error.raw_os_error() == Some(libc::EFAULT) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn victim_memory_read(setting: &Setting) -> Outcome {
    transfer(libc::SYS_process_vm_readv, setting.victim)
}

fn victim_memory_write(setting: &Setting) -> Outcome {
    transfer(libc::SYS_process_vm_writev, setting.victim)
}

/// Opens the memory of a process for writing and looks at a page that every process has.
fn memory(process: &str) -> Outcome {
    let maps = fs::read_to_string(format!("/proc/{process}/maps")).map_err(at("maps"))?;
    let start = maps
        .lines()
        .find(|line| line.contains(" r"))
        .and_then(|line| line.split('-').next())
        .and_then(|text| u64::from_str_radix(text, 16).ok())
        .ok_or_else(|| stop("no mapping is shown"))?;
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .open(format!("/proc/{process}/mem"))
        .map_err(at("mem"))?;
    file.seek(SeekFrom::Start(start))?;
    let mut byte = [0; 1];
    std::io::Read::read_exact(&mut file, &mut byte)?;
    Ok(())
}

fn victim_proc_mem(setting: &Setting) -> Outcome {
    memory(&setting.victim.to_string())
}

fn init_mem(_: &Setting) -> Outcome {
    memory("1")
}

fn parent_mem(_: &Setting) -> Outcome {
    // SAFETY: takes nothing.
    let parent = unsafe { libc::getppid() };
    memory(&parent.to_string())
}

/// Whether the victim's number means the victim here, and not some process of the sandbox.
fn is_victim(setting: &Setting) -> bool {
    fs::read_to_string(format!("/proc/{}/environ", setting.victim))
        .is_ok_and(|text| text.contains(&setting.secret))
}

fn victim_environ(setting: &Setting) -> Outcome {
    let text = fs::read_to_string(format!("/proc/{}/environ", setting.victim))?;
    only_if(text.contains(&setting.secret), "another process")
}

fn victim_cmdline(setting: &Setting) -> Outcome {
    fs::read(format!("/proc/{}/cmdline", setting.victim))?;
    only_if(is_victim(setting), "another process")
}

fn write_below(root: &str, setting: &Setting, name: &str) -> Outcome {
    let outside = setting
        .outside
        .strip_prefix("/")
        .unwrap_or(&setting.outside);
    Ok(fs::write(Path::new(root).join(outside).join(name), b"x")?)
}

fn victim_root_write(setting: &Setting) -> Outcome {
    let root = format!("/proc/{}/root", setting.victim);
    write_below(&root, setting, "fresh-victim-root")
}

fn victim_cwd_write(setting: &Setting) -> Outcome {
    let root = format!("/proc/{}/cwd/{}", setting.victim, "../".repeat(64));
    write_below(&root, setting, "fresh-victim-cwd")
}

fn init_root_write(setting: &Setting) -> Outcome {
    write_below("/proc/1/root", setting, "fresh-init-root")
}

fn init_cwd_write(setting: &Setting) -> Outcome {
    let root = format!("/proc/1/cwd/{}", "../".repeat(64));
    write_below(&root, setting, "fresh-init-cwd")
}

fn descriptors(process: &str) -> Outcome {
    let folder = format!("/proc/{process}/fd");
    let mut outcomes = vec![];
    for entry in fs::read_dir(folder)?.flatten() {
        let opened = OpenOptions::new().read(true).open(entry.path());
        outcomes.push(opened.map(drop).map_err(at("open")));
    }
    any(outcomes)
}

fn victim_fd(setting: &Setting) -> Outcome {
    descriptors(&setting.victim.to_string())
}

fn init_fd(_: &Setting) -> Outcome {
    descriptors("1")
}

/// Sets a limit of another process to what it already is.
fn rlimit(process: i32) -> Outcome {
    let mut now = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    let resource = libc::RLIMIT_CORE;
    // SAFETY: both pointers are to live values, of which the second one is writable.
    sys::checked(unsafe { libc::prlimit(process, resource, std::ptr::null(), &raw mut now) })?;
    // SAFETY: as above.
    sys::checked(unsafe {
        libc::prlimit(process, resource, &raw const now, std::ptr::null_mut())
    })?;
    Ok(())
}

fn victim_rlimit(setting: &Setting) -> Outcome {
    rlimit(setting.victim)
}

fn init_rlimit(_: &Setting) -> Outcome {
    rlimit(1)
}

fn victim_priority(setting: &Setting) -> Outcome {
    let process = u32::try_from(setting.victim).unwrap_or(0);
    // SAFETY: takes plain numbers.
    sys::checked(unsafe { libc::setpriority(libc::PRIO_PROCESS, process, 1) })?;
    Ok(())
}

fn victim_affinity(setting: &Setting) -> Outcome {
    let all = [u64::MAX; 16];
    let arguments = [i64::from(setting.victim), 128, address(&all)];
    call(libc::SYS_sched_setaffinity, &arguments)?;
    Ok(())
}

fn victim_kcmp(setting: &Setting) -> Outcome {
    // SAFETY: takes nothing.
    let own = unsafe { libc::getpid() };
    let arguments = [i64::from(own), i64::from(setting.victim), 1, 0, 0];
    call(libc::SYS_kcmp, &arguments)?;
    Ok(())
}

fn victim_perf(setting: &Setting) -> Outcome {
    // A software event: the processor's clock of a task.
    let mut event = [0_u64; 16];
    event[0] = 1 | (128 << 32);
    event[1] = 1;
    let arguments = [address(&event), i64::from(setting.victim), -1, -1, 0];
    let fd = call(libc::SYS_perf_event_open, &arguments)?;
    drop(sys::owned(fd)?);
    Ok(())
}

fn setns(process: &str) -> Outcome {
    let mut outcomes = vec![];
    for kind in ["mnt", "net", "user", "pid", "ipc", "uts", "cgroup"] {
        let opened = sys::open(format!("/proc/{process}/ns/{kind}"), libc::O_RDONLY);
        outcomes.push(match opened {
            Ok(fd) => call(libc::SYS_setns, &[i64::from(fd.as_raw_fd()), 0])
                .map(drop)
                .map_err(at("setns")),
            Err(error) => Err(at("open")(error)),
        });
    }
    any(outcomes)
}

fn victim_setns(setting: &Setting) -> Outcome {
    setns(&setting.victim.to_string())
}

fn init_setns(_: &Setting) -> Outcome {
    setns("1")
}

fn victim_oom_score(setting: &Setting) -> Outcome {
    let file = format!("/proc/{}/oom_score_adj", setting.victim);
    let now = fs::read(&file)?;
    OpenOptions::new()
        .write(true)
        .open(&file)?
        .write_all(&now)?;
    only_if(is_victim(setting), "another process")
}

/// Processes of the machine in `/proc`. The kernel's own thread number two is on every machine and
/// in no sandbox.
fn others_visible(setting: &Setting) -> Outcome {
    let kernel = fs::read_to_string("/proc/2/comm").is_ok_and(|text| text.trim() == "kthreadd");
    only_if(kernel || is_victim(setting), "only its own are shown")
}

/// The process group of whoever launched it.
fn group_signal(_: &Setting) -> Outcome {
    // SAFETY: takes plain numbers; nobody minds the signal.
    let group = unsafe { libc::getpgrp() };
    // In a sandbox the group is made inside; outside it has members that are older than this
    // program's parent.
    let leader = fs::read_to_string(format!("/proc/{group}/stat"));
    only_if(group != 0 && leader.is_err(), "the group is its own")
}

fn init_kill(_: &Setting) -> Outcome {
    // SAFETY: takes plain numbers. Whoever can end the first process of the machine is beyond help;
    // an ordinary user can't, and inside a sandbox only the sandbox would end.
    let answer = unsafe { libc::kill(1, 0) };
    if answer != 0 {
        return Err(last("kill"));
    }
    if fs::read_link("/proc/1/ns/pid").ok() != fs::read_link("/proc/self/ns/pid").ok() {
        return Err(stop("number 1 is of another namespace"));
    }
    // SAFETY: as above.
    unsafe { libc::kill(1, libc::SIGTERM) };
    std::thread::sleep(std::time::Duration::from_millis(20));
    Err(stop("the signal is ignored"))
}

fn init_stop(_: &Setting) -> Outcome {
    // SAFETY: takes plain numbers, and see above.
    let answer = unsafe { libc::kill(1, 0) };
    if answer != 0 {
        return Err(last("kill"));
    }
    // SAFETY: as above.
    unsafe { libc::kill(1, libc::SIGSTOP) };
    let stat = fs::read_to_string("/proc/1/stat").unwrap_or_default();
    let stopped = stat
        .rsplit(") ")
        .next()
        .is_some_and(|rest| rest.starts_with('T'));
    only_if(stopped, "the signal is ignored")
}

fn init_environ(setting: &Setting) -> Outcome {
    let text = fs::read_to_string("/proc/1/environ")?;
    only_if(
        text.contains(&setting.secret) || text.contains(&setting.variable),
        "nothing of the launcher is in it",
    )
}

fn shared_memory(setting: &Setting) -> Outcome {
    // SAFETY: takes plain numbers.
    sys::checked(unsafe { libc::shmget(setting.shm_key, 0, 0) })?;
    Ok(())
}
