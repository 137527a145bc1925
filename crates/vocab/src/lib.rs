//! The nouns of Tagout: plain data, no files, no clocks, no network, no vendor.
//!
//! A newcomer who knows these words can read every other crate. Nothing here does I/O and nothing
//! here decides; [`limits`] holds every numeric bound of the product.

pub mod annotations;
pub mod call;
pub mod class;
pub mod declaration;
pub mod digest;
pub mod effect;
pub mod ids;
pub mod intent;
pub mod kind;
pub mod level;
pub mod limits;
pub mod path;
pub mod role;
pub mod schema;
pub mod session;
pub mod time;
pub mod verdict;

pub use annotations::{ToolAnnotations, ToolArgSchema};
pub use call::{Agent, Call, Origin};
pub use class::{Class, MutationClass};
pub use declaration::{Declaration, ResourceLimits};
pub use digest::Digest;
pub use effect::{Effect, Target};
pub use ids::{CallId, GrantId, IntentId, SessionId};
pub use intent::{Budget, Intent, IntentStatus};
pub use kind::ToolKind;
pub use level::SideEffectLevel;
pub use path::{Place, WorkspacePath};
pub use role::Role;
pub use schema::Schema;
pub use session::{Session, State};
pub use time::Timestamp;
pub use verdict::{Check, CheckResult, Code, Gate, Judgement, Reason, Refusal, Verdict};

#[cfg(test)]
mod tests;
