//! Ids and salts are never twice the same.

use std::collections::BTreeSet;

use super::clockwork;

/// No two ids and no two salts are the same, also where several places of a process draw.
#[test]
fn nothing_is_drawn_twice() {
    let (one, two) = (clockwork().unwrap(), clockwork().unwrap());
    let mut seen = BTreeSet::new();
    for _ in 0..1_000 {
        assert!(seen.insert(one.random()));
        assert!(seen.insert(two.random()));
    }
    assert!(!seen.contains(&[0; 32]));
    let ids: BTreeSet<String> = (0..1_000).map(|_| one.id("x")).collect();
    assert_eq!(ids.len(), 1_000);
}
