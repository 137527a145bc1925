//! The law: layers that only narrow, read from policy files, compared, and compiled.
//!
//! A call passes a check only if every layer lets it pass. What has to be granted (a reading
//! command, a trusted server, an extra root, an allowing rule) is granted by the user's own layer
//! or by a repository file that a person accepted, and any layer can take it back.

pub mod arguments;
pub mod compare;
pub mod compiled;
pub mod layer;
pub mod pattern;
pub mod read;
pub mod rules;

mod assemble;
mod effective;
mod narrow;

pub use compare::{Change, ChangeKind};
pub use effective::{ArgumentRefusal, DeclaredTool, Denied, DeniedHow};
pub use layer::{
    CommandEntry, Commands, ExtraRoot, Isolation, Layer, Limits, McpTrust, Network, OnFailure,
    Overlap, Profile, ProtectedPath, Publish, Restriction, RootAccess, Source, SourceKind,
};
pub use read::{Form, Reading, read};
pub use rules::{Action, Approval, Matched, Rule, RuleInput, approval, default_action, evaluate};

use serde::{Deserialize, Serialize};

/// All layers together. There is always a built-in one.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct Law {
    built_in: Layer,
    others: Vec<Layer>,
}

#[cfg(test)]
mod tests;
