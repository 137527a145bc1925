//! `tagout verify`: is the record whole, and who says so. Looks only.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use serde_json::json;
use tagout_ledger::{
    Attestation, AttestationFacts, Completeness, Integrity, Problem, ProblemKind, Proof,
    ProofError, Report, SignedCheckpoint, VerifierKey, VerifyOptions, verify, verify_proof,
};
use tagout_vocab::limits::LEDGER_PROOF_BYTES_MAX;

use crate::args::{PlaceArgs, VerifyArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::state::State;
use crate::{keys, report, site};

/// Checks a ledger or a proof, and tells.
pub(crate) fn run(place: &PlaceArgs, args: &VerifyArgs) -> Result<Exit, Failure> {
    if let Some(file) = &args.proof {
        return check_proof(place, args, file);
    }
    let mut options = VerifyOptions {
        keys: keys::given(&args.key)?,
        witnesses: keys::given(&args.witness)?,
        ..VerifyOptions::default()
    };
    for file in &args.checkpoint {
        options.kept.extend(SignedCheckpoint::read_kept(file)?);
    }
    let folder = if let Some(folder) = &args.ledger {
        folder.clone()
    } else {
        let state = State::find(place)?;
        if options.keys.is_empty() {
            options.keys.push(keys::own(&state)?);
        }
        options.facts = facts(&state)?;
        state.ledger()
    };
    let found = verify(&folder, &options)?;
    if args.json {
        report::json(&found)?;
    } else {
        report::data(&told(&found))?;
    }
    Ok(if found.ok { Exit::Done } else { Exit::Failed })
}

/// Who could have signed. Agents may run as whoever owns the workspace or whoever runs this: the
/// key counts as separate only if it belongs to neither.
fn facts(state: &State) -> Result<AttestationFacts, Failure> {
    let path = state.seal_key();
    let owner = match fs::metadata(&path) {
        Ok(found) => found.uid(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(AttestationFacts::default());
        }
        Err(error) => return Err(unreadable(&path, &error)),
    };
    let root = fs::metadata(&state.root).map_err(|error| unreadable(&state.root, &error))?;
    let caller = rustix::process::geteuid().as_raw();
    let agent = if owner == caller { caller } else { root.uid() };
    Ok(AttestationFacts::of_key_file(&path, agent)?)
}

fn unreadable(path: &Path, error: &io::Error) -> Failure {
    Failure::failed(format!("`{}` can't be read: {error}", path.display()))
}

fn told(found: &Report) -> String {
    let mut lines = vec![
        format!("integrity     {}", integrity(found.integrity)),
        format!("completeness  {}", completeness(found)),
        format!("attestation   {}", attestation(found.attestation)),
    ];
    if found.torn_bytes > 0 {
        lines.push(format!(
            "{} bytes of an unfinished line at the end are no event: a crash, or a writer at work",
            found.torn_bytes
        ));
    }
    lines.extend(found.problems.iter().map(problem));
    lines.push(String::new());
    lines.join("\n")
}

const fn integrity(integrity: Integrity) -> &'static str {
    match integrity {
        Integrity::Intact => "intact: nothing that is there was changed",
        Integrity::Broken => "broken: something was changed",
    }
}

fn completeness(found: &Report) -> String {
    let Report { events, sealed, .. } = found;
    match found.completeness {
        Completeness::Complete => format!("complete: a seal vouches for all {events} events"),
        Completeness::OpenTail => format!(
            "open tail: a seal vouches for {sealed} of {events} events; the {} since then are \
             whole, but if the last of them were cut off it would not show: `tagout seal` covers them",
            events.saturating_sub(*sealed)
        ),
        Completeness::Unknown => format!("unknown: no seal vouches for any of {events} events"),
        Completeness::Incomplete => "incomplete: events are missing".to_owned(),
    }
}

const fn attestation(attestation: Attestation) -> &'static str {
    match attestation {
        Attestation::SelfAttested => {
            "self: whoever runs the agents could have signed; only a checkpoint kept elsewhere \
             shows a ledger that was rewritten and signed anew"
        }
        Attestation::SeparateUid => "separate_uid: the key belongs to another user than the agents",
        Attestation::Witnessed => "witnessed: a witness signed too",
    }
}

fn problem(problem: &Problem) -> String {
    let place = problem
        .event
        .map_or_else(String::new, |event| format!("event {event}: "));
    let (word, meaning) = meaning(problem.kind);
    let mark = report::painted("problem", "31");
    format!(
        "{mark}: {place}{word}: {}\n  {meaning}",
        report::plain(&problem.detail)
    )
}

const fn meaning(kind: ProblemKind) -> (&'static str, &'static str) {
    match kind {
        ProblemKind::Edited => (
            "edited",
            "Bytes were changed after they were written: from here on the record can't be trusted.",
        ),
        ProblemKind::Deleted => (
            "deleted",
            "Events were taken out here: what they recorded is not known.",
        ),
        ProblemKind::Inserted => (
            "inserted",
            "Something was put in here that was not written by the ledger.",
        ),
        ProblemKind::Reordered => (
            "reordered",
            "Events stand in another order than they were written in.",
        ),
        ProblemKind::Truncated => (
            "truncated",
            "Events that were vouched for are missing at the end.",
        ),
        ProblemKind::Forked => (
            "forked",
            "This is another history than the one that was kept: it was rewritten since.",
        ),
        ProblemKind::BadSignature => (
            "bad_signature",
            "A seal is not by a key that is believed: another key, or a forgery.",
        ),
    }
}

fn check_proof(place: &PlaceArgs, args: &VerifyArgs, file: &Path) -> Result<Exit, Failure> {
    let mut believed = keys::given(&args.key)?;
    if believed.is_empty() {
        believed.push(keys::own(&State::find(place)?)?);
    }
    let wrong = |why: &dyn std::fmt::Display| {
        Failure::invalid(format!("`{}` can't be read: {why}", file.display()))
    };
    let bytes = site::read_bounded(file, LEDGER_PROOF_BYTES_MAX).map_err(|e| wrong(&e))?;
    let bytes = bytes.ok_or_else(|| wrong(&"it is too large for a proof"))?;
    let found = hold(&bytes, args.origin.as_deref(), &believed);
    if args.json {
        report::json(&match &found {
            Ok(proof) => json!({
                "ok": true,
                "origin": proof.checkpoint.claimed().origin,
                "event": proof.index,
                "tree_size": proof.checkpoint.claimed().size,
            }),
            Err(error) => json!({ "ok": false, "error": error.to_string() }),
        })?;
    } else {
        report::line(&match &found {
            Ok(proof) => {
                let signed = proof.checkpoint.claimed();
                format!(
                    "holds: event {} is in `{}`, signed at {} events\n{}",
                    proof.index,
                    signed.origin,
                    signed.size,
                    report::plain(&proof.line)
                )
            }
            Err(error) => format!("does not hold: {error}"),
        })?;
    }
    Ok(if found.is_ok() {
        Exit::Done
    } else {
        Exit::Failed
    })
}

/// The proof, if one of the keys vouches for it. A key's own name is the ledger's unless told.
fn hold(bytes: &[u8], origin: Option<&str>, believed: &[VerifierKey]) -> Result<Proof, ProofError> {
    let mut result = Err(ProofError::Form {
        detail: "no key was given",
    });
    for key in believed {
        let origin = origin.unwrap_or(key.name());
        result = verify_proof(bytes, origin, std::slice::from_ref(key));
        if result.is_ok() {
            break;
        }
    }
    result
}
