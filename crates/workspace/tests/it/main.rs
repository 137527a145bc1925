//! The workspace room from outside: real files, real processes, real crashes.

#![cfg(target_os = "linux")]
#![expect(
    clippy::disallowed_methods,
    reason = "tests start the crash program, read their own switches and play the foreign editor"
)]

mod bad_places;
mod claims;
mod files;
mod kill;
mod paths;
mod powerloss;
mod retention;
mod rollback;
mod seen;
mod storm;
mod support;
mod transactions;
