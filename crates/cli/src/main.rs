//! The `tagout` binary: lockout-tagout for AI coding agents.

mod args;
mod books;
mod clock;
mod exit;
mod failure;
mod keys;
mod moments;
mod notes;
mod person;
mod report;
mod runtime;
mod signals;
mod site;
mod state;
mod terminal;
mod verbs;

use std::process::ExitCode;

fn main() -> ExitCode {
    tagout_sandbox::serve_if_helper();
    if let Some((place, hook)) = args::plain_hook() {
        return verbs::hook(&place, &hook).into();
    }
    match args::parse() {
        Ok(args) => verbs::run(args).into(),
        Err(exit) if exit == exit::Exit::Done || !args::is_hook() => exit.into(),
        // Most clients would take the code of a line that can't be read for consent.
        Err(_) => verbs::unreadable_hook().into(),
    }
}
