//! What can be typed to set a workspace up, run tools and decide as a person.

use clap::{Args as ClapArgs, Subcommand};

/// A new intent.
#[derive(Debug, ClapArgs)]
pub(crate) struct IntentNewArgs {
    /// The intent's id; without it, the next number: `INT-001`
    pub(crate) id: Option<String>,

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

    /// Answer in JSON
    #[arg(long)]
    pub(crate) json: bool,
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

    /// The note of a client's hook under which it is asked
    #[arg(long, value_name = "NOTE", hide = true, conflicts_with = "session")]
    pub(crate) permit: Option<String>,
}

/// Set up a workspace: `.orchestration/`, its state, a profile, a first intent, hooks of clients
///
/// At a terminal it offers the clients that it finds and a first intent, shows what it would write
/// and asks. What is there already stays as it is.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Example:\n  tagout init\n  \
    tagout init --yes --client found --intent 'Report the weather' --scope 'src/weather/**'")]
pub(crate) struct InitArgs {
    /// How much a person is asked; `balanced` without it
    #[arg(long, value_enum)]
    pub(crate) profile: Option<ProfileArg>,

    /// A client to install hooks for, `found` for all that this machine shows; can be given more
    /// than once
    #[arg(long, value_name = "NAME")]
    pub(crate) client: Vec<String>,

    /// The name of a first intent
    #[arg(long, value_name = "NAME")]
    pub(crate) intent: Option<String>,

    /// Files that the first intent owns; can be given more than once
    #[arg(long, value_name = "PATTERN")]
    pub(crate) scope: Vec<String>,

    /// Do not ask
    #[arg(long)]
    pub(crate) yes: bool,

    /// Answer in JSON
    #[arg(long)]
    pub(crate) json: bool,
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
#[command(after_help = "Example:\n  tagout pending\n  tagout approve a-1f2e")]
pub(crate) struct ApproveArgs {
    /// The request's id, from `tagout pending`
    pub(crate) id: String,

    /// Do not ask
    #[arg(long)]
    pub(crate) yes: bool,

    /// Answer in JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Say no to a call
#[derive(Debug, ClapArgs)]
#[command(after_help = "Example:\n  tagout reject a-1f2e --reason 'use the fixture instead'")]
pub(crate) struct RejectArgs {
    /// The request's id, from `tagout pending`
    pub(crate) id: String,

    /// Why, for the agent
    #[arg(long)]
    pub(crate) reason: Option<String>,

    /// Do not ask
    #[arg(long)]
    pub(crate) yes: bool,

    /// Answer in JSON
    #[arg(long)]
    pub(crate) json: bool,
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

    /// Answer in JSON
    #[arg(long)]
    pub(crate) json: bool,
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
        /// Answer in JSON
        #[arg(long)]
        json: bool,
    },
}

/// Give, list and take back capability grants (for people)
#[derive(Debug, ClapArgs)]
pub(crate) struct GrantArgs {
    #[command(subcommand)]
    pub(crate) verb: GrantVerb,
}

/// What to do with grants.
#[derive(Debug, Subcommand)]
pub(crate) enum GrantVerb {
    /// Give a capability that the policy does not list, signed and recorded
    #[command(
        after_help = "Example:\n  tagout grant issue --to session:s-1 --capability state.write \
        --path 'src/**' --expires 2h"
    )]
    Issue(GrantIssueArgs),
    /// List the grants and whether each still holds
    #[command(after_help = "Example:\n  tagout grant list --json")]
    List {
        /// Do not ask for a terminal
        #[arg(long)]
        yes: bool,
        /// Answer in JSON
        #[arg(long)]
        json: bool,
    },
    /// Take a grant back; it holds at once
    #[command(after_help = "Example:\n  tagout grant revoke g-1f2e --reason 'no longer needed'")]
    Revoke {
        /// The grant's id, from `tagout grant list`
        id: String,
        /// Why
        #[arg(long)]
        reason: Option<String>,
        /// Do not ask
        #[arg(long)]
        yes: bool,
        /// Answer in JSON
        #[arg(long)]
        json: bool,
    },
}

/// What a person gives.
#[derive(Debug, ClapArgs)]
#[command(group(
    clap::ArgGroup::new("reach").required(true).multiple(true).args(["path", "named", "anywhere"])
))]
pub(crate) struct GrantIssueArgs {
    /// Who may use it: `session:ID`, `tool:NAME`, `user:NAME` or `role:NAME`
    #[arg(long, value_name = "KIND:ID")]
    pub(crate) to: String,

    /// What is given; a name stands for all beneath it; can be given more than once
    #[arg(long, value_name = "NAME", required = true)]
    pub(crate) capability: Vec<String>,

    /// Paths that it reaches; can be given more than once
    #[arg(long, value_name = "PATTERN")]
    pub(crate) path: Vec<String>,

    /// Hosts, programs or other names that it reaches
    #[arg(long, value_name = "NAME")]
    pub(crate) named: Vec<String>,

    /// It reaches everything that the capability speaks of
    #[arg(long, conflicts_with_all = ["path", "named"])]
    pub(crate) anywhere: bool,

    /// What may be done with it; without this, whatever the capability lets do
    #[arg(long, value_name = "NAME")]
    pub(crate) action: Vec<String>,

    /// At most so many uses in a time, such as `10/1h`
    #[arg(long, value_name = "N/SPAN")]
    pub(crate) rate: Option<String>,

    /// No file larger than this
    #[arg(long, value_name = "BYTES")]
    pub(crate) max_file_size: Option<u64>,

    /// Until when: a span such as `2h`, or a time
    #[arg(long, value_name = "WHEN")]
    pub(crate) expires: Option<String>,

    /// Do not ask
    #[arg(long)]
    pub(crate) yes: bool,

    /// Answer in JSON
    #[arg(long)]
    pub(crate) json: bool,
}
