//! Chooses, for each bound that is asked for, who holds it; pure.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{Limit, Limits};
use crate::error::Refused;
use crate::host::{Line, State};
use crate::plan::Enforcer;

/// Which version of the control group interface a place has.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Deserialize, Serialize)]
pub(crate) enum Version {
    /// One hierarchy for each controller.
    One,
    /// One hierarchy for all controllers.
    Two,
}

impl Version {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::One => "control group (version 1)",
            Self::Two => "control group (version 2)",
        }
    }
}

/// A folder of a control group file system: groups are made directly below it.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(crate) struct Place {
    pub(crate) path: PathBuf,
    pub(crate) version: Version,
}

/// Which enforcers of limits this machine has, found by using them. Part of [`crate::Host`].
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
pub struct LimitHost {
    /// Where a group that holds memory was made and held it.
    pub(crate) memory: Option<Place>,
    /// Where a group that holds the number of processes was made and held it.
    pub(crate) pids: Option<Place>,
    /// Whether the kernel holds the number of processes of one user namespace for this user.
    pub(crate) rlimit_counts: bool,
    /// Whether the kernel tells about files that a call would make too long.
    pub(crate) oversize_told: bool,
    /// Whether the processes of a tree can be looked at.
    pub(crate) watcher: bool,
}

impl LimitHost {
    /// What is left of it for a run without a user namespace of its own, where a resource limit
    /// would count all processes of the user.
    pub(crate) fn without_namespaces(&self) -> Self {
        Self {
            rlimit_counts: false,
            ..self.clone()
        }
    }
}

/// Who counts processes and threads.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Deserialize, Serialize)]
pub(crate) enum Counter {
    /// A resource limit, counted for the sandbox's own user namespace.
    Rlimit,
    /// A control group.
    Group,
    /// The watcher alone.
    #[default]
    Watcher,
}

/// The limits of one run with the enforcer that was chosen for each; travels to the helper.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
pub(crate) struct Chosen {
    /// The bounds themselves.
    pub(crate) limits: Limits,
    /// Where the group that holds memory is made.
    pub(crate) memory: Option<Place>,
    /// Where the group that holds the number of processes is made.
    pub(crate) pids: Option<Place>,
    /// Who counts processes.
    pub(crate) processes: Counter,
    /// Whether to ask the kernel about files that become too long.
    pub(crate) oversize_told: bool,
}

const WATCHER: &str = "watcher in the sandbox's first process";

/// Chooses an enforcer for each limit that is asked for; a limit without one is refused.
pub(crate) fn choose(
    host: &LimitHost,
    limits: &Limits,
) -> Result<(Chosen, Vec<Enforcer>), Refused> {
    let chosen = Chosen {
        limits: limits.clone(),
        memory: host
            .memory
            .clone()
            .filter(|_| limits.memory_bytes.is_some()),
        pids: host
            .pids
            .clone()
            .filter(|_| limits.processes.is_some() && !host.rlimit_counts),
        processes: match (host.rlimit_counts, &host.pids) {
            (true, _) => Counter::Rlimit,
            (false, Some(_)) => Counter::Group,
            (false, None) => Counter::Watcher,
        },
        oversize_told: host.oversize_told && limits.file_bytes.is_some(),
    };
    let mut enforcers = Vec::new();
    for limit in Limit::ALL {
        if !asked(limits, limit) {
            continue;
        }
        let Some(by) = enforcer(host, limit) else {
            return Err(Refused::new(
                format!("the limit on {}", limit.as_str()),
                "the processes of a run can't be looked at",
                REMEDY_PROC,
            ));
        };
        enforcers.push(if is_weaker(host, limit) {
            Enforcer::weaker(limit.as_str(), by)
        } else {
            Enforcer::new(limit.as_str(), by)
        });
    }
    Ok((chosen, enforcers))
}

const REMEDY_PROC: &str = "mount /proc so that user namespaces may mount their own";
const REMEDY_GROUP: &str =
    "delegate a control group with the memory and pids controllers to this user for exact bounds";

fn asked(limits: &Limits, limit: Limit) -> bool {
    match limit {
        Limit::Wall => limits.wall.is_some(),
        Limit::Cpu => limits.cpu.is_some(),
        Limit::Memory => limits.memory_bytes.is_some(),
        Limit::Processes => limits.processes.is_some(),
        Limit::FileSize => limits.file_bytes.is_some(),
        Limit::TotalSize => limits.total_bytes.is_some(),
        Limit::Descriptors => limits.descriptors.is_some(),
        Limit::Output => limits.output_bytes.is_some(),
        Limit::LeftBehind => false,
    }
}

/// Who holds this limit here, in words.
fn enforcer(host: &LimitHost, limit: Limit) -> Option<String> {
    let watcher = host.watcher.then_some(WATCHER);
    let group = |place: &Option<Place>| place.as_ref().map(|place| place.version.as_str());
    let by = match limit {
        Limit::Wall => Some("timer of the sandbox's first process"),
        Limit::Memory => group(&host.memory).or(watcher),
        Limit::Processes if host.rlimit_counts => {
            Some("resource limit of the sandbox's user namespace")
        }
        Limit::Processes => group(&host.pids).or(watcher),
        Limit::FileSize if host.oversize_told => Some("resource limit, told by seccomp"),
        Limit::FileSize | Limit::Descriptors => Some("resource limit"),
        Limit::Cpu | Limit::TotalSize => watcher,
        Limit::Output => Some("reader of the output"),
        Limit::LeftBehind => Some("the sandbox's first process"),
    };
    by.map(str::to_owned)
}

/// Whether the watcher stands in for the kernel: it looks now and then, where the kernel would
/// count every page and every process.
fn is_weaker(host: &LimitHost, limit: Limit) -> bool {
    match limit {
        Limit::Memory => host.memory.is_none(),
        Limit::Processes => !host.rlimit_counts && host.pids.is_none(),
        Limit::Wall
        | Limit::Cpu
        | Limit::FileSize
        | Limit::TotalSize
        | Limit::Descriptors
        | Limit::Output
        | Limit::LeftBehind => false,
    }
}

/// One line per limit, for people.
pub(crate) fn lines(host: &LimitHost) -> Vec<Line> {
    Limit::ALL
        .into_iter()
        .map(|limit| {
            let by = enforcer(host, limit);
            let state = match by {
                Some(_) if is_weaker(host, limit) => State::Weaker,
                Some(_) => State::Enforced,
                None => State::Missing,
            };
            let remedy = match (&by, limit) {
                (None, _) => REMEDY_PROC,
                (Some(_), limit) if is_weaker(host, limit) => REMEDY_GROUP,
                (Some(_), _) => "",
            };
            Line {
                what: format!("limit on {}", limit.as_str()),
                enforcer: by.unwrap_or_else(|| "nobody".to_owned()),
                state,
                remedy: remedy.to_owned(),
            }
        })
        .collect()
}
