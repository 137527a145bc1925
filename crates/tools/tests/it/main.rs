//! The tools as the engine sees them: declarations, golden changes, promises, generated arguments.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::wildcard_enum_match_arm,
    clippy::disallowed_methods,
    reason = "tests stop at the first surprise, and make files that no tool made"
)]

mod declarations;
mod edges;
mod engine;
mod generated;
mod golden;
mod judged;
mod looking;
mod pages;
mod promises;
mod session;
mod support;
