//! What can be typed to set a workspace up, run tools and decide as a person.

use clap::{Args as ClapArgs, Subcommand};

/// A new intent.
#[derive(Debug, ClapArgs)]
pub(crate) struct IntentNewArgs {
    /// The intent's id
    pub(crate) id: String,

    /// What it is called
    #[arg(long)]
    pub(crate) name: String,

    /// Files that it owns; can be given more than once
    #[arg(long, value_name = "PATTERN", required = true)]
    pub(crate) scope: Vec<String>,

    /// What the work must respect
    #[arg(long, value_name = "TEXT")]
    pub(crate) constraint: Vec<String>,

    /// When the work is done
    #[arg(long, value_name = "TEXT")]
    pub(crate) accept: Vec<String>,

    /// Do not ask for a terminal
    #[arg(long)]
    pub(crate) yes: bool,
}

/// An intent, or a wider scope, that an agent asks for.
#[derive(Debug, ClapArgs)]
pub(crate) struct IntentProposeArgs {
    /// What it is called
    #[arg(long)]
    pub(crate) name: String,

    /// Files that it would own; can be given more than once
    #[arg(long, value_name = "PATTERN", required = true)]
    pub(crate) scope: Vec<String>,

    /// The intent to widen, if it is there already
    #[arg(long)]
    pub(crate) id: Option<String>,

    /// Why
    #[arg(long)]
    pub(crate) reason: String,

    #[command(flatten)]
    pub(crate) session: SessionArgs,
}

/// Set up a workspace: `.orchestration/`, its state, a profile and a first intent
///
/// Shows what it would write and asks. What is there already stays as it is.
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Example:\n  tagout init --intent 'Report the weather' --scope 'src/weather/**'"
)]
pub(crate) struct InitArgs {
    /// How much a person is asked
    #[arg(long, value_enum, default_value_t = ProfileArg::Balanced)]
    pub(crate) profile: ProfileArg,

    /// The name of a first intent
    #[arg(long, value_name = "NAME")]
    pub(crate) intent: Option<String>,

    /// Files that the first intent owns; can be given more than once
    #[arg(long, value_name = "PATTERN")]
    pub(crate) scope: Vec<String>,

    /// Do not ask
    #[arg(long)]
    pub(crate) yes: bool,
}

/// The profiles that a repository can choose.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum ProfileArg {
    /// Ask for what can't be undone
    Balanced,
    /// Ask for every destructive call
    Strict,
}

/// The conversation that a call belongs to, and how to answer.
#[derive(Debug, ClapArgs)]
pub(crate) struct SessionArgs {
    /// The session; without it, one per terminal
    #[arg(long, value_name = "S")]
    pub(crate) session: Option<String>,

    /// Answer in JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Run one native tool through the whole lifecycle: judged, in a transaction, recorded
#[derive(Debug, ClapArgs)]
#[command(after_help = "Example:\n  tagout run TOOL --input '{\"path\": \"README.md\"}'")]
pub(crate) struct RunArgs {
    /// The tool's name
    pub(crate) tool: String,

    /// Its arguments as a JSON object
    #[arg(long, value_name = "JSON", default_value = "{}")]
    pub(crate) input: String,

    #[command(flatten)]
    pub(crate) session: SessionArgs,
}

/// Show what the tree's policy and intents would change, and accept it
#[derive(Debug, ClapArgs)]
#[command(after_help = "Example:\n  tagout trust")]
pub(crate) struct TrustArgs {
    /// Do not ask
    #[arg(long)]
    pub(crate) yes: bool,

    /// Answer in JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// List what waits for a person: approvals, questions, proposed intents
#[derive(Debug, ClapArgs)]
#[command(after_help = "Example:\n  tagout pending --json")]
pub(crate) struct PendingArgs {
    /// Answer in JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Say yes to exactly one call, once
#[derive(Debug, ClapArgs)]
#[command(after_help = "Example:\n  tagout approve ap-1f2e")]
pub(crate) struct ApproveArgs {
    /// The request's id, from `tagout pending`
    pub(crate) id: String,

    /// Do not ask
    #[arg(long)]
    pub(crate) yes: bool,
}

/// Say no to a call
#[derive(Debug, ClapArgs)]
#[command(after_help = "Example:\n  tagout reject ap-1f2e --reason 'use the fixture instead'")]
pub(crate) struct RejectArgs {
    /// The request's id, from `tagout pending`
    pub(crate) id: String,

    /// Why, for the agent
    #[arg(long)]
    pub(crate) reason: Option<String>,

    /// Do not ask
    #[arg(long)]
    pub(crate) yes: bool,
}

/// Answer an agent's question
#[derive(Debug, ClapArgs)]
#[command(after_help = "Example:\n  tagout answer q-1f2e 'the second one'")]
pub(crate) struct AnswerArgs {
    /// The question's id, from `tagout pending`
    pub(crate) id: String,

    /// The answer
    pub(crate) text: String,

    /// Do not ask
    #[arg(long)]
    pub(crate) yes: bool,
}

/// Begin a new ledger where the state was lost
#[derive(Debug, ClapArgs)]
pub(crate) struct EpochArgs {
    #[command(subcommand)]
    pub(crate) verb: EpochVerb,
}

/// What to do with epochs.
#[derive(Debug, Subcommand)]
pub(crate) enum EpochVerb {
    /// Start a new ledger, which is recorded
    #[command(after_help = "Example:\n  tagout epoch new")]
    New {
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
}
