//! `tagout demo`: the main job end to end, told step by step and checked as it goes.

use crate::args::DemoArgs;
use crate::exit::Exit;
use crate::failure::Failure;

/// Runs the demonstration.
pub(crate) fn run(args: &DemoArgs) -> Result<Exit, Failure> {
    if args.keep {
        return Err(Failure::failed("not there yet"));
    }
    Ok(Exit::Done)
}
