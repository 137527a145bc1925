//! What a tool is told about the command that it ran.

use tagout_sandbox::{Captured, Enforcer, Exit, Lane, LimitHit, Limits};
use tagout_vocab::limits::COMMAND_SHOWN_BYTES_MAX;

/// How a command ended, and what it did.
#[derive(Clone, Debug)]
pub struct CommandEnded {
    /// How it ended itself; `None` for one that goes on.
    pub exit: Option<Exit>,
    /// The bound that it hit; the run has failed then, whatever the exit says.
    pub limit_hit: Option<LimitHit>,
    /// Whether it was ended from outside.
    pub stopped: bool,
    /// What it printed.
    pub printed: Printed,
    /// How it was held.
    pub lane: Lane,
    /// By whom.
    pub enforcers: Vec<Enforcer>,
    /// The bounds that it had.
    pub limits: Limits,
    /// From start to end.
    pub wall_ms: u64,
    /// Processor time of all its processes.
    pub cpu_ms: u64,
    /// The most memory at once, where somebody measured.
    pub peak_memory_bytes: Option<u64>,
    /// The paths that it changed, private ones left out.
    pub changed: Vec<String>,
    /// Whether its changes were given up because it failed and the policy says so.
    pub given_up: bool,
    /// The id of one that goes on.
    pub long_running: Option<String>,
    /// A known limit of the lane that its output points to, with the remedy.
    pub hint: Option<String>,
}

/// What a command printed, both streams as they came.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Printed {
    /// Its beginning and its end, with a note on what is left out between them.
    pub shown: String,
    /// How long it was in all.
    pub bytes: u64,
    /// Under which id the whole can be read.
    pub artifact: Option<String>,
    /// Whether something is left out.
    pub truncated: bool,
}

impl Printed {
    pub(crate) fn of(captured: &Captured, artifact: Option<String>) -> Self {
        let half = COMMAND_SHOWN_BYTES_MAX / 2;
        let head = captured.head.as_slice();
        let whole = captured.bytes == (head.len() + captured.tail.len()) as u64;
        let both = [head, captured.tail.as_slice()].concat();
        if whole && both.len() <= COMMAND_SHOWN_BYTES_MAX {
            return Self {
                shown: String::from_utf8_lossy(&both).into_owned(),
                bytes: captured.bytes,
                artifact,
                truncated: false,
            };
        }
        let ending = if captured.tail.is_empty() {
            head
        } else {
            &captured.tail
        };
        let head = head.get(..half).unwrap_or(head);
        let from = ending.len().saturating_sub(half);
        let tail = ending.get(from..).unwrap_or(ending);
        let left = captured
            .bytes
            .saturating_sub((head.len() + tail.len()) as u64);
        let (head, tail) = (String::from_utf8_lossy(head), String::from_utf8_lossy(tail));
        Self {
            shown: format!("{head}\n[{left} bytes are left out here]\n{tail}"),
            bytes: captured.bytes,
            artifact,
            truncated: true,
        }
    }
}

#[cfg(test)]
mod tests;
