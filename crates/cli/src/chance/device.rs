//! Random bytes from the device that every Unix has.

use std::fs::File;
use std::io::{self, Read as _};

/// Fills all of it, or fails.
pub(super) fn fill(bytes: &mut [u8]) -> io::Result<()> {
    File::open("/dev/urandom")?.read_exact(bytes)
}
