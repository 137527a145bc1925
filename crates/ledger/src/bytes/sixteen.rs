//! Sixteen bytes at a time, which every such processor can do.

use memchr::arch::x86_64::sse2::memchr::One;

pub(super) fn find(byte: u8, bytes: &[u8]) -> Option<usize> {
    match One::new(byte) {
        Some(one) => one.find(bytes),
        None => memchr::memchr(byte, bytes),
    }
}

pub(super) fn rfind(byte: u8, bytes: &[u8]) -> Option<usize> {
    match One::new(byte) {
        Some(one) => one.rfind(bytes),
        None => memchr::memrchr(byte, bytes),
    }
}
