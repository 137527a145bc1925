//! Signals that ask this process to end, heard while it waits for a command.
//!
//! They are held back and read from a descriptor by who waits, so that no thread is needed that
//! would have to be ended first when the process leaves.

#[cfg(target_os = "linux")]
#[allow(
    unsafe_code,
    reason = "no safe interface blocks signals and turns them into a descriptor"
)]
mod waiting {
    use std::io;
    use std::mem::MaybeUninit;
    use std::os::fd::{FromRawFd as _, OwnedFd};

    /// The signals that people and systems end a program with.
    const ENDINGS: [libc::c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

    /// Whether who started this process wants it to go on, as `nohup` does.
    fn is_ignored(signal: libc::c_int) -> bool {
        let mut now = MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: nothing is set; what is set is written to a value of its type, which all zeroes
        // are too.
        unsafe {
            libc::sigaction(signal, std::ptr::null(), now.as_mut_ptr());
            now.assume_init().sa_sigaction == libc::SIG_IGN
        }
    }

    fn endings() -> libc::sigset_t {
        let mut set = MaybeUninit::<libc::sigset_t>::uninit();
        // SAFETY: `sigemptyset` fills the set that it is given; `sigaddset` gets a filled one and
        // numbers that exist.
        unsafe {
            libc::sigemptyset(set.as_mut_ptr());
            for signal in ENDINGS.into_iter().filter(|signal| !is_ignored(*signal)) {
                libc::sigaddset(set.as_mut_ptr(), signal);
            }
            set.assume_init()
        }
    }

    /// Holds the signals back in this thread and every one that it starts; they are read from the
    /// descriptor, which never makes anybody wait.
    pub(super) fn hold() -> io::Result<OwnedFd> {
        let set = endings();
        // SAFETY: the set is whole, and no old set is asked for.
        let failed =
            unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut()) };
        if failed != 0 {
            return Err(io::Error::from_raw_os_error(failed));
        }
        // SAFETY: the set is whole; a new descriptor is asked for.
        let fd =
            unsafe { libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the kernel just made this descriptor for this process, and nobody else has it.
        Ok(unsafe { OwnedFd::from_raw_fd(fd) })
    }
}

#[cfg(target_os = "linux")]
mod heard {
    use std::io;
    use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
    use std::sync::{Mutex, OnceLock, PoisonError};

    use super::waiting;

    type Then = Box<dyn FnMut(u8) + Send>;

    static SIGNALS: OnceLock<OwnedFd> = OnceLock::new();
    static THEN: Mutex<Option<Then>> = Mutex::new(None);

    /// A notice begins with the signal's number.
    const NOTICE_BYTES: usize = size_of::<libc::signalfd_siginfo>();

    /// Calls back for each signal that asks this process to end, in the thread that waits for a
    /// command, or that asks with [`hear_interrupts`]. It has to be set up before other threads are
    /// started; from then on the signals end nothing by themselves.
    pub fn on_interrupt(then: impl FnMut(u8) + Send + 'static) -> io::Result<()> {
        let signals = waiting::hold()?;
        *THEN.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(then));
        // A second word changes who is called; the descriptor is the same for all.
        SIGNALS.set(signals).ok();
        Ok(())
    }

    /// Becomes readable when there is one to hear.
    pub(crate) fn interrupts() -> Option<BorrowedFd<'static>> {
        SIGNALS.get().map(OwnedFd::as_fd)
    }

    /// Calls back for those that came, and waits for none.
    pub fn hear_interrupts() {
        let Some(signals) = interrupts() else {
            return;
        };
        let mut notice = [0_u8; NOTICE_BYTES];
        while rustix::io::read(signals, &mut notice).is_ok_and(|length| length == NOTICE_BYTES) {
            let number = notice
                .first_chunk()
                .map_or(0, |bytes| u32::from_ne_bytes(*bytes));
            if let Some(then) = &mut *THEN.lock().unwrap_or_else(PoisonError::into_inner) {
                then(u8::try_from(number).unwrap_or(u8::MAX));
            }
        }
    }
}

#[cfg(target_os = "linux")]
pub(crate) use heard::interrupts;
#[cfg(target_os = "linux")]
pub use heard::{hear_interrupts, on_interrupt};

/// There is nothing to end on this system, so the signals keep their meaning.
#[cfg(not(target_os = "linux"))]
pub fn on_interrupt(then: impl FnMut(u8) + Send + 'static) -> std::io::Result<()> {
    drop(then);
    Ok(())
}

/// There is nothing to hear on this system.
#[cfg(not(target_os = "linux"))]
pub fn hear_interrupts() {}
