//! L9: which executions are tried again, and after what wait.

use std::time::Duration;

use tagout_vocab::Call;
use tagout_vocab::limits::{RETRIES_MAX, RETRY_BASE_MS};

use crate::engine::Inner;
use crate::receipt::{Outcome, Receipt};

/// How long to wait before the same call is tried again; `None` when it is not.
///
/// Only idempotent tools, only after a resource or time failure that was rolled back whole.
pub(crate) fn wait(inner: &Inner, call: &Call, receipt: &Receipt) -> Option<Duration> {
    let failed = receipt.failure.is_some_and(crate::FailureKind::may_retry);
    let whole = receipt.outcome == Outcome::RolledBack && receipt.left.is_empty();
    if !failed || !whole || receipt.retries >= RETRIES_MAX || !is_idempotent(inner, call) {
        return None;
    }
    Some(backoff(receipt.retries, inner.clockwork.random()))
}

fn is_idempotent(inner: &Inner, call: &Call) -> bool {
    let found = inner.shelf.books.catalogue.lookup(&call.origin, &call.tool);
    let entry = found.and_then(|found| inner.registry.get(&found.tool.name));
    entry.is_some_and(|entry| entry.tool.declaration().idempotent)
}

/// Doubles each time; the second half of each wait is left to chance.
fn backoff(retries: u32, random: [u8; 32]) -> Duration {
    let full = RETRY_BASE_MS.saturating_mul(1 << retries.min(16));
    let [a, b, ..] = random;
    let share = u64::from(u16::from_be_bytes([a, b]));
    let jitter = (full / 2).saturating_mul(share) / u64::from(u16::MAX);
    Duration::from_millis(full / 2 + jitter)
}

#[cfg(test)]
mod tests {
    use super::{RETRY_BASE_MS, backoff};

    /// L9: the waits double, and chance moves them within the upper half.
    #[test]
    fn waits_double_with_jitter() {
        for retries in 0..3 {
            let full = RETRY_BASE_MS << retries;
            assert_eq!(backoff(retries, [0; 32]).as_millis(), u128::from(full / 2));
            assert_eq!(backoff(retries, [255; 32]).as_millis(), u128::from(full));
        }
    }
}
