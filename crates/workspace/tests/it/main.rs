//! The workspace room from outside: real files, real processes, real crashes.

#![cfg(target_os = "linux")]
#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::let_underscore_must_use,
    clippy::panic,
    clippy::print_stdout,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "tests start programs, read their own switches, play the foreign editor, and fail by \
              panicking in their helpers too"
)]

mod again;
mod bad_places;
mod claims;
mod files;
mod inplace;
mod kill;
mod paths;
mod powerloss;
mod retention;
mod rollback;
mod seen;
mod shown;
mod support;
mod transactions;
