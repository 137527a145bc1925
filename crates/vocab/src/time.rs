//! Points in time. Nothing here reads a clock: `now` is passed in.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Milliseconds since the Unix epoch, UTC.
#[derive(
    Clone, Copy, Debug, Default, Eq, PartialEq, Ord, PartialOrd, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Timestamp(i64);

/// The text is not a point in time.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Error)]
#[error("not a time with its zone: write it as `2026-01-31T12:00:00Z` or `2026-01-31`")]
pub struct TimeError;

impl Timestamp {
    /// A time from its milliseconds since the epoch.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the epoch.
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// This time moved by some milliseconds, kept within what the type can hold.
    pub const fn plus_millis(self, millis: i64) -> Self {
        Self(self.0.saturating_add(millis))
    }

    /// Reads RFC 3339 (with `T` or a blank between date and time), or a plain date as its midnight
    /// UTC.
    pub fn parse(text: &str) -> Result<Self, TimeError> {
        let text = text.trim();
        let zoned = text
            .parse::<jiff::Timestamp>()
            .map(jiff::Timestamp::as_millisecond);
        let dated = || {
            // The date's own reader would drop a time that lacks its zone, and so move the moment.
            if text.len() != "2026-01-31".len() {
                return Err(TimeError);
            }
            let date = text.parse::<jiff::civil::Date>().map_err(|_| TimeError)?;
            let midnight = date
                .to_zoned(jiff::tz::TimeZone::UTC)
                .map_err(|_| TimeError)?;
            Ok(midnight.timestamp().as_millisecond())
        };
        zoned.or_else(|_| dated()).map(Self)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(time) => write!(formatter, "{time:.3}"),
            Err(_) => write!(formatter, "{} ms since the epoch", self.0),
        }
    }
}
