//! What may be used at all: tools, capabilities, reach and arguments (A5), and grants (C1–C3).

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// «Only these» or «everything». An empty «only» is nothing, never everything (invariant 11).
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Allowance<T: Ord> {
    /// These and no others; empty means nothing.
    Only(BTreeSet<T>),
    /// No restriction on this axis.
    Unrestricted,
}
