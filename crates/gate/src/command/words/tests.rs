//! The data on everyday tools can be read and fits what is known of programs.

use std::collections::BTreeSet;

use tagout_policy::shell::Knowledge;

use super::Words;

/// A name that no line can hold would make nothing faster and hide a slip.
#[test]
fn programs_without_caches_are_known() {
    let words = Words::read().unwrap();
    let knowledge = Knowledge::built_in().unwrap();
    let known: BTreeSet<&str> = knowledge.names().collect();
    let strange: Vec<&&str> = words
        .without_caches
        .iter()
        .filter(|name| !known.contains(**name))
        .collect();
    assert!(strange.is_empty(), "{strange:?}");
    assert!(words.without_caches.contains(&"ls") && !words.without_caches.contains(&"cargo"));
}
