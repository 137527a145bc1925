//! What may be used at all: tools, capabilities, reach and arguments (A5), and grants (C1–C3).

mod allowance;
mod check;
mod constraint;
pub mod grants;
mod name;
mod policy;
mod root;
mod tree;
mod trust;

pub use allowance::{Allowance, Region};
pub use check::{Denied, Use, check};
pub use constraint::{ArgConstraint, Unresolved};
pub use name::{NameError, NamePattern};
pub use policy::{Axis, CapabilityPolicy, CapabilityRequest, Stricter, Widening};
pub use root::{RootError, RootRegion};
pub use tree::{Capability, Entry, Risk, UnknownCapability};
pub use trust::{McpBelief, McpTool, McpToolError, McpTrust};

#[cfg(test)]
mod tests;
