//! `tagout seal`: signs the ledger as it stands, and keeps the checkpoint elsewhere.

use serde_json::json;
use tagout_ledger::{KeySource, Ledger, Options};

use crate::args::{PlaceArgs, SealArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::state::State;
use crate::{clock, keys, person, report};

/// Seals now.
pub(crate) fn run(place: &PlaceArgs, args: &SealArgs) -> Result<Exit, Failure> {
    person::required(args.yes, "seal")?;
    let state = State::find(place)?;
    let key = keys::own(&state)?;
    let options = Options {
        key: Some(KeySource::File(state.seal_key())),
        ..Options::default()
    };
    let ledger = Ledger::open(&state.ledger(), options)?;
    let sealed = match &args.to {
        Some(path) => ledger.seal_to(clock::now(), path)?,
        None => ledger.seal(clock::now())?,
    };
    let signed = sealed.claimed();
    let kept = args.to.as_ref().map(|path| path.display().to_string());
    if args.json {
        report::json(&json!({
            "origin": signed.origin,
            "events": signed.size,
            "key": key.to_string(),
            "checkpoint": sealed.text(),
            "kept_in": kept,
        }))?;
        return Ok(Exit::Done);
    }
    report::line(&format!(
        "sealed {} events of `{}`",
        signed.size, signed.origin
    ))?;
    report::line(&format!("key: {key}"))?;
    match kept {
        Some(path) => report::note(&format!("the checkpoint was added to `{path}`")),
        None => report::note("keep it elsewhere with `--to FILE`, where agents can't write"),
    }
    Ok(Exit::Done)
}
