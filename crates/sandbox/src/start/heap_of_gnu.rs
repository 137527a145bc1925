//! The heap of the GNU C library: in large steps, and never given back.

/// What the heap grows by. What is not touched costs nothing.
const STEP_BYTES: libc::c_int = 1 << 20;

/// What a process that runs one command touches of it.
const TOUCHED_BYTES: usize = 384 << 10;

const PROBE_BYTES: usize = 64 << 10;

const PAGE_BYTES: usize = 4096;

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

/// Has the kernel put memory behind the next part of the heap at once, instead of page by page as
/// it is touched. For a process that was just copied: what lies there now is not shared.
pub(crate) fn fill() {
    // So much at once is had at the end of what is in use.
    let probe = Vec::<u8>::with_capacity(PROBE_BYTES);
    let from = (probe.as_ptr().addr() + PAGE_BYTES) & !(PAGE_BYTES - 1);
    drop(probe);
    // SAFETY: it asks for the end of the heap and moves nothing.
    let end = unsafe { libc::sbrk(0) }.addr() & !(PAGE_BYTES - 1);
    let left = end.saturating_sub(from);
    if left == 0 || left > 2 * STEP_BYTES as usize {
        // What was asked for lies elsewhere.
        return;
    }
    let length = left.min(TOUCHED_BYTES);
    // SAFETY: the pages lie between something on the heap and the heap's end. Nothing is written to
    // them; a kernel that does not know the wish says so, and nothing has changed.
    unsafe {
        libc::madvise(
            std::ptr::with_exposed_provenance_mut(from),
            length,
            libc::MADV_POPULATE_WRITE,
        );
    }
}
