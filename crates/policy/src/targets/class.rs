//! SAFE or DESTRUCTIVE, before the state and the intent are looked at.

use tagout_vocab::{Class, ToolAnnotations};

use super::Normalised;

/// G1: the catalogue's class; a tool that nobody declared is destructive.
///
/// A command line is destructive here: what its parts do is known to the analysis of commands.
pub fn classify(call: &Normalised<'_>) -> Class {
    let clean = call.conflicts.is_empty() && !call.oversized;
    match call.tool {
        Some(tool) if clean => tool.class,
        Some(_) | None => Class::Destructive,
    }
}

/// H5, A6: a tool of an MCP server is destructive unless the policy allowlists it, or trusts its
/// server and the server calls it read-only. An absent hint is «not read-only, destructive».
pub fn mcp_class(hints: &ToolAnnotations, server_trusted: bool, allowlisted: bool) -> Class {
    let read_only = hints.read_only_hint.unwrap_or(false);
    // MCP gives `destructiveHint` a meaning only for tools that are not read-only; a server that
    // says both at once is not believed.
    let contradicts = hints.destructive_hint == Some(true);
    if allowlisted || (server_trusted && read_only && !contradicts) {
        Class::Safe
    } else {
        Class::Destructive
    }
}
