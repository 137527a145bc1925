//! The tools as the engine sees them: declarations, golden changes, promises, generated arguments.

mod declarations;
mod edges;
mod generated;
mod golden;
mod judged;
mod looking;
mod promises;
mod session;
mod support;
