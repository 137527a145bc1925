//! The ledger from outside: real folders, real processes, real tampering.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test fails by panicking, in its helpers too"
)]

mod append;
mod bad_places;
mod golden;
mod hostile;
mod index;
mod processes;
mod seals;
mod support;
mod tampering;
mod texts;
