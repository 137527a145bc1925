//! What people may write for a time.

use tagout_vocab::Timestamp;

use super::since;

const NOW: Timestamp = Timestamp::from_millis(1_780_000_000_000);

#[test]
fn how_long_ago() {
    for (text, millis) in [
        ("0s", 0),
        ("90s", 90_000),
        ("30m", 1_800_000),
        ("2h", 7_200_000),
        ("3d", 259_200_000),
        ("1w", 604_800_000),
    ] {
        let found = since(text, NOW).unwrap();
        assert_eq!(NOW.as_millis() - found.as_millis(), millis, "{text}");
    }
}

#[test]
fn a_date_or_a_time() {
    let day = since("2026-01-31", NOW).unwrap();
    assert_eq!(since("2026-01-31T01:00:00+01:00", NOW).unwrap(), day);
}

#[test]
fn more_than_all_time() {
    assert!(since("99999999999999999999w", NOW).unwrap().as_millis() < 0);
}

#[test]
fn what_is_no_time() {
    for text in [
        "",
        "h",
        "2",
        "-2h",
        "2 h",
        "2x",
        "2hh",
        "é2h",
        "yesterday",
        "2026-13-01",
    ] {
        assert!(since(text, NOW).is_err(), "{text}");
    }
}
