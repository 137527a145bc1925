//! Bytes that nobody wrote: nothing panics, whatever is in the folder.

use proptest::prelude::*;
use tagout_ledger::{
    Index, Ledger, Proof, Reader, SignedCheckpoint, VerifierKey, VerifyOptions, verify,
};

use crate::support::{check, event, filled, key, options, quiet, read, segment, write};

/// Pieces that real segments are made of, put together at random.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(b"{\"seq\":0,\"prev\":\"".to_vec()),
        Just(b"{\"seq\":18446744073709551615,\"prev\":\"".to_vec()),
        Just(b"{\"seq\":4611686018427387904,\"prev\":\"".to_vec()),
        Just(b"\",\"v\":1,\"kind\":\"law\",\"timestamp\":-9223372036854775807}\n".to_vec()),
        Just([b'0'; 64].to_vec()),
        Just(b"\",\"v\":1,\"kind\":\"seal\",\"timestamp\":".to_vec()),
        Just(b"\",\"v\":1,\"kind\":\"session\",\"timestamp\":5,\"eventId\":\"x\"}\n".to_vec()),
        Just(b"-9223372036854775808}".to_vec()),
        Just(b"\n".to_vec()),
        Just(vec![0; 40]),
        proptest::collection::vec(any::<u8>(), 0..40),
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

/// A fixed number of cases, and no files beside the tests.
fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(cases(256))]

    /// L5: a ledger of arbitrary bytes is reported on, never panicked at.
    #[test]
    fn verify_never_panics(one in pieces(), two in pieces(), note in pieces()) {
        let place = filled(2, quiet());
        write(&segment(&place.dir), &one);
        write(&place.dir.join("00000002.jsonl"), &two);
        write(&place.dir.join("checkpoint"), &note);
        write(&place.dir.join("frontier"), &note);
        let report = check(&place.dir);
        prop_assert!(!report.ok);
        let ledger = Ledger::open(&place.dir, quiet()).unwrap();
        prop_assert!(ledger.append(&[event(1)]).is_err(), "a false checkpoint stops everything");
        std::fs::remove_file(place.dir.join("checkpoint")).unwrap();
        check(&place.dir);
        drop(Ledger::open(&place.dir, quiet()).unwrap().append(&[event(1)]));
        drop(Index::open(&place.dir).map(|index| index.query(&tagout_ledger::Query::default())));
        let reader = Reader::open(&place.dir).unwrap();
        drop((reader.event(1), reader.prove(0), reader.size()));
    }

    /// L5: text that is no proof, checkpoint or key is refused.
    #[test]
    fn parsers_never_panic(text in ".{0,300}", bytes in pieces()) {
        prop_assert!(Proof::parse(&bytes).is_err());
        prop_assert!(Proof::parse(text.as_bytes()).is_err());
        prop_assert!(SignedCheckpoint::parse(&text).is_err());
        prop_assert!(VerifierKey::parse(&text).is_err());
    }

    /// L10: many random edits at once are found, whatever the number of threads.
    #[test]
    fn random_edits_are_found(
        edits in proptest::collection::vec((any::<prop::sample::Index>(), 1u8..), 1..6),
    ) {
        let place = filled(40, quiet());
        let original = read(&segment(&place.dir));
        let mut bytes = original.clone();
        for (at, change) in edits {
            bytes[at.index(original.len())] ^= change;
        }
        prop_assume!(bytes != original);
        write(&segment(&place.dir), &bytes);
        for threads in [1, 3] {
            let options = VerifyOptions { threads, ..options() };
            prop_assert!(!verify(&place.dir, &options).unwrap().ok);
        }
        prop_assert!(key().verifier().to_string().starts_with("tagout.test/seal+"));
    }
}

/// L10: a line longer than any event, and a segment that is a folder, are told and not followed.
#[test]
fn absurd_files_are_told() {
    let place = filled(3, quiet());
    let mut bytes = read(&segment(&place.dir));
    bytes.extend(vec![b'a'; 9_000_000]);
    bytes.push(b'\n');
    write(&segment(&place.dir), &bytes);
    assert!(!check(&place.dir).ok);
    assert!(
        Ledger::open(&place.dir, quiet())
            .unwrap()
            .append(&[event(1)])
            .is_err()
    );
    std::fs::remove_file(segment(&place.dir)).unwrap();
    std::fs::create_dir(segment(&place.dir)).unwrap();
    assert!(verify(&place.dir, &options()).is_err());
    let refused = Ledger::open(&place.dir, quiet())
        .unwrap()
        .append(&[event(1)]);
    insta::assert_snapshot!(
        refused.unwrap_err().to_string().replace(&*place.dir.to_string_lossy(), "LEDGER"),
        @"could not open `LEDGER/00000001.jsonl`: Is a directory (os error 21)"
    );
}
