//! The `tagout` binary: lockout-tagout for AI coding agents.

#![cfg_attr(all(target_os = "linux", not(test)), no_main)]

mod args;
mod books;
mod chance;
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
mod unreported;
mod verbs;

tagout_sandbox::start!(run);

fn run() -> u8 {
    tagout_sandbox::serve_if_helper();
    verbs::start().code()
}
