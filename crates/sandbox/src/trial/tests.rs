//! Programs that answer, hang, flood and are not there.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::{Trial, trial};

fn shell(line: &str, wait_ms: u64) -> Trial {
    Trial {
        words: ["/bin/sh", "-c", line].map(Into::into).to_vec(),
        environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
        folder: PathBuf::from("/"),
        input: b"hello\n".to_vec(),
        wait: Duration::from_millis(wait_ms),
    }
}

#[test]
fn what_it_says_comes_back() {
    let tried = trial(shell("cat; pwd; echo no >&2; exit 3", 20_000)).unwrap();
    assert_eq!(tried.code, Some(3));
    assert_eq!(tried.stdout, b"hello\n/\n");
    assert_eq!(tried.stderr, b"no\n");
    assert!(tried.in_time);
}

#[test]
fn what_hangs_is_ended_with_what_it_started() {
    let started = Instant::now();
    let tried = trial(shell("sleep 600 & sleep 600", 300)).unwrap();
    assert_eq!((tried.code, tried.in_time), (None, false));
    assert!(started.elapsed() < Duration::from_secs(60));
}

#[test]
fn a_flood_is_cut_and_a_missing_program_is_told() {
    let tried = trial(shell("head -c 200000 /dev/zero", 20_000)).unwrap();
    assert!(tried.stdout.len() <= 64 * 1024);
    let mut missing = shell("", 1_000);
    missing.words = vec!["/nowhere/at/all".into()];
    assert!(trial(missing).is_err());
}
