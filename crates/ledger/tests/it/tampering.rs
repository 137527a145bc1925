//! T-006: three adversaries on a 200-event ledger, exhaustively. `docs/reference/ledger.md` says
//! in words what these tests say in code.

use std::os::unix::fs::FileExt as _;
use std::path::Path;

use tagout_ledger::{
    Completeness, Integrity, Kind, Ledger, NewEvent, Options, ProblemKind, Reader, Report,
    SealPolicy, SignedCheckpoint, VerifyOptions, verify,
};

use crate::support::{
    Place, check, event, fill, filled, key, options, place, quiet, read, segment, stamp, time,
    write,
};

const EVENTS: u64 = 200;

fn tampered(dir: &Path, bytes: &[u8]) -> Report {
    write(&segment(dir), bytes);
    check(dir)
}

fn lines(bytes: &[u8]) -> Vec<Vec<u8>> {
    let text = bytes.strip_suffix(b"\n").unwrap();
    text.split(|byte| *byte == b'\n')
        .map(<[u8]>::to_vec)
        .collect()
}

fn joined(lines: &[Vec<u8>]) -> Vec<u8> {
    lines
        .iter()
        .flat_map(|line| [line.as_slice(), b"\n"].concat())
        .collect()
}

/// 200 events with seals among them: 199 and the last seal.
fn ledger() -> Place {
    let options = Options {
        seal: Some(SealPolicy {
            events_max: 64,
            ms_max: i64::MAX,
        }),
        ..quiet()
    };
    let place = place();
    let ledger = Ledger::open(&place.dir, options).unwrap();
    let mut n = 0;
    while Reader::open(&place.dir).unwrap().size().unwrap() < EVENTS - 1 {
        // Every kind of event is a line; short ones keep «every byte» within seconds.
        let kind = if n % 50 == 0 {
            None
        } else {
            Kind::parse("session")
        };
        let one = kind.map_or_else(|| event(n), |kind| NewEvent::new(stamp(n), kind));
        ledger.append(&[one]).unwrap();
        n += 1;
    }
    ledger.seal(time(n)).unwrap();
    assert_eq!(check(&place.dir).events, EVENTS);
    place
}

/// Which bits of a byte are flipped.
#[derive(Clone, Copy)]
enum Bits {
    /// One; which one goes round, so that all eight are tried many times.
    One,
    Every,
}

/// Flips bits of every byte of a file, one at a time.
fn flips(path: &Path, bits: Bits, mut each: impl FnMut(usize)) {
    let original = read(path);
    let file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
    for (place, byte) in original.iter().enumerate() {
        let bits = match bits {
            Bits::One => place % 8..place % 8 + 1,
            Bits::Every => 0..8,
        };
        for bit in bits {
            file.write_all_at(&[byte ^ (1 << bit)], place as u64)
                .unwrap();
            each(place);
        }
        file.write_all_at(&[*byte], place as u64).unwrap();
    }
}

fn flips_are_found(bits: Bits) {
    let place = ledger();
    let original = read(&segment(&place.dir));
    let feeds = |at: usize| {
        let ends = original[..at].split(|byte| *byte == b'\n').skip(1);
        ends.count() as u64
    };
    let (mut event, mut last, mut count) = (0, 0, 0_usize);
    flips(&segment(&place.dir), bits, |at| {
        if at != last {
            (event, last) = (feeds(at), at);
        }
        let report = check(&place.dir);
        assert!(!report.ok, "byte {at}");
        let first = report.problems[0].event.unwrap();
        // At the very end no event follows that could say which one it was: there the first that
        // no seal vouches for is named.
        let is_near = event + 2 >= EVENTS && first <= event + 1;
        assert!(
            first == event || is_near,
            "byte {at}: {:?}",
            report.problems
        );
        count += 1;
    });
    println!("{count} bits of {EVENTS} events flipped, each found");
    assert!(count >= original.len());
    assert!(tampered(&place.dir, &original).ok);
}

/// T-006, without the key: a flip in any byte of any event is found, and the event is named.
#[test]
fn every_byte_flip_is_found() {
    flips_are_found(Bits::One);
}

/// T-006, without the key: the same for every bit.
#[test]
fn soak_every_bit_flip_is_found() {
    flips_are_found(Bits::Every);
}

/// T-006, without the key: a flip of any bit of the stored checkpoint is found.
#[test]
fn every_flip_in_the_checkpoint_is_found() {
    let place = filled(20, quiet());
    let path = place.dir.join("checkpoint");
    flips(&path, Bits::Every, |at| {
        let report = check(&place.dir);
        assert!(!report.ok, "byte {at}");
        assert_eq!(
            report.problems[0].kind,
            ProblemKind::BadSignature,
            "byte {at}"
        );
    });
}

/// T-006, without the key: every deletion of one event, and of a run to the end, is found.
#[test]
fn every_deletion_is_found() {
    let place = ledger();
    let original = lines(&read(&segment(&place.dir)));
    for at in 0..original.len() {
        let mut left = original.clone();
        left.remove(at);
        let report = tampered(&place.dir, &joined(&left));
        let is_last = at + 1 == original.len();
        let kind = if is_last {
            ProblemKind::Truncated
        } else {
            ProblemKind::Deleted
        };
        assert_eq!(report.problems[0].kind, kind, "{at}: {report:?}");
        assert_eq!(report.problems[0].event, Some(at as u64));
        assert_eq!(report.completeness, Completeness::Incomplete);

        let report = tampered(&place.dir, &joined(&original[..at]));
        assert_eq!(
            report.problems[0].kind,
            ProblemKind::Truncated,
            "{at}: {report:?}"
        );
        assert_eq!(report.problems[0].event, Some(at as u64));
        assert_eq!(report.integrity, Integrity::Intact);
    }
}

fn swaps_are_found(distances: impl Iterator<Item = usize>) {
    let place = ledger();
    let original = lines(&read(&segment(&place.dir)));
    for distance in distances {
        for at in 0..original.len() - distance {
            let mut swapped = original.clone();
            swapped.swap(at, at + distance);
            let report = tampered(&place.dir, &joined(&swapped));
            let first = &report.problems[0];
            assert_eq!(
                (first.kind, first.event),
                (ProblemKind::Reordered, Some(at as u64)),
                "{at} and {distance} on: {report:?}"
            );
        }
    }
}

/// T-006, without the key: every swap of neighbours is found, and of events further apart.
#[test]
fn every_swap_is_found() {
    swaps_are_found([1, 2, 64, 150].into_iter());
}

/// T-006, without the key: the same for every two events.
#[test]
fn slow_every_swap_of_two_events_is_found() {
    let events = usize::try_from(EVENTS).unwrap();
    swaps_are_found(1..events);
}

/// T-006, without the key: a copy, a forged event and a line of junk are found at every place.
#[test]
fn every_insertion_is_found() {
    let place = ledger();
    let original = lines(&read(&segment(&place.dir)));
    for at in 0..=original.len() {
        let copy = original[at.saturating_sub(1)].clone();
        // A forger who knows the format gives the event the right number and the right link.
        let mut forged = original[at.min(original.len() - 1)].clone();
        let id = forged
            .windows(4)
            .position(|four| four == b"\"ev-" || four == b"seal");
        forged[id.unwrap() + 3] ^= 1;
        for (what, line) in [("copy", copy), ("forged", forged), ("junk", b"{}".to_vec())] {
            let mut longer = original.clone();
            longer.insert(at, line);
            let report = tampered(&place.dir, &joined(&longer));
            assert!(!report.ok, "{what} at {at}");
            let first = &report.problems[0];
            let near = at.saturating_sub(1) as u64..=at as u64;
            assert!(
                near.contains(&first.event.unwrap()),
                "{what} at {at}: {report:?}"
            );
        }
    }
}

/// T-006, without the key: recomputing all links after an edit does not help; the seal shows it.
#[test]
fn a_recomputed_chain_is_found_by_its_seals() {
    let place = ledger();
    let original = lines(&read(&segment(&place.dir)));
    for at in 0..original.len() {
        let rewritten = recomputed(&original, at);
        let report = tampered(&place.dir, &joined(&rewritten));
        assert_eq!(report.integrity, Integrity::Broken, "{at}");
        let first = report.problems[0].event.unwrap();
        assert!(first <= at as u64, "{at}: {report:?}");
        assert!(first + 66 > at as u64, "{at}: {report:?}");
    }
}

/// The ledger with one byte of event `at` changed and every later link made right again.
fn recomputed(original: &[Vec<u8>], at: usize) -> Vec<Vec<u8>> {
    let mut rewritten = original.to_vec();
    let end = rewritten[at].len();
    let id = rewritten[at]
        .windows(11)
        .position(|part| part == b"\"eventId\":\"")
        .unwrap();
    assert!(id + 12 < end);
    rewritten[at][id + 12] ^= 1;
    for next in at + 1..rewritten.len() {
        let hash = tagout_ledger::leaf_hash(&rewritten[next - 1]);
        let hex = tagout_vocab::Digest::from_bytes(hash).hex();
        let prev = rewritten[next]
            .windows(8)
            .position(|part| part == b"\"prev\":\"")
            .unwrap();
        rewritten[next][prev + 8..prev + 72].copy_from_slice(hex.as_bytes());
    }
    rewritten
}

/// T-006, without the key: what is not sealed yet is not protected at its very end.
#[test]
fn the_last_unsealed_event_is_not_protected() {
    let place = filled(10, quiet());
    let ledger = Ledger::open(&place.dir, quiet()).unwrap();
    fill(&ledger, 11..14);
    let original = lines(&read(&segment(&place.dir)));
    let edited = recomputed(&original, 12);
    let report = tampered(&place.dir, &joined(&edited));
    assert!(report.ok);
    assert_eq!(report.completeness, Completeness::OpenTail);
    assert_eq!((report.sealed, report.events), (11, 14));
}

/// Another history with the same key, number of events and times, different from event `from` on.
fn rewritten_with_key(from: u64, count: u64) -> Place {
    let place = place();
    let ledger = Ledger::open(&place.dir, quiet()).unwrap();
    let story: Vec<NewEvent> = (0..count)
        .map(|n| {
            let mut one = event(n);
            if n >= from {
                one.rule = Some("another story".to_owned());
            }
            one
        })
        .collect();
    // In one step, which makes the same lines as many and waits for the disk once.
    ledger.append(&story).unwrap();
    ledger.seal(time(count)).unwrap();
    place
}

fn against(dir: &Path, kept: &SignedCheckpoint) -> Report {
    let options = VerifyOptions {
        kept: vec![kept.clone()],
        ..options()
    };
    verify(dir, &options).unwrap()
}

/// T-006, with the key: a rewritten history passes on its own, and a kept checkpoint shows every
/// rewriting of what it covers.
#[test]
fn a_rewriter_with_the_key_is_found_against_a_kept_checkpoint() {
    let honest = filled(EVENTS - 1, quiet());
    let kept = Reader::open(&honest.dir)
        .unwrap()
        .checkpoint()
        .unwrap()
        .unwrap();
    assert_eq!(kept.claimed().size, EVENTS);
    for from in 0..EVENTS - 1 {
        let place = rewritten_with_key(from, EVENTS + 20);
        assert!(check(&place.dir).ok, "alone it can't be seen");
        let report = against(&place.dir, &kept);
        assert_eq!(
            report.problems[0].kind,
            ProblemKind::Forked,
            "{from}: {report:?}"
        );
        assert_eq!(report.integrity, Integrity::Broken);
    }
    println!(
        "{} histories rewritten with the key, each found",
        EVENTS - 1
    );
}

/// T-006, with the key: what came after the kept checkpoint can be rewritten unseen.
#[test]
fn after_the_kept_checkpoint_a_key_holder_is_free() {
    let place = filled(100, quiet());
    let kept = Reader::open(&place.dir)
        .unwrap()
        .checkpoint()
        .unwrap()
        .unwrap();
    let saved = tempfile::tempdir().unwrap();
    let copy = saved.path().join("copy");
    crate::support::copy(&place.dir, &copy);
    for (dir, story) in [(&place.dir, "one"), (&copy, "another")] {
        let ledger = Ledger::open(dir, quiet()).unwrap();
        let mut one = event(101);
        one.rule = Some(story.to_owned());
        ledger.append(&[one]).unwrap();
        ledger.seal(time(102)).unwrap();
        assert!(against(dir, &kept).ok);
    }
    assert_ne!(read(&segment(&place.dir)), read(&segment(&copy)));
}

/// T-006, anchored: every truncation below the kept size is found, however well it is re-signed.
#[test]
fn every_truncation_is_found_against_a_kept_checkpoint() {
    let honest = ledger();
    let kept = Reader::open(&honest.dir)
        .unwrap()
        .checkpoint()
        .unwrap()
        .unwrap();
    let original = lines(&read(&segment(&honest.dir)));
    for left in 0..original.len() {
        write(&segment(&honest.dir), &joined(&original[..left]));
        for name in ["checkpoint", "frontier"] {
            std::fs::remove_file(honest.dir.join(name)).unwrap_or_default();
        }
        assert!(check(&honest.dir).ok, "{left}: alone it can't be seen");
        let report = against(&honest.dir, &kept);
        assert_eq!(
            report.problems[0].kind,
            ProblemKind::Truncated,
            "{left}: {report:?}"
        );
        assert_eq!(report.problems[0].event, Some(left as u64));
        assert_eq!(report.completeness, Completeness::Incomplete);
    }
    // With the key he seals the shorter ledger again; the kept checkpoint still asks for the rest.
    for left in (0..original.len()).step_by(20) {
        write(&segment(&honest.dir), &joined(&original[..left]));
        std::fs::remove_file(honest.dir.join("checkpoint")).unwrap_or_default();
        let ledger = Ledger::open(&honest.dir, quiet()).unwrap();
        ledger.seal(time(900)).unwrap();
        assert!(check(&honest.dir).ok);
        let report = against(&honest.dir, &kept);
        assert_eq!(
            report.problems[0].kind,
            ProblemKind::Truncated,
            "{left}: {report:?}"
        );
    }
}

/// T-006, anchored: a whole older state put back is found.
#[test]
fn an_older_state_put_back_is_found() {
    let place = filled(50, quiet());
    let saved = tempfile::tempdir().unwrap();
    let old = saved.path().join("old");
    crate::support::copy(&place.dir, &old);
    let ledger = Ledger::open(&place.dir, quiet()).unwrap();
    fill(&ledger, 51..60);
    let kept = ledger.seal(time(60)).unwrap();
    assert!(check(&old).ok);
    assert_eq!(
        against(&old, &kept).problems[0].kind,
        ProblemKind::Truncated
    );
}

/// T-006: a seal by another key, a seal about another ledger, and no key at all are not believed.
#[test]
fn foreign_seals_are_not_believed() {
    let place = filled(10, quiet());
    let report = verify(&place.dir, &VerifyOptions::default()).unwrap();
    assert!(!report.ok && report.sealed == 0);
    assert!(
        report
            .problems
            .iter()
            .all(|one| one.kind == ProblemKind::BadSignature)
    );
    let stranger = tagout_ledger::SealKey::new(key().name(), [1; 32]).unwrap();
    let report = verify(
        &place.dir,
        &VerifyOptions {
            keys: vec![stranger.verifier()],
            ..VerifyOptions::default()
        },
    );
    assert!(!report.unwrap().ok);
}

/// T-006: segments removed, renamed, or with bytes behind their end are found.
#[test]
fn whole_segments_are_guarded() {
    let options = Options {
        segment_bytes_max: 8_000,
        ..quiet()
    };
    let build = || filled(60, options.clone());
    let place = build();
    std::fs::remove_file(place.dir.join("00000002.jsonl")).unwrap();
    assert_eq!(check(&place.dir).problems[0].kind, ProblemKind::Deleted);

    let place = build();
    let (one, two) = (segment(&place.dir), place.dir.join("00000002.jsonl"));
    let (first, second) = (read(&one), read(&two));
    write(&one, &second);
    write(&two, &first);
    assert_eq!(check(&place.dir).problems[0].kind, ProblemKind::Reordered);

    let place = build();
    let one = segment(&place.dir);
    write(&one, &[read(&one), b"more".to_vec()].concat());
    let report = check(&place.dir);
    assert!(!report.ok, "{report:?}");
}
