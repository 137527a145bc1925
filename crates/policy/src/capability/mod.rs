//! The capability tree, lists of what is allowed (A5), and grants (C1–C3).

mod allowance;
pub mod grants;
mod name;
mod tree;

pub use allowance::{Allowance, Region};
pub use name::{NameError, NamePattern};
pub use tree::{Capability, Entry, Risk, UnknownCapability};

#[cfg(test)]
mod tests;
