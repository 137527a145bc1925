//! What is kept of each file's versions, as bytes under keys that someone else stores.
//!
//! Each path has its own run of versions, in pieces: a whole one, then differences. Reading or
//! adding a version costs what that file and its latest piece cost, however many other files and
//! records there are. Beside it lie small indexes: from a content to the versions that had it, from
//! telling lines to where they were first seen, from numbers to origins.

mod bytes;
mod key;
mod origins;
mod postings;
mod states;
mod store;
mod ties;

use thiserror::Error;

pub use key::Key;
pub(crate) use key::path_key;
pub(crate) use origins::{Origins, assign};
pub use postings::{Posting, Postings, Topic, find, walk};
pub(crate) use states::{Addition, Found, Place, States, add, prints};
pub use store::{MemoryStore, Store, StoreError};
pub use ties::{Tie, add_ties, commits_of, ties_of};

#[cfg(test)]
mod tests;

/// Why the history can't be read or added to.
#[derive(Debug, Error)]
pub enum HistoryError {
    /// The store failed.
    #[error("the store of attributions can't be used")]
    Store {
        /// Its own error.
        #[from]
        source: StoreError,
    },
    /// Bytes that nobody wrote like this.
    #[error("the attribution under `{key}` is damaged: {what}; rebuild it from the ledger")]
    Damaged {
        /// Where.
        key: String,
        /// What was expected.
        what: &'static str,
    },
    /// Written by a later version of the product.
    #[error(
        "the attribution under `{key}` has the format {found}; this version reads up to {known}"
    )]
    Later {
        /// Where.
        key: String,
        /// The format found.
        found: u8,
        /// The latest one known.
        known: u8,
    },
}
