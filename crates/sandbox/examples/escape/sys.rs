//! The few ways in which attempts talk to the kernel.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::Duration;

/// Any system call with plain arguments.
pub(crate) fn call(number: libc::c_long, arguments: &[i64]) -> io::Result<i64> {
    let argument = |at: usize| arguments.get(at).copied().unwrap_or(0);
    // SAFETY: callers hand in numbers, or addresses of values that live until this returns.
    let answer = unsafe {
        libc::syscall(
            number,
            argument(0),
            argument(1),
            argument(2),
            argument(3),
            argument(4),
            argument(5),
        )
    };
    if answer == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(answer)
}

/// The address of a value, for [`call`].
pub(crate) fn address<T: ?Sized>(value: &T) -> i64 {
    (&raw const *value).cast::<u8>() as i64
}

/// A path for the kernel.
pub(crate) fn path(path: impl AsRef<Path>) -> CString {
    CString::new(path.as_ref().as_os_str().as_bytes()).unwrap_or_default()
}

/// Turns `-1` into the error.
pub(crate) fn checked(answer: i32) -> io::Result<i32> {
    if answer == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(answer)
}

/// A descriptor that the kernel just made.
pub(crate) fn owned(fd: i64) -> io::Result<OwnedFd> {
    let fd = i32::try_from(fd).map_err(|_| io::ErrorKind::InvalidData)?;
    // SAFETY: callers hand in what a call just returned as a new descriptor.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Opens a path.
pub(crate) fn open(at: impl AsRef<Path>, flags: i32) -> io::Result<OwnedFd> {
    let name = path(at);
    // SAFETY: the name lives until the call returns.
    let fd = checked(unsafe { libc::open(name.as_ptr(), flags | libc::O_CLOEXEC, 0o666) })?;
    owned(i64::from(fd))
}

/// A pipe.
pub(crate) fn pipe() -> io::Result<(File, File)> {
    let mut ends = [0; 2];
    // SAFETY: the pointer is to two live, writable numbers.
    checked(unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) })?;
    let [from, to] = ends;
    Ok((owned(i64::from(from))?.into(), owned(i64::from(to))?.into()))
}

/// Waits until something can be read, or for this long.
pub(crate) fn wait_readable(fd: &OwnedFd, most: Duration) -> bool {
    let mut asked = libc::pollfd {
        fd: fd.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    let most = i32::try_from(most.as_millis()).unwrap_or(i32::MAX);
    // SAFETY: the pointer is to one live, writable value.
    unsafe { libc::poll(&raw mut asked, 1, most) > 0 }
}

/// Whether something can be read now.
pub(crate) fn readable(fd: &OwnedFd) -> bool {
    wait_readable(fd, Duration::ZERO)
}

/// Runs something in a child and answers its exit code.
pub(crate) fn in_child(act: impl FnOnce() -> i32) -> io::Result<i32> {
    // SAFETY: this program has one thread wherever this is called.
    let child = checked(unsafe { libc::fork() })?;
    if child == 0 {
        let code = act();
        // SAFETY: ends the child at once.
        unsafe { libc::_exit(code) }
    }
    let mut status = 0;
    // SAFETY: the child is this process's own, and the pointer is to a live, writable number.
    checked(unsafe { libc::waitpid(child, &raw mut status, 0) })?;
    if libc::WIFEXITED(status) {
        return Ok(libc::WEXITSTATUS(status));
    }
    Ok(128 + libc::WTERMSIG(status))
}
