//! The native tools, and the kit for authors of further ones.

pub mod edit;
pub mod excerpt;
pub mod fault;
pub mod kit;
mod native;
pub mod near;
pub mod outline;
pub mod patch;
pub mod rank;
pub mod search;
pub mod text;
mod walk;

pub use native::{NativeError, native, native_playing};
