//! Intents: every dialect read, one canonical form written, small edits that keep comments.

mod context;
mod edit;
mod entry;
mod ignore;
mod overlap;
mod read;
mod set;
mod status;
mod write;

pub use context::context;
pub use edit::{EditError, append, set_expiry, set_scope, set_shares_with, set_status};
pub use ignore::{IgnoreFile, IgnoreLine};
pub use overlap::{Overlap, find_overlaps, overlaps};
pub use read::{Dialect, IntentFile, read};
pub use set::{DuplicateIntent, IntentSet};
pub use status::{
    By, OverBudget, TRANSITIONS, TransitionError, Unselectable, owns_something, select, selectable,
    status_of_word, transition, within_budget,
};
pub use write::write;

#[cfg(test)]
mod tests;
