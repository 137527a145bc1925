//! From before and after to records: which lines and syntax nodes an execution changed, of which
//! class the change was, and how that is written down.
//!
//! Nothing here writes a file: results are values, bytes and edits that others stage.

pub mod agent_trace;
mod align;
pub mod attribution;
pub mod blame;
pub mod dialects;
pub mod git_ai;
pub mod history;
pub mod intent_map;
pub mod languages;
pub mod lessons;
pub mod merge;
pub mod mutation;
pub mod nodes;
pub mod ranges;
pub mod record;
mod shape;
pub mod syntax;
pub mod undo;
