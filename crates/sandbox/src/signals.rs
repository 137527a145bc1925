//! Signals that ask this process to end, handed to a thread that can do something about it.

#[cfg(target_os = "linux")]
#[allow(
    unsafe_code,
    reason = "no safe interface blocks signals and waits for them"
)]
mod waiting {
    use std::io;
    use std::mem::MaybeUninit;

    /// The signals that people and systems end a program with.
    const ENDINGS: [libc::c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

    fn endings() -> libc::sigset_t {
        let mut set = MaybeUninit::<libc::sigset_t>::uninit();
        // SAFETY: `sigemptyset` fills the set that it is given; `sigaddset` gets a filled one and
        // numbers that exist.
        unsafe {
            libc::sigemptyset(set.as_mut_ptr());
            for signal in ENDINGS {
                libc::sigaddset(set.as_mut_ptr(), signal);
            }
            set.assume_init()
        }
    }

    /// Holds the signals back in this thread and every one that it starts.
    pub(super) fn hold() -> io::Result<()> {
        let set = endings();
        // SAFETY: the set is whole, and no old set is asked for.
        let failed =
            unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut()) };
        if failed == 0 {
            Ok(())
        } else {
            Err(io::Error::from_raw_os_error(failed))
        }
    }

    /// Waits for the next of them.
    pub(super) fn next() -> io::Result<u8> {
        let set = endings();
        let mut signal: libc::c_int = 0;
        // SAFETY: both point to values of their types that live until the call returns.
        let failed = unsafe { libc::sigwait(&raw const set, &raw mut signal) };
        if failed == 0 {
            Ok(u8::try_from(signal).unwrap_or(u8::MAX))
        } else {
            Err(io::Error::from_raw_os_error(failed))
        }
    }
}

/// Calls back, on a thread of its own, for each signal that asks this process to end. It has to be
/// set up before other threads are started; from then on the signals end nothing by themselves.
#[cfg(target_os = "linux")]
pub fn on_interrupt(mut then: impl FnMut(u8) + Send + 'static) -> std::io::Result<()> {
    waiting::hold()?;
    let watch = move || {
        while let Ok(signal) = waiting::next() {
            then(signal);
        }
    };
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(watch)?;
    Ok(())
}

/// There is nothing to end on this system, so the signals keep their meaning.
#[cfg(not(target_os = "linux"))]
pub fn on_interrupt(then: impl FnMut(u8) + Send + 'static) -> std::io::Result<()> {
    drop(then);
    Ok(())
}
