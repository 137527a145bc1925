//! From a call to what it would touch: canonical names, canonical keys, effects.

mod address;
mod class;
mod diff;
mod effects;
mod input;
mod keys;
mod lint;
mod patch;

pub use class::{classify, mcp_class};
pub use effects::{effects, working_directory};
pub use input::{Violation, check_input};
pub use lint::{SchemaFlaw, lint_schema};

use serde_json::{Map, Value};
use tagout_vocab::Call;
use tagout_vocab::limits::ARGUMENTS_BYTES_MAX;

use crate::catalogue::{Catalogue, RemoteName, Resolved, TargetForm, Tool};

/// A call in canonical words: what the tool means, and its arguments under canonical keys.
#[derive(Clone, Debug)]
pub struct Normalised<'c> {
    /// The tool as the catalogue knows it; `None` for a tool that nobody declared.
    pub tool: Option<&'c Tool>,
    /// The name as it was called.
    pub called: String,
    /// The server and tool, when this is a tool of an MCP server.
    pub remote: Option<RemoteName>,
    /// The arguments under canonical keys, sorted by key.
    pub arguments: Map<String, Value>,
    /// Keys that the client's own tool has and that mean nothing to the judge.
    pub keys: &'c [String],
    /// Arguments that were given twice with different values. Any of them refuses the call.
    pub conflicts: Vec<Conflict>,
    /// Which keys were renamed, for the explanation.
    pub renamed: Vec<(String, String)>,
    /// Whether the arguments are larger than any call may be.
    pub oversized: bool,
}

/// One argument under two spellings that disagree.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Conflict {
    /// The canonical key.
    pub key: String,
    /// The spelling that disagrees with another.
    pub alias: String,
}

/// Finds the tool and rewrites its arguments to canonical keys (A3).
///
/// Nothing is guessed: an argument that is nested in a text stays a text, and what nobody declared
/// stays unknown.
pub fn normalise<'c>(call: &Call, catalogue: &'c Catalogue) -> Normalised<'c> {
    let remote = catalogue.remote_name(&call.origin, &call.tool);
    let Some(resolved) = catalogue.lookup(&call.origin, &call.tool) else {
        return Normalised {
            tool: None,
            called: call.tool.clone(),
            remote,
            arguments: sorted(call.arguments.clone()),
            keys: &[],
            conflicts: Vec::new(),
            renamed: Vec::new(),
            oversized: oversized(&call.arguments),
        };
    };
    let outer = rewrite(call, resolved, remote);
    unwrapped(call, &outer, catalogue).unwrap_or(outer)
}

/// A call through a tool that calls another server's tool is judged as that tool, where declared.
fn unwrapped<'c>(
    call: &Call,
    outer: &Normalised<'c>,
    catalogue: &'c Catalogue,
) -> Option<Normalised<'c>> {
    let remote = outer.remote_target()?;
    let origin = tagout_vocab::Origin::Mcp {
        server: remote.server.clone()?,
    };
    let resolved = catalogue.lookup(&origin, &remote.tool)?;
    let TargetForm::Remote { arguments, .. } = &outer.tool?.targets else {
        return None;
    };
    let inner = match outer.arguments.get(arguments) {
        None => Map::new(),
        Some(Value::Object(inner)) => inner.clone(),
        Some(_) => return None,
    };
    let clean = outer.conflicts.is_empty() && !outer.oversized;
    let call = Call {
        tool: remote.tool.clone(),
        origin,
        arguments: inner,
        ..call.clone()
    };
    clean.then(|| rewrite(&call, resolved, Some(remote)))
}

fn rewrite<'c>(call: &Call, resolved: Resolved<'c>, remote: Option<RemoteName>) -> Normalised<'c> {
    let mut arguments: Map<String, Value> = Map::new();
    let mut conflicts = Vec::new();
    let mut renamed = Vec::new();
    for (key, value) in &call.arguments {
        let canonical = canonical_key(resolved, key);
        if canonical != key {
            renamed.push((key.clone(), canonical.to_owned()));
        }
        match arguments.get(canonical) {
            Some(known) if known != value => conflicts.push(Conflict {
                key: canonical.to_owned(),
                alias: key.clone(),
            }),
            Some(_) => {}
            None => {
                arguments.insert(canonical.to_owned(), value.clone());
            }
        }
    }
    drop_nulls(resolved.tool, &mut arguments);
    Normalised {
        tool: Some(resolved.tool),
        called: call.tool.clone(),
        remote,
        arguments: sorted(arguments),
        keys: resolved.keys,
        conflicts,
        renamed,
        oversized: oversized(&call.arguments),
    }
}

fn canonical_key<'k>(resolved: Resolved<'k>, key: &'k str) -> &'k str {
    let mut pairs = resolved.aliases.iter().chain(&resolved.tool.aliases);
    pairs
        .find(|(alias, _)| alias == key)
        .map_or(key, |(_, canonical)| canonical.as_str())
}

/// Clients spell an optional argument that is not used as null. A required one stays missing.
fn drop_nulls(tool: &Tool, arguments: &mut Map<String, Value>) {
    if arguments.values().any(Value::is_null) {
        let is_known = |key: &str| {
            let schema = tool.input_schema.as_ref();
            schema.is_some_and(|schema| schema.shape().property_names().any(|name| name == key))
        };
        arguments.retain(|key, value| !(value.is_null() && is_known(key)));
    }
}

/// The order of the caller's keys must not matter to anything that comes after.
fn sorted(arguments: Map<String, Value>) -> Map<String, Value> {
    let mut entries: Vec<(String, Value)> = arguments.into_iter().collect();
    entries.sort_by(|a, b| a.0.cmp(&b.0));
    entries.into_iter().collect()
}

/// Whether the arguments are larger than allowed, counted without recursion.
fn oversized(arguments: &Map<String, Value>) -> bool {
    let mut bytes = 0_usize;
    let mut open: Vec<&Value> = Vec::new();
    let entries = |map: &Map<String, Value>| map.keys().map(String::len).sum::<usize>();
    bytes += entries(arguments);
    open.extend(arguments.values());
    while let Some(value) = open.pop() {
        bytes += match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => 4,
            Value::String(text) => text.len() + 2,
            Value::Array(items) => {
                open.extend(items);
                2
            }
            Value::Object(map) => {
                open.extend(map.values());
                2 + entries(map)
            }
        };
        if bytes > ARGUMENTS_BYTES_MAX {
            return true;
        }
    }
    false
}

impl Normalised<'_> {
    /// The canonical name, or the name as called when nobody declared the tool.
    pub fn name(&self) -> &str {
        self.tool.map_or(&self.called, |tool| tool.name.as_str())
    }

    /// The other server's tool that this call is for, by its name or by its arguments.
    pub fn remote_target(&self) -> Option<RemoteName> {
        if let Some(remote) = &self.remote {
            return Some(remote.clone());
        }
        let TargetForm::Remote { server, tool, .. } = &self.tool?.targets else {
            return None;
        };
        let text = |key: &str| self.arguments.get(key).and_then(Value::as_str);
        Some(RemoteName {
            server: Some(text(server)?.to_owned()),
            tool: text(tool)?.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests;
