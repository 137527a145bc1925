//! What a policy says about MCP servers and their tools.

use std::collections::BTreeMap;

use super::context::Context;
use crate::law::McpTrust;
use crate::law::pattern::{NameGlob, PatternError};
use crate::yaml::Fields;

pub(super) fn read(fields: &Fields<'_>, context: &mut Context) -> McpTrust {
    let mut trust = McpTrust::default();
    let Some(node) = fields.get("mcp") else {
        return trust;
    };
    let known = ["servers", "readonly_tools", "deny"];
    let Some(section) = context.section(node, "`mcp`", &known) else {
        return trust;
    };
    trust.trust_hints = servers(&section, context);
    let tools = context.list(&section, "readonly_tools");
    trust.readonly_tools = context.patterns(tools, "readonly_tools", server_tool);
    let deny = context.list(&section, "deny");
    trust.deny = context.patterns(deny, "deny", |text| {
        // A server alone means all its tools.
        let all = if text.contains('/') { "" } else { "/*" };
        NameGlob::parse(&format!("{text}{all}"))
    });
    trust
}

fn servers(section: &Fields<'_>, context: &mut Context) -> BTreeMap<String, bool> {
    let mut servers = BTreeMap::new();
    let Some(node) = section.get("servers") else {
        return servers;
    };
    let Some(entries) = node.as_map() else {
        let message = format!("`servers` must be a mapping, not {}", node.described());
        context.problems.add(node.at(), message);
        return servers;
    };
    for (name, value) in entries {
        let Some(server) = context.section(value, "a server", &["trust_hints"]) else {
            continue;
        };
        let name = context.pattern(name, "servers", NameGlob::parse_exact);
        let trusted = server.bool("trust_hints", &mut context.problems);
        if let (Some(name), Some(trusted)) = (name, trusted) {
            servers.insert(name.as_str().to_owned(), trusted);
        }
    }
    servers
}

/// `server/tool`, both named: a pattern would trust tools that do not exist yet.
pub(super) fn server_tool(text: &str) -> Result<String, PatternError> {
    let name = NameGlob::parse_exact(text)?;
    match text.split_once('/') {
        Some((server, tool)) if !server.is_empty() && !tool.is_empty() => {
            Ok(name.as_str().to_owned())
        }
        Some(_) | None => Err(PatternError::ServerTool),
    }
}
