//! Points in time as people write and read them.

use tagout_vocab::Timestamp;

use crate::failure::Failure;

/// Reads `2h`, `3d` or a time. What lies before all times is the first one.
pub(crate) fn since(text: &str, now: Timestamp) -> Result<Timestamp, Failure> {
    if let Some(millis) = span(text) {
        return Ok(now.plus_millis(millis.saturating_neg()));
    }
    Timestamp::parse(text).map_err(|error| {
        Failure::invalid(format!("`--since {text}`: {error}"))
            .hint("or say how long ago: `90s`, `30m`, `2h`, `3d`, `1w`")
    })
}

/// Reads how long from now, or a time.
pub(crate) fn until(text: &str, now: Timestamp) -> Result<Timestamp, Failure> {
    if let Some(millis) = span(text) {
        return Ok(now.plus_millis(millis));
    }
    Timestamp::parse(text).map_err(|error| {
        Failure::invalid(format!("`{text}`: {error}"))
            .hint("or say how long from now: `90s`, `30m`, `2h`, `3d`, `1w`")
    })
}

/// A number and a unit, in milliseconds.
pub(crate) fn span(text: &str) -> Option<i64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match text.strip_prefix(digits)? {
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        "w" => 604_800_000,
        _ => return None,
    };
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| {
        digits
            .parse::<i64>()
            .unwrap_or(i64::MAX)
            .saturating_mul(unit)
    })
}

/// A time as the clock on this machine's wall showed it.
pub(crate) fn local(time: Timestamp) -> String {
    jiff::Timestamp::from_millisecond(time.as_millis()).map_or_else(
        |_| time.to_string(),
        |time| {
            let zoned = time.to_zoned(jiff::tz::TimeZone::system());
            zoned.strftime("%Y-%m-%d %H:%M:%S").to_string()
        },
    )
}

#[cfg(test)]
mod tests;
