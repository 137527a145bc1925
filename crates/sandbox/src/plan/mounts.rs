//! Mounts inside a workspace.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// The first mount below this folder. Not being able to tell counts as none: the overlay itself
/// then refuses.
pub(super) fn below(folder: &Path) -> Option<PathBuf> {
    let table = crate::kernel::read("/proc/self/mountinfo").ok()?;
    table
        .split(|byte| *byte == b'\n')
        .filter_map(|line| line.split(|byte| *byte == b' ').nth(4))
        .map(|field| PathBuf::from(OsString::from_vec(unescape(field))))
        .find(|place| place != folder && place.starts_with(folder))
}

/// The table writes space, tab, newline and backslash as a backslash and three octal digits.
fn unescape(field: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((&first, after)) = rest.split_first() {
        let code = after.get(..3).filter(|_| first == b'\\').and_then(octal);
        plain.push(code.unwrap_or(first));
        let skipped = if code.is_some() { 3 } else { 0 };
        rest = after.get(skipped..).unwrap_or_default();
    }
    plain
}

fn octal(digits: &[u8]) -> Option<u8> {
    let text = std::str::from_utf8(digits).ok()?;
    u8::from_str_radix(text, 8).ok()
}
