//! The readable texts: redacted, owner-only, free to go; and no secret on the disk.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use proptest::prelude::*;
use serde_json::json;
use tagout_ledger::{Commitment, ErrorDetails, Ledger, NewEvent, Reader, Texts, verify_proof};

use crate::support::{ORIGIN, check, event, key, place, quiet, time};

fn with_texts(n: u64, input: serde_json::Value) -> NewEvent {
    let bytes = serde_json::to_vec(&input).unwrap();
    NewEvent {
        input_hash: Some(Commitment::new([5; 32], &bytes).digest),
        texts: Some(Texts {
            salt: [5; 32],
            input: Some(input),
            output: Some(json!("done")),
        }),
        ..event(n)
    }
}

/// Design §6: the texts are found by event, and open the commitment when nothing was redacted.
#[test]
fn texts_are_kept_beside_the_ledger() {
    let place = place();
    let ledger = Ledger::open(&place.dir, quiet()).unwrap();
    let input = json!({"path": "src/a.rs", "content": "fn main() {}"});
    ledger
        .append(&[event(0), with_texts(1, input.clone())])
        .unwrap();
    ledger
        .append(&[with_texts(2, json!({"path": "b"}))])
        .unwrap();
    let reader = Reader::open(&place.dir).unwrap();
    assert_eq!(reader.texts(0).unwrap(), None);
    let kept = reader.texts(1).unwrap().unwrap();
    assert_eq!(kept.input, Some(input.clone()));
    assert_eq!(kept.output, Some(json!("done")));
    assert_eq!(reader.texts(2).unwrap().unwrap().event, "ev-000002");
    let bytes = serde_json::to_vec(&input).unwrap();
    let opened = kept.commitment_to(&bytes).unwrap();
    let recorded = reader.event(1).unwrap().body.input_hash;
    assert_eq!(Some(opened.digest), recorded);
    assert!(opened.opens(&bytes) && !opened.opens(b"something else"));
}

/// Design §6: the store can be emptied without breaking a proof.
#[test]
fn texts_can_be_forgotten() {
    let place = place();
    let ledger = Ledger::open(&place.dir, quiet()).unwrap();
    ledger.append(&[with_texts(0, json!({"a": "b"}))]).unwrap();
    ledger.seal(time(1)).unwrap();
    let reader = Reader::open(&place.dir).unwrap();
    let proof = reader.prove(0).unwrap().text();
    reader.forget_texts().unwrap();
    reader.forget_texts().unwrap();
    assert_eq!(reader.texts(0).unwrap(), None);
    assert!(check(&place.dir).ok);
    assert_eq!(reader.prove(0).unwrap().text(), proof);
    verify_proof(proof.as_bytes(), ORIGIN, &[key().verifier()]).unwrap();
    ledger.append(&[with_texts(2, json!({"a": "c"}))]).unwrap();
    assert!(reader.texts(2).unwrap().is_some(), "the store begins again");
}

/// Design §6: long strings are cut with their length; what is left is still JSON.
#[test]
fn long_texts_are_cut() {
    let place = place();
    let ledger = Ledger::open(&place.dir, quiet()).unwrap();
    let long = "é".repeat(20_000);
    ledger
        .append(&[with_texts(0, json!({"content": long, "path": "x"}))])
        .unwrap();
    let kept = Reader::open(&place.dir).unwrap().texts(0).unwrap().unwrap();
    let input = kept.input.unwrap();
    assert_eq!(input["path"], "x");
    let text = input["content"].as_str().unwrap();
    assert!(text.ends_with("[23616 bytes more]"), "{} bytes", text.len());
}

fn everything_on_disk(dir: &Path) -> Vec<u8> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(everything_on_disk(&path));
        } else {
            all.extend(std::fs::read(path).unwrap());
        }
    }
    all
}

/// Design §6: only the owner can enter the folder or read a file in it.
#[test]
fn everything_is_owner_only() {
    fn modes(dir: &Path, found: &mut Vec<(String, u32)>) {
        for entry in std::fs::read_dir(dir).unwrap() {
            let entry = entry.unwrap();
            let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
            found.push((entry.file_name().to_string_lossy().into_owned(), mode));
            if entry.path().is_dir() {
                modes(&entry.path(), found);
            }
        }
    }
    let place = place();
    let ledger = Ledger::open(&place.dir, quiet()).unwrap();
    ledger.append(&[with_texts(0, json!({"a": "b"}))]).unwrap();
    ledger.seal(time(1)).unwrap();
    tagout_ledger::Index::open(&place.dir).unwrap();
    let mut found = Vec::new();
    modes(&place.dir, &mut found);
    assert!(found.len() >= 7, "{found:?}");
    for (name, mode) in found {
        assert_eq!(mode & 0o077, 0, "{name}: {mode:o}");
    }
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
    #![proptest_config(cases(64))]

    /// Design §6: a secret of a known shape reaches no file, whichever field it comes in by.
    #[test]
    fn no_secret_reaches_the_disk(
        body in "[A-Za-z0-9]{36}",
        form in 0usize..8,
        before in "[a-z ]{0,12}",
    ) {
        let secret = match form {
            0 => format!("ghp_{body}"),
            1 => format!("sk-proj-{body}"),
            2 => format!("AKIA{}", body.get(..16).unwrap().to_uppercase()),
            3 => format!("xoxb-{body}"),
            4 => format!("glpat-{body}"),
            5 => format!("npm_{body}"),
            6 => format!("eyJhbGciOi.{body}.{body}"),
            _ => format!("github_pat_{body}"),
        };
        let text = format!("{before} {secret} after");
        let mut one = with_texts(0, json!({"content": text, "list": [text], "password": body}));
        one.error = Some(ErrorDetails {
            failure: "ExecutionError".to_owned(),
            message: text.clone(),
            context: Some(format!("Authorization: Bearer {body}")),
            backtrace: Some(format!("API_TOKEN={body}\n")),
        });
        one.rule = Some(text.clone());
        one.data = Some(json!({"note": text, "api_key": body}));
        let place = place();
        let ledger = Ledger::open(&place.dir, quiet()).unwrap();
        ledger.append(&[one]).unwrap();
        let disk = everything_on_disk(&place.dir);
        let disk = String::from_utf8_lossy(&disk);
        let hidden = secret.get(4..20).unwrap();
        prop_assert!(!disk.contains(hidden), "{secret} in {disk}");
        prop_assert!(!disk.contains(&body), "{body} in {disk}");
    }
}
