//! The native tools, and the kit for authors of further ones.

pub mod edit;
pub mod fault;
pub mod near;
pub mod patch;
pub mod text;
