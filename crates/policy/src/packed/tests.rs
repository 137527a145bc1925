//! What is packed comes back, and what is broken is not there.

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};

use super::{Drawer, Packed, Runs, Values};

#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
struct Thing {
    name: String,
    parts: Vec<u16>,
}

fn reread<T: Serialize + for<'de> Deserialize<'de>>(value: &T) -> T {
    let bytes = postcard::to_allocvec(value).unwrap();
    postcard::from_bytes(&bytes).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_run_comes_back(runs in vec(vec(any::<u8>(), 0..9), 0..20)) {
        let packed = reread(&Runs::of(runs.iter().map(Vec::as_slice)));
        prop_assert_eq!(packed.len(), runs.len());
        let found: Vec<&[u8]> = packed.iter().collect();
        let expected: Vec<&[u8]> = runs.iter().map(Vec::as_slice).collect();
        prop_assert_eq!(found, expected);
        prop_assert_eq!(packed.get(runs.len()), None);
    }

    #[test]
    fn each_thing_is_found_by_its_name_alone(
        things in btree_map("[a-z/_-]{0,6}", vec(any::<u16>(), 0..5), 0..20),
        other in "[a-z/_-]{0,6}",
    ) {
        let made = |(name, parts): (&String, &Vec<u16>)| Thing {
            name: name.clone(),
            parts: parts.clone(),
        };
        let all: Vec<Thing> = things.iter().map(made).collect();
        let mut mixed = all.clone();
        mixed.reverse();
        let drawer = reread(&Drawer::of(mixed, |thing| &thing.name));
        for thing in &all {
            prop_assert_eq!(drawer.get(&thing.name), Some(thing));
        }
        prop_assert_eq!(drawer.has(&other), things.contains_key(&other));
        prop_assert_eq!(drawer.get(&other).is_some(), things.contains_key(&other));
        prop_assert_eq!(drawer.iter().cloned().collect::<Vec<_>>(), all);
    }
}

#[test]
fn what_can_not_be_unpacked_is_not_there() {
    let nothing = Values::of([b"".as_slice()]);
    let number = postcard::to_allocvec(&(Runs::of([b"a".as_slice()]), &nothing));
    let drawer: Drawer<Thing> = postcard::from_bytes(&number.unwrap()).unwrap();
    assert!(drawer.has("a"));
    assert_eq!(drawer.get("a"), None);
    let empty = postcard::to_allocvec(&nothing).unwrap();
    let packed: Packed<Thing> = postcard::from_bytes(&empty).unwrap();
    assert_eq!(packed.get(), None);
}

#[test]
fn names_without_values_are_refused() {
    let uneven = postcard::to_allocvec(&(Runs::of([b"a".as_slice()]), Values::default())).unwrap();
    assert!(postcard::from_bytes::<Drawer<Thing>>(&uneven).is_err());
}
