//! How far the word of an MCP server is believed (A6, H5).

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};
use tagout_vocab::{Class, ToolAnnotations};
use thiserror::Error;

/// One tool of one server. Kept as a pair, so that no name with a slash can stand for another.
#[derive(Clone, Debug, Eq, PartialEq, Ord, PartialOrd, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct McpTool {
    /// The server's name as the workspace knows it.
    pub server: String,
    /// The tool's name as the server spells it.
    pub tool: String,
}

/// The text is not `server/tool`.
#[derive(Clone, Debug, Eq, PartialEq, Error)]
#[error("`{0}` names no tool of a server; write `server/tool`")]
pub struct McpToolError(pub String);

impl McpTool {
    /// Reads `server/tool`, cut at the first slash.
    pub fn parse(text: &str) -> Result<Self, McpToolError> {
        match text.split_once('/') {
            Some((server, tool)) if !server.is_empty() && !tool.is_empty() => Ok(Self {
                server: server.to_owned(),
                tool: tool.to_owned(),
            }),
            Some(_) | None => Err(McpToolError(text.to_owned())),
        }
    }
}

impl fmt::Display for McpTool {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.server, self.tool)
    }
}

/// What the policy says about MCP servers. Empty believes nobody.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct McpTrust {
    /// Servers whose `readOnlyHint` is believed.
    pub trusted_servers: BTreeSet<String>,
    /// Tools that a person called read-only, whatever their server says.
    pub readonly_tools: BTreeSet<McpTool>,
}

/// Why a tool of a server has its class.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum McpBelief {
    /// The policy lists the tool as read-only.
    Listed,
    /// The server is trusted and says that the tool only reads.
    HintBelieved,
    /// The server is trusted, but says both that the tool only reads and that it destroys.
    HintsContradict,
    /// The server is trusted, and does not say that the tool only reads.
    NotReadOnly,
    /// The server is not trusted, so its hints are worth nothing.
    NotTrusted,
}

impl McpBelief {
    /// The class that follows.
    pub const fn class(self) -> Class {
        match self {
            Self::Listed | Self::HintBelieved => Class::Safe,
            Self::HintsContradict | Self::NotReadOnly | Self::NotTrusted => Class::Destructive,
        }
    }

    /// The words for the explanation.
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Listed => "the policy lists this tool as read-only",
            Self::HintBelieved => "its server is trusted and says that it only reads",
            Self::HintsContradict => "its server calls it both read-only and destructive",
            Self::NotReadOnly => "its server does not say that it only reads",
            Self::NotTrusted => "its server is not trusted, so its hints do not count",
        }
    }
}

impl McpTrust {
    /// What to believe of a tool. An absent hint has MCP's own default: not read-only.
    pub fn believe(&self, tool: &McpTool, hints: &ToolAnnotations) -> McpBelief {
        if self.readonly_tools.contains(tool) {
            return McpBelief::Listed;
        }
        if !self.trusted_servers.contains(&tool.server) {
            return McpBelief::NotTrusted;
        }
        match (hints.read_only_hint, hints.destructive_hint) {
            (Some(true), Some(true)) => McpBelief::HintsContradict,
            (Some(true), Some(false) | None) => McpBelief::HintBelieved,
            (Some(false) | None, _) => McpBelief::NotReadOnly,
        }
    }

    /// What both believe: never more than either.
    pub fn intersect(&self, other: &Self) -> Self {
        Self {
            trusted_servers: &self.trusted_servers & &other.trusted_servers,
            readonly_tools: &self.readonly_tools & &other.readonly_tools,
        }
    }
}
