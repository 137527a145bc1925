//! What can be typed to the verbs that look at the ledger.

use std::path::PathBuf;

use clap::Args as ClapArgs;

/// Show what happened, from the ledger; the newest comes last
///
/// One line an event: local time, number, kind, tool, outcome, intent, session, call, and then what
/// it was about: the files that it changed, else the command or another argument, and why it was
/// refused or failed. For a commit the outcome is its id. What is not known is `-`.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Example:\n  \
    tagout log --since 2h --intent INT-001\n  \
    tagout log --file src/main.rs --state COMPLETED\n  \
    tagout log --follow --json")]
pub(crate) struct LogArgs {
    /// Only what served this intent
    #[arg(long, value_name = "ID")]
    pub(crate) intent: Option<String>,

    /// Only what changed this file, or a file in this folder
    #[arg(long, value_name = "PATH")]
    pub(crate) file: Option<PathBuf>,

    /// Only this conversation
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,

    /// Only this tool
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,

    /// Only the events by which calls came to this state, such as COMPLETED or DENIED
    #[arg(long, value_name = "STATE")]
    pub(crate) state: Option<String>,

    /// Only since then: `2h`, `3d`, a date or an RFC 3339 time
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,

    /// Only the newest N
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,

    /// Go on and show what comes, until interrupted
    #[arg(long)]
    pub(crate) follow: bool,

    /// The whole events as JSON lines, exactly as they stand in the ledger
    #[arg(long)]
    pub(crate) json: bool,
}

/// Check that nothing in the ledger was changed or removed; nothing is ever repaired
///
/// Tells three things apart: integrity (nothing was changed), completeness (nothing is missing) and
/// attestation (who vouches). The exit code is 0 only if nothing is wrong. Whoever has a copy of a
/// ledger and its key can check it with `--ledger` and `--key`, without a workspace.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Example:\n  \
    tagout verify --checkpoint /mnt/elsewhere/checkpoints\n  \
    tagout verify --ledger copy/ --key tagout.vkey --json\n  \
    tagout verify --proof event-12.proof --key tagout.vkey")]
pub(crate) struct VerifyArgs {
    /// A ledger's folder, instead of the workspace's own
    #[arg(long, value_name = "DIR", requires = "key")]
    pub(crate) ledger: Option<PathBuf>,

    /// A key whose seals are believed, as text or in a file; without it, the workspace's own
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Vec<String>,

    /// Checkpoints that were kept elsewhere with `tagout seal --to`
    #[arg(long, value_name = "FILE")]
    pub(crate) checkpoint: Vec<PathBuf>,

    /// The key of a witness, as text or in a file
    #[arg(long, value_name = "KEY")]
    pub(crate) witness: Vec<String>,

    /// Check this proof file instead of a ledger
    #[arg(long, value_name = "FILE", conflicts_with_all = ["ledger", "checkpoint", "witness"])]
    pub(crate) proof: Option<PathBuf>,

    /// The ledger that the proof must be about; without it, the one that the key is named after
    #[arg(long, value_name = "NAME", requires = "proof")]
    pub(crate) origin: Option<String>,

    /// Answer in JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Write a proof that one event is in the ledger
///
/// The proof is a text file that stands alone: whoever has the key can check it, without the ledger
/// and without this program. The event must be covered by a seal.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Example:\n  tagout prove 12 --to event-12.proof")]
pub(crate) struct ProveArgs {
    /// The event's number, or its id
    pub(crate) event: String,

    /// A new file for the proof; without it, standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) to: Option<PathBuf>,

    /// A ledger's folder, instead of the workspace's own
    #[arg(long, value_name = "DIR")]
    pub(crate) ledger: Option<PathBuf>,

    /// Say what was proven in JSON, the proof's text included
    #[arg(long)]
    pub(crate) json: bool,
}

/// Sign the ledger as it stands now; for people
///
/// A checkpoint that is kept where agents can't write shows later whether the ledger was
/// rewritten or cut. The key that is printed lets others check.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Example:\n  tagout seal --to /mnt/elsewhere/checkpoints")]
pub(crate) struct SealArgs {
    /// Add the checkpoint to this file, kept elsewhere
    #[arg(long, value_name = "FILE")]
    pub(crate) to: Option<PathBuf>,

    /// Don't insist on a terminal: for scripts that people run
    #[arg(long)]
    pub(crate) yes: bool,

    /// Answer in JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Show figures about executions: how many, how they ended, how long they took, what they used
#[derive(Debug, ClapArgs)]
#[command(after_help = "Example:\n  tagout stats --since 7d --by-tool")]
pub(crate) struct StatsArgs {
    /// Only since then: `2h`, `3d`, a date or an RFC 3339 time
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,

    /// Also for each tool
    #[arg(long)]
    pub(crate) by_tool: bool,

    /// Answer in JSON
    #[arg(long)]
    pub(crate) json: bool,
}
