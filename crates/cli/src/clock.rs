//! The one place that reads the clock; everything else is told the time.

use tagout_vocab::Timestamp;

/// Now.
pub(crate) fn now() -> Timestamp {
    Timestamp::from_millis(jiff::Timestamp::now().as_millisecond())
}
