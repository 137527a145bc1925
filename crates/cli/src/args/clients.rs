//! What can be typed to connect clients: the hook that they call, and how it is installed.

use clap::Args as ClapArgs;

/// What clients call before and after each tool: JSON in, the client's own answer out
///
/// Nothing is taken from the environment. Whatever goes wrong is the client's own form of a denial.
#[derive(Debug, Clone, ClapArgs)]
#[command(
    after_help = "Example:\n  tagout hook --client goose --event PreToolUse \
        --workspace /home/me/work --state-dir /home/me/.local/state/tagout < payload.json"
)]
pub(crate) struct HookArgs {
    /// The client, as `tagout install --help` names them
    #[arg(long, value_name = "NAME")]
    pub(crate) client: String,

    /// The event, as the client spells it
    #[arg(long, value_name = "EVENT")]
    pub(crate) event: String,

    /// Fails on purpose, so that tests see what clients would be told
    #[cfg(debug_assertions)]
    #[arg(long, hide = true, value_name = "HOW")]
    pub(crate) fail: Option<String>,
}

impl HookArgs {
    /// The same without the parser.
    #[cfg_attr(
        not(debug_assertions),
        expect(unused_variables, reason = "only builds for tests fail on purpose")
    )]
    pub(crate) fn new(client: String, event: String, fail: Option<String>) -> Self {
        Self {
            client,
            event,
            #[cfg(debug_assertions)]
            fail,
        }
    }
}

/// For whom hooks are installed.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum ScopeArg {
    /// This repository
    Project,
    /// Everything that this user does
    User,
    /// Everybody on this machine, where users can't change it
    Managed,
}

/// Write the hook into the configuration of clients, or say what would be open
///
/// What others wrote into the same files stays as it is. A name that is not known is answered with
/// the names that are.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Example:\n  tagout install CLIENT\n  tagout install CLIENT --check")]
pub(crate) struct InstallArgs {
    /// The clients
    #[arg(required = true, value_name = "CLIENT")]
    pub(crate) clients: Vec<String>,

    /// For whom
    #[arg(long, value_enum, default_value_t = ScopeArg::Project)]
    pub(crate) scope: ScopeArg,

    /// Write nothing; say what is installed and what would be open
    #[arg(long)]
    pub(crate) check: bool,

    /// Do not ask
    #[arg(long)]
    pub(crate) yes: bool,

    /// Answer in JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Take the hook out of the configuration of clients
#[derive(Debug, ClapArgs)]
#[command(after_help = "Example:\n  tagout uninstall CLIENT")]
pub(crate) struct UninstallArgs {
    /// The clients
    #[arg(required = true, value_name = "CLIENT")]
    pub(crate) clients: Vec<String>,

    /// For whom
    #[arg(long, value_enum, default_value_t = ScopeArg::Project)]
    pub(crate) scope: ScopeArg,

    /// Do not ask
    #[arg(long)]
    pub(crate) yes: bool,

    /// Answer in JSON
    #[arg(long)]
    pub(crate) json: bool,
}
