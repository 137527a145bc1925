//! What can be typed to run a command, to look at this host and at what was not applied.

use std::ffi::OsString;

use clap::{Args as ClapArgs, Subcommand};

/// Run one command, confined and as a transaction
///
/// Its output comes through as it is made, and the exit code is the command's own. 125 means that
/// Tagout failed, 126 that the command or what it changed was refused, 127 that it was not found.
/// Standard input is empty for the command.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Example:\n  \
    tagout exec --intent INT-001 -- cargo test\n  \
    tagout exec --json -- 'sed -i s/a/b/ src/*.rs && git diff --stat'")]
pub(crate) struct ExecArgs {
    /// The intent to work on; it is selected first if it is not active
    #[arg(long, value_name = "ID")]
    pub(crate) intent: Option<String>,

    /// The session; without it, one per terminal
    #[arg(long, value_name = "S")]
    pub(crate) session: Option<String>,

    /// The note of a client's hook under which it runs
    #[arg(long, value_name = "ID", hide = true, conflicts_with = "session")]
    pub(crate) permit: Option<String>,

    /// The folder to run it in; without it, the current one, which must be in the workspace
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<String>,

    /// Milliseconds after which it is ended
    #[arg(long, value_name = "MS")]
    pub(crate) timeout: Option<u64>,

    /// Start it and come back: it reads the workspace live and ends with its session
    #[arg(long)]
    pub(crate) long_running: bool,

    /// Print a receipt in JSON instead of the command's output
    #[arg(long)]
    pub(crate) json: bool,

    /// End what the session left running, and run nothing
    #[arg(long, conflicts_with_all = ["command", "long_running", "timeout", "cwd", "intent"])]
    pub(crate) end: bool,

    /// One argument is a shell line; several are the words of one command
    #[arg(required_unless_present = "end", last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

/// Say what this host can enforce, by what, and what to change where it can't
#[derive(Debug, ClapArgs)]
#[command(after_help = "Example:\n  tagout doctor --json")]
pub(crate) struct DoctorArgs {
    /// Answer in JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Look at changes of commands that were not applied, apply them or drop them
#[derive(Debug, ClapArgs)]
pub(crate) struct ParkedArgs {
    #[command(subcommand)]
    pub(crate) verb: ParkedVerb,
}

/// What to do with parked changes.
#[derive(Debug, Subcommand)]
pub(crate) enum ParkedVerb {
    /// List what was not applied
    #[command(after_help = "Example:\n  tagout parked list --json")]
    List {
        /// Answer in JSON
        #[arg(long)]
        json: bool,
    },
    /// Show one set of changes, path by path, and what stands against each
    #[command(after_help = "Example:\n  tagout parked show parked-1f2e")]
    Show {
        /// Its id, from `tagout parked list`
        id: String,
        /// Answer in JSON
        #[arg(long)]
        json: bool,
    },
    /// Apply a set of changes after all (for people)
    #[command(after_help = "Example:\n  tagout parked apply parked-1f2e --in-scope")]
    Apply {
        /// Its id, from `tagout parked list`
        id: String,
        /// Only what the intent owns; the rest is dropped
        #[arg(long)]
        in_scope: bool,
        /// Do not ask
        #[arg(long)]
        yes: bool,
        /// Answer in JSON
        #[arg(long)]
        json: bool,
    },
    /// Throw a set of changes away (for people)
    #[command(after_help = "Example:\n  tagout parked drop parked-1f2e")]
    Drop {
        /// Its id, from `tagout parked list`
        id: String,
        /// Do not ask
        #[arg(long)]
        yes: bool,
        /// Answer in JSON
        #[arg(long)]
        json: bool,
    },
}
