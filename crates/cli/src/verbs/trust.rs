//! `tagout trust`: what the tree would change, and a person's word for it.

use serde_json::json;
use tagout_gate::{Engine, Sources};
use tagout_policy::judge::Standing;
use tagout_policy::law::{Change, ChangeKind};

use crate::args::{PlaceArgs, TrustArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{args, person, report, runtime};

/// Shows the difference and accepts it.
pub(crate) fn run(place: &PlaceArgs, args: &TrustArgs) -> Result<Exit, Failure> {
    person::required(args.yes, "trust")?;
    let places = runtime::places(place)?;
    let engine = runtime::open_at(&places)?;
    let sources = runtime::sources(&places.root)?;
    let waiting = &engine.shelf().waiting;
    let first = engine.shelf().standing == Standing::NotTrusted;
    if !first && waiting.is_empty() {
        return done("nothing waits: the tree is as it was accepted", args.json);
    }
    show(&engine, &sources);
    person::agrees(args.yes, "Accept this?")?;
    accept(&engine, &sources)?;
    done("accepted", args.json)
}

/// Shows what the tree would change.
pub(crate) fn show(engine: &Engine, sources: &Sources) {
    let shelf = engine.shelf();
    let first = shelf.standing == Standing::NotTrusted;
    let changes = if first {
        &sources.changes()
    } else {
        &shelf.waiting
    };
    for change in changes {
        report::note(&shown(change));
    }
    if first {
        report::note("nobody has accepted this workspace's files yet; all of them would hold");
    }
}

fn done(said: &str, json: bool) -> Result<Exit, Failure> {
    if json {
        report::json(&json!({ "status": said }))?;
    } else {
        report::line(said)?;
    }
    Ok(Exit::Done)
}

/// Stores a person's word for these files.
pub(crate) fn accept(engine: &Engine, sources: &Sources) -> Result<(), Failure> {
    engine.accept(sources, &args::user())?;
    Ok(())
}

fn shown(change: &Change) -> String {
    let mark = match change.kind {
        ChangeKind::Narrows => "narrows",
        ChangeKind::Widens => "widens ",
        ChangeKind::Neutral => "        ",
    };
    format!("  {mark}  {}", change.what)
}
