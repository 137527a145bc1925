//! The gate over real files and a real ledger.

mod approvals;
mod failures;
mod flow;
mod guard;
mod people;
mod recovery;
mod registry;
mod sessions;
mod support;
mod threats;
mod types;
