//! Small languages that readers take as an argument and that can write and run.

pub(super) mod awk;
pub(super) mod code;
pub(super) mod sed;

/// What a script does.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Scripted {
    /// Nothing but reading and printing.
    Harmless,
    /// Reads these files as well.
    Reads(Vec<String>),
    /// Writes this file.
    Writes(String),
    /// Runs these commands, and no others.
    Commands(Vec<String>),
    /// Runs commands.
    Runs,
    /// Can't be told, for this reason.
    Unknown(&'static str),
}

/// Files to which a script may write without leaving anything.
fn is_sink(path: &str) -> bool {
    matches!(path, "/dev/null" | "/dev/stdout" | "/dev/stderr")
}
