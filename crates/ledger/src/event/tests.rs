//! Events as data.

use super::*;

/// L1: the nine states have RFC-0001's names.
#[test]
fn states_have_their_names() {
    for state in LifecycleState::ALL {
        assert_eq!(LifecycleState::parse(state.as_str()), Some(state));
        let json = serde_json::to_string(&state).unwrap();
        assert_eq!(json, format!("\"{}\"", state.as_str()));
    }
    assert_eq!(LifecycleState::parse("completed"), None);
}

/// L10: a kind that this version does not know is kept; one that would break a line is refused.
#[test]
fn kinds_are_open_but_plain() {
    let kind: Kind = serde_json::from_str("\"seal\"").unwrap();
    assert_eq!(kind, Kind::Seal);
    let kind: Kind = serde_json::from_str("\"something.new_2\"").unwrap();
    assert_eq!(kind.as_str(), "something.new_2");
    assert_eq!(serde_json::to_string(&kind).unwrap(), "\"something.new_2\"");
    for wrong in ["", "Seal", "a b", "a\"b", "é", &"x".repeat(65)] {
        assert_eq!(Kind::parse(wrong), None, "{wrong}");
    }
}

/// Design §6: a commitment binds, and differs under another salt.
#[test]
fn commitments_are_salted() {
    let one = Commitment::new([1; 32], b"yes");
    assert!(one.opens(b"yes") && !one.opens(b"no"));
    assert_ne!(one.digest, Commitment::new([2; 32], b"yes").digest);
    assert_ne!(one.digest, Digest::of(b"yes"));
}
