//! A grant that was changed after it was signed.

use proptest::prelude::*;
use proptest::test_runner::Config;

use super::*;

fn rich() -> Grant {
    let rich = Draft {
        constraints: vec![Constraint::RateLimit {
            max: 5,
            window_ms: 1000,
        }],
        scope: GrantScope {
            resources: paths(&["src", "docs/**"]),
            actions: Allowance::only([NamePattern::parse("*").unwrap()]),
        },
        ..draft()
    };
    issue(rich, &key(1)).unwrap()
}

fn is_believed(grant: Grant) -> bool {
    let keys = keys();
    let grants = [grant];
    let book = Book {
        grants: &grants,
        revocations: &[],
        keys: &keys,
    };
    still_valid(&book, &grants[0].grant_id, at(500)).is_ok()
}

/// C2 Every single bit of a stored grant counts.
#[test]
fn every_flipped_bit_is_noticed() {
    assert!(is_believed(rich()));
    let stored = postcard::to_stdvec(&rich()).unwrap();
    let (mut read, mut refused) = (0, 0);
    for index in 0..stored.len() {
        for bit in 0..8 {
            let mut damaged = stored.clone();
            damaged[index] ^= 1 << bit;
            let Ok(grant) = postcard::from_bytes::<Grant>(&damaged) else {
                refused += 1;
                continue;
            };
            assert_ne!(grant, rich(), "bit {bit} of byte {index} says nothing");
            assert!(!is_believed(grant), "bit {bit} of byte {index}");
            read += 1;
        }
    }
    assert!(read > 500, "{read} read, {refused} not");
}

/// C2 A signature under one thing is none under another.
#[test]
fn domains_are_apart() {
    let grant = rich();
    let taken = revoke(grant.grant_id.clone(), "root", at(1), "", &key(1));
    assert!(!is_believed(Grant {
        signature: taken.signature,
        ..grant.clone()
    }));
    let fake = Revocation {
        signature: grant.signature,
        ..taken
    };
    let keys = keys();
    let book = Book {
        grants: &[grant],
        revocations: &[],
        keys: &keys,
    };
    assert_eq!(fake.verify(&book), Err(RevocationError::BadSignature));
}

/// C2 A weak key, for which anyone can sign, is no key.
#[test]
fn weak_keys_are_refused() {
    for text in ["00".repeat(32), format!("01{}", "00".repeat(31))] {
        assert_eq!(PublicKey::parse(&text), Err(KeyError::Unusable));
    }
    assert_eq!(PublicKey::parse("ab"), Err(KeyError::NotHex { bytes: 32 }));
    assert_eq!(
        PublicKey::parse(&"AB".repeat(32)),
        Err(KeyError::NotHex { bytes: 32 })
    );
}

proptest! {
    #![proptest_config(Config { failure_persistence: None, ..Config::with_cases(200) })]

    /// C2 No two grants that differ have the same signed bytes.
    #[test]
    fn the_signed_form_is_one_to_one(
        ids in prop::array::uniform2("[ab]{1,2}"),
        who in prop::array::uniform2("[ab]{0,2}"),
        by in prop::array::uniform2("[ab]{0,2}"),
        lists in prop::array::uniform2(prop::collection::vec("[ab]{1,2}", 0..3)),
        limits in prop::array::uniform2(prop::collection::vec(0_u64..2, 0..3)),
        ends in prop::array::uniform2(prop::option::of(200_i64..202)),
    ) {
        let make = |n: usize| {
            let texts: Vec<&str> = lists[n].iter().map(String::as_str).collect();
            let limit = |bytes: &u64| Constraint::MaxFileSize { bytes: *bytes };
            let made = Draft {
                grant_id: id(&ids[n]),
                grantee: session(&who[n]),
                grantor: by[n].clone(),
                scope: GrantScope { resources: paths(&texts), actions: Allowance::Unrestricted },
                constraints: limits[n].iter().map(limit).collect(),
                expires_at: ends[n].map(at),
                ..draft()
            };
            issue(made, &key(1)).unwrap()
        };
        let (one, other) = (make(0), make(1));
        let bytes = |grant: &Grant| super::super::bytes::of_grant(grant);
        prop_assert_eq!(one == other, bytes(&one) == bytes(&other));
    }
}
