//! From a tool call to a verdict, as a pure function: text and values in, a verdict out.
//!
//! No I/O, no clock, no async, no vendor in code. Names of tools and clients are data in the
//! catalogue; the code knows kinds, levels and roles.
#![cfg_attr(
    test,
    allow(
        clippy::string_slice,
        reason = "a test that slices wrongly fails, which is its job"
    )
)]

pub mod capability;
pub mod catalogue;
pub mod intents;
pub mod judge;
pub mod law;
mod packed;
pub mod problem;
pub mod scope;
pub mod session;
pub mod shell;
pub mod targets;
pub mod yaml;
