//! What the crate promises, seen from outside.

mod histories;
mod world;
