//! `tagout epoch new`: a new ledger where the state was lost, which is recorded.

use serde_json::json;
use tagout_gate::Site;

use crate::args::{EpochArgs, EpochVerb, PlaceArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{args, person, report, runtime};

/// Starts anew.
pub(crate) fn run(place: &PlaceArgs, args: &EpochArgs) -> Result<Exit, Failure> {
    let EpochVerb::New { yes, json } = args.verb;
    person::required(yes, "epoch new")?;
    let places = runtime::places(place)?;
    let question = "The old ledger can't be continued. Start a new one?";
    person::agrees(yes, question)?;
    let site = Site::new_epoch(&places, &runtime::clockwork()?, &args::user())?;
    report::note("nothing is trusted yet: `tagout trust` accepts the tree's files");
    let state = site.state().display().to_string();
    let words = format!("a new epoch begins; state: {state}");
    report::done(json, &words, &json!({ "status": "begun", "state": state }))
}
