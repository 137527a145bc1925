//! The project's own chores: `cargo xtask help` lists them.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a chore spawns programs, reads its environment and talks to the person who ran it"
)]

mod bench;
mod clients;
mod docs;
mod error;
mod order;
mod process;
mod requirements;
mod suites;
mod tidy;
mod verbs;
mod wrap;

fn main() -> std::process::ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match verbs::run(&words) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("xtask: {error}");
            std::process::ExitCode::FAILURE
        }
    }
}
