//! `tagout epoch new`: a new ledger where the state was lost, which is recorded.

use tagout_gate::Site;

use crate::args::{EpochArgs, EpochVerb, PlaceArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{args, person, report, runtime};

/// Starts anew.
pub(crate) fn run(place: &PlaceArgs, args: &EpochArgs) -> Result<Exit, Failure> {
    let EpochVerb::New { yes } = args.verb;
    person::required(yes, "epoch new")?;
    let places = runtime::places(place)?;
    let question = "The old ledger can't be continued. Start a new one?";
    if !person::agrees(yes, question)? {
        return Ok(Exit::Denied);
    }
    let site =
        Site::new_epoch(&places, &runtime::clockwork()?, &args::user()).map_err(Failure::failed)?;
    report::line(&format!(
        "a new epoch begins; state: {}",
        site.state().display()
    ))?;
    report::note("nothing is trusted yet: `tagout trust` accepts the tree's files");
    Ok(Exit::Done)
}
