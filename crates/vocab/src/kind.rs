//! What kind of thing a tool does, in the vocabulary of the Agent Client Protocol.

use serde::{Deserialize, Serialize};

/// The ten kinds of ACP: the nine of seed 003 and `switch_mode`. A1, A8: the value travels
/// unchanged.
#[derive(
    Clone, Copy, Debug, Default, Eq, PartialEq, Ord, PartialOrd, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum ToolKind {
    /// Reads file or workspace content.
    Read,
    /// Changes workspace content.
    Edit,
    /// Removes content.
    Delete,
    /// Renames or relocates content.
    Move,
    /// Queries an index or a folder.
    Search,
    /// Runs a process or a shell command.
    Execute,
    /// Reasons, without any effect.
    Think,
    /// Retrieves remote content.
    Fetch,
    /// Changes the mode the agent works in.
    SwitchMode,
    /// Anything else. Never read-only, because an undeclared tool must not slip through.
    #[default]
    Other,
}

impl ToolKind {
    /// Every kind, in declaration order.
    pub const ALL: [Self; 10] = [
        Self::Read,
        Self::Edit,
        Self::Delete,
        Self::Move,
        Self::Search,
        Self::Execute,
        Self::Think,
        Self::Fetch,
        Self::SwitchMode,
        Self::Other,
    ];

    /// Whether calls of this kind change nothing. `switch_mode` and `other` are not read-only.
    pub const fn is_read_only(self) -> bool {
        matches!(self, Self::Read | Self::Search | Self::Think | Self::Fetch)
    }

    /// Seed 003's coarse class of the kind, recorded as `kind_class`.
    ///
    /// Not to be confused with [`crate::MutationClass`], which seed 002 asks of write tools.
    pub const fn mutation_class(self) -> &'static str {
        match self {
            Self::Read | Self::Search | Self::Think | Self::Fetch => "read_only",
            Self::Edit => "workspace_write",
            Self::Delete | Self::Move => "destructive",
            Self::Execute => "ambient_side_effect",
            Self::SwitchMode | Self::Other => "other",
        }
    }

    /// The wire name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Edit => "edit",
            Self::Delete => "delete",
            Self::Move => "move",
            Self::Search => "search",
            Self::Execute => "execute",
            Self::Think => "think",
            Self::Fetch => "fetch",
            Self::SwitchMode => "switch_mode",
            Self::Other => "other",
        }
    }

    /// The kind of a wire name. An unknown word is [`Self::Other`], as ACP v1 maps it.
    pub fn parse(word: &str) -> Self {
        Self::ALL
            .into_iter()
            .find(|kind| kind.as_str() == word)
            .unwrap_or_default()
    }
}
