//! What the crate promises, seen from outside.

#![expect(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "tests start another program to compare with, read their own switches, print their \
              rates, and fail by panicking in their helpers too"
)]

mod histories;
mod merging;
mod undo;
mod world;
