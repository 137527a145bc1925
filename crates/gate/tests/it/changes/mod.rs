//! Change sets of real commands: applied, undone, killed half-way, with others at work.

#![cfg(target_os = "linux")]
#![expect(
    clippy::print_stdout,
    reason = "the figures are what these tests are run for"
)]

mod crash;
mod foreign;
mod git;
mod picture;
mod private;
mod random;
mod support;
mod tree;
