//! How the walls are built, by system.

mod none;

pub(crate) use none::start;
pub use none::{Running, serve_if_helper};
