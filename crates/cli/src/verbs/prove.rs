//! `tagout prove`: one event's proof, for people who have neither the ledger nor this program.

use std::fs;
use std::path::Path;

use serde_json::json;
use tagout_ledger::{LedgerError, Proof, Reader};
use tagout_workspace::files;

use super::ids::{ALIKE, Sought};
use crate::args::{PlaceArgs, ProveArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::report;
use crate::state::State;

/// Writes a proof to a new file or to standard output.
pub(crate) fn run(place: &PlaceArgs, args: &ProveArgs) -> Result<Exit, Failure> {
    let folder = match &args.ledger {
        Some(folder) => folder.clone(),
        None => State::find(place)?.ledger(),
    };
    let reader = Reader::open(&folder)?;
    let seq = number(&reader, &args.event)?;
    let proof = match reader.prove(seq) {
        Err(error @ LedgerError::NoSuchEvent { .. }) => return Err(unknown(&error)),
        proved => proved?,
    };
    if let Some(path) = &args.to {
        write_new(path, &proof)?;
    }
    if args.json {
        let signed = proof.checkpoint.claimed();
        report::json(&json!({
            "origin": signed.origin,
            "event": proof.index,
            "tree_size": signed.size,
            "file": args.to.as_ref().map(|path| path.display().to_string()),
            "proof": proof.text(),
        }))?;
    } else if let Some(path) = &args.to {
        let size = proof.checkpoint.claimed().size;
        report::note(&format!(
            "event {seq} of {size} is proven in `{}`",
            path.display()
        ));
    } else {
        report::data(&proof.text())?;
    }
    Ok(Exit::Done)
}

/// The number of an event that is named by its number, its id or the beginning of that.
fn number(reader: &Reader, word: &str) -> Result<u64, Failure> {
    if let Ok(seq) = word.parse() {
        return Ok(seq);
    }
    let mut alike = Vec::new();
    for event in reader.events_from(0)? {
        let event = event?;
        if event.body.event_id == word {
            return Ok(event.seq);
        }
        if alike.len() < ALIKE && event.body.event_id.starts_with(word) {
            alike.push((event.body.event_id.clone(), event.seq));
        }
    }
    let sought = Sought {
        typed: word,
        what: "event",
        hint: SHOWN_BY,
    };
    let (_, seq) = sought.among(alike, |(id, _)| id.as_str())?;
    Ok(seq)
}

const SHOWN_BY: &str = "`tagout log` shows the numbers, `tagout log --json` the ids";

fn unknown(message: &dyn std::fmt::Display) -> Failure {
    Failure::invalid(message).hint(SHOWN_BY)
}

/// A file that is there stays as it is: agents may prove, and must not replace anything by it.
fn write_new(path: &Path, proof: &Proof) -> Result<(), Failure> {
    if fs::symlink_metadata(path).is_ok() {
        let message = format!("`{}` is already there", path.display());
        return Err(Failure::invalid(message).hint("name a new file"));
    }
    files::write_atomic(path, proof.text().as_bytes(), None).map_err(Failure::failed)
}
