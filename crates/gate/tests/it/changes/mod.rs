//! Change sets of real commands: applied, undone, killed half-way, with others at work.

#![cfg(target_os = "linux")]
#![expect(
    clippy::print_stdout,
    clippy::single_match_else,
    reason = "the figures are what these tests are for; two outcomes stand side by side"
)]

mod crash;
mod foreign;
mod git;
mod picture;
mod private;
mod random;
pub(crate) mod support;
mod tree;
