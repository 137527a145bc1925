//! Crate edges, depth and async, compared with the rooms.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Deserialize;

use super::Finding;
use super::rooms::{self, May};
use crate::error::XtaskError;
use crate::process::{answer, cargo_command};

/// Longest chain of the product's crates, the crate itself counted.
const DEPTH_MAX: usize = 6;

/// The parts of `cargo metadata` that the rules read.
#[derive(Debug, Deserialize)]
pub(crate) struct Metadata {
    packages: Vec<Package>,
    workspace_members: Vec<String>,
    resolve: Resolve,
}

#[derive(Debug, Deserialize)]
struct Package {
    id: String,
    name: String,
    manifest_path: String,
}

#[derive(Debug, Deserialize)]
struct Resolve {
    nodes: Vec<ResolvedPackage>,
}

#[derive(Debug, Deserialize)]
struct ResolvedPackage {
    id: String,
    deps: Vec<Dependency>,
}

#[derive(Debug, Deserialize)]
struct Dependency {
    pkg: String,
    dep_kinds: Vec<DependencyKind>,
}

#[derive(Debug, Deserialize)]
struct DependencyKind {
    kind: Option<String>,
}

impl Dependency {
    /// Whether the built crate carries it; what only tests use does not reach a user.
    fn is_shipped(&self) -> bool {
        self.dep_kinds
            .iter()
            .any(|dependency| dependency.kind.as_deref() != Some("dev"))
    }
}

/// Asks cargo, for this host only, so that nothing has to be fetched for other systems.
pub(crate) fn metadata(root: &Path) -> Result<Metadata, XtaskError> {
    let version = answer(std::process::Command::new("rustc").arg("-vV"))?;
    let host = version
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .unwrap_or_default();
    let mut command = cargo_command(&[
        "metadata",
        "--format-version",
        "1",
        "--filter-platform",
        host,
    ]);
    let text = answer(command.current_dir(root))?;
    serde_json::from_str(&text).map_err(|source| XtaskError::Json {
        command: "cargo metadata".to_owned(),
        source,
    })
}

/// The graph by package id, with each room under its folder's name.
struct Graph<'a> {
    rooms: BTreeMap<&'a str, &'a str>,
    names: BTreeMap<&'a str, &'a str>,
    dependencies: BTreeMap<&'a str, &'a [Dependency]>,
}

impl<'a> Graph<'a> {
    fn new(metadata: &'a Metadata) -> Self {
        let members: BTreeSet<&str> = metadata
            .workspace_members
            .iter()
            .map(String::as_str)
            .collect();
        let rooms = metadata
            .packages
            .iter()
            .filter(|package| members.contains(package.id.as_str()))
            .filter_map(|package| Some((package.id.as_str(), folder(&package.manifest_path)?)))
            .collect();
        Self {
            rooms,
            names: metadata
                .packages
                .iter()
                .map(|package| (package.id.as_str(), package.name.as_str()))
                .collect(),
            dependencies: metadata
                .resolve
                .nodes
                .iter()
                .map(|node| (node.id.as_str(), node.deps.as_slice()))
                .collect(),
        }
    }

    fn direct(&self, id: &str) -> &'a [Dependency] {
        self.dependencies.get(id).copied().unwrap_or_default()
    }

    fn edges(&self, id: &str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.direct(id).iter().filter_map(|dependency| {
            let id = dependency.pkg.as_str();
            self.rooms.get(id).map(|room| (id, *room))
        })
    }

    fn depth(&self, id: &str, seen: usize) -> usize {
        if seen > self.rooms.len() {
            return seen;
        }
        let below = self.edges(id).map(|(below, _)| self.depth(below, seen + 1));
        1 + below.max().unwrap_or(0)
    }

    /// Whether a package of this name is reached over what is shipped.
    fn reaches(&self, from: &'a str, name: &str) -> bool {
        let mut seen = BTreeSet::from([from]);
        let mut open = vec![from];
        while let Some(id) = open.pop() {
            if self.names.get(id) == Some(&name) {
                return true;
            }
            for dependency in self.direct(id).iter().filter(|one| one.is_shipped()) {
                if seen.insert(&dependency.pkg) {
                    open.push(&dependency.pkg);
                }
            }
        }
        false
    }
}

/// The folder under `crates/` that a manifest stands in.
fn folder(manifest: &str) -> Option<&str> {
    let mut parts = manifest.rsplit(['/', '\\']).skip(1);
    let name = parts.next()?;
    (parts.next()? == "crates").then_some(name)
}

/// Every edge against the table.
pub(crate) fn check(metadata: &Metadata) -> Vec<Finding> {
    let graph = Graph::new(metadata);
    let mut findings = Vec::new();
    for (id, name) in &graph.rooms {
        let path = format!("crates/{name}");
        let breach = |rule, message: String| Finding::new(&path, 0, rule, message);
        let Some(room) = rooms::find(name) else {
            let message = "is no room of the table; say which wall it holds in a decision";
            findings.push(breach("rooms", message.to_owned()));
            continue;
        };
        for (_, used) in graph.edges(id).filter(|(_, used)| !room.may_use(used)) {
            findings.push(breach("edges", format!("must not use `{used}`")));
        }
        if !room.may(May::Async) && graph.reaches(id, "tokio") {
            findings.push(breach("async", "must not see tokio".to_owned()));
        }
        let depth = graph.depth(id, 1);
        if depth > DEPTH_MAX {
            let message = format!("stands on a chain of {depth} crates, {DEPTH_MAX} at most");
            findings.push(breach("depth", message));
        }
        let wanted = package_name(name);
        if graph.names.get(id) != Some(&wanted.as_str()) {
            findings.push(breach("rooms", format!("its package must be `{wanted}`")));
        }
    }
    findings
}

/// The binary's package carries the product's own name, all others the prefix.
fn package_name(room: &str) -> String {
    match room {
        "cli" => "tagout".to_owned(),
        room => format!("tagout-{room}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Metadata, check};

    /// Metadata of crates and their edges; a name without a folder stands for a foreign crate.
    fn metadata(crates: &[(&str, &[&str])]) -> Metadata {
        let is_room = |name: &str| name != "tokio" && name != "hyper";
        let package = |name: &str| match name {
            "cli" => "tagout".to_owned(),
            name if is_room(name) => format!("tagout-{name}"),
            name => name.to_owned(),
        };
        let packages: Vec<Value> = crates
            .iter()
            .map(|(name, _)| {
                json!({"id": name, "name": package(name),
                       "manifest_path": format!("/x/crates/{name}/Cargo.toml")})
            })
            .collect();
        let nodes: Vec<Value> = crates
            .iter()
            .map(|(name, used)| {
                let deps: Vec<Value> = used
                    .iter()
                    .map(|used| match used.strip_prefix("dev:") {
                        Some(used) => json!({"pkg": used, "dep_kinds": [{"kind": "dev"}]}),
                        None => json!({"pkg": used, "dep_kinds": [{"kind": null}]}),
                    })
                    .collect();
                json!({"id": name, "deps": deps})
            })
            .collect();
        let members: Vec<&str> = crates
            .iter()
            .map(|(name, _)| *name)
            .filter(|name| is_room(name))
            .collect();
        serde_json::from_value(json!({
            "packages": packages,
            "workspace_members": members,
            "resolve": {"nodes": nodes},
        }))
        .unwrap()
    }

    fn findings(crates: &[(&str, &[&str])]) -> Vec<String> {
        check(&metadata(crates))
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn the_whole_table_is_allowed_and_exactly_six_deep() {
        let found = findings(&[
            ("vocab", &[]),
            ("policy", &["vocab"]),
            ("agents", &["vocab"]),
            ("ledger", &["vocab"]),
            ("workspace", &["vocab"]),
            ("sandbox", &["vocab"]),
            ("trace", &["vocab"]),
            (
                "gate",
                &["vocab", "policy", "ledger", "workspace", "sandbox", "trace"],
            ),
            ("tools", &["gate", "vocab"]),
            ("mcp", &["gate", "tools", "tokio"]),
            ("dashboard", &["gate", "tools", "hyper"]),
            ("cli", &["agents", "mcp", "dashboard", "gate"]),
            ("hyper", &["tokio"]),
            ("tokio", &[]),
        ]);
        assert!(found.is_empty(), "{found:?}");
    }

    #[test]
    fn edges_outside_the_table_are_found() {
        for (from, to) in [
            ("policy", "ledger"),
            ("ledger", "workspace"),
            ("agents", "policy"),
            ("gate", "agents"),
            ("tools", "policy"),
            ("vocab", "policy"),
            ("trace", "dev:workspace"),
        ] {
            let target = to.trim_start_matches("dev:");
            let found = findings(&[(from, &[to]), (target, &[])]);
            assert_eq!(
                found,
                [format!("crates/{from}: must not use `{target}` [edges]")]
            );
        }
    }

    #[test]
    fn a_crate_nobody_planned_is_found() {
        let found = findings(&[("helpers", &[])]);
        assert!(found[0].contains("is no room"), "{found:?}");
    }

    #[test]
    fn tokio_is_found_through_other_crates_but_not_through_tests() {
        let found = findings(&[("gate", &["hyper"]), ("hyper", &["tokio"]), ("tokio", &[])]);
        assert_eq!(found, ["crates/gate: must not see tokio [async]"]);
        let found = findings(&[("gate", &["dev:tokio"]), ("tokio", &[])]);
        assert!(found.is_empty(), "{found:?}");
    }

    #[test]
    fn a_chain_of_seven_is_found() {
        // The table alone allows no such chain, so the edges are found as well.
        let found = findings(&[
            ("cli", &["mcp"]),
            ("mcp", &["dashboard"]),
            ("dashboard", &["tools"]),
            ("tools", &["gate"]),
            ("gate", &["policy"]),
            ("policy", &["vocab"]),
            ("vocab", &[]),
        ]);
        assert!(
            found.contains(&"crates/cli: stands on a chain of 7 crates, 6 at most [depth]".into()),
            "{found:?}"
        );
    }
}
