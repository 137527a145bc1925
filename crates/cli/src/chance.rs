//! The kernel's own random bytes, of which a process draws all others.

#[cfg(not(target_os = "linux"))]
mod device;
#[cfg(target_os = "linux")]
mod linux;

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use tagout_vocab::Digest;

#[cfg(not(target_os = "linux"))]
use device as kernel;
#[cfg(target_os = "linux")]
use linux as kernel;

/// How many bytes everything else is drawn from.
const SEED_BYTES: usize = 32;

/// What this process draws from. The kernel is asked once.
pub(crate) fn seed() -> std::io::Result<[u8; SEED_BYTES]> {
    static SEED: OnceLock<[u8; SEED_BYTES]> = OnceLock::new();
    if let Some(seed) = SEED.get() {
        return Ok(*seed);
    }
    let mut fresh = [0; SEED_BYTES];
    kernel::fill(&mut fresh)?;
    Ok(*SEED.get_or_init(|| fresh))
}

/// Thirty-two bytes that nobody can tell from random ones without the seed, others each time.
pub(crate) fn drawn(seed: &[u8; SEED_BYTES]) -> [u8; 32] {
    static DRAWN: AtomicU64 = AtomicU64::new(0);
    let number = DRAWN.fetch_add(1, Ordering::Relaxed).to_le_bytes();
    *Digest::of_parts("tagout chance v1", [&seed[..], &number[..]]).as_bytes()
}

#[cfg(test)]
mod tests;
