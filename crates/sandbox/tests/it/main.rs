//! Confined commands at work, attacks on them, hosts that lack something, and limits that are run
//! into.

#![cfg(target_os = "linux")]
#![allow(
    clippy::disallowed_methods,
    reason = "tests start programs and look at the machine"
)]

mod degrade;
mod escape;
mod lanes;
mod limits;
mod planted;
mod places;
mod sessions;
mod stage;
mod together;

tagout_sandbox::helper_before_main!();
