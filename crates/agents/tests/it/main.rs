//! What clients really sent and did, against both directions.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::wildcard_enum_match_arm,
    clippy::format_push_string,
    clippy::format_collect,
    clippy::assigning_clones,
    clippy::naive_bytecount,
    clippy::needless_pass_by_value,
    reason = "a test fails by panicking, in its helpers too"
)]

mod behaviour;
mod beside;
mod canaries;
mod captured;
mod claims;
mod common;
mod documented;
mod hostile;
mod install;
mod open;
mod replies;
mod shapes;
