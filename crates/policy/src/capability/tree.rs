//! The capability tree of RFC-0003, as data (C1).

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::Region;
use crate::problem;

/// How much harm a capability can do.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Ord, PartialOrd, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Risk {
    /// Shows something.
    Low,
    /// Changes something that can be taken back, or talks to others.
    Medium,
    /// Changes something that may be lost, or runs something.
    High,
    /// Changes who may do what.
    Critical,
}

/// One leaf of the tree.
#[derive(Debug, Eq, PartialEq, Ord, PartialOrd)]
pub struct Entry {
    /// The full name, such as `filesystem.write`.
    pub name: &'static str,
    /// What it lets someone do.
    pub description: &'static str,
    /// How much harm it can do.
    pub risk: Risk,
    /// Capabilities without which it is worth nothing.
    pub requires: &'static [&'static str],
    /// Capabilities that nobody may hold together with it.
    pub conflicts: &'static [&'static str],
    /// Whether who holds it may hand it on.
    pub delegatable: bool,
}

const READ: &str = "filesystem.read";
const EXECUTE: &str = "filesystem.execute";
const GRANT: &str = "admin.capability.grant";
const INSTALL: &str = "admin.tool.install";

const fn leaf(
    name: &'static str,
    risk: Risk,
    requires: &'static [&'static str],
    description: &'static str,
) -> Entry {
    Entry {
        name,
        description,
        risk,
        requires,
        conflicts: &[],
        delegatable: true,
    }
}

const fn admin(
    name: &'static str,
    conflicts: &'static [&'static str],
    description: &'static str,
) -> Entry {
    Entry {
        name,
        description,
        risk: Risk::Critical,
        requires: &[],
        conflicts,
        delegatable: false,
    }
}

/// Every leaf. The RFC names no conflicts; the one here keeps apart who installs a tool and who
/// says what it may do, so that nobody can arm a tool of their own.
static TREE: [Entry; 20] = [
    leaf(READ, Risk::Low, &[], "read files"),
    leaf(
        "filesystem.write",
        Risk::Medium,
        &[READ],
        "create and change files",
    ),
    leaf("filesystem.delete", Risk::High, &[READ], "remove files"),
    leaf(EXECUTE, Risk::High, &[READ], "run files as programs"),
    leaf(
        "network.http",
        Risk::Medium,
        &[],
        "make unencrypted web requests",
    ),
    leaf("network.https", Risk::Medium, &[], "make web requests"),
    leaf("network.tcp", Risk::High, &[], "open TCP connections"),
    leaf("network.udp", Risk::High, &[], "send UDP packets"),
    leaf("process.spawn", Risk::High, &[EXECUTE], "start processes"),
    leaf("process.kill", Risk::High, &[], "end processes"),
    leaf(
        "process.signal",
        Risk::Medium,
        &[],
        "send signals to processes",
    ),
    leaf("system.env", Risk::Medium, &[], "read the environment"),
    leaf("system.time", Risk::Low, &[], "read the clock"),
    leaf(
        "system.info",
        Risk::Low,
        &[],
        "read facts about the machine",
    ),
    leaf("state.read", Risk::Low, &[], "read the tool's own state"),
    leaf(
        "state.write",
        Risk::Medium,
        &[],
        "change the tool's own state",
    ),
    leaf(
        "state.delete",
        Risk::Medium,
        &[],
        "remove the tool's own state",
    ),
    admin(GRANT, &[INSTALL], "grant capabilities"),
    admin("admin.capability.revoke", &[], "revoke capabilities"),
    admin(INSTALL, &[GRANT], "install tools"),
];

/// A capability that exists. Serialises as its name.
#[derive(Clone, Copy, Eq, PartialEq, Ord, PartialOrd)]
pub struct Capability(&'static Entry);

/// A name that is no capability.
#[derive(Clone, Debug, Eq, PartialEq, Error)]
#[error("`{name}` is no capability{}", in_brackets(hint.as_deref()))]
pub struct UnknownCapability {
    /// The name.
    pub name: String,
    /// What may have been meant.
    pub hint: Option<String>,
}

fn in_brackets(hint: Option<&str>) -> String {
    hint.map_or_else(String::new, |hint| format!(" ({hint})"))
}

impl UnknownCapability {
    fn new(name: &str) -> Self {
        // A name longer than any valid one is not worth comparing.
        let words = TREE.iter().map(|entry| entry.name);
        Self {
            name: name.chars().take(100).collect(),
            hint: (name.len() <= 100)
                .then(|| problem::suggestion(name, words))
                .flatten(),
        }
    }
}

impl Capability {
    /// Every capability, in the tree's order.
    pub fn all() -> impl Iterator<Item = Self> {
        TREE.iter().map(Self)
    }

    /// The capability of a full name.
    pub fn parse(name: &str) -> Result<Self, UnknownCapability> {
        Self::all()
            .find(|capability| capability.0.name == name)
            .ok_or_else(|| UnknownCapability::new(name))
    }

    /// What a name in a policy or a grant means: a leaf itself, a branch all of its leaves.
    ///
    /// The RFC leaves open whether a branch implies its leaves. Here it does, by being written out
    /// when it is read: what is stored, signed and shown are always leaves.
    pub fn expand(name: &str) -> Result<BTreeSet<Self>, UnknownCapability> {
        let is_meant = |capability: &Self| {
            let rest = capability.0.name.strip_prefix(name);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let leaves: BTreeSet<Self> = Self::all().filter(is_meant).collect();
        if name.is_empty() || leaves.is_empty() {
            return Err(UnknownCapability::new(name));
        }
        Ok(leaves)
    }

    /// Its line in the tree.
    pub const fn entry(self) -> &'static Entry {
        self.0
    }

    /// The full name.
    pub const fn as_str(self) -> &'static str {
        self.0.name
    }

    /// Whether what it acts on is a path rather than a name.
    pub fn acts_on_paths(self) -> bool {
        self.0.name.starts_with("filesystem.")
    }

    /// The set with everything that its members require.
    pub fn closure(needed: &BTreeSet<Self>) -> BTreeSet<Self> {
        let mut closed = needed.clone();
        let mut open: Vec<Self> = needed.iter().copied().collect();
        while let Some(capability) = open.pop() {
            let required =
                Self::all().filter(|other| capability.0.requires.contains(&other.0.name));
            open.extend(required.filter(|other| closed.insert(*other)));
        }
        closed
    }

    /// Two members of the set that nobody may hold together.
    pub fn conflict(held: &BTreeSet<Self>) -> Option<(Self, Self)> {
        held.iter().find_map(|one| {
            held.iter()
                .find(|other| one.0.conflicts.contains(&other.0.name))
                .map(|other| (*one, *other))
        })
    }
}

impl Region for Capability {
    fn covers(&self, other: &Self) -> bool {
        self == other
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.0.name)
    }
}

impl fmt::Debug for Capability {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.0.name)
    }
}

impl Serialize for Capability {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.name)
    }
}

impl<'de> Deserialize<'de> for Capability {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::parse(&name).map_err(serde::de::Error::custom)
    }
}
