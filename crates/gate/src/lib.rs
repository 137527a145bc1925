//! The gate: from a call to a permit, from a permit to a receipt, and nothing around it.
//!
//! [`Engine`] has three verbs: `admit`, `execute`, `settle`. What people do at their terminals,
//! and what clients tell about conversations, are small methods beside them. Time and chance are
//! handed in; files are read and written by the workspace and the ledger alone.

mod admit;
pub mod changes;
mod clockwork;
mod close;
mod command;
mod compiled;
mod context;
mod enforced;
mod engine;
mod error;
mod facts;
mod failure;
mod history;
pub mod lifecycle;
mod lost;
mod measure;
mod observed;
mod old_text;
mod own;
mod patched;
mod people;
mod permit;
mod receipt;
mod record;
mod recover;
mod registry;
mod rehearsal;
mod requests;
mod retry;
mod run;
mod settle;
mod site;
mod store;
mod strayed;
mod teach;
mod tidy;
pub mod tool;
mod tracing;
mod trust;
mod undo;

pub use clockwork::Clockwork;
pub use command::{
    AppliedParked, Attached, Command, CommandEnded, Commands, Parked, ParkedPath, Printed, Stop,
    StoredOutput,
};
pub use enforced::Enforced;
pub use engine::Engine;
pub use error::GateError;
pub use failure::FailureKind;
pub use history::History;
pub use people::{GrantDraft, GrantStatus};
pub use permit::Permit;
pub use receipt::{Admission, Outcome, Promise, Receipt, Report, Reported};
pub use recover::Recovered;
pub use registry::{RegisterError, Registry, SchemaError, compile, violations};
pub use rehearsal::{Played, Rehearsal, RehearsalError};
pub use site::{ID_FILE, Places, Site};
pub use store::{Answer, ApprovalRequest, Proposal, ProposalState, Question, SessionRecord};
pub use strayed::Strayed;
pub use tidy::Tidied;
pub use tool::{Context, Deprecation, Lesson, Request, Tool, ToolError};
pub use tracing::{Blamed, TraceQuery, TraceRecords};
pub use trust::{Accepted, Shelf, Sources, Text};
pub use undo::{PlannedUndo, UndoTarget, Undone};

// What a tool sees through its context, under names that its author can write.
pub use tagout_policy as policy;
pub use tagout_sandbox as sandbox;
pub use tagout_trace as trace;
pub use tagout_workspace as workspace;

pub(crate) use store::OWNER;
