//! What the kernel tells in files that it makes up as they are read.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::OnceLock;

/// Most of these files fit into so much. They tell no size, and asking for little at first means
/// asking many times.
const USUAL_BYTES: usize = 8 * 1024;

/// A file of the kernel's, whole.
pub(crate) fn read(path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(USUAL_BYTES);
    // Limited, although by nothing, it is not asked for a size that it does not have.
    File::open(path)?.take(u64::MAX).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The same as text.
pub(crate) fn text(path: impl AsRef<Path>) -> io::Result<String> {
    String::from_utf8(read(path)?).map_err(|_| io::ErrorKind::InvalidData.into())
}

/// Which boot of the machine this is, which no process outlives; empty where the kernel does not
/// say.
pub(crate) fn boot_id() -> &'static [u8] {
    static BOOT: OnceLock<Vec<u8>> = OnceLock::new();
    BOOT.get_or_init(|| read("/proc/sys/kernel/random/boot_id").unwrap_or_default())
}
