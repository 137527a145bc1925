//! The gate over real files and a real ledger.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    clippy::disallowed_methods,
    reason = "a test that goes wrong fails, and it plays the programs that write as they like"
)]

mod approvals;
mod bad_places;
mod between;
mod changes;
mod compiled;
mod failures;
mod flow;
mod guard;
mod late;
mod people;
mod recovery;
mod registry;
mod sessions;
mod storm;
mod support;
mod threats;
mod tidying;
mod tracing;
mod turns;
mod types;
mod undoing;
