//! How far a tool's effects reach, as a ladder that ceilings are compared on.

use serde::{Deserialize, Serialize};

/// A2: the ladder of seed 003. The derived order is the rank.
#[derive(
    Clone, Copy, Debug, Default, Eq, PartialEq, Ord, PartialOrd, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum SideEffectLevel {
    /// Nothing declared. As a tool's own level it is refused unless explicitly allowed.
    #[default]
    None,
    /// Reads only.
    ReadOnly,
    /// Writes workspace files.
    WorkspaceWrite,
    /// Runs processes.
    ProcessExec,
    /// Reaches other machines.
    Network,
    /// Drives the desktop: the most invasive local class.
    DesktopControl,
}

impl SideEffectLevel {
    /// Every level, lowest first.
    pub const ALL: [Self; 6] = [
        Self::None,
        Self::ReadOnly,
        Self::WorkspaceWrite,
        Self::ProcessExec,
        Self::Network,
        Self::DesktopControl,
    ];

    /// The unique top. Permissive bounds name this, never a level, so that a new top raises them
    /// all.
    pub const MAX: Self = Self::DesktopControl;

    /// The place on the ladder; a higher rank is more invasive.
    pub const fn rank(self) -> usize {
        match self {
            Self::None => 0,
            Self::ReadOnly => 1,
            Self::WorkspaceWrite => 2,
            Self::ProcessExec => 3,
            Self::Network => 4,
            Self::DesktopControl => 5,
        }
    }

    /// The wire name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::ReadOnly => "read_only",
            Self::WorkspaceWrite => "workspace_write",
            Self::ProcessExec => "process_exec",
            Self::Network => "network",
            Self::DesktopControl => "desktop_control",
        }
    }

    /// The level of a wire name. An unknown word is `none`, so that a typo in a ceiling grants
    /// nothing.
    pub fn parse(word: &str) -> Self {
        Self::ALL
            .into_iter()
            .find(|level| level.as_str() == word)
            .unwrap_or_default()
    }

    /// The rank of a wire name, by the same rule as [`Self::parse`].
    pub fn rank_str(word: &str) -> usize {
        Self::parse(word).rank()
    }
}
