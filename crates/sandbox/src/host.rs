//! What this machine was seen to enforce.

mod remedy;
mod trial;

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::confine;
use crate::kernel;
use crate::limits::{self, LimitHost};
use crate::plan;
use crate::wanted::Lane;

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

/// What was probed, by doing it. Can be kept for as long as [`Host::fits`] says so.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct Host {
    /// Boot, kernel, user and format that this was seen under.
    pub key: String,
    /// The read-only lane, wholly built and run once.
    pub read_only: Probed,
    /// The transaction lane.
    pub transaction: Probed,
    /// The snapshot lane with name spaces.
    pub snapshot: Probed,
    /// The snapshot lane without them.
    pub bare_snapshot: Probed,
    /// The kernel's Landlock version; 0 where there is none.
    pub landlock_abi: u32,
    /// The enforcers of limits.
    pub limits: LimitHost,
}

impl Host {
    /// Tries everything once, with its scratch below the given folder: each lane is wholly built
    /// and runs a program, because a step that passes alone can fail with the others. The folder
    /// should be on the file system that layers will lie on.
    pub fn probe(scratch: &Path) -> Self {
        let landlock_abi = confine::landlock_abi();
        let tried = |lane, namespaces| trial::run(scratch, landlock_abi, lane, namespaces);
        Self {
            key: key(),
            read_only: tried(Lane::ReadOnly, true),
            transaction: tried(Lane::Transaction, true),
            snapshot: tried(Lane::Snapshot, true),
            bare_snapshot: tried(Lane::Snapshot, false),
            landlock_abi,
            limits: limits::probe(scratch),
        }
    }

    /// Whether this was seen by this user under this boot and kernel, so that it may be used again.
    pub fn fits(&self) -> bool {
        !self.key.is_empty() && self.key == key()
    }

    /// Line by line, for people.
    pub fn lines(&self) -> Vec<Line> {
        let mut lines = vec![
            self.lane(Lane::ReadOnly, &self.read_only, "read-only mounts"),
            self.lane(Lane::Transaction, &self.transaction, "overlay"),
            self.lane(Lane::Snapshot, &self.snapshot, "writable set by mounts"),
            self.bare_lane(),
            self.landlock(),
        ];
        lines.extend(plan::lines(self));
        lines.extend(limits::lines(&self.limits));
        lines
    }

    /// The snapshot lane that only Landlock and seccomp hold, which nobody gets without asking.
    fn bare_lane(&self) -> Line {
        let by = "writable set by Landlock alone";
        let line = self.lane(Lane::Snapshot, &self.bare_snapshot, by);
        let (state, remedy) = match (&self.bare_snapshot, &self.snapshot) {
            (Probed::Fails { .. }, _) => (State::Missing, line.remedy),
            (Probed::Works, Probed::Works) => (State::Weaker, remedy::BARE_SPARE.to_owned()),
            (Probed::Works, Probed::Fails { remedy, .. }) => {
                (State::Weaker, format!("{remedy}; {}", remedy::BARE_ALONE))
            }
        };
        Line {
            what: format!("{} without name spaces", line.what),
            state,
            remedy,
            ..line
        }
    }

    fn lane(&self, lane: Lane, probed: &Probed, by: &str) -> Line {
        let what = format!("{} lane", lane.as_str());
        match probed {
            Probed::Works => Line {
                what,
                enforcer: format!("{by}, Landlock version {}, seccomp", self.landlock_abi),
                state: State::Enforced,
                remedy: String::new(),
            },
            Probed::Fails { why, remedy } => Line {
                what,
                enforcer: why.clone(),
                state: State::Missing,
                remedy: remedy.clone(),
            },
        }
    }

    fn landlock(&self) -> Line {
        let enough = self.landlock_abi >= remedy::LANDLOCK_ABI_MIN;
        Line {
            what: "Landlock".to_owned(),
            enforcer: match self.landlock_abi {
                0 => "the kernel has none, or it is switched off".to_owned(),
                version => format!("version {version} of the kernel"),
            },
            state: if enough {
                State::Enforced
            } else {
                State::Missing
            },
            remedy: if enough {
                String::new()
            } else {
                remedy::LANDLOCK.to_owned()
            },
        }
    }
}

/// What must stay the same for a probe to hold. A change of format changes it too.
fn key() -> String {
    const FORMAT: u32 = 1;
    let read = |path: &str| {
        kernel::text(path)
            .map(|text| text.trim().to_owned())
            .unwrap_or_default()
    };
    let boot = String::from_utf8_lossy(kernel::boot_id());
    let boot = boot.trim();
    let kernel = read("/proc/sys/kernel/osrelease");
    let spaces = read("/proc/sys/user/max_user_namespaces");
    if boot.is_empty() {
        return String::new();
    }
    let user = confine::user();
    format!("{FORMAT} {boot} {kernel} {user} {spaces}")
}
