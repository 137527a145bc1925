//! The page shows what the data says.

use super::{PAGE, attack, page, run};
use crate::process::root;

#[test]
fn the_page_shows_the_table() {
    let text = std::fs::read_to_string(root().join(PAGE)).unwrap();
    assert_eq!(
        page(&text).unwrap(),
        text,
        "`cargo xtask attacks` writes it"
    );
}

/// An attempt whose end nobody wrote down would pass by itself.
#[test]
fn every_attempt_has_an_end_in_every_mode() {
    let clients = run::all().unwrap();
    for attack in attack::all().unwrap() {
        for (name, way) in &attack.by {
            let modes: Vec<_> = clients[name].modes.keys().collect();
            let ends: Vec<_> = way.ends.keys().collect();
            assert_eq!(ends, modes, "{} with {name}", attack.id);
        }
    }
}
