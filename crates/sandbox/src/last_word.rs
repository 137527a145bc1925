//! What a process says when it can say nothing else: on a signal, after a crash, or when its time
//! is over.
//!
//! The bytes are made beforehand, because a signal handler may neither allocate nor lock. Whoever
//! speaks first is the only one: an answer and a last word never mix.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// What is said, where, and with which code the process then ends.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LastWord {
    /// For standard output.
    pub stdout: Vec<u8>,
    /// For standard error.
    pub stderr: Vec<u8>,
    /// The exit code.
    pub code: u8,
}

static SPOKEN: AtomicBool = AtomicBool::new(false);

/// Takes the right to speak. `false` when someone did already, who then ends the process too.
pub fn take_the_floor() -> bool {
    !SPOKEN.swap(true, Ordering::SeqCst)
}

/// Writes an answer whole: to standard error, then to standard output. `false` when standard output
/// can't take it; what standard error does not take is not needed.
#[cfg(target_os = "linux")]
pub fn speak(stderr: &[u8], stdout: &[u8]) -> bool {
    let _told = handling::write(libc::STDERR_FILENO, stderr);
    handling::write(libc::STDOUT_FILENO, stdout)
}

/// The same where the system's own writing has to do.
#[cfg(not(target_os = "linux"))]
pub fn speak(stderr: &[u8], stdout: &[u8]) -> bool {
    use std::io::Write as _;
    std::io::stderr().write_all(stderr).unwrap_or_default();
    let mut out = std::io::stdout().lock();
    out.write_all(stdout).and_then(|()| out.flush()).is_ok()
}

/// Has the last word said when this process is asked to end, when it crashes, and `after` that
/// time, unless someone took the floor before. A file that grows beyond its limit is an error from
/// now on and no signal.
#[cfg(target_os = "linux")]
pub fn last_word(word: LastWord, after: Duration) -> std::io::Result<()> {
    handling::prepare(word);
    handling::stand_aside()?;
    handling::watch()?;
    handling::wake(after)
}

/// Other systems have no last words yet: what ends the process there, ends it without one.
#[cfg(not(target_os = "linux"))]
pub fn last_word(_word: LastWord, _after: Duration) -> std::io::Result<()> {
    Ok(())
}

#[cfg(target_os = "linux")]
#[allow(
    unsafe_code,
    reason = "no safe interface answers from inside a signal handler"
)]
mod handling {
    use std::io;
    use std::mem::MaybeUninit;
    use std::ptr;
    use std::sync::atomic::{AtomicPtr, Ordering};
    use std::time::Duration;

    use tagout_vocab::limits::LAST_WORD_MS_MAX;

    use super::{LastWord, take_the_floor};

    /// Room for what the processor keeps when it leaves a function, and for the handler.
    const STACK_BYTES: usize = 64 * 1024;

    static WORD: AtomicPtr<LastWord> = AtomicPtr::new(ptr::null_mut());

    /// What asks a process to end, and the timer. An answer that is being written goes on.
    const ENDINGS: [libc::c_int; 13] = [
        libc::SIGALRM,
        libc::SIGTERM,
        libc::SIGINT,
        libc::SIGHUP,
        libc::SIGQUIT,
        libc::SIGXCPU,
        libc::SIGUSR1,
        libc::SIGUSR2,
        libc::SIGVTALRM,
        libc::SIGPROF,
        libc::SIGIO,
        libc::SIGPWR,
        libc::SIGSTKFLT,
    ];

    /// What a process that is broken gets. There is no way back from these.
    const CRASHES: [libc::c_int; 7] = [
        libc::SIGSEGV,
        libc::SIGBUS,
        libc::SIGABRT,
        libc::SIGILL,
        libc::SIGFPE,
        libc::SIGSYS,
        libc::SIGTRAP,
    ];

    pub(super) fn prepare(word: LastWord) {
        // It lives as long as the process: a handler may look at it at any time.
        WORD.store(Box::into_raw(Box::new(word)), Ordering::SeqCst);
    }

    /// Gives handlers a stack of their own: where the usual one has run out, there is still a word
    /// to say.
    pub(super) fn stand_aside() -> io::Result<()> {
        let (access, how) = (
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_STACK,
        );
        // SAFETY: a new mapping that nothing else uses; it lives as long as the process.
        let memory = unsafe { libc::mmap(ptr::null_mut(), STACK_BYTES, access, how, -1, 0) };
        if memory == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let stack = libc::stack_t {
            ss_sp: memory,
            ss_flags: 0,
            ss_size: STACK_BYTES,
        };
        // SAFETY: the stack is whole and of the size that it says.
        let failed = unsafe { libc::sigaltstack(&raw const stack, ptr::null_mut()) };
        if failed == 0 {
            Ok(())
        } else {
            Err(io::Error::last_os_error())
        }
    }

    pub(super) fn watch() -> io::Result<()> {
        for signal in ENDINGS.into_iter().chain(CRASHES) {
            handle(signal, said as *const () as libc::sighandler_t)?;
        }
        handle(libc::SIGXFSZ, libc::SIG_IGN)
    }

    fn handle(signal: libc::c_int, handler: libc::sighandler_t) -> io::Result<()> {
        let mut action = MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: a zeroed `sigaction` is a valid one; the handler is an `extern "C"` function of
        // the right type or a constant that stands for one; it only does what a handler may.
        let failed = unsafe {
            let action = action.assume_init_mut();
            action.sa_sigaction = handler;
            action.sa_flags = libc::SA_ONSTACK | libc::SA_RESTART;
            libc::sigaction(signal, ptr::from_ref(action), ptr::null_mut())
        };
        if failed == 0 {
            Ok(())
        } else {
            Err(io::Error::last_os_error())
        }
    }

    pub(super) fn wake(after: Duration) -> io::Result<()> {
        let timer = libc::itimerval {
            it_interval: libc::timeval {
                tv_sec: 0,
                tv_usec: 0,
            },
            it_value: libc::timeval {
                tv_sec: libc::time_t::try_from(after.as_secs()).unwrap_or(libc::time_t::MAX),
                tv_usec: libc::suseconds_t::from(after.subsec_micros()),
            },
        };
        // SAFETY: the timer is whole, and no old one is asked for.
        let failed =
            unsafe { libc::setitimer(libc::ITIMER_REAL, &raw const timer, ptr::null_mut()) };
        if failed == 0 {
            Ok(())
        } else {
            Err(io::Error::last_os_error())
        }
    }

    extern "C" fn said(signal: libc::c_int) {
        let word = WORD.load(Ordering::SeqCst);
        // SAFETY: the pointer is null or what `prepare` made and nobody frees or changes.
        let Some(word) = (unsafe { word.as_ref() }) else {
            return;
        };
        if take_the_floor() {
            // There is nobody to tell that nobody reads.
            let _told = write(libc::STDERR_FILENO, &word.stderr);
            let _said = write(libc::STDOUT_FILENO, &word.stdout);
        } else if !CRASHES.contains(&signal) {
            return;
        }
        // SAFETY: it ends the process at once, without running anything else.
        unsafe { libc::_exit(libc::c_int::from(word.code)) }
    }

    /// Writes everything, also where the other end takes it only bit by bit. `false` when it can't
    /// be written.
    pub(super) fn write(to: libc::c_int, mut bytes: &[u8]) -> bool {
        while !bytes.is_empty() {
            // SAFETY: the pointer and the length are those of a slice that lives on.
            let written = unsafe { libc::write(to, bytes.as_ptr().cast(), bytes.len()) };
            let rest = usize::try_from(written).ok().and_then(|at| bytes.get(at..));
            match rest {
                Some(rest) if written > 0 => bytes = rest,
                _ if !goes_on(to) => return false,
                _ => {}
            }
        }
        true
    }

    /// Whether a write that failed can be tried again: at once, or when there is room.
    fn goes_on(to: libc::c_int) -> bool {
        // SAFETY: it gives the address of this thread's own number.
        let why = unsafe { *libc::__errno_location() };
        if why == libc::EINTR {
            return true;
        }
        if why != libc::EAGAIN {
            return false;
        }
        let mut room = libc::pollfd {
            fd: to,
            events: libc::POLLOUT,
            revents: 0,
        };
        // SAFETY: one whole entry, which lives on.
        let found = unsafe { libc::poll(&raw mut room, 1, LAST_WORD_MS_MAX) };
        // SAFETY: as above.
        let why = unsafe { *libc::__errno_location() };
        found > 0 || (found < 0 && why == libc::EINTR)
    }
}
