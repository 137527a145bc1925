//! Seals, frontiers, proofs, kept checkpoints, witnesses.

use tagout_ledger::{
    Attestation, AttestationFacts, Completeness, KeySource, Kind, Ledger, LedgerError, Options,
    ProofError, Reader, SealKey, SealPolicy, SignedCheckpoint, VerifierKey, VerifyOptions, verify,
    verify_consistency, verify_proof,
};

use crate::support::{
    ORIGIN, check, event, fill, filled, key, options, place, quiet, read, time, write,
};

/// B6: the checkpoint has the form of C2SP tlog-checkpoint.
#[test]
fn a_checkpoint_is_a_signed_note() {
    let place = filled(10, quiet());
    let text = String::from_utf8(read(&place.dir.join("checkpoint"))).unwrap();
    insta::assert_snapshot!(text.replace("seal ", "seal\n"), @"
    tagout.test/ledger
    11
    shYomOxDhuiS3GPuHk8Gkpw0Dg/74C5aQNG2MeGrbW0=

    — tagout.test/seal
    zJZ4RXxglcas3/xIkryg0b1lbMekWWvIR2Tge8AyqBIs4NBpJIv72A/jS+hEGpD7wgCoE45Qj20YWSSBqINkLMwwGgA=
    ");
    let signed = SignedCheckpoint::parse(&text).unwrap();
    assert_eq!(signed.text(), text);
    signed.verified(ORIGIN, &[key().verifier()]).unwrap();
    signed
        .verified("elsewhere", &[key().verifier()])
        .unwrap_err();
    let other = SealKey::new("tagout.test/seal", [8; 32]).unwrap();
    signed.verified(ORIGIN, &[other.verifier()]).unwrap_err();
}

/// B6: each event has a proof that holds for it and for nothing else.
#[test]
fn every_event_can_be_proved() {
    let place = filled(37, quiet());
    let reader = Reader::open(&place.dir).unwrap();
    let keys = [key().verifier()];
    for seq in 0..38 {
        let proof = reader.prove(seq).unwrap();
        let text = proof.text();
        let read = verify_proof(text.as_bytes(), ORIGIN, &keys).unwrap();
        assert_eq!(read, proof);
        let mut other = proof.clone();
        other.line = reader
            .event((seq + 1) % 38)
            .unwrap()
            .line
            .try_into()
            .unwrap();
        assert!(matches!(
            other.verified(ORIGIN, &keys),
            Err(ProofError::Index { .. })
        ));
        other.index = (seq + 1) % 38;
        assert_eq!(other.verified(ORIGIN, &keys), Err(ProofError::Path));
    }
    let ledger = Ledger::open(&place.dir, quiet()).unwrap();
    ledger.append(&[event(40)]).unwrap();
    assert!(matches!(
        reader.prove(38).unwrap_err(),
        LedgerError::NotSealed { seq: 38 }
    ));
}

/// B6: emptying the readable texts leaves every proof as it was.
#[test]
fn an_old_checkpoint_is_extended_by_a_new_one() {
    let place = filled(20, quiet());
    let reader = Reader::open(&place.dir).unwrap();
    let old = reader.checkpoint().unwrap().unwrap();
    let ledger = Ledger::open(&place.dir, quiet()).unwrap();
    fill(&ledger, 20..45);
    let new = ledger.seal(time(50)).unwrap();
    let (old, new) = (old.claimed(), new.claimed());
    let path = reader.prove_consistency(old.size).unwrap();
    assert!(verify_consistency(
        (old.size, &old.root),
        (new.size, &new.root),
        &path
    ));
    assert!(!verify_consistency(
        (old.size, &new.root),
        (new.size, &old.root),
        &path
    ));
}

/// Design §6: the frontier saves work and is never believed against the signed root.
#[test]
fn the_frontier_is_rebuilt_when_missing_behind_or_false() {
    type Spoil = dyn Fn(&std::path::Path, &[u8]);
    let spoilt: [&Spoil; 4] = [
        &|path, _| std::fs::remove_file(path).unwrap(),
        &|path, old| write(path, old),
        &|path, _| write(path, b"not json"),
        &|path, _| write(path, b"{\"size\":21,\"time\":1,\"hashes\":[]}"),
    ];
    for (n, spoil) in spoilt.iter().enumerate() {
        let place = filled(20, quiet());
        let frontier = place.dir.join("frontier");
        let old = read(&frontier);
        let ledger = Ledger::open(&place.dir, quiet()).unwrap();
        fill(&ledger, 20..30);
        ledger.seal(time(30)).unwrap();
        fill(&ledger, 30..40);
        spoil(&frontier, &old);
        let ledger = Ledger::open(&place.dir, quiet()).unwrap();
        ledger.seal(time(40)).unwrap();
        let report = check(&place.dir);
        assert!(report.ok && report.sealed == 43, "{n}: {report:?}");
    }
}

/// T-006: a rewritten history is not sealed, even if the frontier was rewritten with it.
#[test]
fn a_rewritten_history_is_not_sealed() {
    let (place, other) = (filled(20, quiet()), filled(19, quiet()));
    for name in ["00000001.jsonl", "frontier"] {
        write(&place.dir.join(name), &read(&other.dir.join(name)));
    }
    let ledger = Ledger::open(&place.dir, quiet()).unwrap();
    let refused = ledger.append(&[event(90), event(91)]).unwrap_err();
    assert!(
        matches!(refused, LedgerError::SealedEventsMissing { .. }),
        "{refused}"
    );

    let longer = filled(25, quiet());
    for name in ["00000001.jsonl", "frontier"] {
        write(&place.dir.join(name), &read(&longer.dir.join(name)));
    }
    let ledger = Ledger::open(&place.dir, quiet()).unwrap();
    let refused = ledger.seal(time(99)).unwrap_err();
    assert!(
        matches!(refused, LedgerError::SealMismatch { sealed: 21, .. }),
        "{refused}"
    );
}

/// B6: sealing again without anything new returns the same checkpoint and writes nothing.
#[test]
fn sealing_twice_is_sealing_once() {
    let place = filled(4, quiet());
    let ledger = Ledger::open(&place.dir, quiet()).unwrap();
    let (one, two) = (ledger.seal(time(5)).unwrap(), ledger.seal(time(6)).unwrap());
    assert_eq!(one, two);
    let reader = Reader::open(&place.dir).unwrap();
    assert_eq!(reader.size().unwrap(), 5);
    assert_eq!(reader.event(4).unwrap().body.kind, Kind::Seal);
    let without = Ledger::open(&place.dir, Options::default()).unwrap();
    assert!(matches!(
        without.seal(time(7)).unwrap_err(),
        LedgerError::NoKey
    ));
}

/// Design §6: a checkpoint kept elsewhere is only ever added to, and read back whole.
#[test]
fn checkpoints_are_kept_elsewhere() {
    let place = filled(4, quiet());
    let away = tempfile::tempdir().unwrap();
    let file = away.path().join("kept");
    let ledger = Ledger::open(&place.dir, quiet()).unwrap();
    let one = ledger.seal_to(time(5), &file).unwrap();
    fill(&ledger, 5..9);
    let two = ledger.seal_to(time(9), &file).unwrap();
    assert_eq!(SignedCheckpoint::read_kept(&file).unwrap(), [one, two]);
    let report = verify(
        &place.dir,
        &VerifyOptions {
            kept: SignedCheckpoint::read_kept(&file).unwrap(),
            ..options()
        },
    );
    assert!(report.unwrap().ok);
}

/// A file that is given as a kept checkpoint is read only so far, whatever it is.
#[test]
fn kept_checkpoints_are_read_within_a_bound() {
    let away = tempfile::tempdir().unwrap();
    let file = away.path().join("kept");
    let bytes = vec![b'\n'; tagout_vocab::limits::LEDGER_PROOF_BYTES_MAX + 1];
    write(&file, &bytes);
    let refused = SignedCheckpoint::read_kept(&file).unwrap_err();
    assert!(matches!(refused, LedgerError::TooLarge { .. }), "{refused}");
    // One without an end is not read to its end either.
    let endless = SignedCheckpoint::read_kept(std::path::Path::new("/dev/zero")).unwrap_err();
    assert!(matches!(endless, LedgerError::TooLarge { .. }), "{endless}");
}

/// Design §6: computing every root again says the same as following the chain.
#[test]
fn a_deep_verification_agrees() {
    let place = place();
    let sealing = Options {
        seal: Some(SealPolicy {
            events_max: 10,
            ms_max: i64::MAX,
        }),
        ..quiet()
    };
    let ledger = Ledger::open(&place.dir, sealing).unwrap();
    let deep = || VerifyOptions {
        is_deep: true,
        ..options()
    };
    for n in 0..80 {
        fill(&ledger, n..n + 1);
        let report = check(&place.dir);
        assert!(report.ok && report.sealed > 0, "{report:?}");
        assert_eq!(verify(&place.dir, &deep()).unwrap(), report);
    }
    // Without the stored checkpoint the seals in the chain still vouch for all but the last one.
    std::fs::remove_file(place.dir.join("checkpoint")).unwrap();
    let report = check(&place.dir);
    assert!(report.ok && report.sealed > 70, "{report:?}");
}

/// Design §6: who vouches is told apart from whether the chain is whole.
#[test]
fn attestation_is_told_apart() {
    let place = filled(4, quiet());
    assert_eq!(check(&place.dir).attestation, Attestation::SelfAttested);
    let facts = AttestationFacts {
        key_owner_uid: Some(990),
        key_is_exposed: false,
        agent_uid: 1_000,
    };
    let with = |facts| {
        let options = VerifyOptions { facts, ..options() };
        verify(&place.dir, &options).unwrap().attestation
    };
    assert_eq!(with(facts), Attestation::SeparateUid);
    let same = AttestationFacts {
        key_owner_uid: Some(1_000),
        ..facts
    };
    let exposed = AttestationFacts {
        key_is_exposed: true,
        ..facts
    };
    let root = AttestationFacts {
        agent_uid: 0,
        ..facts
    };
    for weak in [same, exposed, root] {
        assert_eq!(with(weak), Attestation::SelfAttested);
    }

    let witness = SealKey::new("witness.test/w", [9; 32]).unwrap();
    let stored = Reader::open(&place.dir)
        .unwrap()
        .checkpoint()
        .unwrap()
        .unwrap();
    let cosigned = stored.cosign(&witness, 1_780_000_000);
    let options = |witnesses| VerifyOptions {
        witnesses,
        kept: vec![cosigned.clone()],
        ..options()
    };
    let seen = verify(&place.dir, &options(vec![witness.witness()])).unwrap();
    assert_eq!(seen.attestation, Attestation::Witnessed);
    let stranger = SealKey::new("witness.test/w", [10; 32]).unwrap();
    let unseen = verify(&place.dir, &options(vec![stranger.witness()])).unwrap();
    assert!(unseen.ok && unseen.attestation == Attestation::SelfAttested);
    // A witness alone is no seal.
    let only = verify(
        &place.dir,
        &VerifyOptions {
            keys: vec![witness.witness()],
            ..VerifyOptions::default()
        },
    );
    assert!(!only.unwrap().ok);
}

/// Design §6: without a seal, completeness is unknown and not «complete».
#[test]
fn completeness_is_not_assumed() {
    let place = place();
    let ledger = Ledger::open(&place.dir, quiet()).unwrap();
    assert_eq!(check(&place.dir).completeness, Completeness::Unknown);
    fill(&ledger, 0..3);
    let report = check(&place.dir);
    assert!(report.ok && report.completeness == Completeness::Unknown);
    ledger.seal(time(3)).unwrap();
    assert_eq!(check(&place.dir).completeness, Completeness::Complete);
    fill(&ledger, 3..6);
    assert_eq!(check(&place.dir).completeness, Completeness::OpenTail);
    insta::assert_json_snapshot!(check(&place.dir), @r#"
    {
      "ok": true,
      "events": 7,
      "sealed": 4,
      "integrity": "intact",
      "completeness": "open_tail",
      "attestation": "self",
      "torn_bytes": 0,
      "problems": []
    }
    "#);
}

/// Keys are read from owner-only files and written in the forms of other transparency logs.
#[test]
fn keys_live_in_owner_only_files() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = filled(2, quiet());
    let path = place.dir.join("key");
    key().create_file(&path).unwrap();
    assert_eq!(
        std::fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o600
    );
    assert!(
        key().create_file(&path).is_err(),
        "a key is never overwritten"
    );
    assert_eq!(SealKey::load(&path).unwrap().verifier(), key().verifier());
    let text = key().verifier().to_string();
    assert_eq!(VerifierKey::parse(&text).unwrap(), key().verifier());
    insta::assert_snapshot!(
        text,
        @"tagout.test/seal+cc967845+AepKbGPinFIKvvVQexMuxfmVR3auvr57kkIe6mkURtIs"
    );
    let options = Options {
        key: Some(KeySource::File(path.clone())),
        ..quiet()
    };
    let ledger = Ledger::open(&place.dir, options).unwrap();
    fill(&ledger, 2..4);
    ledger.seal(time(4)).unwrap();
    assert!(check(&place.dir).ok);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    fill(&ledger, 4..5);
    let refused = ledger.seal(time(5)).unwrap_err();
    assert!(matches!(refused, LedgerError::KeyFile { .. }), "{refused}");
}

/// What an earlier look noted in the lock's file is used, and is never believed against what is
/// there: a further segment, a later seal, a ledger that was cut below its seal.
#[test]
fn a_noted_end_is_followed_and_never_hides_another() {
    let small = || Options {
        segment_bytes_max: 16 * 1024,
        ..quiet()
    };
    let place = filled(5, small());
    let dir = &place.dir;
    let open = || Ledger::open(dir, small()).unwrap();
    let noted = || read(&dir.join("lock"));
    open().append(&[event(6)]).unwrap();
    let first = noted();
    assert!(!first.is_empty());
    let early = open();
    early.append(&[event(7)]).unwrap();
    assert_eq!(noted(), first, "nothing changed that it is about");
    // Others go on to further segments; who comes then follows them.
    fill(&open(), 8..40);
    assert!(dir.join("00000002.jsonl").exists());
    for seq in 40..44 {
        open().append(&[event(seq)]).unwrap();
    }
    early.append(&[event(44)]).unwrap();
    let sealed = open().seal(time(90)).unwrap();
    assert!(check(dir).ok);
    // A note from before that seal tells nothing any more.
    write(&dir.join("lock"), &first);
    let size = open().size().unwrap();
    assert_eq!(size, sealed.claimed().size);
    assert_ne!(noted(), first);
    // Cut below the seal, with a note that is true but for that.
    let mut segments: Vec<_> = std::fs::read_dir(dir)
        .unwrap()
        .map(|one| one.unwrap().path())
        .collect();
    segments.retain(|path| path.extension().is_some_and(|ending| ending == "jsonl"));
    segments.sort();
    let last = segments.last().unwrap();
    let text = read(last);
    let cut = text[..text.len() - 1]
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |at| at + 1);
    write(last, &text[..cut]);
    assert!(matches!(
        open().append(&[event(99)]).unwrap_err(),
        LedgerError::SealedEventsMissing { .. }
    ));
}
