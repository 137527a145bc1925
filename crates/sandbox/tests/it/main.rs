//! Attacks on confined commands, hosts that lack something, and limits that are run into.

#![cfg(target_os = "linux")]
#![allow(
    clippy::disallowed_methods,
    reason = "tests start programs and look at the machine"
)]

mod degrade;
mod escape;
mod limits;
mod planted;
mod stage;
