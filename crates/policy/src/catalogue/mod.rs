//! What every known tool means. Data in `data/`, loaded once; the code knows no tool's name.

mod authority;
mod clients;
mod load;
mod read;
mod schema;
mod shape;
mod tool;

pub use authority::{Authority, Guarded};
pub use clients::{Client, ClientTool, McpPattern, RemoteName};
pub use read::read_tool;
pub use shape::{InputSchema, Shape};
pub use tool::{Access, PathParam, TargetForm, Tool};

use serde::{Deserialize, Serialize};
use tagout_vocab::{Origin, Role, ToolAnnotations, WorkspacePath};

use crate::packed::{Drawer, Packed};
use crate::problem::Problem;

/// Everything that is known about tools, clients and protected paths. Part of the compiled law.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct Catalogue {
    // The catalogue's own data.
    tools: Drawer<Tool>,
    // Sorted names of those in `tools` that Tagout offers itself.
    native: Vec<String>,
    // Sorted by name; declared by the policy.
    added: Vec<Tool>,
    // By id.
    clients: Drawer<Client>,
    // The first tool that plays each part, one of Tagout's own if there is one.
    roles: Vec<(Role, String)>,
    // Names of MCP servers that the workspace knows, Tagout's own first.
    servers: Vec<String>,
    authority: Packed<Authority>,
}

/// Why nothing may be changed where the protected paths can't be told.
const UNREADABLE: &str = "the list of protected paths can't be read";

/// A tool that was found, and how this origin spells its arguments.
#[derive(Clone, Copy, Debug)]
pub struct Resolved<'c> {
    /// What the tool means.
    pub tool: &'c Tool,
    /// Aliases of this origin, which go before the tool's own.
    pub aliases: &'c [(String, String)],
    /// Further keys of this origin's tool, which mean nothing to the judge.
    pub keys: &'c [String],
}

impl<'c> Resolved<'c> {
    const fn plain(tool: &'c Tool) -> Self {
        Self {
            tool,
            aliases: &[],
            keys: &[],
        }
    }
}

/// Why a tool of the policy was not taken over.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum ExtendError {
    /// It would allow more than the catalogue does.
    #[error(
        "the tool `{name}` is in the catalogue; the policy can narrow its {field}, not change it"
    )]
    Widens {
        /// The tool.
        name: String,
        /// What would be changed.
        field: &'static str,
    },
    /// The same name was declared before.
    #[error("the tool `{name}` is declared twice")]
    Twice {
        /// The tool.
        name: String,
    },
}

impl Catalogue {
    /// The catalogue that comes with the program.
    pub fn built_in() -> Result<Self, Vec<Problem>> {
        load::built_in()
    }

    /// What a tool means that this origin calls so. `None` is an unknown tool: destructive.
    pub fn lookup(&self, origin: &Origin, name: &str) -> Option<Resolved<'_>> {
        match origin {
            Origin::Native => self.tool(name).map(Resolved::plain),
            Origin::Custom => find(&self.added, name).map(Resolved::plain),
            Origin::Mcp { server } => self.lookup_remote(server, name),
            Origin::Client { client } => self.lookup_client(client, name),
        }
    }

    /// A tool that a client brings itself. Those of servers are none, Tagout's own included: which
    /// program answers to a server's name is for a repository to say.
    pub fn clients_own(&self, origin: &Origin, name: &str) -> Option<Resolved<'_>> {
        let Origin::Client { client } = origin else {
            return None;
        };
        self.resolve(self.client(client)?.tool(name)?)
    }

    fn resolve<'c>(&'c self, entry: &'c ClientTool) -> Option<Resolved<'c>> {
        Some(Resolved {
            tool: self.tools.get(&entry.tool)?,
            aliases: &entry.aliases,
            keys: &entry.keys,
        })
    }

    fn lookup_client(&self, client: &str, name: &str) -> Option<Resolved<'_>> {
        let client = self.client(client)?;
        if let Some(entry) = client.tool(name) {
            return self.resolve(entry);
        }
        match client.remote_name(name, &self.servers) {
            Some(RemoteName {
                server: Some(server),
                tool,
            }) => self.lookup_remote(&server, &tool),
            Some(RemoteName { server: None, .. }) => None,
            None => find(&self.added, name).map(Resolved::plain),
        }
    }

    /// A tool of an MCP server: one of Tagout's own, or one that the policy declared.
    fn lookup_remote(&self, server: &str, name: &str) -> Option<Resolved<'_>> {
        if self.servers.first().is_some_and(|own| own == server) {
            return self.native_tool(name).map(Resolved::plain);
        }
        find(&self.added, &declared_name(server, name)?).map(Resolved::plain)
    }

    /// The server and tool that a name stands for, where the origin says so without doubt.
    ///
    /// Tagout's own server is not another server: its tools are the native ones.
    pub fn remote_name(&self, origin: &Origin, name: &str) -> Option<RemoteName> {
        let found = match origin {
            Origin::Native | Origin::Custom => None,
            Origin::Mcp { server } => Some(RemoteName {
                server: Some(server.clone()),
                tool: name.to_owned(),
            }),
            Origin::Client { client } => {
                let client = self.client(client)?;
                let known = client.tool(name).is_some();
                (!known)
                    .then(|| client.remote_name(name, &self.servers))
                    .flatten()
            }
        };
        found.filter(|remote| remote.server.as_ref() != self.servers.first())
    }

    /// A tool by its canonical name: the catalogue's own, else one of the policy's.
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.get(name).or_else(|| find(&self.added, name))
    }

    /// Whether the program itself brings the tool, rather than a policy file.
    pub fn is_built_in(&self, name: &str) -> bool {
        self.tools.has(name)
    }

    /// A tool that Tagout offers itself.
    pub fn native_tool(&self, name: &str) -> Option<&Tool> {
        self.native
            .binary_search_by(|known| known.as_str().cmp(name))
            .ok()?;
        self.tools.get(name)
    }

    /// The tools that Tagout offers itself, by name.
    pub fn native(&self) -> impl Iterator<Item = &Tool> {
        self.native.iter().filter_map(|name| self.tools.get(name))
    }

    /// Every tool of the catalogue, the policy's last.
    pub fn tools(&self) -> impl Iterator<Item = &Tool> {
        self.tools.iter().chain(&self.added)
    }

    /// Every client, by id.
    pub fn clients(&self) -> impl Iterator<Item = &Client> {
        self.clients.iter()
    }

    fn client(&self, id: &str) -> Option<&Client> {
        self.clients.get(id)
    }

    /// The tool that plays a part, one of Tagout's own if there is one; messages name it.
    pub fn by_role(&self, role: Role) -> Option<&Tool> {
        let known = self.roles.iter().find(|(plays, _)| *plays == role);
        known
            .and_then(|(_, name)| self.tools.get(name))
            .or_else(|| self.added.iter().find(|tool| tool.role == Some(role)))
    }

    /// A4: what a tool means under the wire names of seed 003.
    pub fn annotations(&self, tool: &Tool) -> ToolAnnotations {
        tool.annotations()
    }

    /// The protected paths. `None` where they can't be read.
    pub fn authority(&self) -> Option<&Authority> {
        self.authority.get()
    }

    /// Why no call may change this path, if none may.
    pub fn is_authority(&self, path: &WorkspacePath) -> Option<&str> {
        self.authority.get().map_or(Some(UNREADABLE), |authority| {
            authority.workspace_reason(path)
        })
    }

    /// Whether removing, moving or replacing this folder would take protected paths along.
    pub fn holds_authority(&self, path: &WorkspacePath) -> bool {
        let authority = self.authority.get();
        authority.is_none_or(|authority| authority.holds(path))
    }

    /// Why no call may change this path outside of the workspace, if none may.
    pub fn is_home_authority(&self, raw: &str) -> Option<&str> {
        self.authority
            .get()
            .map_or(Some(UNREADABLE), |authority| authority.home_reason(raw))
    }

    /// Tells the names of MCP servers, so that clients' spellings of their tools can be read.
    pub fn know_servers(&mut self, servers: impl IntoIterator<Item = String>) {
        for server in servers {
            if !self.servers.contains(&server) {
                self.servers.push(server);
            }
        }
    }

    /// Takes over the policy's tools: new names, and narrower meanings of known ones.
    ///
    /// A tool of an MCP server is named `mcp__SERVER__TOOL`. Whatever would allow more than the
    /// catalogue does is left out and named in the answer.
    pub fn extend(&mut self, additional: Vec<Tool>) -> Vec<ExtendError> {
        let mut refused = Vec::new();
        for tool in additional {
            if let Some(known) = self.tools.get(&tool.name) {
                match narrowed(known.clone(), tool) {
                    Ok(narrower) => self.replace(narrower),
                    Err(error) => refused.push(error),
                }
                continue;
            }
            match self
                .added
                .binary_search_by(|known| known.name.cmp(&tool.name))
            {
                Ok(_) => refused.push(ExtendError::Twice { name: tool.name }),
                Err(at) => self.added.insert(at, tool),
            }
        }
        refused
    }

    fn replace(&mut self, tool: Tool) {
        let others = self.tools.iter().filter(|known| known.name != tool.name);
        let mut tools: Vec<Tool> = others.cloned().collect();
        tools.push(tool);
        self.tools = packed(tools);
    }
}

fn packed(tools: Vec<Tool>) -> Drawer<Tool> {
    Drawer::of(tools, |tool| &tool.name)
}

/// A known tool, narrowed to what the policy says of it, or what would widen it.
fn narrowed(known: Tool, wanted: Tool) -> Result<Tool, ExtendError> {
    let changed = [
        ("class", known.class > wanted.class),
        ("level", wanted.level < known.level),
        ("kind", known.kind != wanted.kind),
        ("role", known.role != wanted.role),
        ("undoable", wanted.undoable && !known.undoable),
        (
            "carries_metadata",
            known.carries_metadata && !wanted.carries_metadata,
        ),
        ("targets", known.targets != wanted.targets),
        ("paths", known.paths != wanted.paths),
        ("aliases", known.aliases != wanted.aliases),
        ("required", !contains_all(&wanted.required, &known.required)),
        (
            "capabilities",
            !contains_all(&wanted.capabilities, &known.capabilities),
        ),
    ];
    if let Some((field, _)) = changed.into_iter().find(|(_, changed)| *changed) {
        return Err(ExtendError::Widens {
            name: wanted.name,
            field,
        });
    }
    // Two schemas can't be compared for which is narrower, so the catalogue's own stays.
    Ok(Tool {
        input_schema: known.input_schema,
        ..wanted
    })
}

fn contains_all(whole: &[String], part: &[String]) -> bool {
    part.iter().all(|item| whole.contains(item))
}

fn find<'t>(tools: &'t [Tool], name: &str) -> Option<&'t Tool> {
    let at = tools
        .binary_search_by(|tool| tool.name.as_str().cmp(name))
        .ok()?;
    tools.get(at)
}

/// The name under which the policy declares a server's tool; `None` where two pairs would share it.
pub(crate) fn declared_name(server: &str, tool: &str) -> Option<String> {
    let doubtful = server.is_empty()
        || server.contains("__")
        || server.ends_with('_')
        || tool.starts_with('_');
    (!doubtful).then(|| format!("mcp__{server}__{tool}"))
}

#[cfg(test)]
mod tests;
