//! Tests of keeping output.

#![allow(clippy::disallowed_methods, reason = "tests write their own files")]

use std::fs::File;
use std::io::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use super::{Captured, Collector, LiveSink, Output, Stream};
use proptest::prelude::*;
use tagout_vocab::limits::{OUTPUT_HEAD_BYTES_MAX, OUTPUT_TAIL_BYTES_MAX};

struct Run {
    captured: Captured,
    cut: bool,
    hits: usize,
    live: Vec<(Stream, Vec<u8>)>,
    whole: Vec<u8>,
}

fn run(parts: Vec<(Stream, Vec<u8>)>, bytes_max: Option<u64>) -> Run {
    let folder = tempfile::tempdir().unwrap();
    let (out, mut to_out) = pipe();
    let (err, mut to_err) = pipe();
    let live = Arc::new(Mutex::new(Vec::new()));
    let hits = Arc::new(AtomicUsize::new(0));
    let output = Output {
        artifact: folder.path().join("artifact"),
        live: Some(LiveSink({
            let live = Arc::clone(&live);
            Arc::new(move |stream, bytes: &[u8]| {
                live.lock().unwrap().push((stream, bytes.to_vec()));
            })
        })),
    };
    let hit = {
        let hits = Arc::clone(&hits);
        Box::new(move || {
            hits.fetch_add(1, Ordering::SeqCst);
        })
    };
    let collector = Collector::start(&output, [out, err], bytes_max, hit).unwrap();
    for (stream, bytes) in parts {
        match stream {
            Stream::Out => to_out.write_all(&bytes).unwrap(),
            Stream::Err => to_err.write_all(&bytes).unwrap(),
        }
    }
    drop((to_out, to_err));
    let (captured, cut) = collector.finish().unwrap();
    let live = std::mem::take(&mut *live.lock().unwrap());
    let is_stored = captured.artifact.exists();
    assert_eq!(
        is_stored,
        captured.bytes > 0,
        "what says nothing needs no file"
    );
    Run {
        cut,
        hits: hits.load(Ordering::SeqCst),
        live,
        whole: std::fs::read(&captured.artifact).unwrap_or_default(),
        captured,
    }
}

fn pipe() -> (File, File) {
    let (from, to) = rustix::pipe::pipe().unwrap();
    (from.into(), to.into())
}

fn joined(live: &[(Stream, Vec<u8>)], wanted: Stream) -> Vec<u8> {
    let parts = live.iter().filter(|(stream, _)| *stream == wanted);
    parts.flat_map(|(_, bytes)| bytes.clone()).collect()
}

#[test]
fn short_output_is_all_head_and_any_bytes_pass() {
    let bytes: Vec<u8> = (0..=255).collect();
    let run = run(vec![(Stream::Out, bytes.clone())], Some(256));
    assert_eq!(run.captured.head, bytes);
    assert!(run.captured.tail.is_empty());
    assert_eq!((run.captured.bytes, run.cut, run.hits), (256, false, 0));
    assert_eq!(run.whole, bytes);
    assert_eq!(joined(&run.live, Stream::Out), bytes);
}

#[test]
fn the_limit_cuts_and_is_told_once_while_the_rest_is_read_away() {
    let flood = vec![b'x'; 3_000_000];
    let run = run(vec![(Stream::Out, flood)], Some(100_000));
    assert!(run.cut);
    assert_eq!(run.hits, 1);
    assert_eq!(run.captured.bytes, 100_000);
    assert_eq!(run.whole.len(), 100_000);
    assert_eq!(joined(&run.live, Stream::Out).len(), 100_000);
}

#[test]
fn an_artifact_that_exists_is_not_written_over() {
    let folder = tempfile::tempdir().unwrap();
    let artifact = folder.path().join("artifact");
    std::fs::write(&artifact, "other").unwrap();
    let output = Output {
        artifact: artifact.clone(),
        live: None,
    };
    let (out, mut to_out) = pipe();
    let hits = Arc::new(AtomicUsize::new(0));
    let hit = Arc::clone(&hits);
    let hit = Box::new(move || {
        hit.fetch_add(1, Ordering::SeqCst);
    });
    let collector = Collector::start(&output, [out, pipe().0], None, hit).unwrap();
    to_out.write_all(b"x").unwrap();
    drop(to_out);
    assert!(collector.finish().is_err());
    assert_eq!(hits.load(Ordering::SeqCst), 1, "it is not let go on unkept");
    assert_eq!(std::fs::read(&artifact).unwrap(), b"other");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn head_tail_and_artifact_agree(
        parts in proptest::collection::vec((any::<bool>(), 0..90_000_usize, any::<u8>()), 0..6)
    ) {
        let parts: Vec<(Stream, Vec<u8>)> = parts
            .into_iter()
            .map(|(out, size, byte)| {
                let stream = if out { Stream::Out } else { Stream::Err };
                (stream, (0..size).map(|at| u8::try_from(at % 251).unwrap() ^ byte).collect())
            })
            .collect();
        let of = |wanted: Stream| -> Vec<u8> {
            let own = parts.iter().filter(|(stream, _)| *stream == wanted);
            own.flat_map(|(_, bytes)| bytes.clone()).collect()
        };
        let (out, err) = (of(Stream::Out), of(Stream::Err));
        let run = run(parts, None);
        prop_assert_eq!(joined(&run.live, Stream::Out), out);
        prop_assert_eq!(joined(&run.live, Stream::Err), err);
        let whole = run.whole;
        prop_assert_eq!(run.captured.bytes, whole.len() as u64);
        let head = whole.len().min(OUTPUT_HEAD_BYTES_MAX);
        prop_assert_eq!(&run.captured.head, &whole[..head]);
        let rest = &whole[head..];
        let tail = &rest[rest.len().saturating_sub(OUTPUT_TAIL_BYTES_MAX)..];
        prop_assert_eq!(&run.captured.tail, tail);
    }
}
