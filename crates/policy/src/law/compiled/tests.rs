//! The compiled form gives back what was put in, or an error.

use proptest::prelude::*;

use super::{CompiledError, Key, decode, encode};
use crate::law::{Law, Layer, Source, read};

fn sample() -> Law {
    let text = include_str!("../../../tests/fixtures/policy/valid/full.yaml");
    let repository = read(Source::repository("hook_policy.yaml"), text)
        .unwrap()
        .layer;
    let text = include_str!("../../../tests/fixtures/policy/valid_user/user.yaml");
    let user = read(Source::user("policy.yaml"), text).unwrap().layer;
    Law::assemble(Layer::built_in(), Some(user), vec![repository]).unwrap()
}

fn key() -> Key {
    Key::of("0.1.0", [("a", &b"x"[..]), ("b", &b"y"[..])])
}

#[test]
fn a_law_comes_back_as_it_was() {
    let law = sample();
    let bytes = encode(&key(), &law).unwrap();
    assert_eq!(decode::<Law>(&bytes, &key()).unwrap(), law);
}

#[test]
fn other_sources_builds_and_formats_are_told_apart() {
    let bytes = encode(&key(), &sample()).unwrap();
    let error = |bytes: &[u8], key: Key| decode::<Law>(bytes, &key).unwrap_err();
    let sources = [
        Key::of("0.1.0", [("a", &b"x"[..])]),
        Key::of("0.1.0", [("a", &b"xb"[..]), ("", &b"y"[..])]),
        Key::of("0.1.0", [("b", &b"y"[..]), ("a", &b"x"[..])]),
        Key::of(
            "0.1.0",
            [("a", &b"x"[..]), ("b", &b"y"[..]), ("c", &b""[..])],
        ),
    ];
    for key in sources {
        assert!(matches!(error(&bytes, key), CompiledError::Stale));
    }
    let build = Key::of("0.1.1", [("a", &b"x"[..]), ("b", &b"y"[..])]);
    assert!(matches!(error(&bytes, build), CompiledError::Build));
    let mut format = bytes.clone();
    format[8] = 9;
    assert!(matches!(
        error(&format, key()),
        CompiledError::Format { found: 9 }
    ));
    assert!(matches!(error(b"", key()), CompiledError::NotCompiled));
}

/// No truncation of a compiled law is a law, and neither is one with bytes added.
#[test]
fn every_truncation_is_an_error() {
    let bytes = encode(&key(), &sample()).unwrap();
    for length in 0..bytes.len() {
        assert!(decode::<Law>(&bytes[..length], &key()).is_err(), "{length}");
    }
    let longer = [&bytes[..], b"\0"].concat();
    assert!(decode::<Law>(&longer, &key()).is_err());
}

/// No single flipped bit of a compiled law is a law.
#[test]
fn every_flipped_bit_is_an_error() {
    let mut bytes = encode(&key(), &Law::built_in()).unwrap();
    for index in 0..bytes.len() {
        for bit in 0..8 {
            bytes[index] ^= 1 << bit;
            assert!(decode::<Law>(&bytes, &key()).is_err(), "{index}.{bit}");
            bytes[index] ^= 1 << bit;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn arbitrary_bytes_are_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(decode::<Law>(&bytes, &key()).is_err());
    }

    /// Even a payload with a right checksum that is no law does not panic.
    #[test]
    fn foreign_payloads_do_not_panic(payload in proptest::collection::vec(any::<u8>(), 0..300)) {
        let bytes = encode(&key(), &payload).unwrap();
        prop_assert_eq!(decode::<Vec<u8>>(&bytes, &key()).unwrap(), payload);
        let _law = decode::<Law>(&bytes, &key());
    }
}
