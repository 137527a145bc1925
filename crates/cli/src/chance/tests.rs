//! Chance: drawn from one seed, which the kernel gives once.

use std::collections::BTreeSet;

use super::{drawn, seed};

#[test]
fn the_kernel_gives_one_seed() {
    assert_eq!(seed().unwrap(), seed().unwrap());
    assert_ne!(seed().unwrap(), [0; 32]);
}

/// Another seed gives others.
#[test]
fn the_seed_decides() {
    let draw = |seed: u8| {
        (0..100)
            .map(|_| drawn(&[seed; 32]))
            .collect::<BTreeSet<_>>()
    };
    assert!(draw(1).is_disjoint(&draw(2)));
}
