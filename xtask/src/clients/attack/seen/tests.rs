//! An attempt that worked never looks like one that was refused.

use serde_json::{Value, json};

use super::{End, Outcome, Seen};

fn seen(taken: &[&str], turns: &[&[&str]], said: &[&str]) -> Seen {
    let texts = |all: &[&str]| all.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>();
    Seen {
        taken: texts(taken),
        turns: turns.iter().map(|turn| texts(turn)).collect(),
        said: texts(said),
        refusals: Vec::new(),
    }
}

/// The same where the client itself refused some calls of each turn.
fn refused_by_client(taken: &[&str], turns: &[&[&str]], refusals: &[usize]) -> Seen {
    Seen {
        refusals: refusals.to_vec(),
        ..seen(taken, turns, &[])
    }
}

fn refused(turns: &[&str]) -> End {
    End::Refused(turns.iter().map(|one| (*one).to_owned()).collect())
}

#[test]
fn each_turn_has_to_end_as_it_is_written() {
    let both = refused(&["PERSON_ONLY", "PERSON_ONLY"]);
    let cases: [(&[&[&str]], bool); 6] = [
        (&[&["PERSON_ONLY"], &["PERSON_ONLY"]], true),
        (&[&[], &["PERSON_ONLY"]], false),
        (&[&["done"], &["PERSON_ONLY"]], false),
        (&[&["PERSON_ONLY"], &["PERSON_ONLY", "applied"]], false),
        (&[&[], &["PERSON_ONLY", "PERSON_ONLY"]], false),
        (&[&["PERSON_ONLY"]], false),
    ];
    for (turns, holds) in cases {
        let differs = seen(&[], turns, &["", ""]).differs(&both);
        assert_eq!(differs.is_none(), holds, "{turns:?}: {differs:?}");
    }
    let taken = seen(&["kept"], &[&["PERSON_ONLY"], &["PERSON_ONLY"]], &["", ""]);
    assert!(taken.differs(&both).is_some());
}

type Turns<'t> = &'t [&'t [&'t str]];

/// The client's own refusal takes the place of an outcome, one for one, and excuses nothing else.
#[test]
fn what_the_client_refused_itself_could_not_come() {
    let written = refused(&["done", "SCOPE_VIOLATION, SCOPE_VIOLATION", "«no»"]);
    let cases: [(Turns<'_>, &[usize], bool); 11] = [
        (&[&[], &[], &[]], &[1, 2, 1], true),
        (&[&["failed"], &[], &[]], &[1, 2, 1], true),
        (&[&["failed"], &[], &[]], &[0, 2, 1], false),
        (&[&[], &["failed"], &[]], &[1, 2, 1], false),
        (&[&["done"], &["SCOPE_VIOLATION"], &[]], &[0, 1, 1], true),
        (&[&[], &[], &[]], &[], false),
        (&[&[], &[], &[]], &[0, 2, 1], false),
        (&[&[], &["SCOPE_VIOLATION"], &[]], &[1, 0, 1], false),
        (&[&[], &[], &[]], &[1, 1, 1], false),
        (&[&[], &["done"], &[]], &[1, 2, 1], false),
        (&[&["done", "applied"], &[], &[]], &[1, 2, 1], false),
    ];
    for (turns, refusals, holds) in cases {
        let differs = refused_by_client(&[], turns, refusals).differs(&written);
        assert_eq!(differs.is_none(), holds, "{turns:?} {refusals:?}");
        let taken = refused_by_client(&["kept"], turns, refusals);
        assert!(taken.differs(&written).is_some(), "{turns:?} {refusals:?}");
    }
    let alone = refused(&[super::BY_THE_CLIENT]);
    for (refusals, holds) in [(1, true), (0, false)] {
        let seen = refused_by_client(&[], &[&[]], &[refusals]);
        assert_eq!(seen.differs(&alone).is_none(), holds);
    }
}

#[test]
fn words_have_to_stand_in_their_turn() {
    let expected = refused(&["done", "«no»"]);
    let turns: &[&[&str]] = &[&["done"], &[]];
    assert_eq!(
        seen(&[], turns, &["", "it says no"]).differs(&expected),
        None
    );
    assert!(
        seen(&[], turns, &["it says no", ""])
            .differs(&expected)
            .is_some()
    );
}

#[test]
fn what_is_open_has_to_be_taken() {
    let open = End::Open {
        because: String::new(),
        closed_by: String::new(),
    };
    assert_eq!(seen(&["kept"], &[&[]], &[""]).differs(&open), None);
    assert!(seen(&[], &[&[]], &[""]).differs(&open).is_some());
}

/// A call that the client makes by itself is not confined, though it completes as well.
#[test]
fn walls_are_told_by_those_who_built_them() {
    let walls = json!([{"what": "writes", "by": "mounts"}]);
    let cases: [(Value, Option<&str>); 7] = [
        (json!({"state": "COMPLETED"}), Some("done")),
        (
            json!({"state": "COMPLETED", "data": {"enforcers": []}}),
            Some("done"),
        ),
        (
            json!({"state": "COMPLETED", "data": {"enforcers": walls}}),
            Some("confined"),
        ),
        (
            json!({"state": "COMPLETED", "data": {"enforcers": walls}, "paths": [{"path": "a"}]}),
            Some("applied"),
        ),
        (
            json!({"state": "ABORTED", "verdictCode": "X"}),
            Some("confined X"),
        ),
        (json!({"state": "DENIED", "verdictCode": "X"}), Some("X")),
        (
            json!({"state": "COMPLETED", "toolId": "select_active_intent"}),
            None,
        ),
    ];
    for (event, outcome) in cases {
        assert_eq!(Outcome::of(&event).as_deref(), outcome, "{event}");
    }
}
