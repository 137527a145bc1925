//! The rooms: which crate may use which, and what each may do.

/// What a crate may do beyond computing.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum May {
    /// Start processes.
    Spawn,
    /// Write files.
    Write,
    /// Read the environment.
    Environment,
    /// Read the arguments that the program was started with.
    Arguments,
    /// Read the wall clock.
    Clock,
    /// Run on tokio.
    Async,
    /// Read files and measure durations; without it a room is pure.
    Io,
}

/// One crate of the product.
#[derive(Debug)]
pub(crate) struct Room {
    /// Its folder under `crates/`.
    pub(crate) name: &'static str,
    /// The rooms it may use, besides `vocab`.
    pub(crate) uses: &'static [&'static str],
    /// What it may do.
    pub(crate) may: &'static [May],
}

/// Every room, built or to come. A crate that is not listed names the wall that it holds in a
/// decision first, and is added here.
pub(crate) const ROOMS: &[Room] = &[
    room("vocab", &[], &[]),
    room("policy", &[], &[]),
    room("agents", &[], &[]),
    room("ledger", &[], &[May::Io, May::Write]),
    room("workspace", &[], &[May::Io, May::Write]),
    room(
        "sandbox",
        &[],
        &[May::Io, May::Spawn, May::Write, May::Arguments],
    ),
    room("trace", &[], &[May::Io]),
    room(
        "gate",
        &["policy", "ledger", "workspace", "sandbox", "trace"],
        &[May::Io],
    ),
    room("tools", &["gate"], &[May::Io]),
    room("mcp", &["gate", "tools"], &[May::Io, May::Async]),
    room("dashboard", &["gate", "tools"], &[May::Io, May::Async]),
    room(
        "cli",
        &[
            "policy",
            "agents",
            "ledger",
            "workspace",
            "sandbox",
            "trace",
            "gate",
            "tools",
            "mcp",
            "dashboard",
        ],
        &[
            May::Io,
            May::Environment,
            May::Arguments,
            May::Clock,
            May::Async,
        ],
    ),
];

const fn room(name: &'static str, uses: &'static [&'static str], may: &'static [May]) -> Room {
    Room { name, uses, may }
}

/// The room of this name.
pub(crate) fn find(name: &str) -> Option<&'static Room> {
    ROOMS.iter().find(|room| room.name == name)
}

impl Room {
    /// Whether it may do this.
    pub(crate) fn may(&self, what: May) -> bool {
        self.may.contains(&what)
    }

    /// Whether it may use that room.
    pub(crate) fn may_use(&self, other: &str) -> bool {
        self.name != "vocab" && (other == "vocab" || self.uses.contains(&other))
    }
}
