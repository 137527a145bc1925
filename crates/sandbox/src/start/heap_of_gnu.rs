//! The heap of the GNU C library: in large steps, and never given back.

/// What the heap grows by. What is not touched costs nothing.
const STEP_BYTES: libc::c_int = 1 << 20;

/// A short-lived process asks the kernel for its heap in a few steps instead of dozens, and gives
/// nothing back before it ends.
pub(super) fn widen() {
    // SAFETY: it sets numbers of the allocator, before there is a second thread. One that it does
    // not take changes nothing.
    unsafe {
        libc::mallopt(libc::M_TOP_PAD, STEP_BYTES);
        libc::mallopt(libc::M_TRIM_THRESHOLD, libc::c_int::MAX);
    }
}
