//! Asks the kernel whether anyone may write an open file, by taking a read lease for a moment, or
//! has it open at all, by taking a write lease.

#![allow(unsafe_code, reason = "leases have no safe interface")]

#[cfg(test)]
mod tests;

use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd};

/// `F_SETSIG`, which the C interface has no name for.
const SET_SIGNAL: i32 = 10;

/// Whether a read lease on this file is refused because someone may write it: through an open
/// descriptor or through a shared mapping whose descriptor was closed.
///
/// The descriptor has to be open for reading only. Anything but a clear answer is an error, so that
/// nobody takes «not known» for «no writer».
pub fn lease(file: BorrowedFd<'_>) -> io::Result<bool> {
    // Who opens the file for writing while the lease is held makes the kernel signal its holder.
    // The default signal would end this process; this one is ignored unless someone asks for it.
    set(file, SET_SIGNAL, libc::SIGURG)?;
    match set(file, libc::F_SETLEASE, libc::F_RDLCK) {
        Ok(()) => {
            set(file, libc::F_SETLEASE, libc::F_UNLCK)?;
            Ok(false)
        }
        Err(error) if error.raw_os_error() == Some(libc::EAGAIN) => Ok(true),
        Err(error) => Err(error),
    }
}

/// Whether a write lease on this file is refused because someone else has it open in any way, or
/// maps it. One that is granted is held until the descriptor is closed: whoever opens the file in
/// the meantime waits for that.
///
/// The descriptor has to be open for reading and writing, and the only one of its file.
pub fn lease_alone(file: BorrowedFd<'_>) -> io::Result<bool> {
    set(file, SET_SIGNAL, libc::SIGURG)?;
    match set(file, libc::F_SETLEASE, libc::F_WRLCK) {
        Ok(()) => Ok(false),
        Err(error) if error.raw_os_error() == Some(libc::EAGAIN) => Ok(true),
        Err(error) => Err(error),
    }
}

/// Whether a lease that [`lease_alone`] was granted is no longer whole: someone waits in opening
/// the file, or waited for so long that the kernel let them in.
pub fn lease_lost(file: BorrowedFd<'_>) -> io::Result<bool> {
    // SAFETY: the descriptor is open for as long as it is borrowed, and this operation takes
    // nothing.
    let answer = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GETLEASE) };
    if answer == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(answer != libc::F_WRLCK)
}

fn set(file: BorrowedFd<'_>, operation: i32, argument: i32) -> io::Result<()> {
    // SAFETY: the descriptor is open for as long as it is borrowed, and these operations take a
    // plain number.
    let answer = unsafe { libc::fcntl(file.as_raw_fd(), operation, argument) };
    if answer == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}
