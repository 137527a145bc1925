//! `tagout intent`: look at intents, take them up, and, for people, change them.

mod change;
mod look;

use tagout_gate::Proposal;
use tagout_vocab::IntentId;

use crate::args::{IntentArgs, IntentProposeArgs, IntentVerb, PlaceArgs};
use crate::exit::Exit;
use crate::failure::Failure;

/// Does what was asked of the intents.
pub(crate) fn run(place: &PlaceArgs, args: &IntentArgs) -> Result<Exit, Failure> {
    match &args.verb {
        IntentVerb::List { json } => look::list(place, *json),
        IntentVerb::Show { id, json } => look::show(place, id, *json),
        IntentVerb::New(new) => change::new(place, new),
        IntentVerb::Select {
            id,
            permit,
            session,
        } => change::select(place, id, (permit.as_deref(), session)),
        IntentVerb::Propose(proposed) => change::propose(place, proposed),
        IntentVerb::Complete { id, yes, json } => change::complete(place, id, (*yes, *json)),
        IntentVerb::Release { id, yes, json } => change::release(place, id, (*yes, *json)),
    }
}

/// What the note of a hook for a proposal is about.
pub(super) fn noted(args: &IntentProposeArgs) -> String {
    change::noted(args)
}

/// Writes what an agent proposed and a person agreed to.
pub(crate) fn propose_accepted(
    place: &PlaceArgs,
    proposal: &Proposal,
) -> Result<IntentId, Failure> {
    change::accepted(place, proposal)
}
