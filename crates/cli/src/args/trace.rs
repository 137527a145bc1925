//! What can be typed to the verbs that ask who changed what, and why.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand, ValueEnum};

/// Show for every line of a file who put it there and for which intent
///
/// One line each: commit, intent, agent and model, call, time, number, text. A question mark says
/// that another reading is possible. `human` lines came from outside of any governed call;
/// `unknown` ones were there before the file was first seen, or a failed call left them.
///
/// The commit is the latest one that brought lines of the call; `00000000` for a line that the
/// commit which is checked out does not hold, `-` for one that it holds and that no call wrote, or
/// whose commit was not seen. Without git, or before the first commit, there is no such column.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Example:\n  \
    tagout blame src/main.rs\n  \
    tagout blame src/main.rs --symbols")]
pub(crate) struct BlameArgs {
    /// The file
    pub(crate) file: PathBuf,

    /// One line for each definition instead
    #[arg(long)]
    pub(crate) symbols: bool,

    /// For programs that read line by line
    #[arg(long, conflicts_with_all = ["json", "symbols"])]
    pub(crate) porcelain: bool,

    /// Answer in JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Ask for the records of changes, write them in other forms, or read those of others
#[derive(Debug, ClapArgs)]
pub(crate) struct TraceArgs {
    #[command(subcommand)]
    pub(crate) verb: TraceVerb,
}

/// What to do with the trace.
#[derive(Debug, Subcommand)]
pub(crate) enum TraceVerb {
    /// Show the records of changes, the newest first
    #[command(after_help = "Example:\n  tagout trace query --intent INT-001 --since 2d")]
    Query(TraceQueryArgs),
    /// Write the records to standard output, the oldest first
    #[command(after_help = "Example:\n  tagout trace export --format agent-trace > trace.jsonl")]
    Export {
        /// The form
        #[arg(long, value_enum, default_value_t = TraceFormat::Jsonl)]
        format: TraceFormat,
    },
    /// Read records of any dialect into the trace (for people)
    #[command(after_help = "Example:\n  tagout trace import old/agent_trace.jsonl")]
    Import {
        /// A file with records
        file: PathBuf,
        /// Do not ask for a terminal
        #[arg(long)]
        yes: bool,
        /// Answer in JSON
        #[arg(long)]
        json: bool,
    },
}

/// A form of records.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum TraceFormat {
    /// Agent Trace 0.1.0, one record a line
    AgentTrace,
    /// A note of git-ai about the files as they are
    GitAi,
    /// Tagout's own, one record a line
    Jsonl,
}

/// Which records.
#[derive(Debug, ClapArgs)]
pub(crate) struct TraceQueryArgs {
    /// Only what was made for this intent
    #[arg(long, value_name = "ID")]
    pub(crate) intent: Option<String>,

    /// Only what touched this definition: its path of names, such as `Shop::open`
    #[arg(long, value_name = "NAME")]
    pub(crate) symbol: Option<String>,

    /// Only what touched this file
    #[arg(long, value_name = "PATH")]
    pub(crate) file: Option<PathBuf>,

    /// Only since then: `2h`, `3d`, a date or an RFC 3339 time
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,

    /// Only the newest N
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,

    /// The whole records as JSON lines
    #[arg(long)]
    pub(crate) json: bool,
}

/// Take back what a call, a session or an intent changed (for people)
///
/// Shows the difference and asks. What others did since on other lines stays; on the same lines it
/// is a conflict, and nothing is written. An undo is a call of its own and can be undone.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Example:\n  \
    tagout undo x-1f2e --dry-run\n  \
    tagout undo --intent INT-001")]
#[command(group(clap::ArgGroup::new("what").required(true).args(["call", "session", "intent"])))]
pub(crate) struct UndoArgs {
    /// The call, from `tagout blame` or `tagout log`; the beginning of its id is enough
    pub(crate) call: Option<String>,

    /// Everything of this conversation
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,

    /// Everything that was done for this intent
    #[arg(long, value_name = "ID")]
    pub(crate) intent: Option<String>,

    /// Only show the difference
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Do not ask
    #[arg(long)]
    pub(crate) yes: bool,

    /// Answer in JSON
    #[arg(long)]
    pub(crate) json: bool,
}
