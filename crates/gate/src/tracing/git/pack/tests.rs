//! Differences, whole and broken.

use super::apply;

#[test]
fn differences() {
    let base = b"one two three";
    // The base has 13 bytes, the result 11: a copy of 4 from 0, seven of its own.
    let delta = [&[13, 11, 0x90, 4, 7][..], b"and six"].concat();
    assert_eq!(apply(base, &delta, 100).unwrap(), b"one and six");
    // A result beyond the bound, another base, a copy from beyond the end, nothing at all.
    assert_eq!(apply(base, &delta, 10), None);
    assert_eq!(apply(b"another", &delta, 100), None);
    assert_eq!(apply(base, &[13, 4, 0x91, 12, 4], 100), None);
    assert_eq!(apply(base, &[13, 4, 0], 100), None);
    assert_eq!(apply(base, &[], 100), None);
    for cut in 0..delta.len() {
        assert_eq!(apply(base, &delta[..cut], 100), None, "{cut}");
    }
}
