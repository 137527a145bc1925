//! What this machine was seen to enforce.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::limits::{self, LimitHost};

/// Whether something can be had here.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It was done and held.
    Enforced,
    /// A weaker form was seen to hold; it is used only where the user's layer accepts it.
    Weaker,
    /// It can't be had.
    Missing,
}

/// One line for people: a wall or a limit, who holds it, and what to change if nobody does.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// The wall or the limit.
    pub what: String,
    /// Who holds it, or what was seen when it was tried.
    pub enforcer: String,
    /// Whether it holds.
    pub state: State,
    /// What a person can change; empty where nothing needs to be.
    pub remedy: String,
}

/// One thing that was tried.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Probed {
    /// It was done.
    Works,
    /// It failed at this step.
    Fails {
        /// Which step, and what the system said.
        why: String,
        /// What a person can change.
        remedy: String,
    },
}

impl Probed {
    /// Whether it was done.
    pub fn works(&self) -> bool {
        matches!(self, Self::Works)
    }
}

/// What was probed, by doing it. Can be kept for as long as boot, kernel, user and this program
/// stay the same; see [`Host::fits`].
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct Host {
    /// Boot, kernel, user and format that this was seen under.
    pub key: String,
    /// The read-only lane, wholly built and run once.
    pub read_only: Probed,
    /// The transaction lane.
    pub transaction: Probed,
    /// The snapshot lane with namespaces.
    pub snapshot: Probed,
    /// The snapshot lane without them.
    pub bare_snapshot: Probed,
    /// The kernel's Landlock version; 0 where there is none.
    pub landlock_abi: u32,
    /// The enforcers of limits.
    pub limits: LimitHost,
}

impl Host {
    /// Tries everything once, with its scratch below the given folder.
    pub fn probe(scratch: &Path) -> Self {
        let fails = Probed::Fails {
            why: "not built yet".to_owned(),
            remedy: "wait for it".to_owned(),
        };
        Self {
            key: String::new(),
            read_only: fails.clone(),
            transaction: fails.clone(),
            snapshot: fails.clone(),
            bare_snapshot: fails,
            landlock_abi: 0,
            limits: limits::probe(scratch),
        }
    }

    /// Whether this was seen by this user under this boot and kernel, so that it may be used again.
    pub fn fits(&self) -> bool {
        !self.key.is_empty()
    }

    /// Line by line, for people.
    pub fn lines(&self) -> Vec<Line> {
        limits::lines(&self.limits)
    }
}
