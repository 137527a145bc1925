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
#[path = "../../../workspace/tests/it/powerloss/recorder.rs"]
#[expect(
    dead_code,
    reason = "it is a disk that records, and serves here as a file system that is not of the kernel"
)]
mod recorder;
mod seals;
mod support;
mod tampering;
mod texts;
