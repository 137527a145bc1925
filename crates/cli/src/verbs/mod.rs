//! One file per verb.

mod demo;
mod explain;
mod intent;
mod lint;

use crate::args::{self, Args, Verb};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::report;

/// Does what was asked; whatever goes wrong is said once.
pub(crate) fn run(args: Args) -> Exit {
    let place = &args.place;
    let result = match args.verb {
        Verb::Explain(verb) => explain::run(place, &verb),
        Verb::Intent(verb) => intent::run(place, &verb),
        Verb::Lint(verb) => lint::run(place, &verb),
        Verb::Demo(verb) => demo::run(&verb),
        Verb::Completions(verb) => args::completions(verb.shell).map(|()| Exit::Done),
    };
    result.unwrap_or_else(|failure: Failure| report::failure(&failure))
}
