//! Confined commands at work, attacks on them, hosts that lack something, and limits that are run
//! into.

#![cfg(target_os = "linux")]
#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "tests start programs, look at the machine, and fail by panicking in their helpers too"
)]

mod ahead;
mod degrade;
mod escape;
mod lanes;
mod limits;
mod places;
mod planted;
mod sessions;
mod stage;
mod together;

tagout_sandbox::helper_before_main!();
