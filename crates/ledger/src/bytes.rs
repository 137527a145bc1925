//! Finding bytes without asking the processor first what else it can do.
//!
//! The question is answered by the machine below where there is one, and costs a hook more than all
//! of its searches, which are short.

#[cfg(not(target_arch = "x86_64"))]
mod anywhere;
#[cfg(target_arch = "x86_64")]
mod sixteen;

#[cfg(not(target_arch = "x86_64"))]
use anywhere as how;
#[cfg(target_arch = "x86_64")]
use sixteen as how;

/// The first place of a byte.
pub(crate) fn find(byte: u8, bytes: &[u8]) -> Option<usize> {
    how::find(byte, bytes)
}

/// The last place of a byte.
pub(crate) fn rfind(byte: u8, bytes: &[u8]) -> Option<usize> {
    how::rfind(byte, bytes)
}

/// Every place of a byte.
pub(crate) fn places(byte: u8, bytes: &[u8]) -> impl Iterator<Item = usize> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let found = from + find(byte, bytes.get(from..)?)?;
        from = found + 1;
        Some(found)
    })
}

/// Every place of some bytes that begin with `first`.
pub(crate) fn places_of<'b>(
    (first, rest): (u8, &'b [u8]),
    bytes: &'b [u8],
) -> impl Iterator<Item = usize> + 'b {
    let is_followed = move |at: &usize| {
        let after = bytes.get(at + 1..);
        after.is_some_and(|after| after.starts_with(rest))
    };
    places(first, bytes).filter(is_followed)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{find, places, places_of, rfind};

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        /// They find what looking at each byte finds.
        #[test]
        fn every_place_is_found(bytes in prop::collection::vec(0_u8..4, 0..200), byte in 0_u8..4) {
            let of = |one: &u8| *one == byte;
            prop_assert_eq!(find(byte, &bytes), bytes.iter().position(of));
            prop_assert_eq!(rfind(byte, &bytes), bytes.iter().rposition(of));
            let all: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at] == byte).collect();
            prop_assert_eq!(places(byte, &bytes).collect::<Vec<_>>(), all);
            let pairs: Vec<usize> = (0..bytes.len())
                .filter(|at| bytes[*at..].starts_with(&[byte, 1]))
                .collect();
            prop_assert_eq!(places_of((byte, &[1]), &bytes).collect::<Vec<_>>(), pairs);
        }
    }
}
