//! Random bytes by a system call: no file has to be opened for them.

use std::io;

use rustix::io::retry_on_intr;
use rustix::rand::{GetRandomFlags, getrandom};

/// Fills all of it, or fails.
pub(super) fn fill(bytes: &mut [u8]) -> io::Result<()> {
    let found = retry_on_intr(|| getrandom(&mut *bytes, GetRandomFlags::empty()))?;
    // So few bytes come at once.
    if found == bytes.len() {
        return Ok(());
    }
    Err(io::ErrorKind::UnexpectedEof.into())
}
