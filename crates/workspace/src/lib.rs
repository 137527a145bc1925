//! Transactions over the files of a workspace, and every file that Tagout writes besides the
//! ledger.
//!
//! A transaction is staged in memory and in the state folder; [`Transaction::commit`] makes it
//! happen: what stands there is checked, one durable write to the journal is the commit point, the
//! files change places, what was displaced is checked again. After a crash [`Workspace::recover`]
//! brings the workspace to wholly before or wholly after. Nothing here knows policies, ledgers or
//! clients; the closing events that a record carries are opaque bytes.

#![cfg_attr(
    not(target_os = "linux"),
    allow(
        dead_code,
        reason = "the stub of other systems refuses before most of it is reached"
    )
)]

mod blocks;
mod check;
mod claims;
mod commit;
mod effects;
mod engine;
mod error;
pub mod files;
mod images;
mod inplace;
mod journal;
mod look;
mod make;
mod mark;
mod node;
mod opened;
mod options;
mod place;
mod plan;
mod recover;
mod relpath;
mod replay;
mod resolve;
mod retention;
mod revert;
mod root;
mod seen;
mod snapshot;
mod state;
mod sys;
mod transaction;
mod workspace;
mod writers;

pub use claims::{Claim, Claiming, Holding};
pub use commit::{Change, ChangeKind, Committed};
pub use effects::{Effect, Facts, Stood, StoodKind};
pub use error::{Clash, ConflictPath, Error};
pub use inplace::TakenBack;
pub use mark::Mark;
pub use options::{Alone, LeaseProbe, Options, Swap, SyncPoint, WriterProbe};
pub use place::{Attributes, Thing};
pub use recover::{Outcome, Recovery, Settled};
pub use relpath::RelPath;
pub use resolve::{Follow, Resolved, ResolvedKind};
pub use retention::{Checkpoint, Pruned};
pub use seen::{Freshness, Seen};
pub use state::STATE_FORMAT;
pub use sys::FileTime;
pub use transaction::Transaction;
pub use workspace::Workspace;

#[cfg(test)]
mod tests;
