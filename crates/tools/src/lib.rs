//! The native tools, and the kit for authors of further ones.

pub mod edit;
pub mod fault;
pub mod near;
pub mod outline;
pub mod patch;
pub mod rank;
pub mod search;
pub mod text;
mod walk;
