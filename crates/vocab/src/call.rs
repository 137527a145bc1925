//! One tool call, in words that no client owns.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{CallId, SessionId};

/// Where a tool comes from; it decides how far its own word is believed.
#[derive(Clone, Debug, Default, Eq, PartialEq, Ord, PartialOrd, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// One of Tagout's own tools.
    #[default]
    Native,
    /// A tool of an MCP server.
    Mcp {
        /// The server's name as the workspace knows it.
        server: String,
    },
    /// A tool registered through the kit for tool authors.
    Custom,
    /// A tool built into an agent's client.
    Client {
        /// The client's name as the catalogue knows it.
        client: String,
    },
}

/// Who is calling.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Agent {
    /// The client or program that runs the agent.
    pub name: Option<String>,
    /// The model behind it.
    pub model: Option<String>,
    /// The chain of parent agents, root first; empty for the root agent.
    pub parents: Vec<String>,
}

/// One tool call, client-neutral. Every door makes one of these and hands it to the same gate.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// The call's own id.
    pub id: Option<CallId>,
    /// The tool's name as its origin spells it.
    pub tool: String,
    /// Where the tool comes from.
    pub origin: Origin,
    /// The arguments as given.
    pub arguments: Map<String, Value>,
    /// Who calls.
    pub agent: Agent,
    /// The conversation it belongs to.
    pub session: Option<SessionId>,
    /// The working directory as given, absolute or relative to the workspace; empty for its root.
    pub cwd: String,
}

impl Call {
    /// A native call with nothing but a tool and its arguments.
    pub fn new(tool: impl Into<String>, arguments: Map<String, Value>) -> Self {
        Self {
            id: None,
            tool: tool.into(),
            origin: Origin::Native,
            arguments,
            agent: Agent::default(),
            session: None,
            cwd: String::new(),
        }
    }
}
