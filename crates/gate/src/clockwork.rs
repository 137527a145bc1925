//! Time and chance, handed in by whoever runs the engine.

use std::fmt;
use std::time::Duration;

use tagout_vocab::Timestamp;

/// The clock, the source of random bytes, and the way to wait. Nothing in this crate reads either
/// by itself.
pub struct Clockwork {
    now: Box<dyn Fn() -> Timestamp + Send + Sync>,
    random: Box<dyn Fn() -> [u8; 32] + Send + Sync>,
    pause: Box<dyn Fn(Duration) + Send + Sync>,
}

impl Clockwork {
    /// A clock and a source of random bytes. Retries do not wait until [`Self::pausing`] says how.
    pub fn new(
        now: impl Fn() -> Timestamp + Send + Sync + 'static,
        random: impl Fn() -> [u8; 32] + Send + Sync + 'static,
    ) -> Self {
        Self {
            now: Box::new(now),
            random: Box::new(random),
            pause: Box::new(|_| {}),
        }
    }

    /// The same with a way to wait between retries.
    pub fn pausing(mut self, pause: impl Fn(Duration) + Send + Sync + 'static) -> Self {
        self.pause = Box::new(pause);
        self
    }

    /// Now.
    pub fn now(&self) -> Timestamp {
        (self.now)()
    }

    /// Thirty-two random bytes.
    pub fn random(&self) -> [u8; 32] {
        (self.random)()
    }

    /// A fresh id with a prefix that says what it names.
    pub fn id(&self, prefix: &str) -> String {
        let short = tagout_vocab::Digest::from_bytes(self.random()).short_hex(20);
        format!("{prefix}-{short}")
    }

    /// Waits.
    pub fn pause(&self, time: Duration) {
        (self.pause)(time);
    }
}

impl fmt::Debug for Clockwork {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Clockwork")
    }
}
