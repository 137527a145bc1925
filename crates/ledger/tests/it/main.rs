//! The ledger from outside: real folders, real processes, real tampering.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test fails by panicking, in its helpers too, and some tell how much they tried"
)]

mod append;
mod bad_places;
#[path = "../../../workspace/tests/it/powerloss/disks.rs"]
#[expect(
    clippy::disallowed_methods,
    reason = "disks are made, mounted and looked at by programs"
)]
mod disks;
mod golden;
mod hostile;
mod index;
mod powerloss;
mod processes;
#[path = "../../../workspace/tests/it/powerloss/recorder.rs"]
mod recorder;
mod seals;
mod support;
mod tampering;
mod texts;
