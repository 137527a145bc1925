//! One file per verb.

mod blame;
mod compliance;
mod demo;
mod doctor;
mod epoch;
mod exec;
mod explain;
mod grant;
mod hook;
mod ids;
mod init;
mod inside;
mod install;
mod intent;
mod lint;
mod log;
mod parked;
mod people;
mod prove;
mod run;
mod seal;
mod stats;
mod trace;
mod trust;
mod undo;
mod verify;

use crate::args::{self, Args, Verb};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::report;

/// Reads the command line and does what it says.
pub(crate) fn start() -> Exit {
    if let Some((place, hook)) = args::plain_hook() {
        return hook::run(&place, &hook);
    }
    if let Some((place, exec)) = args::plain_exec() {
        return exec::run(&place, &exec).unwrap_or_else(|failure| report::failure(&failure, false));
    }
    match args::parse() {
        Ok(args) => run(args),
        Err(exit) if exit == Exit::Done || !args::is_hook() => exit,
        // Most clients would take the code of a line that can't be read for consent.
        Err(_) => hook::unreadable(),
    }
}

/// Does what was asked; whatever goes wrong is said once.
fn run(args: Args) -> Exit {
    let place = &args.place;
    let json = args::wants_json();
    if let Err(failure) = inside::allowed(&args.verb) {
        return report::failure(&failure, json);
    }
    let result = match args.verb {
        Verb::Explain(verb) => explain::run(place, &verb),
        Verb::Intent(verb) => intent::run(place, &verb),
        Verb::Lint(verb) => lint::run(place, &verb),
        Verb::Demo(verb) => demo::run(&verb),
        Verb::Init(verb) => init::run(place, &verb),
        Verb::Run(verb) => run::run(place, &verb),
        Verb::Exec(verb) => exec::run(place, &verb),
        Verb::Parked(verb) => parked::run(place, &verb),
        Verb::Doctor(verb) => doctor::run(place, &verb),
        Verb::Hook(verb) => return hook::run(place, &verb),
        Verb::Install(verb) => install::run(place, &verb),
        Verb::Uninstall(verb) => install::uninstall(place, &verb),
        Verb::Trust(verb) => trust::run(place, &verb),
        Verb::Pending(verb) => people::pending(place, &verb),
        Verb::Approve(verb) => people::approve(place, &verb),
        Verb::Reject(verb) => people::reject(place, &verb),
        Verb::Answer(verb) => people::answer(place, &verb),
        Verb::Epoch(verb) => epoch::run(place, &verb),
        Verb::Grant(verb) => grant::run(place, &verb),
        Verb::Compliance(verb) => compliance::run(place, &verb),
        Verb::Blame(verb) => blame::run(place, &verb),
        Verb::Trace(verb) => trace::run(place, &verb),
        Verb::Undo(verb) => undo::run(place, &verb),
        Verb::Log(verb) => log::run(place, &verb),
        Verb::Verify(verb) => verify::run(place, &verb),
        Verb::Prove(verb) => prove::run(place, &verb),
        Verb::Seal(verb) => seal::run(place, &verb),
        Verb::Stats(verb) => stats::run(place, &verb),
        Verb::Completions(verb) => args::completions(verb.shell).map(|()| Exit::Done),
    };
    result.unwrap_or_else(|failure: Failure| report::failure(&failure, json))
}
