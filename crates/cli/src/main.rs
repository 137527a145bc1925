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
    verbs::start().into()
}
