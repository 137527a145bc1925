//! What each client calls its tools, and how it spells those of MCP servers.

use serde::{Deserialize, Serialize};

use crate::packed::Drawer;
use crate::problem::Problems;
use crate::yaml::{Fields, Node};

/// One client's own names.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct Client {
    /// The client's name.
    pub id: String,
    /// How it spells the tools of MCP servers.
    pub mcp: Vec<McpPattern>,
    /// Its own tools.
    tools: Drawer<ClientTool>,
}

/// One tool of one client.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct ClientTool {
    /// The client's name for it.
    pub name: String,
    /// The canonical tool that it means.
    pub tool: String,
    /// The client's keys that are spelled unlike any alias of the canonical tool.
    pub aliases: Vec<(String, String)>,
    /// Further keys, which mean nothing to the judge.
    pub keys: Vec<String>,
}

/// A spelling such as `mcp__{server}__{tool}`, in its parts.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct McpPattern {
    /// What stands before the server's name.
    pub prefix: String,
    /// What stands between server and tool; `None` where the server is not named at all.
    pub separator: Option<String>,
}

/// The server and the tool that a client's spelling stands for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RemoteName {
    /// The server, where the spelling tells it.
    pub server: Option<String>,
    /// The tool there.
    pub tool: String,
}

impl Client {
    /// One of the client's own tools.
    pub fn tool(&self, name: &str) -> Option<&ClientTool> {
        self.tools.get(name)
    }

    /// All of its own tools, sorted by name.
    pub fn tools(&self) -> impl Iterator<Item = &ClientTool> {
        self.tools.iter()
    }

    /// The server and tool of a name, if one of the client's patterns gives exactly one answer.
    pub fn remote_name(&self, name: &str, servers: &[String]) -> Option<RemoteName> {
        self.mcp
            .iter()
            .find_map(|pattern| pattern.split(name, servers))
    }
}

impl McpPattern {
    fn parse(text: &str) -> Option<Self> {
        let head = text.strip_suffix("{tool}")?;
        let Some((prefix, separator)) = head.split_once("{server}") else {
            return (!head.is_empty()).then(|| Self {
                prefix: head.to_owned(),
                separator: None,
            });
        };
        (!separator.is_empty()).then(|| Self {
            prefix: prefix.to_owned(),
            separator: Some(separator.to_owned()),
        })
    }

    fn split(&self, name: &str, servers: &[String]) -> Option<RemoteName> {
        let rest = name.strip_prefix(&self.prefix)?;
        let Some(separator) = &self.separator else {
            return (!rest.is_empty()).then(|| RemoteName {
                server: None,
                tool: rest.to_owned(),
            });
        };
        let splits = || {
            let cut = |(at, _)| {
                let (server, tail) = rest.split_at_checked(at)?;
                let tool = tail.strip_prefix(separator.as_str())?;
                (!server.is_empty() && !tool.is_empty()).then_some((server, tool))
            };
            rest.char_indices().filter_map(cut)
        };
        let known = splits().filter(|(server, _)| servers.iter().any(|known| known == server));
        // Without words of its own the pattern fits ordinary names too, and proves nothing.
        let proves = !self.prefix.is_empty();
        only(known)
            .or_else(|| only(splits()).filter(|_| proves))
            .map(|(server, tool)| RemoteName {
                server: Some(server.to_owned()),
                tool: tool.to_owned(),
            })
    }
}

fn only<T>(mut items: impl Iterator<Item = T>) -> Option<T> {
    let first = items.next()?;
    items.next().is_none().then_some(first)
}

/// Reads the clients' file: Tagout's own server name and the clients, sorted.
pub(super) fn read_clients(root: &Node, problems: &mut Problems) -> (Option<String>, Vec<Client>) {
    let Some(fields) = Fields::of(root, "the file", &["own_server", "clients"], problems) else {
        return (None, Vec::new());
    };
    let own = fields.text("own_server", problems).map(str::to_owned);
    let entries = fields.get("clients").and_then(Node::as_map);
    let mut clients: Vec<Client> = entries
        .unwrap_or_default()
        .iter()
        .filter_map(|(id, node)| read_client(id.as_text()?, node, problems))
        .collect();
    if own.is_none() || clients.is_empty() {
        problems.add(root.at(), "`own_server` and `clients` are needed");
    }
    clients.sort_by(|a, b| a.id.cmp(&b.id));
    (own, clients)
}

fn read_client(id: &str, node: &Node, problems: &mut Problems) -> Option<Client> {
    let fields = Fields::of(node, "a client", &["mcp", "tools"], problems)?;
    let mut mcp = Vec::new();
    for item in fields.list("mcp", problems).unwrap_or_default() {
        match item.as_text().and_then(McpPattern::parse) {
            Some(pattern) => mcp.push(pattern),
            None => problems.add(item.at(), "not a pattern such as `x{server}y{tool}`"),
        }
    }
    let mut tools = Vec::new();
    for (name, entry) in fields
        .get("tools")
        .and_then(Node::as_map)
        .unwrap_or_default()
    {
        if let Some(name) = name.as_text() {
            tools.extend(read_client_tool(name, entry, problems));
        }
    }
    Some(Client {
        id: id.to_owned(),
        mcp,
        tools: Drawer::of(tools, |tool: &ClientTool| &tool.name),
    })
}

fn read_client_tool(name: &str, node: &Node, problems: &mut Problems) -> Option<ClientTool> {
    if let Some(tool) = node.as_text() {
        return Some(ClientTool {
            name: name.to_owned(),
            tool: tool.to_owned(),
            aliases: Vec::new(),
            keys: Vec::new(),
        });
    }
    let fields = Fields::of(node, "a client's tool", &["is", "rename", "keys"], problems)?;
    let Some(tool) = fields.text("is", problems) else {
        problems.add(node.at(), "a client's tool needs `is`");
        return None;
    };
    let mut aliases = Vec::new();
    for (theirs, ours) in fields
        .get("rename")
        .and_then(Node::as_map)
        .unwrap_or_default()
    {
        match (theirs.as_text(), ours.as_text()) {
            (Some(theirs), Some(ours)) => aliases.push((theirs.to_owned(), ours.to_owned())),
            _ => problems.add(theirs.at(), "`rename` maps a key to a key"),
        }
    }
    Some(ClientTool {
        name: name.to_owned(),
        tool: tool.to_owned(),
        aliases,
        keys: fields.texts("keys", problems).unwrap_or_default(),
    })
}
