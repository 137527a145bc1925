//! The data of the attempts is whole.

use super::super::run;
use super::{End, all, outcomes};

/// An attempt whose end nobody wrote down would pass by itself, and so would a turn without one.
#[test]
fn every_turn_has_an_end_in_every_mode() {
    for (name, client) in run::all().unwrap() {
        for attack in all().unwrap() {
            let Some(turns) = attack.turns(&name, &client) else {
                assert!(!attack.by.contains_key(&name), "{} with {name}", attack.id);
                continue;
            };
            for mode in client.attacked() {
                let end = attack.end(&name, &client, mode);
                let which = format!("{} with {name} in {mode}", attack.id);
                if let End::Refused(ends) = end {
                    assert_eq!(ends.len(), turns.len(), "{which}: {ends:?}");
                    let refuses = |end: &String| outcomes(end).any(|one| one != "done");
                    assert!(ends.iter().any(refuses), "{which}: nothing is refused");
                }
            }
        }
    }
}

/// A word that stands for no client or mode would never be looked at.
#[test]
fn what_is_different_belongs_to_a_client() {
    let clients = run::all().unwrap();
    for attack in all().unwrap() {
        for (name, way) in &attack.by {
            let modes = &clients[name].modes;
            for mode in way.ends.keys() {
                assert!(modes.contains_key(mode), "{}: {name} {mode}", attack.id);
            }
        }
    }
}
