//! The data of the attempts is whole.

use super::super::run::{self, Asks, PERMISSIVE};
use super::{BY_THE_CLIENT, End, all, outcomes};

/// An attempt whose end nobody wrote down would pass by itself, and so would a turn without one.
#[test]
fn every_turn_has_an_end_in_every_mode() {
    for (name, client) in run::all().unwrap() {
        for attack in all().unwrap() {
            let Some(turns) = attack.turns(&name, &client) else {
                assert!(!attack.by.contains_key(&name), "{} with {name}", attack.id);
                continue;
            };
            for mode in client.modes.keys() {
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

/// The most permissive mode is where Tagout alone refuses: nothing else may count there.
#[test]
fn only_a_mode_that_asks_ends_at_the_client() {
    for (name, client) in run::all().unwrap() {
        let permissive = &client.modes[PERMISSIVE];
        assert_eq!(permissive.asks, Asks::Never, "{name}");
        for (mode, how) in &client.modes {
            let asks = how.asks != Asks::Never;
            assert!(!asks || !client.refuses.is_empty(), "{name} in {mode}");
            for attack in all().unwrap().iter().filter(|one| one.is_for(&name)) {
                let End::Refused(turns) = attack.end(&name, &client, mode) else {
                    continue;
                };
                let own = turns.iter().flat_map(|turn| outcomes(turn));
                let own = own.filter(|one| *one == BY_THE_CLIENT).count();
                assert!(asks || own == 0, "{} with {name} in {mode}", attack.id);
            }
        }
    }
}

/// What a model says itself would else be taken for its client's words.
#[test]
fn no_attempt_holds_the_words_of_a_refusal() {
    for (name, client) in run::all().unwrap() {
        let attacks = all().unwrap();
        let calls = attacks.iter().filter_map(|one| one.turns(&name, &client));
        let calls = calls.flatten().flatten();
        let said: String = calls.map(|call| call.input.to_string()).collect();
        for words in &client.refuses {
            assert!(!said.contains(words.as_str()), "{name}: {words}");
            assert!(words.len() > 20, "{name}: `{words}` may stand anywhere");
        }
    }
}

#[test]
fn a_refusal_counts_only_in_a_mode_that_asks() {
    let clients = run::all().unwrap();
    for (name, client) in clients.iter().filter(|(_, one)| !one.refuses.is_empty()) {
        let text = format!("it says: {}.", client.refuses[0]);
        for (mode, how) in &client.modes {
            let counted = usize::from(how.asks != Asks::Never);
            assert_eq!(client.refusals(how, &text), counted, "{name} in {mode}");
            assert_eq!(client.refusals(how, "it says no"), 0, "{name} in {mode}");
        }
    }
}

/// An argument that is left out where nobody has trusted the hooks has to be there elsewhere.
#[test]
fn trust_is_left_out_only_where_there_is_some() {
    let clients = run::all().unwrap();
    for (name, client) in &clients {
        let is_untrusted = all().unwrap().iter().any(|one| one.is_untrusted(name));
        assert_eq!(client.trusts.is_some(), is_untrusted, "{name}");
        for mode in client.modes.values().filter(|_| is_untrusted) {
            let left = client.untrusting(mode).arguments.len();
            assert_eq!(left + 1, mode.arguments.len(), "{name}");
        }
    }
}
