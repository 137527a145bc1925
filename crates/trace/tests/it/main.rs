//! What the crate promises, seen from outside.

mod histories;
mod merging;
mod undo;
mod world;
