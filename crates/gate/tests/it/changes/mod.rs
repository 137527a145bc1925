//! Change sets of real commands: applied, undone, killed half-way, with others at work.

#![cfg(target_os = "linux")]

mod crash;
mod picture;
mod private;
mod random;
mod support;
mod tree;
