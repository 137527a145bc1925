//! The laws of narrowing, on every axis.

use std::fmt::Debug;

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::Config;

use super::super::{Allowance, Capability, NamePattern, Region};

fn cases() -> Config {
    Config {
        failure_persistence: None,
        ..Config::with_cases(400)
    }
}

fn allowance<T: Region + Debug + 'static>(
    region: impl Strategy<Value = T> + 'static,
) -> impl Strategy<Value = Allowance<T>> {
    let some = prop::collection::btree_set(region, 0..5).prop_map(Allowance::Only);
    prop_oneof![8 => some, 1 => Just(Allowance::Unrestricted)]
}

fn name() -> impl Strategy<Value = NamePattern> {
    ("[ab]{0,3}", any::<bool>()).prop_map(|(stem, open)| {
        let stem = if stem.is_empty() && !open {
            "a".to_owned()
        } else {
            stem
        };
        NamePattern::parse(&format!("{stem}{}", if open { "*" } else { "" })).unwrap()
    })
}

fn capability() -> impl Strategy<Value = Capability> {
    select(Capability::all().take(6).collect::<Vec<_>>())
}

/// Intersection is commutative, associative and idempotent, and allows exactly what both allow.
fn check_laws<T: Region + Debug>(
    [a, b, c]: [&Allowance<T>; 3],
    points: &[T],
) -> Result<(), TestCaseError> {
    let both = a.intersect(b);
    prop_assert_eq!(&both, &b.intersect(a));
    prop_assert_eq!(both.intersect(c), a.intersect(&b.intersect(c)));
    prop_assert_eq!(both.intersect(&both), both.clone());
    prop_assert_eq!(a.intersect(a), a.intersect(&Allowance::Unrestricted));
    prop_assert!(both.beyond(a).is_none() && both.beyond(b).is_none());
    let is_top = |one: &Allowance<T>| *one == Allowance::Unrestricted;
    prop_assert_eq!(is_top(&both), is_top(a) && is_top(b));
    prop_assert!(a.intersect(&Allowance::nothing()).is_nothing());
    for point in points {
        prop_assert_eq!(both.permits(point), a.permits(point) && b.permits(point));
    }
    if a.beyond(b).is_none() {
        for point in points {
            prop_assert!(!a.permits(point) || b.permits(point));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(cases())]

    /// A5 Lists of tools.
    #[test]
    fn of_names(
        a in allowance(name()),
        b in allowance(name()),
        c in allowance(name()),
        probes in prop::collection::vec("[ab]{1,4}", 8),
    ) {
        let points: Vec<NamePattern> = probes.iter().map(|name| NamePattern::exact(name)).collect();
        check_laws([&a, &b, &c], &points)?;
    }

    /// A5 Lists of capabilities.
    #[test]
    fn of_capabilities(
        a in allowance(capability()),
        b in allowance(capability()),
        c in allowance(capability()),
        points in prop::collection::vec(capability(), 8),
    ) {
        check_laws([&a, &b, &c], &points)?;
    }

    /// Regions are nested or disjoint, which the other laws stand on.
    #[test]
    fn regions_are_laminar(a in name(), b in name(), probe in "[ab]{0,4}") {
        let point = NamePattern::exact(&probe);
        if a.covers(&point) && b.covers(&point) {
            prop_assert!(a.covers(&b) || b.covers(&a));
        }
        prop_assert_eq!(a.covers(&point), a.matches(&probe));
    }
}

/// A5 Of two lists that share nothing the common part is nothing, never everything.
#[test]
fn disjoint_is_nothing() {
    let one = Allowance::only([NamePattern::parse("read_*").unwrap()]);
    let other = Allowance::only([NamePattern::parse("write_*").unwrap()]);
    assert!(one.intersect(&other).is_nothing());
    assert!(
        !one.intersect(&other)
            .permits(&NamePattern::exact("read_file"))
    );
    assert!(Allowance::<NamePattern>::default().is_nothing());
    let json = serde_json::to_string(&one.intersect(&other)).unwrap();
    assert_eq!(json, r#"{"only":[]}"#);
    assert_eq!(
        serde_json::to_string(&Allowance::<NamePattern>::Unrestricted).unwrap(),
        r#""unrestricted""#
    );
}

#[test]
fn a_star_stands_at_the_end() {
    for wrong in ["", "a*b", "*a", "a**", "a\n"] {
        assert!(NamePattern::parse(wrong).is_err(), "`{wrong}`");
    }
    assert!(NamePattern::parse("mcp/*").unwrap().matches("mcp/x"));
    assert!(!NamePattern::parse("mcp/*").unwrap().matches("mcp"));
}
