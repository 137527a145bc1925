//! Loading the catalogue's own data, and the checks that span more than one entry.

use std::collections::BTreeSet;

use super::authority::read_authority;
use super::clients::read_clients;
use tagout_vocab::Role;

use super::{Catalogue, Client, ClientTool, Tool, packed, read_tool};
use crate::packed::{Drawer, Packed};
use crate::problem::{Position, Problem, Problems, suggestion};
use crate::yaml::{Fields, Node, parse};

const NATIVE: (&str, &str) = ("data/native.yaml", include_str!("../../data/native.yaml"));
const FURTHER: (&str, &str) = ("data/further.yaml", include_str!("../../data/further.yaml"));
const CLIENTS: (&str, &str) = ("data/clients.yaml", include_str!("../../data/clients.yaml"));
const AUTHORITY: (&str, &str) = (
    "data/authority.yaml",
    include_str!("../../data/authority.yaml"),
);

/// Every problem of every file, or the catalogue.
pub(super) fn built_in() -> Result<Catalogue, Vec<Problem>> {
    let mut native_problems = Problems::new(NATIVE.0);
    let mut further_problems = Problems::new(FURTHER.0);
    let mut client_problems = Problems::new(CLIENTS.0);
    let mut authority_problems = Problems::new(AUTHORITY.0);

    let own = read_tools(&root(NATIVE)?, &mut native_problems);
    let mut native: Vec<String> = own.iter().map(|(tool, _)| tool.name.clone()).collect();
    native.sort();
    let further = read_tools(&root(FURTHER)?, &mut further_problems);
    let clients_root = root(CLIENTS)?;
    let (server, clients) = read_clients(&clients_root, &mut client_problems);
    let authority = read_authority(&root(AUTHORITY)?, &mut authority_problems);

    let known: BTreeSet<String> = own
        .iter()
        .chain(&further)
        .map(|(t, _)| t.name.clone())
        .collect();
    let mut names = BTreeSet::new();
    check_tools(&own, (&known, &mut names), &mut native_problems);
    check_tools(&further, (&known, &mut names), &mut further_problems);
    let mut tools: Vec<Tool> = own
        .into_iter()
        .chain(further)
        .map(|(tool, _)| tool)
        .collect();
    check_clients(&clients_root, &clients, &tools, &mut client_problems);
    tools.sort_by(|a, b| a.name.cmp(&b.name));
    let catalogue = Catalogue {
        roles: roles(&tools, &native),
        tools: packed(tools),
        native,
        added: Vec::new(),
        clients: Drawer::of(clients, |client| &client.id),
        servers: server.into_iter().collect(),
        authority: Packed::of(&authority.unwrap_or_default()),
    };
    let files = [
        native_problems,
        further_problems,
        client_problems,
        authority_problems,
    ];
    let found: Vec<Problem> = files
        .into_iter()
        .filter_map(|problems| problems.finish(()).err())
        .flatten()
        .collect();
    if found.is_empty() {
        Ok(catalogue)
    } else {
        Err(found)
    }
}

/// The first tool that plays each part, one of Tagout's own if there is one.
fn roles(tools: &[Tool], native: &[String]) -> Vec<(Role, String)> {
    let is_native = |tool: &&Tool| native.binary_search(&tool.name).is_ok();
    let (own, others): (Vec<&Tool>, Vec<&Tool>) = tools.iter().partition(is_native);
    let mut roles: Vec<(Role, String)> = Vec::new();
    for tool in own.into_iter().chain(others) {
        if let Some(role) = tool.role
            && !roles.iter().any(|(known, _)| *known == role)
        {
            roles.push((role, tool.name.clone()));
        }
    }
    roles
}

fn root((file, text): (&str, &str)) -> Result<Node, Vec<Problem>> {
    let root = parse(file, text).map_err(|problem| vec![problem])?;
    root.ok_or_else(|| {
        let mut problems = Problems::new(file);
        problems.add(Position { line: 1, column: 1 }, "the file is empty");
        problems.finish(()).err().unwrap_or_default()
    })
}

/// The tools of one file. `words` holds lists that the entries share, and means nothing by itself.
fn read_tools(root: &Node, problems: &mut Problems) -> Vec<(Tool, Position)> {
    let Some(fields) = Fields::of(root, "the file", &["words", "tools"], problems) else {
        return Vec::new();
    };
    let entries = fields.list("tools", problems).unwrap_or_default();
    entries
        .iter()
        .filter_map(|entry| Some((read_tool(entry, problems)?, entry.at())))
        .collect()
}

/// Names are unique, and what emits artifacts names a reader that is there (A4).
fn check_tools<'t>(
    tools: &'t [(Tool, Position)],
    (known, seen): (&BTreeSet<String>, &mut BTreeSet<&'t str>),
    problems: &mut Problems,
) {
    let is_active = |reader: &str| known.contains(reader);
    for (tool, at) in tools {
        let (at, name) = (*at, &tool.name);
        if !seen.insert(name) {
            problems.add(at, format!("the tool `{name}` appears twice"));
        }
        if tool.annotations().lacks_result_reader(is_active) {
            problems.add(at, format!("`{name}` emits artifacts that no tool reads"));
        }
        if let Some(lost) = tool.result_readers.iter().find(|reader| !is_active(reader)) {
            problems.add(
                at,
                format!("`{name}` names the reader `{lost}`, which is no tool"),
            );
        }
    }
}

/// Every client's tool leads to a meaning, and its keys do not hide what the meaning looks at.
fn check_clients(root: &Node, clients: &[Client], tools: &[Tool], problems: &mut Problems) {
    let entries = clients
        .iter()
        .flat_map(|client| client.tools().map(move |tool| (client, tool)));
    for (client, entry) in entries {
        let ClientTool {
            name,
            tool,
            aliases,
            keys,
        } = entry;
        let written = [client.id.as_str(), "tools", name];
        let path = ["clients"].into_iter().chain(written);
        let at = path
            .scan(root, |node, key| {
                *node = node.get(key)?;
                Some(node.at())
            })
            .last()
            .unwrap_or_else(|| root.at());
        let Some(meaning) = tools.iter().find(|known| known.name == *tool) else {
            let hint = suggestion(tool, tools.iter().map(|known| known.name.as_str()));
            problems.add_with(at, format!("`{name}` is the unknown tool `{tool}`"), hint);
            continue;
        };
        let properties = properties(meaning);
        for (theirs, ours) in aliases {
            if !properties.contains(ours.as_str()) || properties.contains(theirs.as_str()) {
                let message = format!("`{name}` renames `{theirs}` to `{ours}` of `{tool}`");
                problems.add(at, message);
            }
        }
        for key in keys {
            let aliased = meaning
                .aliases
                .iter()
                .chain(aliases)
                .any(|(alias, _)| alias == key);
            if aliased || properties.contains(key.as_str()) {
                problems.add(at, format!("`{name}` lists `{key}`, which `{tool}` knows"));
            }
        }
    }
}

fn properties(tool: &Tool) -> BTreeSet<&str> {
    let schema = tool.input_schema.iter();
    schema
        .flat_map(|schema| schema.shape().property_names())
        .collect()
}
