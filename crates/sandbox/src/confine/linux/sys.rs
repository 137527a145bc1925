//! The system calls that have no safe form elsewhere, each behind a signature that has one.

#![expect(
    unsafe_code,
    reason = "processes, signals and mounts are made by raw system calls; every block says why it \
              holds, and nothing else in the crate needs one"
)]

use std::ffi::{CStr, CString, c_char, c_int};
use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::time::Duration;

/// Which side of a new process this is.
pub(super) enum Side {
    /// The one that asked, with the new one's id.
    Parent(i32),
    /// The new one.
    Child,
}

fn checked(result: c_int) -> io::Result<c_int> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}

/// Makes a process in new name spaces (`CLONE_NEW*`). The calling process must never have had a
/// second thread: the new one goes on with a copy of all of its memory, locks included.
pub(super) fn clone_into(namespaces: c_int) -> io::Result<Side> {
    let flags = libc::c_long::from(namespaces | libc::SIGCHLD);
    // SAFETY: without CLONE_VM and with no stack given this is `fork`; no pointer is passed, and
    // the helper that calls it has one thread only, so the copy is in a consistent state.
    let pid = unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) };
    match i32::try_from(pid) {
        Ok(0) => Ok(Side::Child),
        Ok(pid) if pid > 0 => Ok(Side::Parent(pid)),
        Ok(_) | Err(_) => Err(io::Error::last_os_error()),
    }
}

/// The stack of a process that is about to become a program.
const STACK_BYTES: usize = 256 * 1024;

/// Makes a process that shares this one's memory until it becomes a program or ends; this one
/// stands still until then. Copying the memory, and copying it page by page as it is written to,
/// costs more than all of what such a process does. What `body` leaves in memory is seen here.
pub(super) fn start_beside(body: &mut dyn FnMut()) -> io::Result<i32> {
    extern "C" fn begin(body: *mut libc::c_void) -> c_int {
        // SAFETY: the pointer is to the caller's `&mut dyn FnMut`, which stands still meanwhile.
        let body = unsafe { &mut *body.cast::<&mut dyn FnMut()>() };
        body();
        leave(127)
    }
    let mut body = body;
    let mut stack = vec![0_u128; STACK_BYTES / size_of::<u128>()];
    let end = stack.as_mut_ptr_range().end;
    // SAFETY: the stack is the new process's alone, aligned, and outlives it or its sharing of the
    // memory, because CLONE_VFORK keeps this process from going on before that. It has its own
    // copies of descriptors and signal actions. `body` outlives the call for the same reason.
    let pid = unsafe {
        libc::clone(
            begin,
            end.cast(),
            libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD,
            (&raw mut body).cast(),
        )
    };
    drop(stack);
    checked(pid)
}

/// Overwrites the environment that this process was started with, and forgets it: neither its
/// memory nor the kernel's word on it holds any of it afterwards. Nothing else may run beside it.
pub(super) fn forget_environment() {
    unsafe extern "C" {
        static mut environ: *mut *mut libc::c_char;
    }
    // SAFETY: `environ` is null or points to a list of writable strings that ends with null. The
    // process has one thread, and nothing borrows from the environment across this call.
    unsafe {
        let mut place = environ;
        while !place.is_null() && !(*place).is_null() {
            let text = *place;
            std::ptr::write_bytes(text, 0, libc::strlen(text));
            *place = std::ptr::null_mut();
            place = place.add(1);
        }
    }
}

/// Ends this process at once, without running anything that was registered for its end.
pub(super) fn leave(code: c_int) -> ! {
    // SAFETY: takes a number and does not return.
    unsafe { libc::_exit(code) }
}

/// What `mount_setattr` sets and clears.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MountAttributes {
    pub(super) set: u64,
    pub(super) clear: u64,
    pub(super) propagation: u64,
    pub(super) user_namespace: u64,
}

/// The mount is read-only.
pub(super) const READ_ONLY: u64 = 0x1;
/// Set-user-id bits mean nothing there.
pub(super) const NO_SUID: u64 = 0x2;
/// Device files can't be opened there.
pub(super) const NO_DEV: u64 = 0x4;

/// Sets attributes of the mount that `at` stands on; with `recursive` of all below it too.
pub(super) fn mount_setattr(
    at: impl AsFd,
    attributes: MountAttributes,
    recursive: bool,
) -> io::Result<()> {
    let flags = libc::AT_EMPTY_PATH | if recursive { libc::AT_RECURSIVE } else { 0 };
    // SAFETY: the descriptor is open, the path is an empty C string, and the structure is the
    // kernel's first version with its true size; all outlive the call.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            at.as_fd().as_raw_fd(),
            c"".as_ptr(),
            flags,
            &raw const attributes,
            size_of::<MountAttributes>(),
        )
    };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Marks every descriptor from `first` on to be closed when a program starts.
pub(super) fn close_on_exec_from(first: u32) -> io::Result<()> {
    // SAFETY: numbers only; marking closes nothing that this process still uses.
    let result = unsafe {
        libc::syscall(
            libc::SYS_close_range,
            first,
            u32::MAX,
            libc::CLOSE_RANGE_CLOEXEC,
        )
    };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Closes every descriptor from `first` on. Only for a process that has just begun and owns none.
pub(super) fn close_from(first: u32) -> io::Result<()> {
    // SAFETY: called before any owned descriptor beyond the standard ones exists in this process.
    let result = unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, 0) };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Every signal does again what it does by default, and none is held back. A hang-up that is
/// ignored stays so: nobody here does that, so whoever started the caller did, as `nohup` does.
pub(super) fn reset_signals() {
    // SAFETY: zeroed `sigaction` and `sigset_t` are valid values (SIG_DFL, no flags, empty set);
    // numbers that can't be changed are refused by the kernel, which is what is wanted.
    unsafe {
        let default: libc::sigaction = std::mem::zeroed();
        for signal in 1..=64 {
            let mut before = default;
            libc::sigaction(signal, &raw const default, &raw mut before);
            if signal == libc::SIGHUP && before.sa_sigaction == libc::SIG_IGN {
                libc::sigaction(signal, &raw const before, std::ptr::null_mut());
            }
        }
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
    }
}

/// Children vanish when they end, without being waited for.
pub(super) fn forget_children() {
    // SAFETY: SIG_IGN is a valid disposition for this signal and no handler code is involved.
    unsafe {
        libc::signal(libc::SIGCHLD, libc::SIG_IGN);
    }
}

/// Children are waited for.
pub(super) fn remember_children() {
    // SAFETY: SIG_DFL is a valid disposition for this signal and no handler code is involved.
    unsafe {
        libc::signal(libc::SIGCHLD, libc::SIG_DFL);
    }
}

/// A descriptor that becomes readable when a child ends; the signal itself is held back.
pub(super) fn child_events() -> io::Result<OwnedFd> {
    // SAFETY: the set is initialised by `sigemptyset` before it is used, and a descriptor that the
    // kernel returned is owned by nobody else.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, libc::SIGCHLD);
        checked(libc::sigprocmask(
            libc::SIG_BLOCK,
            &raw const set,
            std::ptr::null_mut(),
        ))?;
        let fd = checked(libc::signalfd(
            -1,
            &raw const set,
            libc::SFD_CLOEXEC | libc::SFD_NONBLOCK,
        ))?;
        Ok(OwnedFd::from_raw_fd(fd))
    }
}

/// Kills every process that this one may signal, itself aside. Only the first process of a pid name
/// space may call it: there that is the whole sandbox and nothing else.
pub(super) fn kill_all_others() {
    if rustix::process::getpid().as_raw_nonzero().get() == 1 {
        // SAFETY: numbers only; the guard above keeps it inside the sandbox's own name space.
        unsafe {
            libc::kill(-1, libc::SIGKILL);
        }
    }
}

/// Has the kernel wake this process after a time to kill every other one of its sandbox, whatever
/// it is doing then: among a thousand busy processes one look at them can take minutes. Without a
/// pid name space nothing is killed this way.
pub(super) fn kill_all_others_after(time: Duration) -> io::Result<()> {
    extern "C" fn woken(_: c_int) {
        kill_all_others();
    }
    let again = libc::timeval {
        tv_sec: 1,
        tv_usec: 0,
    };
    let timer = libc::itimerval {
        it_interval: again,
        it_value: libc::timeval {
            tv_sec: libc::time_t::try_from(time.as_secs()).unwrap_or(libc::time_t::MAX),
            tv_usec: libc::suseconds_t::from(time.subsec_micros()),
        },
    };
    // SAFETY: a zeroed `sigaction` is a valid one; the handler has the right type and makes two
    // calls that a handler may make; the timer is whole, and no old one is asked for.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = woken as *const () as libc::sighandler_t;
        action.sa_flags = libc::SA_RESTART;
        checked(libc::sigaction(
            libc::SIGALRM,
            &raw const action,
            std::ptr::null_mut(),
        ))?;
        checked(libc::setitimer(
            libc::ITIMER_REAL,
            &raw const timer,
            std::ptr::null_mut(),
        ))?;
    }
    Ok(())
}

/// Processor time of all children that were waited for.
pub(super) fn children_cpu() -> Duration {
    // SAFETY: a zeroed `rusage` is a valid value, and the kernel fills the one that it is given.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut usage);
        usage
    };
    span(usage.ru_utime) + span(usage.ru_stime)
}

fn span(time: libc::timeval) -> Duration {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let micros = u64::try_from(time.tv_usec).unwrap_or(0);
    Duration::from_secs(seconds) + Duration::from_micros(micros)
}

/// Becomes the program; returns only what went wrong.
pub(super) fn execute(program: &CStr, argv: &[CString], env: &[CString]) -> io::Error {
    let argv = pointers(argv);
    let env = pointers(env);
    // SAFETY: both lists end with a null pointer and point to C strings that outlive the call.
    unsafe {
        libc::execve(program.as_ptr(), argv.as_ptr(), env.as_ptr());
    }
    io::Error::last_os_error()
}

fn pointers(strings: &[CString]) -> Vec<*const c_char> {
    strings
        .iter()
        .map(|string| string.as_ptr())
        .chain(std::iter::once(std::ptr::null()))
        .collect()
}

/// Brings up the loopback device of this network name space.
pub(super) fn loopback_up() -> io::Result<()> {
    use rustix::net::{AddressFamily, SocketType, socket};
    let socket = socket(AddressFamily::INET, SocketType::DGRAM, None)?;
    // SAFETY: a zeroed `ifreq` is a valid value; the name is shorter than its field and ends with a
    // zero byte, and the flags are the variant that this request reads.
    let result = unsafe {
        let mut request: libc::ifreq = std::mem::zeroed();
        for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
            *to = from.cast_signed();
        }
        request.ifr_ifru.ifru_flags = 1 | 0x40;
        libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request)
    };
    checked(result).map(|_| ())
}

/// The kernel's Landlock version; 0 where there is none or it is switched off.
pub(super) fn landlock_abi() -> u32 {
    const VERSION: u32 = 1;
    // SAFETY: a null pointer with size zero and this flag only asks for the version.
    let version = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::null::<u8>(),
            0usize,
            VERSION,
        )
    };
    u32::try_from(version).unwrap_or(0)
}

/// Closes a descriptor in a process that will never drop its owner.
pub(super) fn abandon(descriptor: impl AsFd) {
    // SAFETY: the caller is a freshly cloned process that ends by `_exit` or by starting a program,
    // so the owner's own closing is never run, and the number is not used again before that.
    unsafe {
        libc::close(descriptor.as_fd().as_raw_fd());
    }
}

/// Takes every capability out of the bounding set, those of newer kernels too.
pub(super) fn empty_bounding_set() -> io::Result<()> {
    const CAPABILITIES_MAX: libc::c_ulong = 64;
    for capability in 0..CAPABILITIES_MAX {
        // SAFETY: numbers only.
        if unsafe { libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) } != 0 {
            let error = io::Error::last_os_error();
            // The kernel knows no capability of this number, and none beyond.
            return match error.raw_os_error() {
                Some(libc::EINVAL) => Ok(()),
                Some(_) | None => Err(error),
            };
        }
    }
    Ok(())
}
